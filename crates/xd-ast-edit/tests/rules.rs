//! The rewriter's rules on sources alone: captures, indentation, separators, nesting, refusals.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, Refusal, Rewritten, assemble, check_ops, rewrite};

fn run(lang: &str, source: &str, ops: &[(&str, &str)]) -> Result<(Rewritten, String), Refusal> {
    let ops: Vec<Op> = ops.iter().map(|(pat, out)| Op::new(*pat, *out)).collect();
    check_ops(&ops).unwrap();
    let program = Program::compile(Lang::named(lang).unwrap(), &ops);
    assert_eq!(program.failures(), &[], "{lang}: {ops:?}");
    let rewritten = rewrite(&program, source, usize::MAX)?;
    let result = assemble(source, &rewritten.edits);
    // Invariant A3.
    assert!(rewritten.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    Ok((rewritten, result))
}

#[track_caller]
fn check(lang: &str, source: &str, ops: &[(&str, &str)], expect: &str) -> Rewritten {
    let (rewritten, result) =
        run(lang, source, ops).unwrap_or_else(|refusal| panic!("{lang}: {refusal}"));
    assert_eq!(result, expect, "{lang}: {ops:?} on\n{source}");
    rewritten
}

#[track_caller]
fn refused(lang: &str, source: &str, ops: &[(&str, &str)]) -> Refusal {
    match run(lang, source, ops) {
        Ok((_, result)) => panic!("{lang}: {ops:?} was not refused: {result}"),
        Err(refusal) => refusal,
    }
}

// ---- Patterns and captures (CONTRACT A1) ----

#[test]
fn a1_one_pattern_in_each_language() {
    for lang in ["rust", "python", "typescript", "tsx", "javascript", "go", "java", "c", "cpp"] {
        let body = |call: &str| match lang {
            "go" => format!("package p\n\nfunc f() {{\n\t{call}\n}}\n"),
            "java" => format!("class A {{ void f() {{ {call}; }} }}\n"),
            "rust" | "c" | "cpp" => {
                format!("{} f() {{ {call}; }}\n", if lang == "rust" { "fn" } else { "void" })
            }
            _ => format!("{call}\n"),
        };
        let rewritten = check(
            lang,
            &body("oldApi(x, y)"),
            &[("oldApi($$$ARGS)", "newApi($$$ARGS)")],
            &body("newApi(x, y)"),
        );
        assert_eq!(rewritten.replacements, 1, "{lang}");
    }
    check("bash", "echo hi\nls -l\n", &[("ls -l", "ls -la")], "echo hi\nls -la\n");
    check("json", "{\"a\": 1, \"b\": 1}\n", &[("\"a\"", "\"z\"")], "{\"z\": 1, \"b\": 1}\n");
    check("css", "a { color: red; }\n", &[("color: red;", "color: blue;")], "a { color: blue; }\n");
    check(
        "html",
        "<b>x</b><i>y</i>\n",
        &[("<b>$X</b>", "<strong>$X</strong>")],
        "<strong>x</strong><i>y</i>\n",
    );
}

#[test]
fn a1_the_same_name_twice_matches_the_same_code() {
    let rewritten = check(
        "javascript",
        "a == a; a == b; f(1) == f( 1 );\n",
        &[("$A == $A", "true")],
        "true; a == b; true;\n",
    );
    assert_eq!(rewritten.replacements, 2);
    check(
        "rust",
        "fn f() { g(x, x); g(x, y); }\n",
        &[("g($A, $A)", "h($A)")],
        "fn f() { h(x); g(x, y); }\n",
    );
}

#[test]
fn a1_unnamed_variables_match_anything_each() {
    check("python", "f(1, 2)\nf(1)\n", &[("f($_, $_)", "g()")], "g()\nf(1)\n");
    check("typescript", "f(1, 2); f();\n", &[("f($$$)", "g()")], "g(); g();\n");
}

#[test]
fn a1_captured_text_is_inserted_literally_and_once() {
    // A capture that looks like a variable, or like an escape, is not read again.
    check(
        "javascript",
        "f('$B', $$A);\n",
        &[("f($A, $B)", "g($A, $B, $A)")],
        "g('$B', $$A, '$B');\n",
    );
    check("javascript", "f(`${x} $$$Y`);\n", &[("f($A)", "g($A)")], "g(`${x} $$$Y`);\n");
    check("python", "f('$A')\n", &[("f($A)", "g($A)")], "g('$A')\n");
}

#[test]
fn a1_go_calls_are_calls() {
    // At the top of a file `fmt.Println(x)` is a conversion; a pattern means the call.
    check(
        "go",
        "package p\n\nfunc f() {\n\tfmt.Println(a)\n\tx := len(b)\n}\n",
        &[("fmt.Println($A)", "log.Print($A)"), ("$X := len($Y)", "$X := size($Y)")],
        "package p\n\nfunc f() {\n\tlog.Print(a)\n\tx := size(b)\n}\n",
    );
}

#[test]
fn a1_members_parse_in_their_context() {
    check(
        "typescript",
        "class A {\n  private x = 1;\n  get y() { return 2; }\n}\n",
        &[("get $N() { $$$B }", "get $N(): number { $$$B }")],
        "class A {\n  private x = 1;\n  get y(): number { return 2; }\n}\n",
    );
    check(
        "css",
        "a { color: red; margin: 0 }\n",
        &[("margin: 0", "margin: 1px")],
        "a { color: red; margin: 1px }\n",
    );
    check(
        "java",
        "class A {\n    private int x = 1;\n}\n",
        &[("private int $N = $V;", "private long $N = $V;")],
        "class A {\n    private long x = 1;\n}\n",
    );
}

#[test]
fn a1_lists_stand_for_bodies_in_every_grammar() {
    check(
        "java",
        "class A {\n  public void f() {\n    if (a) {\n      g(1);\n      h();\n    }\n  }\n}\n",
        &[("if (a) { $$$B }", "if (b) {\n  $$$B\n}")],
        "class A {\n  public void f() {\n    if (b) {\n      g(1);\n      h();\n    }\n  }\n}\n",
    );
    check(
        "cpp",
        "void f() {\n  a();\n  b();\n}\n",
        &[("void f() { $$$B }", "void g() {\n  $$$B\n}")],
        "void g() {\n  a();\n  b();\n}\n",
    );
    check(
        "go",
        "package p\n\nfunc (s *S) F(a int) error {\n\treturn nil\n}\n",
        &[("func (s *S) F(a int) error { $$$B }", "func (s *S) G(a int) error {\n    $$$B\n}")],
        "package p\n\nfunc (s *S) G(a int) error {\n\treturn nil\n}\n",
    );
    check(
        "rust",
        "struct S {\n    a: u8,\n}\n",
        &[("struct S { $$$F }", "struct T { $$$F }")],
        "struct T { a: u8, }\n",
    );
    check(
        "python",
        "try:\n    a()\nexcept E:\n    b()\n",
        &[("except E:\n    $$$B", "except F:\n    $$$B")],
        "try:\n    a()\nexcept F:\n    b()\n",
    );
    check(
        "javascript",
        "switch (x) { case 1: a(); break; default: b() }\n",
        &[("switch (x) { $$$B }", "switch (y) { $$$B }")],
        "switch (y) { case 1: a(); break; default: b() }\n",
    );
}

#[test]
fn a1_a_list_behind_a_comma_may_be_empty() {
    let rewritten = check(
        "typescript",
        "log(a); log(a, b); log(a, b, c); log();\n",
        &[("log($M, $$$REST)", "warn($M, $$$REST)")],
        "warn(a); warn(a, b); warn(a, b, c); log();\n",
    );
    assert_eq!(rewritten.replacements, 3);
}

// ---- Indentation (cases 171, 173, 187) ----

#[test]
fn case_171_a_captured_block_is_indented_where_it_lands() {
    check(
        "python",
        "if x:\n    class A:\n        def f(self):\n            return 1\n\n        y = 2\n",
        &[("class $N:\n    $$$BODY", "class $N(Base):\n    z = 0\n    $$$BODY")],
        "if x:\n    class A(Base):\n        z = 0\n        def f(self):\n            return 1\n\n        y = 2\n",
    );
    // Out of two levels into one, and one level deeper.
    check(
        "python",
        "def f():\n    if a:\n        if b:\n            x()\n            y()\n",
        &[("if a:\n    if b:\n        $$$BODY", "if a and b:\n    $$$BODY")],
        "def f():\n    if a and b:\n        x()\n        y()\n",
    );
    check(
        "python",
        "def f():\n    with a:\n        x()\n        if c:\n            y()\n",
        &[("with a:\n    $$$BODY", "try:\n    with a:\n        $$$BODY\nfinally:\n    close()")],
        "def f():\n    try:\n        with a:\n            x()\n            if c:\n                y()\n    finally:\n        close()\n",
    );
}

#[test]
fn case_171_also_with_braces_and_tabs() {
    check(
        "go",
        "package p\n\nfunc f() {\n\tif a {\n\t\tx()\n\t\ty()\n\t}\n}\n",
        &[("if a {\n  $$$BODY\n}", "for a {\n  start()\n  $$$BODY\n}")],
        "package p\n\nfunc f() {\n\tfor a {\n\t\tstart()\n\t\tx()\n\t\ty()\n\t}\n}\n",
    );
    check(
        "typescript",
        "function f() {\n  if (a) {\n    x();\n    y();\n  }\n}\n",
        &[("if (a) { $$$BODY }", "if (a) {\n  try {\n    $$$BODY\n  } finally {\n  }\n}")],
        "function f() {\n  if (a) {\n    try {\n      x();\n      y();\n    } finally {\n    }\n  }\n}\n",
    );
    check(
        "rust",
        "mod m {\n    fn f() {\n        g(|| {\n            x();\n        });\n    }\n}\n",
        &[("g($C)", "h(\n    $C,\n)")],
        "mod m {\n    fn f() {\n        h(\n            || {\n                x();\n            },\n        );\n    }\n}\n",
    );
}

#[test]
fn case_173_blank_lines_stay_empty_and_comments_stay_where_they_are() {
    let rewritten = check(
        "python",
        "def f():\n    if a:\n        x()\n\n# left\n        y()\n",
        &[("if a:\n    $$$BODY", "if a:\n    if b:\n        $$$BODY")],
        "def f():\n    if a:\n        if b:\n            x()\n\n# left\n            y()\n",
    );
    assert_eq!(rewritten.dropped, 0);
    // A blank line of the template gets no trailing space either.
    check("javascript", "  a();\n", &[("a();", "b();\n\nc();")], "  b();\n\n  c();\n");
}

#[test]
fn a1_whitespace_inside_strings_does_not_move() {
    check(
        "python",
        "if a:\n    f(\"\"\"\n    text\n      more\n    \"\"\")\n",
        &[("f($S)", "g(\n    $S,\n)")],
        "if a:\n    g(\n        \"\"\"\n    text\n      more\n    \"\"\",\n    )\n",
    );
    check(
        "javascript",
        "  f(`a\n  ${b}\n  c`);\n",
        &[("f($S);", "if (x) {\n  f($S);\n}")],
        "  if (x) {\n    f(`a\n  ${b}\n  c`);\n  }\n",
    );
    check(
        "rust",
        "fn f() {\n    g(\"a\n    b\", || {\n        c()\n    });\n}\n",
        &[("g($A, $B)", "{\n    h($A, $B)\n}")],
        "fn f() {\n    {\n        h(\"a\n    b\", || {\n            c()\n        })\n    };\n}\n",
    );
}

#[test]
fn case_187_later_matches_are_right_after_shrinking_and_growing() {
    check(
        "typescript",
        "f(\n  a,\n  b\n);\nf(\n  c,\n  d\n);\nlast();\n",
        &[("f($A, $B)", "g($A, $B)")],
        "g(a, b);\ng(c, d);\nlast();\n",
    );
    check(
        "python",
        "f(1)\nf(2)\nlast()\n",
        &[("f($A)", "g(\n    $A,\n)")],
        "g(\n    1,\n)\ng(\n    2,\n)\nlast()\n",
    );
}

// ---- Line endings (cases 139, 153) ----

#[test]
fn case_139_inserted_lines_end_as_the_file_does() {
    check(
        "javascript",
        "if (x) {\r\n  a();\r\n}\r\n",
        &[("a();", "b();\nc();")],
        "if (x) {\r\n  b();\r\n  c();\r\n}\r\n",
    );
    // Mixed: the line of the match decides, and nothing else is touched.
    check(
        "javascript",
        "a();\r\nx();\na();\n",
        &[("a();", "b();\nc();")],
        "b();\r\nc();\r\nx();\nb();\nc();\n",
    );
}

#[test]
fn case_153_patterns_written_with_lf_match_crlf() {
    check(
        "python",
        "if a:\r\n    x()\r\n    y()\r\nz()\r\n",
        &[("if a:\n    x()\n    y()", "if b:\n    y()")],
        "if b:\r\n    y()\r\nz()\r\n",
    );
    // Also where the line break is inside a token.
    check("javascript", "f(`a\r\nb`);\r\n", &[("f(`a\nb`)", "g()")], "g();\r\n");
    check(
        "rust",
        "fn f() { g(\"a\r\nb\"); }\r\n",
        &[("g(\"a\nb\")", "h()")],
        "fn f() { h(); }\r\n",
    );
}

// ---- Removal (case 177) ----

#[test]
fn case_177_a_removed_list_item_takes_its_separator() {
    for (lang, before, after) in [
        ("typescript", "import { ", " } from 'm';\n"),
        ("javascript", "f([", "]);\n"),
        ("python", "x = [", "]\n"),
        ("rust", "use m::{", "};\n"),
        ("go", "package p\n\nfunc f() {\n\tg(", ")\n}\n"),
        ("java", "class A { void f() { g(", "); } }\n"),
        ("json", "[", "]\n"),
    ] {
        let item = |name: &'static str| {
            if lang == "json" { "\"a\"".replace('a', name) } else { name.to_owned() }
        };
        let (a, b, c) = (item("a"), item("b"), item("c"));
        let list = |items: &[&String]| {
            let items: Vec<&str> = items.iter().map(|item| item.as_str()).collect();
            format!("{before}{}{after}", items.join(", "))
        };
        let gone = |name: &str| vec![(name.to_owned(), String::new())];
        let ops = |gone: &[(String, String)]| -> Vec<(String, String)> { gone.to_vec() };
        let verify = |source: String, names: &[&String], expect: String| {
            let all: Vec<(String, String)> =
                names.iter().flat_map(|name| ops(&gone(name))).collect();
            let all: Vec<(&str, &str)> =
                all.iter().map(|(pat, out)| (pat.as_str(), out.as_str())).collect();
            check(lang, &source, &all, &expect);
        };
        let full = list(&[&a, &b, &c]);
        verify(full.clone(), &[&a], list(&[&b, &c]));
        verify(full.clone(), &[&b], list(&[&a, &c]));
        verify(full.clone(), &[&c], list(&[&a, &b]));
        verify(full.clone(), &[&a, &b], list(&[&c]));
        verify(full.clone(), &[&b, &c], list(&[&a]));
        verify(full, &[&a, &c], list(&[&b]));
        let one = list(&[&a]);
        let empty =
            if lang == "typescript" { "import { } from 'm';\n".to_owned() } else { list(&[]) };
        verify(one, &[&a], empty);
    }
}

