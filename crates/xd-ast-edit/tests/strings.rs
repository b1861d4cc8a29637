//! What is inside a string does not move, whatever moves around it (`CONTRACT A1`, invariant A8).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, Refusal, assemble, check_ops, rewrite};

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

/// A language with a file around a statement that stands indented, and a string of several lines.
const LANGUAGES: [(&str, &str, &str, &str); 15] = [
    ("python", "def f():\n    ", "\n", "\"\"\"\none\n  two\n\n\"\"\""),
    ("javascript", "function f() {\n  ", ";\n}\n", "`\none ${x}\n  two\n\n`"),
    ("typescript", "class A {\n    f() {\n        ", ";\n    }\n}\n", "`\none\n  two\n\n`"),
    ("rust", "fn f() {\n    ", ";\n}\n", "r#\"\none\n  two\n\n\"#"),
    ("go", "package p\n\nfunc f() {\n\t", "\n}\n", "`\none\n  two\n\n`"),
    (
        "java",
        "class A {\n    void f() {\n        ",
        ";\n    }\n}\n",
        "\"\"\"\none\n  two\n\n\"\"\"",
    ),
    ("csharp", "class A {\n    void f() {\n        ", ";\n    }\n}\n", "@\"\none\n  two\n\n\""),
    ("cpp", "void f() {\n    ", ";\n}\n", "R\"(\none\n  two\n\n)\""),
    ("kotlin", "fun f() {\n    ", "\n}\n", "\"\"\"\none\n  two\n\n\"\"\""),
    ("swift", "func f() {\n    ", "\n}\n", "\"\"\"\none\n  two\n\n\"\"\""),
    ("scala", "object A {\n  def f() = {\n    ", "\n  }\n}\n", "\"\"\"\none\n  two\n\n\"\"\""),
    ("lua", "function f()\n  ", "\nend\n", "[[\none\n  two\n\n]]"),
    (
        "elixir",
        "defmodule A do\n  def f do\n    ",
        "\n  end\nend\n",
        "\"\"\"\none\n  two\n\n\"\"\"",
    ),
    ("ruby", "def f\n  ", "\nend\n", "\"\none\n  two\n\n\""),
    ("php", "<?php\nfunction f() {\n    ", ";\n}\n", "<<<EOT\none\n  two\n\nEOT"),
];

#[test]
fn invariant_a8_a_string_of_a_template_stays_as_it_is_written() {
    for (lang, before, after, string) in LANGUAGES {
        check(
            lang,
            &format!("{before}old(1){after}"),
            "old($A)",
            &format!("fresh({string}, $A)"),
            &format!("{before}fresh({string}, 1){after}"),
        );
    }
}

#[test]
fn invariant_a8_a_captured_string_stays_as_it_was() {
    for (lang, before, after, string) in LANGUAGES {
        let indent = before.rsplit('\n').next().unwrap();
        let step = if indent.starts_with('\t') { "\t" } else { "  " };
        // In the file's own style, tabs too.
        let expect = format!("{before}fresh(\n{indent}{step}{string}\n{indent}){after}");
        let template = "fresh(\n  $A\n)";
        check(lang, &format!("{before}old({string}){after}"), "old($A)", template, &expect);
    }
}

