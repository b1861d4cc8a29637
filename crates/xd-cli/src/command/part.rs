//! `xd resolve` and `xd reject` with `--files` or `--hunks`: a part of an action is decided.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use serde_json::json;
use xd_changeset::{Pick, RelPath, SplitError};
use xd_protocol::{Selection, StageNumber, Verdict};
use xd_resolve::{ActionState, Decider};
use xd_write::{PartDecided, PartFailure, decide_part};

use super::{block_on, decide};
use crate::{
    arguments::{CommitArguments, PartArguments, SessionArgument},
    failure::{Failure, Status},
    place::Place,
    screen::Screen,
};

/// What is picked of an action.
pub(crate) type Picks = BTreeMap<RelPath, Pick>;

/// What the arguments pick; none where they pick nothing and so mean the whole.
pub(super) fn picks(arguments: &PartArguments) -> Result<Option<Picks>, Failure> {
    let PartArguments { files, hunks } = arguments;
    if files.is_empty() && hunks.is_empty() {
        return Ok(None);
    }
    let mut picks = Picks::new();
    for operand in files {
        picks.insert(path("--files", operand, operand)?, Pick::Whole);
    }
    for operand in hunks {
        let malformed = |why: &str| {
            Failure::new(
                format!("--hunks '{operand}': {why}"),
                "Write the path, a colon, and numbers from 1 as `xd review` shows them: \
                 src/a.rs:1,3-4. Nothing was decided.",
            )
        };
        let (file, list) =
            operand.rsplit_once(':').ok_or_else(|| malformed("it names no changes"))?;
        let numbers = numbers(list).ok_or_else(|| malformed("these are no numbers of changes"))?;
        match picks.entry(path("--hunks", operand, file)?).or_insert(Pick::Hunks(BTreeSet::new())) {
            Pick::Hunks(hunks) => hunks.extend(numbers),
            Pick::Whole => {
                let why = "the file is picked whole by --files; name it once";
                return Err(malformed(why));
            }
        }
    }
    Ok(Some(picks))
}

fn path(flag: &str, operand: &str, path: &str) -> Result<RelPath, Failure> {
    let plain = path.strip_prefix("./").unwrap_or(path);
    RelPath::new(plain).map_err(|error| {
        Failure::new(
            format!("{flag} '{operand}': {error}"),
            "Give a path from the workspace, as `xd status` prints it. Nothing was decided.",
        )
    })
}

/// The most numbers that a range may stand for; no file has as many hunks.
const MANY: usize = 1_000_000;

fn numbers(list: &str) -> Option<Vec<usize>> {
    let number = |text: &str| -> Option<usize> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|n| digits && (1..=MANY).contains(n))
    };
    let mut all = Vec::new();
    for part in list.split(',') {
        match part.split_once('-') {
            None => all.push(number(part)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                all.extend(Some(from..=to).filter(|range| !range.is_empty())?);
            }
        }
    }
    Some(all)
}

/// Decides about the part, and prints what came of it.
pub(super) fn run(
    directory: &Path,
    session: &SessionArgument,
    verdict: Verdict,
    (number, picks, reason): (Option<StageNumber>, &Picks, &str),
    commit: CommitArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let place = Place::open_to_commit(directory, session, commit, screen)?;
    let head = place.session.actions().head().map(|head| head.number());
    let Some(number) = number.or(head) else {
        return Err(Failure::new(
            "nothing is pending, so there is no part of it",
            "`xd log` lists what was decided.",
        ));
    };
    let decided = match decide(&place, verdict, (number, picks, reason))? {
        Decided::Part(decided) => decided,
        Decided::Whole(text) => {
            if screen.is_json() {
                screen.json(&json!({ "v": 1, "number": number.get(), "left": 0, "text": text }));
            } else {
                screen.text(&text);
            }
            return Ok(Status::Done);
        }
    };
    if screen.is_json() {
        screen.json(&json!({
            "v": 1,
            "number": decided.number.get(),
            "part_of": decided.of.get(),
            "picked": decided.picked,
            "left": decided.left,
            "result": decided.result,
        }));
        return Ok(Status::Done);
    }
    screen.text(&said(&decided, verdict));
    let n = decided.of;
    let flag = place.name.flag();
    screen.text(&format!("Look: xd show{flag} {n}   Apply: xd resolve{flag} {n} \"why\""));
    for line in decide::stale_since(&place.session, decided.number, &flag) {
        // What is left of the whole starts from what the part wrote.
        if !line.starts_with(&format!("Staged action @{n} ")) {
            screen.text(&line);
        }
    }
    Ok(Status::Done)
}