#[test]
fn case_177_lists_over_several_lines_and_with_a_trailing_comma() {
    let source = "f(\n    a,\n    b,\n    c,\n)\n";
    check("python", source, &[("a", "")], "f(\n    b,\n    c,\n)\n");
    check("python", source, &[("c", "")], "f(\n    a,\n    b,\n)\n");
    check("python", source, &[("b", ""), ("c", "")], "f(\n    a,\n)\n");
    check("typescript", "f([a, b,]);\n", &[("b", "")], "f([a,]);\n");
    check("typescript", "f([\n  a,\n  b\n]);\n", &[("b", "")], "f([\n  a\n]);\n");
    check(
        "rust",
        "enum E {\n    A,\n    #[x]\n    B,\n    C,\n}\n",
        &[("B", "")],
        "enum E {\n    A,\n    C,\n}\n",
    );
    check("rust", "struct S { a: u8, b: u8 }\n", &[("a: u8", "")], "struct S { b: u8 }\n");
    check("rust", "fn f(a: u8, b: u8) {}\n", &[("b: u8", "")], "fn f(a: u8) {}\n");
    // The grammar counts the comma to the arm.
    check(
        "rust",
        "fn f() { match x { A => 1, B => 2, } }\n",
        &[("A => 1", "")],
        "fn f() { match x { B => 2, } }\n",
    );
    check(
        "go",
        "package p\n\nvar x = T{A: 1, B: 2}\n",
        &[("A: 1", "")],
        "package p\n\nvar x = T{B: 2}\n",
    );
    check("json", "{\"a\": 1, \"b\": 2}\n", &[("\"b\": 2", "")], "{\"a\": 1}\n");
}

