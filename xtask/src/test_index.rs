//! The tests of the workspace, each with what it cites.
//!
//! A test is a function with a `#[test]` attribute (`#[tokio::test]`, one
//! inside `proptest! { … }`, and `#[rstest]` as well) whose body is not empty.
//! It cites by its name, by the comments directly above it, without an empty
//! line between, and by the comments in its body. A scenario folder cites by
//! the line `covers = ["G5"]` of its `scenario.toml` or the line `Covers: G5`
//! of its `README.md`.

use std::collections::BTreeMap;

use crate::Tree;
use crate::citations::{Citations, Id};
use crate::lexer::{Token, TokenKind, tokens};

/// Where scenario folders stand.
const SCENARIOS: &str = "tests/scenarios/";

/// A test with what it cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The file, or the folder of a scenario.
    pub file: String,
    /// The function; empty for a scenario.
    pub name: String,
    /// The line of the name, counted from 1.
    pub line: usize,
    /// What it cites.
    pub cited: Citations,
    /// False where plain `cargo test` leaves it out: `#[ignore]`, and what is
    /// compiled for loom or fuzzing only. Such a test covers nothing.
    pub runs: bool,
}

impl Test {
    /// `file::function`, or the folder of a scenario.
    pub fn label(&self) -> String {
        if self.name.is_empty() {
            self.file.clone()
        } else {
            format!("{}::{}", self.file, self.name)
        }
    }
}

/// All tests of the workspace.
#[derive(Debug, Clone, Default)]
pub struct TestIndex {
    /// The tests, by file and line.
    pub tests: Vec<Test>,
}

impl TestIndex {
    /// Reads all sources and scenario folders.
    pub fn read(tree: &Tree) -> Self {
        let mut tests: Vec<Test> =
            tree.sources().flat_map(|(path, text)| tests_in(path, text)).collect();
        tests.extend(tree.texts().filter_map(|(path, text)| scenario(path, text)));
        Self { tests }
    }

    /// The labels of the tests that run and cite, by what they cite.
    pub fn by_statement(&self) -> BTreeMap<Id, Vec<String>> {
        self.by(|cited| cited.statements.iter().copied().collect())
    }

    /// Likewise by case.
    pub fn by_case(&self) -> BTreeMap<u16, Vec<String>> {
        self.by(|cited| cited.cases.iter().copied().collect())
    }

    /// Likewise by invariant.
    pub fn by_invariant(&self) -> BTreeMap<Id, Vec<String>> {
        self.by(|cited| cited.invariants.iter().copied().collect())
    }

    fn by<K: Ord>(&self, cited: impl Fn(&Citations) -> Vec<K>) -> BTreeMap<K, Vec<String>> {
        let mut found: BTreeMap<K, Vec<String>> = BTreeMap::new();
        for test in self.tests.iter().filter(|test| test.runs) {
            for key in cited(&test.cited) {
                found.entry(key).or_default().push(test.label());
            }
        }
        for labels in found.values_mut() {
            labels.sort();
            labels.dedup();
        }
        found
    }
}

/// The tests of one source.
pub fn tests_in(path: &str, text: &str) -> Vec<Test> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut above = Above::default();
    let mut whole_file_runs = true;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let previous = at.checked_sub(1).map(|before| tokens[before]);
        if previous.is_some_and(|before| token.line > before.end_line + 1) {
            above.comments.clear();
        }
        let mut next = at + 1;
        match (token.kind, token.text) {
            // A comment that ends a line of code belongs to that line.
            // What is said of the whole file is said of none of its tests.
            (TokenKind::Comment, text) if text.starts_with("//!") => above.comments.clear(),
            (TokenKind::Comment, _)
                if previous.is_none_or(|before| before.end_line < token.line) =>
            {
                above.comments.push(token.text);
            }
            (TokenKind::Mark, "#") => {
                let inner = tokens.get(next).is_some_and(|mark| mark.text == "!");
                let open = next + usize::from(inner);
                if tokens.get(open).is_some_and(|mark| mark.text == "[") {
                    next = group_end(&tokens, open);
                    let attribute = Attribute::of(&tokens[open..next]);
                    if inner {
                        whole_file_runs &= attribute != Attribute::LeavesOut;
                    } else {
                        above.attributes.push(attribute);
                    }
                }
            }
            (TokenKind::Mark, "{" | "}" | ";") => above = Above::default(),
            (TokenKind::Word, "fn") if above.attributes.contains(&Attribute::Test) => {
                if let Some((test, end)) = test_at(&tokens, at, path, &above, whole_file_runs) {
                    found.extend(test);
                    next = end;
                }
                above = Above::default();
            }
            _ => {}
        }
        at = next;
    }
    found
}

