//! Lists: nothing of a captured one is lost, and what is left of one is still a list (case 177).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, Refusal, Rule, assemble, check_ops, rewrite};

fn run(lang: &str, source: &str, pat: &str, out: &str) -> Option<Result<String, Refusal>> {
    // A grammar that is not in this build has nothing to test.
    let lang = Lang::named(lang).ok()?;
    let ops = [Op::new(pat, out)];
    check_ops(&ops).unwrap();
    let program = Program::compile(lang, &ops);
    assert_eq!(program.failures(), &[], "{lang:?}: {pat}");
    Some(rewrite(&program, source, usize::MAX).map(|rewritten| {
        assert!(rewritten.replacements > 0, "{lang:?}: {pat} matches nothing in {source}");
        assemble(source, &rewritten.edits)
    }))
}

#[track_caller]
fn check(lang: &str, source: &str, pat: &str, out: &str, expect: &str) {
    match run(lang, source, pat, out) {
        None => {}
        Some(Ok(result)) => assert_eq!(result, expect, "{lang}: {pat} => {out} on {source}"),
        Some(Err(refusal)) => panic!("{lang}: {pat} => {out} on {source}: {refusal}"),
    }
}

#[track_caller]
fn refused(lang: &str, source: &str, pat: &str) {
    match run(lang, source, pat, "") {
        None | Some(Err(Refusal::ReadOtherwise { .. })) => {}
        other => panic!("{lang}: {pat} on {source}: {other:?}"),
    }
}

// ---- Captured lists ----

#[test]
fn a1_a_list_loses_no_item_to_a_separator_that_only_the_pattern_has() {
    let bodies = [
        ("bash", "if a; then\n  x\n  y\nfi\n", "if a; then $$$B; fi", "if b; then\n  $$$B\nfi"),
        ("bash", "if a; then\n  x; y\nfi\n", "if a; then $$$B; fi", "if b; then\n  $$$B\nfi"),
    ];
    for (lang, source, pat, out) in bodies {
        check(lang, source, pat, out, &source.replace("if a", "if b"));
    }
    check("bash", "f() {\n  x\n}\n", "f() { $$$B; }", "g() {\n  $$$B\n}", "g() {\n  x\n}\n");
    check(
        "bash",
        "f() {\n  x <<E\nE\n}\n",
        "f() { $$$B; }",
        "g() {\n  $$$B\n}",
        "g() {\n  x <<E\nE\n}\n",
    );
    for (lang, before, after) in [
        ("javascript", "x = [", "];\n"),
        ("typescript", "x = [", "];\n"),
        ("python", "x = [", "]\n"),
        ("rust", "fn m() { x = [", "]; }\n"),
        ("ruby", "x = [", "]\n"),
        ("php", "<?php\n$x = [", "];\n"),
        ("elixir", "x = [", "]\n"),
    ] {
        for items in ["1", "1, 2", "1, 2, 3"] {
            let source = format!("{before}{items}{after}");
            check(lang, &source, "[$$$A,]", "[0, $$$A]", &format!("{before}0, {items}{after}"));
        }
    }
    // Two lists side by side: the first has one item, the second the rest.
    check("javascript", "f(1, 2, 3);\n", "f($$$A, $$$B)", "g([$$$A], [$$$B])", "g([1], [2, 3]);\n");
    check("javascript", "f(1);\n", "f($$$A, $$$B)", "g([$$$A], [$$$B])", "g([1], []);\n");
    // The tokens that do stand there go as before.
    check("javascript", "f(1, 2, 3);\n", "f($$$A, 3)", "g([$$$A])", "g([1, 2]);\n");
    check(
        "c",
        "void f() { x(); y(); }\n",
        "void f() { $$$B }",
        "void g() { $$$B }",
        "void g() { x(); y(); }\n",
    );
}

#[test]
fn a1_a_rule_whose_list_could_lose_an_item_is_refused_with_the_way_out() {
    let document =
        "id: a\nlanguage: bash\nrule:\n  pattern: if a; then $$$B; fi\nfix: if b; then $$$B; fi\n";
    if Lang::named("bash").is_err() {
        return;
    }
    let error = Rule::parse("rules.yml", document).unwrap_err().to_string();
    assert!(
        error.contains(
            "has `;` behind `$$$B`, which the code that it matches need not have; leave it out"
        ),
        "{error}"
    );
    let document = "id: a\nlanguage: javascript\nrule:\n  pattern: f($$$A, $B)\nfix: g($$$A, $B)\n";
    if Lang::named("javascript").is_ok() {
        assert!(Rule::parse("rules.yml", document).is_ok());
    }
}