#[test]
fn case_177_the_only_name_of_a_python_or_go_import_takes_the_import() {
    check("python", "from m import a\nx = 1\n", &[("a", "")], "x = 1\n");
    check("python", "from m import a, b\nx = 1\n", &[("a", "")], "from m import b\nx = 1\n");
    check("python", "from m import a, b\nx = 1\n", &[("a", ""), ("b", "")], "x = 1\n");
    check(
        "go",
        "package p\n\nimport \"fmt\"\n\nvar x = 1\n",
        &[("\"fmt\"", "")],
        "package p\n\n\nvar x = 1\n",
    );
    check(
        "go",
        "package p\n\nimport (\n\t\"a\"\n\t\"b\"\n)\n",
        &[("\"a\"", "")],
        "package p\n\nimport (\n\t\"b\"\n)\n",
    );
}

#[test]
fn case_177_comments_between_items_stay() {
    let rewritten = check(
        "javascript",
        "f([\n  a, // about a\n  // about b\n  b\n]);\n",
        &[("b", "")],
        "f([\n  a // about a\n  // about b\n]);\n",
    );
    assert_eq!(rewritten.dropped, 0);
}

#[test]
fn a1_a_removed_statement_takes_its_terminator_and_line() {
    check("javascript", "a();\ndebug(1);\nb();\n", &[("debug($A)", "")], "a();\nb();\n");
    check("javascript", "a(); debug(1); b();\n", &[("debug($A);", "")], "a(); b();\n");
    check(
        "rust",
        "fn f() {\n    a();\n    debug(1);\n}\n",
        &[("debug($A);", "")],
        "fn f() {\n    a();\n}\n",
    );
    check("rust", "fn f() {\n    debug(1);\n}\n", &[("debug($A)", "")], "fn f() {\n}\n");
    check("rust", "#[test]\nfn a() {}\nfn b() {}\n", &[("fn a() {}", "")], "fn b() {}\n");
    check("python", "a()\ndebug(1)\nb()\n", &[("debug($A)", "")], "a()\nb()\n");
    check("python", "a(); debug(1); b()\n", &[("debug($A)", "")], "a(); b()\n");
    check(
        "go",
        "package p\n\nfunc f() {\n\ta()\n\tdebug(1)\n}\n",
        &[("debug($A)", "")],
        "package p\n\nfunc f() {\n\ta()\n}\n",
    );
    check(
        "typescript",
        "interface I { a: string; b: number }\n",
        &[("a: string", "")],
        "interface I { b: number }\n",
    );
    // No final line break before, none after.
    check("javascript", "a();\ndebug(1);", &[("debug($A);", "")], "a();");
    check("javascript", "a();\r\ndebug(1);\r\nb();\r\n", &[("debug($A);", "")], "a();\r\nb();\r\n");
}

