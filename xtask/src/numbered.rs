//! The numbered lists of the documents: statements and fault cases.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::citations::{Id, SECTION_LETTERS};
use crate::{Finding, Tree};

/// Where the statements stand.
pub const PROTOCOL: &str = "docs/PROTOCOL.md";

/// Where the fault cases stand.
pub const CASES: &str = "docs/CASES.md";

/// Every section with its statements: a statement that gets lost from the
/// document would otherwise take its tests' obligation with it.
pub const STATEMENTS: [(char, RangeInclusive<u16>); 13] = [
    ('U', 1..=11),
    ('S', 1..=7),
    ('D', 1..=15),
    ('Q', 1..=7),
    ('G', 1..=12),
    ('W', 1..=7),
    ('R', 1..=6),
    ('P', 1..=4),
    ('F', 1..=8),
    ('A', 1..=6),
    ('E', 1..=4),
    ('L', 1..=1),
    ('V', 1..=5),
];

/// A part of a document with the numbers that stand under its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<T> {
    /// The heading without its marks.
    pub heading: String,
    /// The numbers with the lines on which they stand, in order.
    pub entries: Vec<(T, usize)>,
}

/// The numbered lists of both documents.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    /// The statements by section; sections without one are left out.
    pub statements: Vec<Section<Id>>,
    /// The cases by class.
    pub cases: Vec<Section<u16>>,
}

impl Lists {
    /// Reads `docs/PROTOCOL.md` and `docs/CASES.md`; a missing document gives
    /// an empty list, which [`Lists::check`] reports.
    pub fn read(tree: &Tree) -> Self {
        let text = |path| tree.text(path).unwrap_or_default();
        Self {
            statements: sections(text(PROTOCOL), Id::parse),
            cases: sections(text(CASES), |label| label.strip_prefix("case ")?.parse().ok()),
        }
    }

    /// All statements.
    pub fn statement_ids(&self) -> BTreeSet<Id> {
        self.statements.iter().flat_map(|section| &section.entries).map(|(id, _)| *id).collect()
    }

    /// All numbers of cases.
    pub fn case_numbers(&self) -> BTreeSet<u16> {
        self.cases.iter().flat_map(|class| &class.entries).map(|(case, _)| *case).collect()
    }

    /// Whether the lists are whole, in order and without repeats.
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let place = |id: &Id| (SECTION_LETTERS.find(id.letter), id.number);
        rising(PROTOCOL, &self.statements, place, &mut findings);
        rising(CASES, &self.cases, |case| *case, &mut findings);
        let present = self.statement_ids();
        let wanted = STATEMENTS
            .into_iter()
            .flat_map(|(letter, numbers)| numbers.map(move |number| Id { letter, number }));
        let wanted: BTreeSet<Id> = wanted.collect();
        for id in wanted.difference(&present) {
            findings.push(Finding::new(
                PROTOCOL,
                format!("statement {id} is missing"),
                format!("write it as a line that starts with `- **{id}** `"),
            ));
        }
        for id in present.difference(&wanted) {
            findings.push(Finding::new(
                PROTOCOL,
                format!("statement {id} is not among those that xtask knows"),
                "add it to STATEMENTS in xtask/src/numbered.rs",
            ));
        }
        if self.cases.is_empty() {
            findings.push(Finding::new(
                CASES,
                "there is no list of cases",
                "write each as a line that starts with `- **case 5** `",
            ));
        }
        findings
    }
}

/// The sections of a document; an entry is a line `- **LABEL** …` whose label
/// `parse` understands.
fn sections<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Vec<Section<T>> {
    let mut found: Vec<Section<T>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            found.push(Section { heading: heading.to_owned(), entries: Vec::new() });
        }
        let label = line.strip_prefix("- **").and_then(|rest| rest.split_once("** "));
        if let (Some(id), Some(section)) =
            (label.and_then(|(label, _)| parse(label)), found.last_mut())
        {
            section.entries.push((id, index + 1));
        }
    }
    found.retain(|section| !section.entries.is_empty());
    found
}

fn rising<T, K: Ord>(
    path: &str,
    sections: &[Section<T>],
    key: impl Fn(&T) -> K,
    findings: &mut Vec<Finding>,
) {
    let entries: Vec<_> = sections.iter().flat_map(|section| &section.entries).collect();
    for pair in entries.windows(2) {
        if key(&pair[0].0) >= key(&pair[1].0) {
            findings.push(Finding::at(
                path,
                pair[1].1,
                "a number is repeated or out of order",
                "put it where its number belongs, once",
            ));
        }
    }
}
