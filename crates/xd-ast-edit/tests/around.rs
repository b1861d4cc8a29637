//! What an edit does to the code around it: a result that parses and means something else is refused
//! with its place, in every language (`CONTRACT A1`, invariant A7).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, Refusal, Rewritten, assemble, check_ops, rewrite};

fn run(
    lang: &str,
    source: &str,
    pat: &str,
    out: &str,
) -> Option<Result<(Rewritten, String), Refusal>> {
    // A grammar that is not in this build has nothing to test.
    let lang = Lang::named(lang).ok()?;
    let ops = [Op::new(pat, out)];
    check_ops(&ops).unwrap();
    let program = Program::compile(lang, &ops);
    assert_eq!(program.failures(), &[], "{lang:?}: {pat}");
    Some(rewrite(&program, source, usize::MAX).map(|rewritten| {
        let result = assemble(source, &rewritten.edits);
        (rewritten, result)
    }))
}

#[track_caller]
fn check(lang: &str, source: &str, pat: &str, out: &str, expect: &str) {
    match run(lang, source, pat, out) {
        None => {}
        Some(Ok((rewritten, result))) => {
            assert!(rewritten.replacements > 0, "{lang}: {pat} matches nothing in {source}");
            assert_eq!(result, expect, "{lang}: {pat} => {out} on {source}");
        }
        Some(Err(refusal)) => panic!("{lang}: {pat} => {out} on {source}: {refusal}"),
    }
}