#[test]
fn case_177_an_emptied_python_body_is_refused() {
    let refusal = refused("python", "def f():\n    debug(1)\nx = 1\n", &[("debug($A)", "")]);
    assert!(matches!(refusal, Refusal::ResultDoesNotParse { source_line: 2, .. }), "{refusal}");
}

// ---- Empty lists and terminators (case 179) ----

#[test]
fn case_179_an_empty_list_leaves_no_comma() {
    let ops = [("call($$$A, k=1, $$$B)", "call($$$A, k=2, $$$B)")];
    check("python", "call(x, k=1)\n", &ops, "call(x, k=2)\n");
    check("python", "call(k=1, y=2)\n", &ops, "call(k=2, y=2)\n");
    check("python", "call(k=1)\n", &ops, "call(k=2)\n");
    check("python", "call(x, k=1, y=2)\n", &ops, "call(x, k=2, y=2)\n");
    let ops = [("f($$$A)", "g($$$A, x)")];
    check("javascript", "f(); f(1); f(1, 2,);\n", &ops, "g(x); g(1, x); g(1, 2, x);\n");
    let ops = [("f($$$A)", "g(x, $$$A)")];
    check(
        "go",
        "package p\n\nvar _ = f()\nvar _ = f(1)\n",
        &ops,
        "package p\n\nvar _ = g(x)\nvar _ = g(x, 1)\n",
    );
    let ops = [("f($$$A)", "g(\n    x,\n    $$$A\n)")];
    check("rust", "fn m() {\n    f();\n}\n", &ops, "fn m() {\n    g(\n        x\n    );\n}\n");
    check("typescript", "f({ }); f({ a });\n", &[("f({ $$$A })", "g([$$$A])")], "g([]); g([a]);\n");
    check("typescript", "f();\n", &[("f($$$A)", "g($$$A, $$$A)")], "g();\n");
    check(
        "typescript",
        "function f() {}\n",
        &[("function f() { $$$B }", "function g() {\n  $$$B\n}")],
        "function g() {\n}\n",
    );
}

