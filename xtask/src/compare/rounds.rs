//! The order of the measurements on the corpus: in turns, on warm files, and checked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::corpus::Corpus;
use super::judge::{Quantity, Row, median};
use super::operations::{self, ABSENT, APPLY, MEMORY, OF_PLAIN_SEARCH, OPERATIONS, Operation};
use super::process::Spent;
use super::programs::Programs;
use super::{process, same, told};

/// What was staged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Staged {
    /// Replaced matches.
    pub replacements: u64,
    /// Matches inside of these.
    pub nested: u64,
    /// Files that were left alone, for whatever reason.
    pub left_alone: Vec<PathBuf>,
    /// The bound at which it stopped.
    pub stopped: Option<String>,
}

impl Staged {
    /// Reads what `xd edit --json` answers.
    #[must_use]
    pub fn read(answer: &Value) -> Self {
        let summary = match &answer["staged"]["summary"] {
            Value::Null => &answer["summary"],
            summary => summary,
        };
        let issues = summary["issues"].as_array().into_iter().flatten();
        Self {
            replacements: summary["counts"]["replacements"].as_u64().unwrap_or_default(),
            nested: summary["nested"].as_u64().unwrap_or_default(),
            left_alone: issues.filter_map(|issue| Some(issue["path"].as_str()?.into())).collect(),
            stopped: Some(&summary["cap"]).filter(|cap| !cap.is_null()).map(Value::to_string),
        }
    }

    /// What has to be said besides the numbers.
    #[must_use]
    pub fn remark(&self) -> String {
        match &self.stopped {
            Some(bound) => format!("; xd stopped at its bound {bound}"),
            None if self.left_alone.is_empty() => String::new(),
            None => format!("; files that xd left alone: {}", self.left_alone.len()),
        }
    }
}

/// What `xd` stages for an operation. Leaves nothing staged.
///
/// # Errors
/// The command failed, or the disk.
pub fn staged(
    operation: &Operation,
    programs: &Programs,
    corpus: &Path,
    folder: &Path,
) -> Result<Staged, String> {
    let answer = folder.join("staged.json");
    same::forget(corpus)?;
    operation.stage_told(programs, corpus).run_into(&answer)?;
    same::forget(corpus)?;
    let text = fs::read_to_string(&answer).map_err(|error| told(&answer, &error))?;
    let answer: Value =
        serde_json::from_str(&text).map_err(|error| format!("xd edit --json: {error}"))?;
    Ok(Staged::read(&answer))
}

/// How many matches `ast-grep` finds for an operation.
///
/// # Errors
/// The command failed, or the disk.
pub fn hits(
    operation: &Operation,
    programs: &Programs,
    corpus: &Path,
    folder: &Path,
) -> Result<u64, String> {
    let answer = folder.join("hits.json");
    operation.their_preview(programs, corpus).run_into(&answer)?;
    // Read piece by piece: what this process has counts as the peak of those that it starts.
    let mut reader = BufReader::new(File::open(&answer).map_err(|error| told(&answer, &error))?);
    let mut lines = 0;
    loop {
        let piece = reader.fill_buf().map_err(|error| told(&answer, &error))?;
        if piece.is_empty() {
            return Ok(lines);
        }
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = piece.len();
        reader.consume(length);
    }
}

/// What the calls of one row took, round by round.
#[derive(Debug, Clone, Default)]
struct Taken {
    ours: Vec<Spent>,
    theirs: Vec<Spent>,
}

impl Taken {
    fn seconds(&self) -> (Quantity, Option<Quantity>) {
        let of = |spent: &[Spent]| {
            let values: Vec<f64> = spent.iter().map(|spent| spent.seconds).collect();
            median(&values).map(Quantity::Seconds)
        };
        (of(&self.ours).unwrap_or(Quantity::Seconds(f64::NAN)), of(&self.theirs))
    }

    fn bytes(&self) -> (Quantity, Option<Quantity>) {
        let of = |spent: &[Spent]| {
            let values: Vec<f64> = spent.iter().map(|spent| spent.bytes).collect();
            median(&values).map(Quantity::Bytes)
        };
        (of(&self.ours).unwrap_or(Quantity::Bytes(f64::NAN)), of(&self.theirs))
    }
}