// ---- What is left of a list ----

#[test]
fn case_177_what_is_left_of_a_tuple_is_a_tuple() {
    for (source, pat, expect) in [
        ("x = (a, b)\n", "b", "x = (a,)\n"),
        ("x = (a, b)\n", "a", "x = (b,)\n"),
        ("x = (a, b,)\n", "b", "x = (a,)\n"),
        ("x = (a, b,)\n", "a", "x = (b,)\n"),
        ("x = (a,\n     b)\n", "b", "x = (a,)\n"),
        ("x = (a, b, c)\n", "b", "x = (a, c)\n"),
        ("x = (a,)\n", "a", "x = ()\n"),
        ("x = a, b\n", "b", "x = a,\n"),
        ("x = a, b,\n", "b", "x = a,\n"),
        ("a, b = x\n", "a", "b, = x\n"),
        ("for a, b in x: pass\n", "b", "for a, in x: pass\n"),
        ("def f():\n    return a, b\n", "b", "def f():\n    return a,\n"),
        ("f((a, b))\n", "b", "f((a,))\n"),
        // No tuples.
        ("x = [a, b]\n", "b", "x = [a]\n"),
        ("f(a, b)\n", "b", "f(a)\n"),
        ("x = {a, b}\n", "b", "x = {a}\n"),
        ("x[a, b]\n", "b", "x[a]\n"),
    ] {
        check("python", source, pat, "", expect);
    }
    for (inner, pat, expect) in [
        ("let x = (a, b);", "b", "let x = (a,);"),
        ("let x = (a, b);", "a", "let x = (b,);"),
        ("let x = (a, b,);", "b", "let x = (a,);"),
        ("let (a, b) = x;", "b", "let (a,) = x;"),
        ("let (a, b, c) = x;", "b", "let (a, c) = x;"),
        ("f(a, b);", "b", "f(a);"),
        ("let S(a, b) = x;", "b", "let S(a) = x;"),
    ] {
        let whole = |inner: &str| format!("fn m() {{ {inner} }}\n");
        check("rust", &whole(inner), pat, "", &whole(expect));
    }
}

#[test]
fn invariant_a7_a_tuple_does_not_become_its_one_item() {
    refused("rust", "fn m() { let x = (a,); }\n", "a");
    refused("swift", "let x = (a, b)\n", "b");
    refused("haskell", "x = (a, b)\n", "b");
    refused("scala", "object A { val x = (a, b) }\n", "b");
    refused("csharp", "class A { void f() { var x = (a, b); } }\n", "b");
    refused("ruby", "a, b = x\n", "b");
    refused("ruby", "x = a, b\n", "b");
    check("scala", "object A { val x = (a, b, c) }\n", "b", "", "object A { val x = (a, c) }\n");
    check("swift", "let x = (a, b, c)\n", "b", "", "let x = (a, c)\n");
    check("ruby", "a, b, c = x\n", "b", "", "a, c = x\n");
}

#[test]
fn case_177_separators_of_every_family() {
    for (lang, source, pat, expect) in [
        ("javascript", "x = [a, , b];\n", "b", "x = [a, ,];\n"),
        ("javascript", "x = [, a];\n", "a", "x = [,];\n"),
        ("javascript", "x = [a, , b];\n", "a", "x = [, b];\n"),
        ("typescript", "let [a, b] = x;\n", "a", "let [b] = x;\n"),
        ("elixir", "x = {a, b}\n", "b", "x = {a}\n"),
        ("elixir", "x = [a, b]\n", "a", "x = [b]\n"),
        ("kotlin", "val x = f(a, b)\n", "b", "val x = f(a)\n"),
        ("ruby", "f a, b\n", "b", "f a\n"),
        ("ruby", "x = [a, b]\n", "a", "x = [b]\n"),
        ("php", "<?php\nlist($a, $b) = $x;\n", "$a", "<?php\nlist($b) = $x;\n"),
        ("cpp", "auto [a, b] = x;\n", "a", "auto [b] = x;\n"),
        ("java", "enum A { X, Y }\n", "Y", "enum A { X }\n"),
        ("nix", "{ a, b }: a\n", "b", "{ a }: a\n"),
        ("nix", "[ a b c ]\n", "b", "[ a c ]\n"),
        ("zig", "const x = .{ a, b };\n", "b", "const x = .{ a };\n"),
        ("haskell", "x = [a, b, c]\n", "b", "x = [a, c]\n"),
        ("yaml", "[a, b]\n", "b", "[a]\n"),
        ("bash", "f a b c\n", "b", "f a c\n"),
        ("go", "package p\n\nvar x = f(a, b)\n", "b", "package p\n\nvar x = f(a)\n"),
    ] {
        check(lang, source, pat, "", expect);
    }
}