/// What stands directly above an item.
#[derive(Debug, Default)]
struct Above<'a> {
    comments: Vec<&'a str>,
    attributes: Vec<Attribute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Test,
    LeavesOut,
    Other,
}

impl Attribute {
    /// `attribute` is the group with its brackets.
    fn of(attribute: &[Token<'_>]) -> Self {
        let has = |word: &str| attribute.iter().any(|token| token.text == word);
        let path_end = attribute[1..].iter().position(|token| "(]=".contains(token.text));
        let last = path_end.and_then(|end| attribute[..=end].last()).map_or("", |last| last.text);
        match last {
            "test" | "rstest" => Self::Test,
            "ignore" => Self::LeavesOut,
            "cfg" if (has("loom") || has("fuzzing")) && !has("not") => Self::LeavesOut,
            _ => Self::Other,
        }
    }
}

/// The test whose `fn` stands at `at`, unless its body is empty, and the index
/// after it. Nothing where the source ends before there is a body.
fn test_at<'a>(
    tokens: &[Token<'a>],
    at: usize,
    path: &str,
    above: &Above<'a>,
    whole_file_runs: bool,
) -> Option<(Option<Test>, usize)> {
    let name = tokens.get(at + 1).filter(|token| token.kind == TokenKind::Word)?;
    let mut open = at + 2;
    while tokens.get(open)?.text != "{" {
        open = if tokens[open].text == "(" { group_end(tokens, open) } else { open + 1 };
    }
    let end = group_end(tokens, open);
    let body = &tokens[open + 1..end.saturating_sub(1).max(open + 1)];
    if body.iter().all(|token| token.kind == TokenKind::Comment) {
        return Some((None, end));
    }
    let inside = body.iter().filter(|token| token.kind == TokenKind::Comment);
    let mut cited = Citations::of_name(name.text);
    cited.extend(comment_citations(above.comments.iter().copied()));
    // Comments on adjoining lines are one text, others each their own.
    let mut block: Vec<&str> = Vec::new();
    let mut last_line = 0;
    for comment in inside {
        if comment.line > last_line + 1 {
            cited.extend(comment_citations(block.drain(..)));
        }
        block.push(comment.text);
        last_line = comment.end_line;
    }
    cited.extend(comment_citations(block.drain(..)));
    let runs = whole_file_runs && !above.attributes.contains(&Attribute::LeavesOut);
    let test =
        Test { file: path.to_owned(), name: name.text.to_owned(), line: name.line, cited, runs };
    Some((Some(test), end))
}

fn comment_citations<'a>(comments: impl Iterator<Item = &'a str>) -> Citations {
    Citations::of_comment(&comments.collect::<Vec<_>>().join("\n"))
}

