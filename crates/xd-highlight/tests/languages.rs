//! What code of many languages is told to be made of, whole and in pieces.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use proptest::prelude::*;
use xd_highlight::{GrammarHighlighter, LONGEST};
use xd_render::{Highlighter as _, Syntax, Token};

fn tokens(path: &str, source: &str) -> Vec<Token> {
    GrammarHighlighter.tokens(path, source).unwrap_or_else(|| panic!("no grammar for {path}"))
}

/// The texts in `source` that are told to be `syntax`.
fn told(path: &str, source: &str, syntax: Syntax) -> Vec<String> {
    let of = |token: Token| (token.syntax == syntax).then(|| source[token.range].to_owned());
    tokens(path, source).into_iter().filter_map(of).collect()
}

#[track_caller]
fn check(path: &str, source: &str, wanted: &[(Syntax, &[&str])]) {
    for (syntax, texts) in wanted {
        let told = told(path, source, *syntax);
        for text in *texts {
            assert!(told.iter().any(|t| t == text), "{path}: {text:?} is no {syntax:?}: {told:?}");
        }
    }
}

#[test]
fn keywords_texts_comments_and_names_are_told_apart() {
    use Syntax::{Comment, Constant, Function, Keyword, Property, String, Type};
    check(
        "a.rs",
        "pub fn add(n: u32) -> Thing { let s = \"a b\"; call(1.5) /* c */ }\n// end\n",
        &[
            (Keyword, &["pub", "fn", "let"]),
            (String, &["\"a b\""]),
            (Comment, &["/* c */", "// end"]),
            (Constant, &["1.5"]),
            (Function, &["add", "call"]),
            (Type, &["u32", "Thing"]),
        ],
    );
    check(
        "a.py",
        "import os\nclass Cart(Base):\n    def total(self, n=1):\n        return os.path.join('x', n)  # sum\n",
        &[
            (Keyword, &["import", "class", "def", "return"]),
            (String, &["'x'"]),
            (Comment, &["# sum"]),
            (Constant, &["1"]),
            (Function, &["total", "join"]),
            (Type, &["Cart"]),
        ],
    );
    check(
        "a.ts",
        "export const f = async (a: string) => { await go(`n ${a.b} m`, 'y', null); }; // z\n",
        &[
            (Keyword, &["export", "const", "async", "await"]),
            (String, &["`n ", " m`", "'y'"]),
            (Comment, &["// z"]),
            (Constant, &["null"]),
            (Function, &["go"]),
            (Type, &["string"]),
            (Property, &["b"]),
        ],
    );
    check(
        "a.go",
        "package p\nfunc Add(a int) string { return fmt.Sprint(\"x\", 1) } // c\n",
        &[
            (Keyword, &["package", "func", "return"]),
            (String, &["\"x\""]),
            (Function, &["Add", "Sprint"]),
            (Comment, &["// c"]),
        ],
    );
    check(
        "a.json",
        "{\"key\": \"value\", \"n\": 1, \"t\": true}\n",
        &[(Property, &["\"key\"", "\"n\""]), (String, &["\"value\""]), (Constant, &["1", "true"])],
    );
    check(
        "a.c",
        "#include <x.h>\nint main(void) { return 0; } /* c */\n",
        &[(Keyword, &["#include", "return"]), (Comment, &["/* c */"]), (Constant, &["0"])],
    );
    check(
        "a.sh",
        "if true; then echo \"a $B\"; fi # c\n",
        &[(Keyword, &["if", "then", "fi"]), (Comment, &["# c"])],
    );
    check("a.yaml", "key: \"v\" # c\n", &[(Comment, &["# c"]), (String, &["\"v\""])]);
    check(
        "a.rb",
        "def go(a)\n  puts \"x\" # c\nend\n",
        &[(Keyword, &["def", "end"]), (Comment, &["# c"])],
    );
}

#[test]
fn part_of_a_file_keeps_its_colours() {
    let part = "    return total(\"x\") // why\n  }\n\n  render() {\n    const a = 1;\n";
    check(
        "a.js",
        part,
        &[
            (Syntax::Keyword, &["return", "const"]),
            (Syntax::String, &["\"x\""]),
            (Syntax::Comment, &["// why"]),
            (Syntax::Constant, &["1"]),
        ],
    );
}

#[test]
fn what_has_no_grammar_or_no_end_has_no_colours() {
    assert_eq!(GrammarHighlighter.tokens("a.unknown", "fn"), None);
    assert_eq!(GrammarHighlighter.tokens("", "fn"), None);
    assert_eq!(GrammarHighlighter.tokens("a.rs", &" ".repeat(LONGEST + 1)), None);
    assert_eq!(GrammarHighlighter.tokens("a.rs", ""), Some(Vec::new()));
}

// Invariant H2: no depth of nesting ends the walk.
#[test]
fn h2_deep_nesting_is_walked() {
    let deep = "(".repeat(20_000) + "1" + &")".repeat(20_000);
    assert_eq!(told("a.js", &deep, Syntax::Constant), ["1"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // Invariant H1
    #[test]
    fn h1_tokens_are_in_order_and_between_characters(
        source in "(\\PC|[\"'`/*#{}()\n\t]|fn |let |class |\\$\\{|é漢|[\u{0}-\u{1f}]){0,60}",
        name in "a\\.(rs|py|ts|tsx|js|go|c|cpp|java|rb|sh|css|html|json|yaml|md|php|lua|hs|kt|swift)",
    ) {
        let mut end = 0;
        for token in tokens(&name, &source) {
            prop_assert!(token.range.start >= end && token.range.start < token.range.end);
            prop_assert!(source.is_char_boundary(token.range.start));
            prop_assert!(source.is_char_boundary(token.range.end));
            end = token.range.end;
        }
        prop_assert!(end <= source.len());
    }
}