#[test]
fn a1_terminators_are_not_doubled() {
    check(
        "typescript",
        "foo(1);\nx = foo(2);\n",
        &[("foo($A)", "bar($A);")],
        "bar(1);\nx = bar(2);\n",
    );
    check("javascript", "var a = 1;\n", &[("var $A = $B", "let $A = $B;")], "let a = 1;\n");
    check("rust", "fn f() { foo(1); }\n", &[("foo($A)", "bar($A);")], "fn f() { bar(1); }\n");
    check("rust", "fn f() { foo(1); }\n", &[("foo($A);", "bar($A);")], "fn f() { bar(1); }\n");
    check("python", "f(a, b)\n", &[("a", "c,")], "f(c, b)\n");
    // ASI: nothing to double.
    check("javascript", "foo(1)\nb()\n", &[("foo($A)", "bar($A);")], "bar(1);\nb()\n");
}

// ---- Comments ----

#[test]
fn a3_comments_that_a_rewrite_drops_are_counted_with_their_place() {
    let rewritten = check(
        "typescript",
        "x();\nf(/* one */ a, // two\n  b);\n",
        &[("f($A, $B)", "g($A, $B)")],
        "x();\ng(a, b);\n",
    );
    assert_eq!(rewritten.dropped, 2);
    let told: Vec<_> = rewritten
        .dropped_comments
        .iter()
        .map(|comment| (comment.line, comment.text.as_str()))
        .collect();
    assert_eq!(told, [(2, "/* one */ a, // two"), (2, "// two")]);
    // Inside a capture they are kept, and outside of the match they are no matter.
    let rewritten = check(
        "rust",
        "// a\nfn m() { f(|| { /* in */ 1 }); }\n",
        &[("f($A)", "g($A)")],
        "// a\nfn m() { g(|| { /* in */ 1 }); }\n",
    );
    assert_eq!(rewritten.dropped, 0);
    let rewritten = check(
        "python",
        "def f():\n    # why\n    a()\n    b()\n",
        &[("def f():\n    $$$B", "")],
        "",
    );
    assert_eq!((rewritten.dropped, rewritten.replacements), (1, 1));
}

