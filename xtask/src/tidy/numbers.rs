//! Checks of the numbers that sources cite.

use std::collections::BTreeSet;

use crate::citations::{Citations, Id};
use crate::lexer::{TokenKind, tokens};
use crate::numbered::{CASES, Lists, PROTOCOL};
use crate::test_index::TestIndex;
use crate::{Finding, Tree};

/// The letters of invariants, each with the folder of the crate that may
/// declare them in its own documentation. Documents may repeat any.
pub const INVARIANT_LETTERS: [(char, &str); 13] = [
    ('P', "crates/xd-protocol/"),
    ('R', "crates/xd-resolve/"),
    ('S', "crates/xd-session/"),
    ('W', "crates/xd-write/"),
    ('C', "crates/xd-changeset/"),
    ('A', "crates/xd-ast-edit/"),
    ('H', "crates/xd-highlight/"),
    ('T', "crates/xd-text-edit/"),
    ('N', "crates/xd-render/"),
    ('K', "crates/xd-review/"),
    ('M', "prompts/"),
    ('G', "crates/xd-agent/"),
    ('X', "crates/xd-mcp/"),
];

/// Every statement that a comment or a test cites stands in `docs/PROTOCOL.md`,
/// and every case that a test cites in `docs/CASES.md`.
pub fn cited_numbers_exist(tree: &Tree, lists: &Lists, index: &TestIndex) -> Vec<Finding> {
    let statements = lists.statement_ids();
    let cases = lists.case_numbers();
    let unknown = |cited: &Citations, place: &str, line: usize| {
        let missing = cited.statements.difference(&statements);
        let statements = missing.map(|id| (format!("statement {id}"), PROTOCOL));
        let missing = cited.cases.difference(&cases);
        let cases = missing.map(|case| (format!("case {case}"), CASES));
        let finding = |(number, list)| {
            let mend = format!("cite a number of {list}, or name the test otherwise");
            Finding::at(place, line, format!("cites {number}, which {list} does not have"), mend)
        };
        statements.chain(cases).map(finding).collect::<Vec<_>>()
    };
    let mut findings = BTreeSet::new();
    for test in &index.tests {
        findings.extend(unknown(&test.cited, &test.file, test.line));
    }
    for (path, line, comment) in remarks(tree) {
        // Outside tests the word "case" is ordinary English more often than not.
        let cited = Citations { cases: BTreeSet::new(), ..Citations::of_comment(comment) };
        findings.extend(unknown(&cited, path, line));
    }
    findings.into_iter().collect()
}

/// Every invariant that is declared is exercised by a test that names it, is
/// declared by the crate that its letter belongs to, and every one that a test
/// names is declared.
pub fn invariants(tree: &Tree, index: &TestIndex) -> Vec<Finding> {
    let mut findings = BTreeSet::new();
    let mut declared = BTreeSet::new();
    let exercised = index.by_invariant();
    for (path, line, text) in remarks(tree) {
        for id in declarations(text) {
            let owner = INVARIANT_LETTERS.iter().find(|(letter, _)| *letter == id.letter);
            let (what, mend) = match owner {
                None => (
                    format!("invariant {id} has a letter of no crate"),
                    "add the letter to INVARIANT_LETTERS in xtask/src/tidy/numbers.rs".to_owned(),
                ),
                Some((_, folder)) if path.ends_with(".rs") && !path.starts_with(folder) => (
                    format!("invariant {id} is declared outside {folder}"),
                    "give it the letter of its own crate".to_owned(),
                ),
                Some(_) if declared.insert(id) && !exercised.contains_key(&id) => (
                    format!("invariant {id} is exercised by no test"),
                    format!(
                        "write a test that tries to break it and name it `invariant_{}_…` or put \
                         `// Invariant {id}` above it",
                        id.to_string().to_lowercase()
                    ),
                ),
                Some(_) => continue,
            };
            findings.insert(Finding::at(path, line, what, mend));
        }
    }
    for test in &index.tests {
        for id in test.cited.invariants.difference(&declared) {
            findings.insert(Finding::at(
                &test.file,
                test.line,
                format!("names invariant {id}, which is declared nowhere"),
                format!("declare it as `**Invariant {id}:** …` where the rule is documented"),
            ));
        }
    }
    findings.into_iter().collect()
}

/// What sources say in comments, by block, and documents in lines: path, line
/// and text.
fn remarks(tree: &Tree) -> Vec<(&str, usize, &str)> {
    let mut found = Vec::new();
    for (path, text) in tree.sources() {
        let comments = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Comment);
        found.extend(comments.map(|token| (path, token.line, token.text)));
    }
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        found.extend(text.lines().enumerate().map(|(index, line)| (path, index + 1, line)));
    }
    found
}

/// The invariants that a line declares: the word and the id in bold, with a
/// colon after the id.
fn declarations(text: &str) -> impl Iterator<Item = Id> {
    text.split("**Invariant ").skip(1).filter_map(|rest| Id::parse(rest.split(":**").next()?))
}