/// Measures previews, memory and applying on the corpus.
///
/// # Errors
/// The disk, or a command that failed.
pub fn measure(
    folder: &Path,
    corpus: &Corpus,
    programs: &Programs,
    rounds: usize,
    checked: &mut Vec<String>,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, String> {
    let place = corpus.folder.as_path();
    let mut differs = BTreeMap::new();
    let mut found = BTreeMap::new();
    // Counting reads every file, so it warms the cache too.
    for operation in OPERATIONS {
        say(&format!("counting: {}", operation.name));
        let ours = staged(&operation, programs, place, folder)?;
        let theirs = hits(&operation, programs, place, folder)?;
        if ours.replacements + ours.nested != theirs {
            let numbers =
                format!("xd finds {} and ast-grep {theirs}", ours.replacements + ours.nested);
            differs.insert(operation.name, format!("{numbers}{}", ours.remark()));
        }
        found.insert(operation.name, theirs);
    }
    let mut previews: BTreeMap<&str, Taken> = BTreeMap::new();
    let mut plain = Vec::new();
    let mut applied: BTreeMap<&str, Taken> = BTreeMap::new();
    for round in 0..rounds {
        say(&format!("round {} of {rounds}", round + 1));
        for operation in OPERATIONS {
            let taken = previews.entry(operation.name).or_default();
            let theirs = operation.their_preview(programs, place);
            let ours = operation.stage(programs, place);
            // Who comes first changes from round to round.
            for ours_now in [round % 2 == 0, round % 2 != 0] {
                if ours_now {
                    same::forget(place)?;
                    process::settle();
                    taken.ours.push(ours.run()?);
                    same::forget(place)?;
                } else {
                    taken.theirs.push(theirs.run()?);
                }
            }
            if operation == ABSENT
                && let Some(rg) = &programs.rg
            {
                plain.push(operations::plain_search(rg, place).run()?);
            }
        }
        for operation in OPERATIONS.into_iter().filter(|operation| *operation != ABSENT) {
            let (ours, theirs) = (folder.join("ours"), folder.join("theirs"));
            same::copy_anew(place, &ours)?;
            same::copy_anew(place, &theirs)?;
            operation.stage(programs, &ours).run()?;
            process::settle();
            let taken = applied.entry(operation.name).or_default();
            let mut calls = [
                (true, operations::apply(programs, &ours)),
                (false, operation.their_apply(programs, &theirs)),
            ];
            if round % 2 == 0 {
                calls.reverse();
            }
            for (is_ours, call) in &calls {
                let spent = call.run()?;
                if *is_ours {
                    taken.ours.push(spent)
                } else {
                    taken.theirs.push(spent)
                }
                process::settle();
            }
            if round == 0 {
                check(&operation, &ours, &theirs, checked, &mut differs)?;
            }
        }
    }
    let hits = |name: &str| found.get(name).copied().unwrap_or_default();
    let mut rows = Vec::new();
    let mut push = |mut row: Row, name: &str| {
        row.differs = differs.get(name).cloned();
        rows.push(row);
    };
    for operation in OPERATIONS {
        let (ours, theirs) = previews[operation.name].seconds();
        let what = format!("preview: {} ({} hits)", operation.name, hits(operation.name));
        push(Row::new(what, ours, "ast-grep", theirs, Some(operation.preview)), operation.name);
    }
    let plain = Taken { ours: previews[ABSENT.name].ours.clone(), theirs: plain };
    let (ours, theirs) = plain.seconds();
    let what = format!("preview: {}", ABSENT.name);
    push(Row::new(what, ours, "rg -l", theirs, Some(OF_PLAIN_SEARCH)), ABSENT.name);
    for operation in OPERATIONS {
        let (ours, theirs) = previews[operation.name].bytes();
        let what = format!("peak of memory: {}", operation.name);
        push(Row::new(what, ours, "ast-grep", theirs, Some(MEMORY)), operation.name);
    }
    let durable = if programs.not_durable().is_some() { "" } else { ", forced to the disk" };
    for operation in OPERATIONS.into_iter().filter(|operation| *operation != ABSENT) {
        let (ours, theirs) = applied[operation.name].seconds();
        let what = format!("apply after the preview{durable}: {}", operation.name);
        let row = Row::new(what, ours, "ast-grep --update-all", theirs, Some(APPLY));
        push(row, operation.name);
    }
    Ok(rows)
}

/// Compares what both wrote.
fn check(
    operation: &Operation,
    ours: &Path,
    theirs: &Path,
    checked: &mut Vec<String>,
    differs: &mut BTreeMap<&'static str, String>,
) -> Result<(), String> {
    let differing = same::differing(ours, theirs)?;
    match differing.first() {
        None => {
            let size = same::files(ours)?.len();
            checked.push(format!("{}: the same bytes in {size} files", operation.name));
        }
        Some(first) => {
            let known = differs.entry(operation.name).or_default();
            let separator = if known.is_empty() { "" } else { "; " };
            let text = format!(
                "{separator}what both wrote differs in {} of the files, the first is {}",
                differing.len(),
                first.display()
            );
            known.push_str(&text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_staged_is_read_whether_anything_matched_or_not() {
        let summary = json!({
            "counts": { "replacements": 7, "files": 2 },
            "nested": 1,
            "issues": [{ "path": "a.ts", "kind": "binary" }],
            "cap": { "replacements": 7 },
        });
        let staged = Staged::read(&json!({ "staged": { "summary": summary } }));
        assert_eq!((staged.replacements, staged.nested), (7, 1));
        assert_eq!(staged.left_alone, [PathBuf::from("a.ts")]);
        assert!(staged.remark().contains("{\"replacements\":7}"), "{}", staged.remark());
        let nothing = json!({ "staged": null, "summary": { "counts": { "replacements": 0 } } });
        assert_eq!(Staged::read(&nothing), Staged::default());
        assert_eq!(Staged::default().remark(), "");
    }

    #[test]
    fn a_row_has_the_median_of_its_rounds() {
        let spent = |seconds, bytes| Spent { seconds, bytes, status: 0 };
        let taken = Taken {
            ours: vec![spent(3.0, 10.0), spent(1.0, 30.0), spent(2.0, 20.0)],
            theirs: Vec::new(),
        };
        assert_eq!(taken.seconds(), (Quantity::Seconds(2.0), None));
        assert_eq!(taken.bytes(), (Quantity::Bytes(20.0), None));
    }
}
