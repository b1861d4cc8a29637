//! Removing an item with what documents it: a comment or an attribute that stays behind would belong
//! to the next item. What goes is counted as dropped (`CONTRACT A1`, case 177).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, assemble, check_ops, rewrite};

/// Removes `pat` and answers the result and how many comments it cost.
fn removed(lang: &str, source: &str, pat: &str) -> Option<(String, usize)> {
    // A grammar that is not in this build has nothing to test.
    let lang = Lang::named(lang).ok()?;
    let ops = [Op::new(pat, "")];
    check_ops(&ops).unwrap();
    let program = Program::compile(lang, &ops);
    assert_eq!(program.failures(), &[], "{lang:?}: {pat}");
    let rewritten = rewrite(&program, source, usize::MAX)
        .unwrap_or_else(|refusal| panic!("{lang:?}: {pat} on {source}: {refusal}"));
    assert_eq!(rewritten.replacements, 1, "{lang:?}: {pat} in {source}");
    Some((assemble(source, &rewritten.edits), rewritten.dropped))
}

/// `item` with each of `heads` above it goes as a whole, between two others.
#[track_caller]
fn goes_with(lang: &str, around: (&str, &str), item: &str, next: &str, heads: &[(&str, usize)]) {
    let (before, after) = around;
    for (head, comments) in heads {
        let source = format!("{before}{head}{item}\n{next}{after}");
        let expect = format!("{before}{next}{after}");
        if let Some(result) = removed(lang, &source, item.trim().trim_end_matches([',', ';'])) {
            assert_eq!(result, (expect, *comments), "{lang}: {source}");
        }
    }
}

/// What stands above `item` stays.
#[track_caller]
fn stays(lang: &str, around: (&str, &str), item: &str, next: &str, heads: &[&str]) {
    let (before, after) = around;
    for head in heads {
        let source = format!("{before}{head}{item}\n{next}{after}");
        let expect = format!("{before}{head}{next}{after}");
        if let Some(result) = removed(lang, &source, item.trim().trim_end_matches([',', ';'])) {
            assert_eq!(result, (expect, 0), "{lang}: {source}");
        }
    }
}

#[test]
fn case_177_a_removed_item_takes_its_documentation_along() {
    let file = ("", "");
    let class = ("class A {\n", "}\n");
    goes_with(
        "rust",
        file,
        "fn a() {}",
        "fn b() {}\n",
        &[
            ("/// One.\n", 1),
            ("/// One.\n/// Two.\n", 2),
            ("/** One. */\n", 1),
            ("/// One.\n\n", 1),
            ("#[a]\n/// One.\n#[b(c)]\n", 1),
            ("#[derive(Debug)]\n", 0),
        ],
    );
    goes_with(
        "rust",
        ("struct S {\n", "}\n"),
        "    a: u8,",
        "    b: u8,\n",
        &[("    /// A.\n", 1)],
    );
    goes_with(
        "rust",
        ("enum E {\n    X,\n", "}\n"),
        "    A,",
        "    B,\n",
        &[("    /// A.\n    #[a]\n", 1)],
    );
    let jsdoc: &[(&str, usize)] = &[("/** One. */\n", 1), ("/**\n * One.\n * @x\n */\n", 1)];
    for lang in ["javascript", "typescript", "tsx"] {
        goes_with(lang, file, "function a() {}", "function b() {}\n", jsdoc);
        goes_with(lang, class, "  f() {}", "  g() {}\n", &[("  /** F. */\n", 1)]);
    }
    goes_with("typescript", file, "const a = 1;", "const b = 2;\n", &[("/** One. */\nexport ", 1)]);
    goes_with(
        "typescript",
        class,
        "  f() {}",
        "  g() {}\n",
        &[("  /** F. */\n  @D()\n", 1), ("  @D()\n", 0)],
    );
    goes_with(
        "typescript",
        ("interface I {\n", "}\n"),
        "  a: string;",
        "  b: string;\n",
        &[("  /** A. */\n", 1)],
    );
    goes_with("java", class, "    void f() {}", "    void g() {}\n", &[("    /** F. */\n", 1)]);
    goes_with("kotlin", file, "fun f() {}", "fun g() {}\n", &[("/** F. */\n", 1)]);
    goes_with(
        "scala",
        ("object A {\n", "}\n"),
        "  def f() = 1",
        "  def g() = 2\n",
        &[("  /** F. */\n", 1)],
    );
    goes_with(
        "php",
        ("<?php\n", ""),
        "function f() {}",
        "function g() {}\n",
        &[("/** F. */\n", 1)],
    );
    goes_with(
        "swift",
        file,
        "func f() {}",
        "func g() {}\n",
        &[("/// F.\n", 1), ("/** F. */\n", 1)],
    );
    for lang in ["c", "cpp"] {
        let heads =
            &[("/// F.\n/// F.\n", 2), ("/** F. */\n", 1), ("/*! F. */\n", 1), ("//! F.\n", 1)];
        goes_with(lang, file, "void f(void) {}", "void g(void) {}\n", heads);
    }
    goes_with("zig", file, "fn f() void {}", "fn g() void {}\n", &[("/// F.\n", 1)]);
    goes_with(
        "solidity",
        file,
        "contract A {}",
        "contract B {}\n",
        &[("/// A.\n", 1), ("/** A. */\n", 1)],
    );
    goes_with(
        "lua",
        file,
        "function f() end",
        "function g() end\n",
        &[("--- F.\n-- @param x\n", 2)],
    );
    goes_with("ruby", file, "def f\nend", "def g\nend\n", &[("# F.\n# More.\n", 2)]);
    goes_with(
        "go",
        ("package p\n\n", ""),
        "func f() {}",
        "func g() {}\n",
        &[("// F.\n// More.\n", 2)],
    );
    goes_with(
        "python",
        file,
        "def f(): pass",
        "def g(): pass\n",
        &[("@a\n@b(c)\n", 0), ("@a\n# F.\n@b\n", 1)],
    );
    goes_with(
        "elixir",
        ("defmodule A do\n", "end\n"),
        "  def f do\n    1\n  end",
        "  def g do\n    2\n  end\n",
        &[("  @doc \"F.\"\n  @spec f() :: integer\n", 0), ("  @impl true\n", 0)],
    );
}

#[test]
fn case_177_comments_that_document_nothing_stay() {
    let file = ("", "");
    stays(
        "rust",
        file,
        "fn a() {}",
        "fn b() {}\n",
        &["// Plain.\n", "//! Of the file.\n", "//// Plain.\n"],
    );
    for lang in ["javascript", "typescript"] {
        stays(
            lang,
            file,
            "function a() {}",
            "function b() {}\n",
            &["// Plain.\n", "/** @license */\n\n"],
        );
        // Behind something on its line, it is about that.
        stays(lang, file, "function a() {}", "function b() {}\n", &["x(); /** About x. */\n"]);
    }
    stays(
        "c",
        file,
        "void f(void) {}",
        "void g(void) {}\n",
        &["int x; ///< About x.\n", "/* Plain. */\n"],
    );
    stays("go", ("package p\n\n", ""), "func f() {}", "func g() {}\n", &["//go:build linux\n\n"]);
    stays("python", file, "f(1)", "g(1)\n", &["# Plain.\n"]);
    stays("ruby", file, "f(1)", "g(1)\n", &["# Plain.\n"]);
}