// ---- Nesting, growth, order and overlap (cases 9, 175, 189; CONTRACT A5) ----

#[test]
fn case_175_outermost_only_and_the_rest_is_counted() {
    let rewritten = check("python", "f(f(x))\n", &[("f($A)", "g($A)")], "g(f(x))\n");
    assert_eq!((rewritten.replacements, rewritten.nested), (1, 1));
    let rewritten = check(
        "rust",
        "fn m() { Some(Some(Some(1))); Some(2); }\n",
        &[("Some($A)", "$A")],
        "fn m() { Some(Some(1)); 2; }\n",
    );
    assert_eq!((rewritten.replacements, rewritten.nested), (2, 2));
    // A chained `else if` is behind the first match, not inside it.
    let rewritten = check(
        "javascript",
        "if (a) { x() } else if (b) { y() }\n",
        &[("if ($C) { $$$B }", "if (!$C) { $$$B }")],
        "if (!a) { x() } else if (!b) { y() }\n",
    );
    assert_eq!((rewritten.replacements, rewritten.nested), (2, 0));
}

#[test]
fn case_189_one_pass_and_a_second_run_is_told_as_growing() {
    let ops = [("f($A)", "wrap(f($A))")];
    let first = check("typescript", "f(1);\nf(2);\n", &ops, "wrap(f(1));\nwrap(f(2));\n");
    assert_eq!((first.replacements, first.regrown), (2, 0));
    let second =
        check("typescript", "wrap(f(1));\nf(2);\n", &ops, "wrap(wrap(f(1)));\nwrap(f(2));\n");
    assert_eq!((second.replacements, second.regrown), (2, 1));
    let ops: Vec<Op> = ops.iter().map(|(pat, out)| Op::new(*pat, *out)).collect();
    let program = Program::compile(Lang::named("typescript").unwrap(), &ops);
    assert_eq!(program.regrowing().collect::<Vec<_>>(), [0]);
    let program =
        Program::compile(Lang::named("typescript").unwrap(), &[Op::new("f($A)", "g($A)")]);
    assert_eq!(program.regrowing().count(), 0);
}