// Invariant A9: matching passes over what stands at the end of a block that the pattern closes.
#[test]
fn a1_what_a_match_holds_and_its_pattern_does_not_is_refused() {
    let pat = "if a:\n    x()\nelse:\n    y()";
    let whole = "if a:\n    x()\nelse:\n    y()\n";
    check("python", whole, pat, "z()", "z()\n");
    let more = "if a:\n    x()\n    kept()\nelse:\n    y()\n";
    match run("python", more, pat, "z()") {
        None => {}
        Some(result) => assert_eq!(
            result.unwrap_err().to_string(),
            "ops[0] at lines 1-5 (bytes 0..38, `if a:`) would lose `kept()`, which `pat` neither has nor captures; nothing is staged: capture it with a variable, or write `$$$` in `pat` where it may be lost"
        ),
    }
    // What stands behind the last piece of the pattern is no part of the match.
    check(
        "python",
        "if a:\n    x()\n    kept()\n",
        "if a:\n    x()",
        "if b:\n    x()",
        "if b:\n    x()\n    kept()\n",
    );
}

// ---- Patterns in every family ----

#[test]
fn a1_a_body_is_a_list_in_every_family() {
    for (lang, source, pat, out, expect) in [
        (
            "csharp",
            "class A { void f() { if (a) { g(); h(); } } }\n",
            "if (a) { $$$B }",
            "if (b) { $$$B }",
            "class A { void f() { if (b) { g(); h(); } } }\n",
        ),
        (
            "csharp",
            "class A { public void f() { g(); } }\n",
            "public void f() { $$$B }",
            "public void h() { $$$B }",
            "class A { public void h() { g(); } }\n",
        ),
        (
            "csharp",
            "class A { void f() { g(); } }\n",
            "void f() { $$$B }",
            "void h() { $$$B }",
            "class A { void h() { g(); } }\n",
        ),
        (
            "dart",
            "void f() {\n  g(1);\n  h();\n}\n",
            "void f() { $$$B }",
            "void k() { $$$B }",
            "void k() { g(1);\nh(); }\n",
        ),
        (
            "dart",
            "class A {\n  void f() { g(1); }\n}\n",
            "void f() { $$$B }",
            "void k() { $$$B }",
            "class A {\n  void k() { g(1); }\n}\n",
        ),
        (
            "dart",
            "void f() {\n  old(1);\n}\n",
            "old($A);",
            "fresh($A);",
            "void f() {\n  fresh(1);\n}\n",
        ),
        ("dart", "var x = old(1);\n", "old($A)", "fresh($A)", "var x = fresh(1);\n"),
        (
            "php",
            "<?php\nclass A { function f() { g(); } }\n",
            "function f() { $$$B }",
            "function h() { $$$B }",
            "<?php\nclass A { function h() { g(); } }\n",
        ),
        (
            "lua",
            "local x = { a = 1, b = 2 }\n",
            "{ a = 1, $$$B }",
            "{ $$$B }",
            "local x = { b = 2 }\n",
        ),
        ("lua", "local x = a .. b\n", "a .. $B", "concat(a, $B)", "local x = concat(a, b)\n"),
        ("hcl", "a = old(1)\n", "old($A)", "fresh($A)", "a = fresh(1)\n"),
        (
            "solidity",
            "contract A { function f() public { old(1); } }\n",
            "old($A)",
            "fresh($A)",
            "contract A { function f() public { fresh(1); } }\n",
        ),
        (
            "zig",
            "fn f() void { old(1); }\n",
            "old($A);",
            "fresh($A);",
            "fn f() void { fresh(1); }\n",
        ),
        ("yaml", "{a: 1, b: 2}\n", "b: 2", "b: 3", "{a: 1, b: 3}\n"),
        (
            "kotlin",
            "fun f() { g(1) }\n",
            "fun f() { $$$B }",
            "fun h() { $$$B }",
            "fun h() { g(1) }\n",
        ),
        (
            "swift",
            "func f() { g(1) }\n",
            "func f() { $$$B }",
            "func h() { $$$B }",
            "func h() { g(1) }\n",
        ),
        (
            "scala",
            "object A { def f() = { g(1) } }\n",
            "def f() = { $$$B }",
            "def h() = { $$$B }",
            "object A { def h() = { g(1) } }\n",
        ),
    ] {
        check(lang, source, pat, out, expect);
    }
}