#[test]
fn invariant_a8_here_documents_stay_as_they_are() {
    check(
        "bash",
        "if x; then\n  old 1\nfi\n",
        "old $A",
        "cat <<EOT\n\thello $A\n  two\n\nEOT",
        "if x; then\n  cat <<EOT\n\thello 1\n  two\n\nEOT\nfi\n",
    );
    check(
        "bash",
        "if a; then\n  cat <<E\none\n  two\nE\n  cat <<-E\n\tone\n\tE\n  echo \"x\ny\"\nfi\n",
        "if a; then $$$B; fi",
        "if b; then\n  if c; then\n    $$$B\n  fi\nfi",
        "if b; then\n  if c; then\n    cat <<E\none\n  two\nE\n    cat <<-E\n\tone\n\tE\n    echo \"x\ny\"\n  fi\nfi\n",
    );
    check(
        "ruby",
        "def f\n  old(1)\nend\n",
        "old($A)",
        "fresh(<<EOT, $A)\none\n  two\nEOT",
        "def f\n  fresh(<<EOT, 1)\none\n  two\nEOT\nend\n",
    );
    check(
        "ruby",
        "if a\n  x = <<EOT\none\nEOT\n  y(<<~T)\n    two\n  T\nend\n",
        "if a\n  $$$B\nend",
        "if b\n  while c\n    $$$B\n  end\nend",
        "if b\n  while c\n    x = <<EOT\none\nEOT\n    y(<<~T)\n    two\n  T\n  end\nend\n",
    );
    check(
        "hcl",
        "resource \"a\" \"b\" {\n  x = old(1)\n}\n",
        "x = old($A)",
        "x = <<EOT\none\n  two\nEOT",
        "resource \"a\" \"b\" {\n  x = <<EOT\none\n  two\nEOT\n}\n",
    );
    check(
        "nix",
        "{\n  x = old 1;\n}\n",
        "old $A",
        "fresh ''\n  one\n    two\n'' $A",
        "{\n  x = fresh ''\n  one\n    two\n'' 1;\n}\n",
    );
}

#[test]
fn invariant_a8_a_capture_that_lands_in_a_string_is_literal() {
    check(
        "javascript",
        "function f() {\n  old(() => {\n    x();\n  });\n}\n",
        "old($A)",
        "fresh(`\n$A\n`)",
        "function f() {\n  fresh(`\n() => {\n    x();\n  }\n`);\n}\n",
    );
}

// What is no string moves as a whole: comments, blocks, the layout of markup, block scalars.
#[test]
fn invariant_a8_what_is_no_string_is_indented() {
    check(
        "javascript",
        "  old(1);\n",
        "old($A);",
        "/*\n * about\n */\nfresh($A);",
        "  /*\n   * about\n   */\n  fresh(1);\n",
    );
    check("yaml", "a:\n  b: old\n", "b: old", "b: |\n  x\n    y", "a:\n  b: |\n    x\n      y\n");
    check(
        "zig",
        "fn f() void {\n    old(1);\n}\n",
        "old($A)",
        "fresh(\n    \\\\a\n    \\\\  b\n, $A)",
        "fn f() void {\n    fresh(\n        \\\\a\n        \\\\  b\n    , 1);\n}\n",
    );
    for lang in ["tsx", "javascript"] {
        check(
            lang,
            "const a = (\n  <ul>\n    <li>one</li>\n    text\n      {`\nkept\n`}\n  </ul>\n);\n",
            "<ul>$$$C</ul>",
            "<List>\n  <ul>\n    $$$C\n  </ul>\n</List>",
            "const a = (\n  <List>\n    <ul>\n      <li>one</li>\n      text\n        {`\nkept\n`}\n    </ul>\n  </List>\n);\n",
        );
        check(
            lang,
            "const a = old(<ul>\n  <li>one</li>\n  text\n</ul>);\n",
            "old($A)",
            "fresh(\n  $A,\n)",
            "const a = fresh(\n  <ul>\n    <li>one</li>\n    text\n  </ul>,\n);\n",
        );
    }
    check(
        "html",
        "<div>\n  <p>\n    text\n    more\n    <pre>\na\n  b\n</pre>\n  </p>\n</div>\n",
        "<div>$$$C</div>",
        "<main>\n  <div>\n    $$$C\n  </div>\n</main>",
        "<main>\n  <div>\n    <p>\n      text\n      more\n      <pre>\na\n  b\n</pre>\n    </p>\n  </div>\n</main>\n",
    );
}

#[test]
fn invariant_a8_a_result_whose_string_would_change_is_refused_with_its_place() {
    // The body of the here-document stands behind the line, so that `end` would get into it.
    let source = "def f\n  old(<<~EOT)\n    one\n  EOT\nend\n";
    let Some(result) = run("ruby", source, "old($A)", "if x\n  fresh($A)\nend") else { return };
    assert_eq!(
        result.unwrap_err().to_string(),
        "ops[0] at line 2 (bytes 8..19, `old(<<~EOT)`) cannot be changed so: line 4 of the result (`end`) is inside a string, which indenting it would change; nothing is staged: write the string in one line, or match from the beginning of the line that it lands on"
    );
}
