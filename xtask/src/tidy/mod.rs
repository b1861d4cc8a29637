//! What the house wants of its files, numbers and folders.
//!
//! [`files`] looks at each file alone, [`layout`] at what lies where,
//! [`numbers`] at the statements, cases and invariants that sources cite,
//! [`sentences`] at the protocol's wording in code and document, [`places`] at
//! paths of the machine that the text was written on.

pub mod files;
pub mod layout;
pub mod numbers;
pub mod places;
pub mod sentences;

use std::path::Path;

use crate::numbered::Lists;
use crate::test_index::TestIndex;
use crate::{Finding, Tree};

/// All checks, on the tree that was read from `root`.
pub fn check(root: &Path, tree: &Tree) -> Vec<Finding> {
    let lists = Lists::read(tree);
    let index = TestIndex::read(tree);
    let mut findings = Vec::new();
    findings.extend(files::first_lines(tree));
    findings.extend(files::sizes(tree));
    findings.extend(files::module_names(tree));
    findings.extend(files::trailing_whitespace(tree));
    findings.extend(files::unfinished(tree));
    findings.extend(files::front_pages(tree));
    findings.extend(layout::top_level(tree));
    findings.extend(layout::readme_commands(tree));
    findings.extend(layout::package_sources(tree));
    findings.extend(lists.check());
    findings.extend(numbers::cited_numbers_exist(tree, &lists, &index));
    findings.extend(numbers::invariants(tree, &index));
    findings.extend(sentences::sentences_are_in_the_code(tree, &lists));
    findings.extend(places::machine_paths(tree, &places::neighbours(root)));
    findings
}
