//! One large file with many replacements: what grows with what.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::judge::{Quantity, Row, Target, median};
use super::operations::{self, Operation};
use super::programs::Programs;
use super::rounds::{hits, staged};
use super::{process, same, told};

/// How large the file is, in bytes.
pub const BYTES: usize = 1024 * 1024;

/// How many replacements are made, with what stage and apply together have to be.
pub const COUNTS: [(usize, Option<Target>); 3] = [
    (2_500, None),
    (10_000, Some(Target::TimesFaster(30.0))),
    (40_000, Some(Target::TimesFaster(80.0))),
];

/// So many times longer the next number may take, which is four times the one before.
pub const LINEAR: Target = Target::AtMost(5.0);

/// From this number on the other tool runs in the first round only: it takes a minute.
const ONCE_FROM: usize = 40_000;

const REWRITE: Operation = Operation {
    name: "one file",
    language: "ts",
    pattern: "old($A)",
    rewrite: "fresh($A)",
    preview: Target::AtMost(1.0),
};

/// A TypeScript source of exactly [`BYTES`] with `count` calls of `old`, spread evenly.
#[must_use]
pub fn source(count: usize) -> String {
    let mut text = String::with_capacity(BYTES);
    for number in 0..count {
        let _ = writeln!(text, "old(n{number});");
        let goal = BYTES / count * (number + 1);
        while text.len() + 40 < goal {
            let _ = writeln!(text, "const filling{number} = {number};");
        }
    }
    let rest = BYTES.saturating_sub(text.len() + 3);
    let _ = writeln!(text, "//{}", "-".repeat(rest));
    text
}

/// Measures all of [`COUNTS`].
///
/// # Errors
/// The disk, a command that failed, or outcomes that differ.
pub fn measure(
    folder: &Path,
    programs: &Programs,
    rounds: usize,
    checked: &mut Vec<String>,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, String> {
    let (ours, theirs) = (folder.join("ours"), folder.join("theirs"));
    let mut rows = Vec::new();
    let mut medians: Vec<(usize, f64)> = Vec::new();
    for (count, target) in COUNTS {
        say(&format!("one file with {count} replacements"));
        let text = source(count);
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        let mut differs = None;
        for round in 0..rounds {
            for place in [&ours, &theirs] {
                same::remove(place)?;
                fs::create_dir_all(place).map_err(|error| told(place, &error))?;
                let file = place.join("large.ts");
                fs::write(&file, &text).map_err(|error| told(&file, &error))?;
            }
            process::settle();
            let stage = REWRITE.stage(programs, &ours).run()?;
            let apply = operations::apply(programs, &ours).run()?;
            our_times.push(stage.seconds + apply.seconds);
            if round == 0 || count < ONCE_FROM {
                their_times.push(REWRITE.their_apply(programs, &theirs).run()?.seconds);
            }
            if round == 0 {
                let differing = same::differing(&ours, &theirs)?;
                if differing.is_empty() {
                    checked.push(format!("one file with {count} replacements: the same bytes"));
                } else {
                    differs = Some(difference(&text, folder, programs, count)?);
                }
            }
        }
        let what = format!("1 MiB file, {count} replacements, stage and apply");
        let mut row = Row::new(
            what,
            Quantity::Seconds(median(&our_times).unwrap_or(f64::NAN)),
            "ast-grep --update-all",
            median(&their_times).map(Quantity::Seconds),
            target,
        );
        medians.push((count, row.ours.value()));
        row.differs = differs;
        rows.push(row);
    }
    rows.extend(medians.windows(2).map(|pair| growth(pair[0], pair[1])));
    Ok(rows)
}

/// The row that compares a number of replacements with the one before.
fn growth(before: (usize, f64), after: (usize, f64)) -> Row {
    Row::new(
        format!("1 MiB file, {} replacements against {}", after.0, before.0),
        Quantity::Seconds(after.1),
        format!("xd, {} replacements", before.0),
        Some(Quantity::Seconds(before.1)),
        Some(LINEAR),
    )
}

/// Why the outcomes differ: usually that not all was staged.
fn difference(
    text: &str,
    folder: &Path,
    programs: &Programs,
    count: usize,
) -> Result<String, String> {
    let place = folder.join("ours");
    same::remove(&place)?;
    fs::create_dir_all(&place).map_err(|error| told(&place, &error))?;
    let file = place.join("large.ts");
    fs::write(&file, text).map_err(|error| told(&file, &error))?;
    let ours = staged(&REWRITE, programs, &place, folder)?;
    let theirs = hits(&REWRITE, programs, &place, folder)?;
    Ok(format!(
        "xd stages {} of {count} replacements, ast-grep finds {theirs}{}",
        ours.replacements,
        ours.remark()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::judge::Verdict;

    #[test]
    fn the_file_is_as_large_whatever_the_number_of_calls() {
        for (count, _) in COUNTS {
            let text = source(count);
            assert_eq!(text.len(), BYTES, "{count}");
            assert_eq!(text.matches("old(n").count(), count);
            assert!(text.ends_with("-\n"));
            let last = text.rfind("old(n").unwrap();
            assert!(last * 10 > BYTES * 9, "the calls of {count} end at {last}");
        }
    }

    #[test]
    fn four_times_the_replacements_may_take_five_times_as_long() {
        assert_eq!(growth((10, 1.0), (40, 5.0)).verdict(), Verdict::Met);
        assert_eq!(growth((10, 1.0), (40, 5.1)).verdict(), Verdict::Missed);
    }
}