/// The index after the group that opens at `open`; the end where it never
/// closes.
fn group_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, token) in tokens[open..].iter().enumerate() {
        match (token.kind, token.text) {
            (TokenKind::Mark, "(" | "[" | "{") => depth += 1,
            (TokenKind::Mark, ")" | "]" | "}") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return open + offset + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

fn scenario(path: &str, text: &str) -> Option<Test> {
    let (folder, file) = path.strip_prefix(SCENARIOS)?.split_once('/')?;
    let (index, list) = text.lines().enumerate().find_map(|(index, line)| {
        let list = match file {
            "scenario.toml" => line.strip_prefix("covers")?.trim_start().strip_prefix('=')?,
            "README.md" => line.strip_prefix("Covers:")?,
            _ => return None,
        };
        Some((index, list))
    })?;
    Some(Test {
        file: format!("{SCENARIOS}{folder}"),
        name: String::new(),
        line: index + 1,
        cited: Citations::of_comment(&format!("Covers: {list}")),
        runs: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[(&str, &str)]) {
        let found: Vec<_> = tests_in("a.rs", source)
            .into_iter()
            .filter(|test| test.runs)
            .map(|test| {
                let cited = test.cited;
                let mut ids: Vec<_> = cited.statements.iter().map(Id::to_string).collect();
                ids.extend(cited.cases.iter().map(u16::to_string));
                (test.name, ids.join(" "))
            })
            .collect();
        let expect: Vec<_> =
            expect.iter().map(|(name, ids)| ((*name).to_owned(), (*ids).to_owned())).collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn every_kind_of_test_function_is_found() {
        check("#[test]\nfn u1_a() { b(); }", &[("u1_a", "U1")]);
        check("#[tokio::test(flavor = \"x\")] async fn u1_a() { b(); }", &[("u1_a", "U1")]);
        check("proptest! { #[test] fn u4_a(s in \".*{\") { b(s); } }", &[("u4_a", "U4")]);
        check("#[test]\n#[should_panic]\npub fn a(x: (u8, [u8; 2])) -> B { c() }", &[("a", "")]);
        check("fn u1_a() { b(); }", &[]);
        check("/* #[test] */ fn u1_a() { b(); }", &[]);
        check("const A: &str = \"#[test] fn u1_a() { b(); }\";", &[]);
        check("#[cfg(test)] mod tests { fn u1_a() { b(); } }", &[]);
    }

    #[test]
    fn what_does_not_run_or_does_nothing_covers_nothing() {
        check("#[test] #[ignore = \"slow\"] fn u1_a() { b(); }", &[]);
        check("#[cfg(loom)] #[test] fn u1_a() { b(); }", &[]);
        check("#[cfg(not(loom))] #[test] fn u1_a() { b(); }", &[("u1_a", "U1")]);
        check("#![cfg(loom)]\n#[test] fn u1_a() { b(); }", &[]);
        check("#[test] fn u1_a() { /* CONTRACT U2 */ }", &[]);
    }

    #[test]
    fn comments_count_directly_above_and_inside() {
        check("// CONTRACT U2,\n// U3\n#[test]\nfn a() { b(); }", &[("a", "U2 U3")]);
        check("#[test]\n/// case 32\nfn a() { b(); }", &[("a", "32")]);
        check("#[test]\nfn a() {\n    b(); // CONTRACT U5\n}", &[("a", "U5")]);
        check("// CONTRACT U2\n\n#[test]\nfn a() { b(); }", &[("a", "")]);
        check("const X: u8 = 1; // CONTRACT U2\n#[test]\nfn a() { b(); }", &[("a", "")]);
        check("// CONTRACT U2\nconst X: u8 = 1;\n#[test]\nfn a() { b(); }", &[("a", "")]);
        check(
            "#[test] fn a() { b(); } // case 1\n#[test] fn c() { d(\"// case 3\"); }",
            &[("a", ""), ("c", "")],
        );
    }

    #[test]
    fn scenario_folders_cite_what_they_list() {
        let tree = Tree::from_files([
            (
                "tests/scenarios/detour/scenario.toml",
                "title = \"x\"\ncovers = [\"G5\", \"case 73\"]\n",
            ),
            ("tests/scenarios/stale/README.md", "# Stale\n\nCovers: F2, case 5\n"),
            ("tests/scenarios/stale/input/README.md", "Covers: G1\n"),
        ]);
        let index = TestIndex::read(&tree);
        let labels: Vec<_> = index.by_statement().into_iter().collect();
        let g5 = Id::parse("G5").unwrap();
        let f2 = Id::parse("F2").unwrap();
        assert_eq!(
            labels,
            [
                (f2, vec!["tests/scenarios/stale".to_owned()]),
                (g5, vec!["tests/scenarios/detour".to_owned()]),
            ]
        );
        assert_eq!(index.by_case().into_keys().collect::<Vec<_>>(), [5, 73]);
    }
}