#[test]
fn case_009_overlapping_ops_are_refused_with_both_ranges() {
    let source = "x();\nfoo(bar(1));\n";
    let refusal =
        refused("javascript", source, &[("foo($A)", "foo2($A)"), ("bar($A)", "bar2($A)")]);
    let Refusal::Overlap { first, second } = &refusal else { panic!("{refusal}") };
    assert_eq!((first.op, first.range.clone(), first.lines), (0, 5..16, (2, 2)));
    assert_eq!((second.op, second.range.clone(), second.lines), (1, 9..15, (2, 2)));
    assert_eq!(
        refusal.to_string(),
        "two ops change the same code: ops[0] at line 2 (bytes 5..16, `foo(bar(1));`) and ops[1] at line 2 (bytes 9..15, `bar(1));`); stage one, apply it, then stage the other"
    );
    // Also where both match one node.
    let refusal = refused("python", "f(1)\n", &[("f($A)", "g($A)"), ("f(1)", "h()")]);
    assert!(matches!(refusal, Refusal::Overlap { .. }), "{refusal}");
    // Neighbours are no overlap.
    check(
        "rust",
        "fn m() { a(); b(); }\n",
        &[("a()", "c()"), ("b()", "d()")],
        "fn m() { c(); d(); }\n",
    );
}

#[test]
fn a5_ops_see_the_source_and_not_each_other() {
    let rewritten = check("python", "a()\nb()\n", &[("b()", "a()"), ("a()", "b()")], "b()\na()\n");
    assert_eq!(rewritten.by_op, [1, 1]);
}

#[test]
fn case_025_a_rewrite_into_the_same_text_is_no_replacement() {
    let rewritten = check(
        "rust",
        "fn m() { f(1); f(g(2)); }\n",
        &[("f($A)", "f($A)")],
        "fn m() { f(1); f(g(2)); }\n",
    );
    assert_eq!((rewritten.replacements, rewritten.unchanged, rewritten.edits.len()), (0, 2, 0));
}

// ---- Offsets (case 183) ----

#[test]
fn case_183_offsets_are_bytes() {
    for prefix in ["é", "😀😀", "👨‍👩‍👧 ü", "\u{feff}", "日本語"] {
        let source = format!("x = '{prefix}'; f('{prefix}', 1); // {prefix}\n");
        let expect = format!("x = '{prefix}'; g(1, '{prefix}'); // {prefix}\n");
        check("javascript", &source, &[("f($A, $B)", "g($B, $A)")], &expect);
        let source = format!("x = '{prefix}'; f('{prefix}', 1) # {prefix}\n");
        let expect = format!("x = '{prefix}'; g(1, '{prefix}') # {prefix}\n");
        check("python", &source, &[("f($A, $B)", "g($B, $A)")], &expect);
    }
    check("javascript", "\u{feff}f(1);\n", &[("f($A)", "g($A)")], "\u{feff}g(1);\n");
}

