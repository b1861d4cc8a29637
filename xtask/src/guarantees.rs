//! The numbers in the document of guarantees: written by the tests, shown between two marks.
//!
//! A test that counts what it tried checks its counts in as one JSON object, names to whole
//! numbers. This puts them into the document and finds a document that shows others.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::{Finding, Tree};

/// The document that shows the numbers.
pub const DOCUMENT: &str = "docs/GUARANTEES.md";

/// Where the tests leave them.
pub const PROOFS: &str = "crates/xd-changeset/proofs.json";

/// The command that writes them into the document.
pub const COMMAND: &str = "cargo xtask guarantees";

/// Where the numbers begin and end in the document.
pub const BEGIN: &str = "<!-- numbers: written by `cargo xtask guarantees` -->\n";
/// See [`BEGIN`].
pub const END: &str = "<!-- numbers: end -->\n";

/// The document with the numbers of `proofs` between its marks.
///
/// # Errors
/// What is wrong with the numbers or the marks, for a person.
pub fn document(text: &str, proofs: &str) -> Result<String, String> {
    let table = table(proofs)?;
    let lacks = |what: &str| format!("{DOCUMENT} lacks the line {}", what.trim_end());
    let (head, rest) = text.split_once(BEGIN).ok_or_else(|| lacks(BEGIN))?;
    let (_, tail) = rest.split_once(END).ok_or_else(|| lacks(END))?;
    Ok(format!("{head}{BEGIN}{table}{END}{tail}"))
}

/// The numbers as a table, in the order in which they stand.
fn table(proofs: &str) -> Result<String, String> {
    let numbers: Map<String, Value> = serde_json::from_str(proofs)
        .map_err(|error| format!("{PROOFS} is no JSON object of names and numbers: {error}"))?;
    if numbers.is_empty() {
        return Err(format!("{PROOFS} holds no number"));
    }
    let mut text = String::from("| what was tried | how often |\n|---|---:|\n");
    for (name, number) in &numbers {
        let number = number
            .as_u64()
            .ok_or_else(|| format!("{PROOFS}: `{name}` is {number}, which is no whole number"))?;
        let _ = writeln!(text, "| {} | {} |", name.replace('_', " "), grouped(number));
    }
    Ok(text)
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Finds nothing where the document shows what the tests left.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(proofs) = tree.text(PROOFS) else {
        let mend = "run the tests of xd-changeset that write it, then `git add` it";
        return vec![Finding::new(PROOFS, "is not among the tracked files", mend)];
    };
    let present = tree.text(DOCUMENT).unwrap_or_default();
    let what = match document(present, proofs) {
        Ok(wanted) if wanted == present => return Vec::new(),
        Ok(_) => format!("the numbers are not those of {PROOFS}"),
        Err(error) => error,
    };
    vec![Finding::new(DOCUMENT, what, COMMAND)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROOFS_TEXT: &str = "{\"crash_states\": 20123, \"scenarios\": 31, \"faults\": 1000000}";

    #[test]
    fn the_numbers_go_between_the_marks_and_nothing_else_moves() {
        let text = format!("a\n{BEGIN}old\n{END}b\n");
        let written = document(&text, PROOFS_TEXT).unwrap();
        let wanted = format!(
            "a\n{BEGIN}| what was tried | how often |\n|---|---:|\n| crash states | 20,123 |\n\
             | scenarios | 31 |\n| faults | 1,000,000 |\n{END}b\n"
        );
        assert_eq!(written, wanted);
        assert_eq!(document(&written, PROOFS_TEXT).unwrap(), written);
    }

    #[test]
    fn what_is_no_number_and_what_has_no_marks_is_told() {
        let text = format!("{BEGIN}{END}");
        for (proofs, named) in [
            ("{\"faults\": -1}", "`faults`"),
            ("{\"faults\": \"many\"}", "`faults`"),
            ("{\"faults\": 1.5}", "`faults`"),
            ("{}", "no number"),
            ("[1]", "no JSON object"),
        ] {
            assert!(document(&text, proofs).unwrap_err().contains(named), "{proofs}");
        }
        assert!(document(END, PROOFS_TEXT).unwrap_err().contains("numbers: written"));
        assert!(document(BEGIN, PROOFS_TEXT).unwrap_err().contains("numbers: end"));
    }

    #[test]
    fn a_document_with_other_numbers_is_found() {
        let stale = format!("{BEGIN}{END}");
        let current = document(&stale, PROOFS_TEXT).unwrap();
        let found = |document: &str| {
            check(&Tree::from_files([(DOCUMENT, document), (PROOFS, PROOFS_TEXT)]))
        };
        assert!(found(&current).is_empty());
        assert!(found(&stale)[0].to_string().contains(COMMAND));
        let without = check(&Tree::from_files([(DOCUMENT, current.as_str())]));
        assert!(without[0].place == PROOFS, "{without:?}");
    }
}
