//! The check for paths of the machine on which a text was written.

use std::fs;
use std::path::Path;

use crate::{Finding, Tree};

/// Folders that hold the home folders of people; without the slashes, so that
/// this list is not itself a finding.
const HOMES: [&str; 3] = ["home", "root", "Users"];

/// The folder of the checkout and those beside it, as absolute paths. Nothing
/// for a checkout right below `/` or in the folder for temporary files, where
/// names say nothing.
pub fn neighbours(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let Some(parent) = root.parent().filter(|parent| *parent != std::env::temp_dir()) else {
        return found;
    };
    let beside = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in beside.chain([root.to_owned()]) {
        // Root, parent and name: with less, ordinary text would be taken for it.
        if path.components().count() >= 3
            && let Some(path) = path.to_str()
        {
            found.push(path.to_owned());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// No tracked text names one of `folders` or somebody's home.
pub fn machine_paths(tree: &Tree, folders: &[String]) -> Vec<Finding> {
    let homes = HOMES.iter().map(|home| format!("/{home}/"));
    let sought: Vec<String> = folders.iter().cloned().chain(homes).collect();
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = sought.iter().find(|sought| names(line, sought)) {
                findings.push(Finding::at(
                    path,
                    index + 1,
                    format!("names `{found}`, a path of one machine"),
                    "use a relative path, or `/srv/project` where an example needs a whole one",
                ));
            }
        }
    }
    findings
}

/// True where `line` has `path` as a path of its own, not as a part of another.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + path.len()..].chars().next();
        let inner = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        let begins = !before.is_some_and(|letter| inner(letter) || "/~}>*".contains(letter));
        begins && (path.ends_with('/') || !after.is_some_and(inner))
    })
}