// ---- Refusals ----

#[test]
fn a4_a_source_that_does_not_parse_is_left_alone() {
    let refusal = refused("rust", "fn m() {\n    f(1);\n    let = ;\n}\n", &[("f($A)", "g($A)")]);
    assert!(matches!(refusal, Refusal::SourceDoesNotParse { line: 3, .. }), "{refusal}");
    let refusal = refused("python", "f(1)\ndef g(:\n", &[("f($A)", "g($A)")]);
    assert!(matches!(refusal, Refusal::SourceDoesNotParse { line: 2, .. }), "{refusal}");
}

#[test]
fn case_153_a_result_that_would_not_parse_is_refused() {
    // Invariant A4.
    let refusal = refused("rust", "fn m() {\n    f(1);\n    f(2);\n}\n", &[("f(2)", "g(")]);
    let Refusal::ResultDoesNotParse { source_line, op, .. } = refusal else { panic!("{refusal}") };
    assert_eq!((source_line, op), (3, 0));
    // The match leaves an `else` behind that belongs to nothing.
    let refusal =
        refused("javascript", "if (a) { x() } else { y() }\n", &[("if (a) { $$$B }", "")]);
    assert!(matches!(refusal, Refusal::ResultDoesNotParse { .. }), "{refusal}");
}

// ---- Depth and size (case 27) ----

/// Runs on a stack of the size that callers have to give.
fn on_a_large_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 * 1024 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a4_very_deep_input_does_not_crash() {
    on_a_large_stack(|| {
        let deep = |inner: &str| format!("{}{inner}{}\n", "(".repeat(100_000), ")".repeat(100_000));
        let (source, expect) = (deep("old(1)"), deep("fresh(1)"));
        for lang in ["javascript", "python"] {
            let (rewritten, result) = run(lang, &source, &[("old($A)", "fresh($A)")]).unwrap();
            assert_eq!(rewritten.replacements, 1, "{lang}");
            assert!(result == expect, "{lang}");
        }
        // Comparing whole subtrees recurses, so there is a bound.
        let same = format!("old({0}, {0});\n", deep("x").trim());
        let refusal = refused("javascript", &same, &[("old($A, $A)", "fresh($A)")]);
        assert!(matches!(refusal, Refusal::TooDeep { .. }), "{refusal}");
        let below = format!("{}x{}", "[".repeat(4_000), "]".repeat(4_000));
        check(
            "javascript",
            &format!("old({below}, {below});\n"),
            &[("old($A, $A)", "fresh($A)")],
            &format!("fresh({below});\n"),
        );
    });
}

#[test]
fn case_027_assembly_is_one_pass() {
    let source: String = (0..20_000).map(|n| format!("old({n});\n")).collect();
    let expect: String = (0..20_000).map(|n| format!("fresh_name({n});\n")).collect();
    let rewritten = check("javascript", &source, &[("old($A)", "fresh_name($A)")], &expect);
    assert_eq!(rewritten.replacements, 20_000);
    // Invariant A3.
    assert!(rewritten.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    // And so is removal.
    let rewritten = check("javascript", &source, &[("old($A)", "")], "");
    assert_eq!(rewritten.replacements, 20_000);
}

#[test]
fn a2_the_limit_is_kept_and_said() {
    let program = Program::compile(Lang::named("python").unwrap(), &[Op::new("f($A)", "g($A)")]);
    let rewritten = rewrite(&program, "f(1)\nf(2)\nf(3)\n", 2).unwrap();
    assert_eq!((rewritten.replacements, rewritten.capped), (2, true));
    assert_eq!(assemble("f(1)\nf(2)\nf(3)\n", &rewritten.edits), "g(1)\ng(2)\nf(3)\n");
    let rewritten = rewrite(&program, "f(1)\nf(2)\n", 2).unwrap();
    assert_eq!((rewritten.replacements, rewritten.capped), (2, false));
}