/// What was decided in words.
pub(crate) fn said(decided: &PartDecided, verdict: Verdict) -> String {
    let PartDecided { number, of, picked, left, .. } = decided;
    let changes = |n: usize| if n == 1 { "1 change".to_owned() } else { format!("{n} changes") };
    let is = if *left == 1 { "is" } else { "are" };
    let did = match verdict {
        Verdict::Apply => "Applied",
        Verdict::Discard => "Discarded",
    };
    format!(
        "{did} {} of @{of} as @{number}; {} of it {is} still pending as @{of}.",
        changes(*picked),
        changes(*left)
    )
}

/// What a decision about a part came to.
pub(crate) enum Decided {
    /// The part was decided, and something is left.
    Part(PartDecided),
    /// Everything was picked, so the whole was decided; what that answered.
    Whole(String),
}

/// Decides about a part of a pending action, or about the whole where all of it is picked.
pub(crate) fn decide(
    place: &Place,
    verdict: Verdict,
    (number, picks, reason): (StageNumber, &Picks, &str),
) -> Result<Decided, Failure> {
    let actions = place.session.actions();
    let word = verdict.device();
    let found = actions.get(number);
    let Some((action, ActionState::Pending)) = found else {
        let state = found.map(|(_, state)| state);
        return Err(decide::refusal(place, verdict, number, state, &Default::default()));
    };
    let decider = Decider::Person;
    let part = decide_part(
        actions,
        &place.workspace,
        Arc::clone(&action),
        picks,
        verdict,
        reason,
        decider,
    );
    match block_on(part)? {
        Ok(decided) => Ok(Decided::Part(decided)),
        Err(PartFailure::Split { source: SplitError::Everything, .. }) => {
            let selection = Selection::Numbered(number);
            let (_, result) = decide::confirm(place, verdict, selection, reason)?;
            if result.is_error {
                let pending = Some(ActionState::Pending);
                return Err(decide::refusal(place, verdict, number, pending, &result));
            }
            Ok(Decided::Whole(result.content.first().cloned().unwrap_or_default()))
        }
        Err(error @ PartFailure::Split { .. }) => Err(Failure::new(
            error,
            format!(
                "Nothing was decided. `xd show {number}` shows the files and changes; \
                 xd {word} {number} \"why\" decides about all of them."
            ),
        )),
        Err(error) => Err(Failure::new(
            error,
            format!(
                "Nothing was decided; @{number} is pending as before. If it is stale, \
                 xd restage {number} makes it anew where its edits do not touch what changed."
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_read_and_a_wrong_one_is_named() {
        let of = |files: &[&str], hunks: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
            picks(&PartArguments { files: own(files), hunks: own(hunks) })
        };
        assert_eq!(of(&[], &[]), Ok(None));
        let picked = of(&["./a.rs"], &["src/b:c.rs:1,3-4", "src/b:c.rs:2"]).unwrap().unwrap();
        let path = |name| RelPath::new(name).unwrap();
        assert_eq!(picked[&path("a.rs")], Pick::Whole);
        assert_eq!(picked[&path("src/b:c.rs")], Pick::Hunks([1, 2, 3, 4].into()));
        for (hunk, why) in [
            ("a.rs", "names no changes"),
            ("a.rs:", "no numbers"),
            ("a.rs:0", "no numbers"),
            ("a.rs:2-1", "no numbers"),
            ("a.rs:+1", "no numbers"),
            ("a.rs:1-99999999999999999999", "no numbers"),
            ("../a.rs:1", "--hunks '../a.rs:1'"),
        ] {
            let failure = of(&[], &[hunk]).unwrap_err();
            assert!(failure.what.contains(why) && failure.what.contains(hunk), "{failure:?}");
        }
        assert!(of(&["a"], &["a:1"]).unwrap_err().what.contains("picked whole"));
    }
}