/// Runs all and tells all that went wrong at once.
#[track_caller]
fn all_refused(cases: &[(&str, &str, &str, &str)], right: impl Fn(&Refusal) -> bool) {
    let mut wrong = Vec::new();
    for (lang, source, pat, out) in cases {
        match run(lang, source, pat, out) {
            None => {}
            Some(Ok((rewritten, result))) => wrong.push(format!(
                "{lang}: {pat:?} => {out:?} on {source:?}: {} gave {result:?}",
                rewritten.replacements
            )),
            Some(Err(refusal)) if right(&refusal) => {}
            Some(Err(refusal)) => wrong.push(format!("{lang}: {pat:?} on {source:?}: {refusal}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn any_refusal(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::ReadOtherwise { .. } | Refusal::ResultDoesNotParse { .. })
}

#[test]
fn invariant_a7_a_removed_body_does_not_make_the_next_statement_the_body() {
    let in_c = |body: &str| format!("void f(void) {{\n  {body}\n  bar();\n}}\n");
    let in_java = |body: &str| format!("class A {{ void f() {{\n  {body}\n  bar();\n}} }}\n");
    let in_php = |body: &str| format!("<?php\n{body}\nbar();\n");
    let in_kotlin = |body: &str| format!("fun f() {{\n  {body}\n  bar()\n}}\n");
    let bodies =
        ["if (x) foo();", "if (x) a(); else foo();", "while (x) foo();", "for (;;) foo();"];
    for pat in ["foo();", "foo()"] {
        for body in bodies {
            let js = format!("{body}\nbar();\n");
            all_refused(
                &[
                    ("javascript", &js, pat, ""),
                    ("typescript", &js, pat, ""),
                    ("tsx", &js, pat, ""),
                    ("c", &in_c(body), pat, ""),
                    ("cpp", &in_c(body), pat, ""),
                    ("java", &in_java(body), pat, ""),
                    ("csharp", &in_java(body), pat, ""),
                    ("php", &in_php(&body.replace("x", "$x")), pat, ""),
                ],
                any_refusal,
            );
        }
        for body in ["with (x) foo();", "l: foo();", "do foo(); while (x)", "for (a of b) foo();"] {
            all_refused(&[("javascript", &format!("{body}\nbar();\n"), pat, "")], any_refusal);
        }
    }
    for body in ["if (x) foo()", "if (x) a() else foo()", "while (x) foo()", "for (i in x) foo()"] {
        all_refused(&[("kotlin", &in_kotlin(body), "foo()", "")], any_refusal);
    }
    // Also where the replacement is more than the one statement that fits there.
    all_refused(
        &[
            ("javascript", "if (x) foo();\nbar();\n", "foo();", "a(); b();"),
            ("c", &in_c("if (x) foo();"), "foo();", "a(); b();"),
            ("javascript", "if (x) foo(); else bar();\n", "foo();", "if (y) a();"),
            ("java", &in_java("if (x) foo(); else baz();"), "foo();", "if (y) a();"),
        ],
        any_refusal,
    );
    // The ways out.
    check("javascript", "if (x) foo();\nbar();\n", "foo();", ";", "if (x) ;\nbar();\n");
    check("c", &in_c("if (x) foo();"), "foo();", "{}", &in_c("if (x) {}"));
    check("javascript", "if (x) foo();\nbar();\n", "if (x) foo();", "", "bar();\n");
    check("javascript", "if (x) { foo(); }\nbar();\n", "foo();", "", "if (x) { }\nbar();\n");
    check(
        "rust",
        "fn m() { if x { foo(); } bar(); }\n",
        "foo();",
        "",
        "fn m() { if x { } bar(); }\n",
    );
}

#[test]
fn invariant_a7_the_refusal_tells_the_place_and_the_way_out() {
    let refusal = run("javascript", "a();\nif (x) foo();\nbar();\n", "foo();", "").unwrap();
    assert_eq!(
        refusal.unwrap_err().to_string(),
        "ops[0] at line 2 (bytes 11..18, `foo();`) cannot be changed so: around it, `if_statement` at line 2 of the result (`if (x)`) would take in what follows or be read otherwise; nothing is staged: match the whole of it, or write what is to stand there in `out` (an empty body, parentheses)"
    );
}

#[test]
fn invariant_a7_a_removed_operand_does_not_take_the_next_line() {
    let js = [
        "const x = foo()\nbar()\n",
        "x = foo()\nbar()\n",
        "x = a && foo()\nbar()\n",
        "y = () => foo()\nbar()\n",
        "!foo()\nbar()\n",
        "await foo()\nbar()\n",
        "x = a ? b : foo()\nbar()\n",
        "x = a\nfoo()\n(b)\n",
        "throw foo()\nbar()\n",
    ];
    for source in js {
        all_refused(
            &[("javascript", source, "foo()", ""), ("typescript", source, "foo()", "")],
            any_refusal,
        );
    }
    all_refused(
        &[
            ("lua", "x = foo()\nbar()\n", "foo()", ""),
            ("lua", "x = a and foo()\nbar()\n", "foo()", ""),
            ("swift", "x = foo()\nbar()\n", "foo()", ""),
            ("swift", "let x = foo()\nbar()\n", "foo()", ""),
            ("scala", "object A {\n  val x = foo()\n  bar()\n}\n", "foo()", ""),
            ("kotlin", "fun f() {\n  x = foo()\n  bar()\n}\n", "foo()", ""),
            ("ruby", "x = foo()\nbar()\n", "foo()", ""),
            ("ruby", "x = a && foo()\nbar()\n", "foo()", ""),
            ("go", "package p\n\nfunc f() {\n\tx = a +\n\t\tfoo()\n\tbar()\n}\n", "foo()", ""),
            ("bash", "a && foo\nbar\n", "foo", ""),
            ("bash", "a | foo\nbar\n", "foo", ""),
            ("rust", "fn m() { a && foo(); }\n", "a", ""),
            ("rust", "fn m() { let x = a - b; }\n", "a", ""),
            ("javascript", "x = a - b;\n", "a", ""),
            ("python", "x = (a - b)\n", "a", ""),
        ],
        any_refusal,
    );
    // What may be left out may be removed.
    check("javascript", "f(a, b);\ng();\n", "b", "", "f(a);\ng();\n");
    check("javascript", "for (i = 0, j = 0;;) {}\n", "j = 0", "", "for (i = 0;;) {}\n");
    check(
        "typescript",
        "function f() { return foo(); }\n",
        "foo()",
        "",
        "function f() { return }\n",
    );
}

#[test]
fn invariant_a7_a_replacement_is_grouped_as_it_was_matched() {
    all_refused(
        &[
            ("javascript", "x = a * f(b);\n", "f($A)", "$A + 1"),
            ("python", "x = f(b) * a\n", "f($A)", "$A + 1"),
            ("rust", "fn m() { x = a * f(b); }\n", "f($A)", "$A + 1"),
            ("c", "void m(void) { x = f(b) * a; }\n", "f($A)", "$A + 1"),
            ("python", "x = f(b) + a\n", "f($A)", "lambda: $A"),
            ("javascript", "x = f(b) + a;\n", "f($A)", "() => $A"),
            ("bash", "foo > x\n", "foo", "a; b"),
        ],
        any_refusal,
    );
    check("javascript", "x = a * f(b);\n", "f($A)", "($A + 1)", "x = a * (b + 1);\n");
    check("python", "x = f(b) + a\n", "f($A)", "$A * 2", "x = b * 2 + a\n");
    check("javascript", "x = a && f(b);\n", "f($A)", "$A && $A.ok", "x = a && b && b.ok;\n");
    check(
        "rust",
        "fn m() { x = a || f(b); }\n",
        "f($A)",
        "$A && c",
        "fn m() { x = a || b && c; }\n",
    );
}

#[test]
fn invariant_a7_the_head_of_a_removed_declaration_does_not_slide_to_the_next() {
    check(
        "python",
        "@d\n@e(1)\ndef f():\n    pass\n\ndef g():\n    pass\n",
        "def f(): $$$B",
        "",
        "\ndef g():\n    pass\n",
    );
    check(
        "python",
        "class A:\n    @d\n    def f(self):\n        pass\n    x = 1\n",
        "def f(self): $$$B",
        "",
        "class A:\n    x = 1\n",
    );
    for head in ["export", "export default", "declare", "@D() export", "export declare"] {
        check(
            "typescript",
            &format!("{head} class A {{}}\nclass B {{}}\n"),
            "class A {}",
            "",
            "class B {}\n",
        );
    }
    check(
        "typescript",
        "export function f() {}\nexport function g() {}\n",
        "function f() {}",
        "",
        "export function g() {}\n",
    );
    check(
        "javascript",
        "export const a = 1;\nexport const b = 2;\n",
        "const a = 1;",
        "",
        "export const b = 2;\n",
    );
    check(
        "javascript",
        "export const a = 1;\nexport const b = 2;\n",
        "const a = 1",
        "",
        "export const b = 2;\n",
    );
    check(
        "typescript",
        "class A {\n  @D()\n  f() {}\n  g() {}\n}\n",
        "f() {}",
        "",
        "class A {\n  g() {}\n}\n",
    );
    check(
        "cpp",
        "template <class T>\nvoid f(T t) {}\nvoid g() {}\n",
        "void f(T t) {}",
        "",
        "void g() {}\n",
    );
    check("rust", "#[a]\n#[b]\nfn f() {}\nfn g() {}\n", "fn f() {}", "", "fn g() {}\n");
    // With what stays, what is exported is another thing, or nothing is.
    all_refused(
        &[
            ("ruby", "private def foo; end\ndef bar; end\n", "def foo; end", ""),
            ("javascript", "export default f(1);\nclass B {}\n", "f(1)", ""),
        ],
        any_refusal,
    );
}

#[test]
fn invariant_a7_a_comment_of_the_template_hides_nothing() {
    let hidden = |refusal: &Refusal| matches!(refusal, Refusal::Hidden { .. });
    all_refused(
        &[
            ("javascript", "f(1); h()\n", "f(1)", "g(1) // y"),
            ("typescript", "f(1);\n", "f(1)", "g(1) // y"),
            ("javascript", "x = [f(1), h()];\n", "f(1)", "g(1) // y"),
            ("python", "f(1); h()\n", "f(1)", "g(1) # y"),
            ("bash", "f 1; h\n", "f 1", "g 1 # y"),
            ("ruby", "f(1); h()\n", "f(1)", "g(1) # y"),
            ("lua", "f(1); h()\n", "f(1)", "g(1) -- y"),
            ("rust", "fn m() { f(1); h() }\n", "f(1)", "g(1) // y"),
            ("c", "void m(void) { f(1); h(); }\n", "f(1);", "g(1); // y"),
            ("go", "package p\n\nfunc m() { f(1); h() }\n", "f(1)", "g(1) // y"),
            // Template text before a capture that goes on on another line.
            ("javascript", "f(a,\n  b);\n", "f($$$A)", "g(); // was $$$A"),
        ],
        |refusal| hidden(refusal) || any_refusal(refusal),
    );
    let refusal = run("javascript", "f(1); h()\n", "f(1)", "g(1) // y").unwrap().unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "ops[0] at line 1 (bytes 0..4, `f(1); h()`) cannot be changed so: a comment would hide `; h()`, which stands behind it; nothing is staged: end the comment's line in `out`, or write a comment that closes itself"
    );
    // Behind which nothing stands, or another comment.
    check("javascript", "f(1)\nh()\n", "f(1)", "g(1) // y", "g(1) // y\nh()\n");
    check("javascript", "f(1) // z\nh()\n", "f(1)", "g(1) // y", "g(1) // y // z\nh()\n");
    check("javascript", "f(1); h()\n", "f(1)", "g(1) /* y */", "g(1) /* y */; h()\n");
    check("python", "f(1)\nh()\n", "f(1)", "g(1)  # y", "g(1)  # y\nh()\n");
}

#[test]
fn invariant_a7_text_behind_a_captured_line_comment_begins_a_line() {
    check(
        "javascript",
        "if (a) {\n  b(); // why\n}\n",
        "if (a) { $$$B }",
        "{ $$$B done(); }",
        "{ b(); // why\ndone(); }\n",
    );
    check(
        "rust",
        "fn m() {\n    if a {\n        b(); // why\n    }\n}\n",
        "if a { $$$B }",
        "if c { $$$B }",
        "fn m() {\n    if c { b(); // why\n    }\n}\n",
    );
    check(
        "java",
        "class A { void f() {\n  if (a) {\n    b(); // why\n  }\n} }\n",
        "if (a) { $$$B }",
        "if (c) { $$$B }",
        "class A { void f() {\n  if (c) { b(); // why\n  }\n} }\n",
    );
    check(
        "go",
        "package p\n\nfunc f() {\n\tb() // why\n}\n",
        "func f() { $$$B }",
        "func g() { $$$B }",
        "package p\n\nfunc g() { b() // why\n}\n",
    );
    // A comment that closes itself needs no line of its own.
    check(
        "javascript",
        "if (a) {\n  b(); /* why */\n}\n",
        "if (a) { $$$B }",
        "if (c) { $$$B }",
        "if (c) { b(); /* why */ }\n",
    );
}

#[test]
fn case_189_the_context_of_a_pattern_is_no_match_of_its_own() {
    let cases = [
        ("python", "f($A)", "g($A)"),
        ("rust", "fn f() { $$$A }", "fn g() { $$$A }"),
        ("c", "void f(void) { $$$A }", "void g(void) { $$$A }"),
        ("cpp", "void f() { $$$A }", "void g() { $$$A }"),
        ("java", "class C { $$$A }", "class D { $$$A }"),
        ("javascript", "class C { $$$A }", "class D { $$$A }"),
        ("go", "func _() { $$$A }", "func g() { $$$A }"),
    ];
    for (lang, pat, out) in cases {
        let Ok(known) = Lang::named(lang) else { continue };
        let regrowing =
            |out: &str| Program::compile(known, &[Op::new(pat, out)]).regrowing().count();
        assert_eq!(regrowing(out), 0, "{lang}: {pat} => {out}");
        assert_eq!(regrowing(&format!("{pat}\n")), 1, "{lang}: {pat}");
    }
}

// How long it takes is measured by `cargo xtask compare`; what comes out is the same on one line.
#[test]
fn a1_a_long_line_is_rewritten_as_many_lines_are() {
    for between in ["\n", ""] {
        let source: String = (0..2_000).map(|n| format!("old({n});{between}")).collect();
        let expect: String = (0..2_000).map(|n| format!("fresh({n});{between}")).collect();
        check("javascript", &source, "old($A)", "fresh($A)", &expect);
        check("javascript", &source, "old($A);", "fresh($A);", &expect);
        let odd: String = (0..2_000).map(|n| format!("old({n});new({n});{between}")).collect();
        let kept: String = (0..2_000).map(|n| format!("new({n});{between}")).collect();
        check("javascript", &odd, "old($A);", "", &kept);
    }
}
