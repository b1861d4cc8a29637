//! How soon a command is there: what a person or a hook waits for at every call.

use std::fs;
use std::path::Path;

use super::judge::{Quantity, Row, Target, median};
use super::process::{Call, Spent};
use super::programs::Programs;
use super::{same, told};

/// So many times longer than the other command's `--version` a call may take.
pub const START: Target = Target::AtMost(1.5);

/// So much memory may be resident at most.
pub const BYTES: f64 = 20e6;

/// How many calls a round makes of each command: one takes a few milliseconds, so that a single one
/// says more of the machine than of the command.
const CALLS: usize = 20;

/// Measures `xd --version` and `xd status` beside `ast-grep --version`, in turns. The folder that
/// `status` looks at has one staged action.
///
/// # Errors
/// The disk, or a command that failed.
pub fn measure(
    folder: &Path,
    programs: &Programs,
    rounds: usize,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, String> {
    say("start");
    let place = folder.join("start");
    same::remove(&place)?;
    fs::create_dir_all(&place).map_err(|error| told(&place, &error))?;
    let file = place.join("a.ts");
    fs::write(&file, "old(1);\n").map_err(|error| told(&file, &error))?;
    Call::new(&programs.xd, ["edit", "-p", "old($A)", "-r", "new($A)", "a.ts"], &place).run()?;

    let theirs = Call::new(&programs.ast_grep, ["--version"], &place);
    let ours =
        [["--version"], ["status"]].map(|arguments| Call::new(&programs.xd, arguments, &place));
    let mut spent: [Vec<Spent>; 3] = Default::default();
    for _ in 0..rounds * CALLS {
        for (spent, call) in spent.iter_mut().zip([&theirs, &ours[0], &ours[1]]) {
            spent.push(call.run()?);
        }
    }
    let [theirs, version, status] = spent;
    let seconds = |spent: &[Spent]| {
        Quantity::Seconds(
            median(&spent.iter().map(|s| s.seconds).collect::<Vec<_>>()).unwrap_or(0.0),
        )
    };
    let most = |spent: &[Spent]| spent.iter().map(|s| s.bytes).fold(0.0, f64::max);
    let row = |what: &str, ours, other: &str, theirs, target| Row {
        what: what.to_owned(),
        ours,
        other: other.to_owned(),
        theirs: Some(theirs),
        target: Some(target),
        differs: None,
    };
    let other = "ast-grep --version";
    let bound = Quantity::Bytes(BYTES);
    let within = Target::AtMost(1.0);
    Ok(vec![
        row("start: xd --version", seconds(&version), other, seconds(&theirs), START),
        row("start: xd status", seconds(&status), other, seconds(&theirs), START),
        row("memory: xd --version", Quantity::Bytes(most(&version)), "a bound", bound, within),
        row("memory: xd status", Quantity::Bytes(most(&status)), "a bound", bound, within),
    ])
}
