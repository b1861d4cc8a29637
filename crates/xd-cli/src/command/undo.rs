//! `xd undo` and `xd redo`: what was applied, put back or written again (`CONTRACT F6`).

use std::path::Path;

use serde_json::json;
use xd_protocol::StageNumber;
use xd_resolve::Decider;
use xd_write::{Direction, NoTarget, UndoError, Undone};

use super::{block_on, decide, preview};
use crate::{
    arguments::{UndoArguments, number_and_reason},
    failure::{Failure, Status},
    place::{Place, View, state_failure},
    screen::Screen,
};

/// Undoes or redoes, and prints what was written.
pub(crate) fn run(
    directory: &Path,
    direction: Direction,
    arguments: &UndoArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let word = word(direction);
    let (number, reason) =
        number_and_reason(&arguments.words).map_err(|error| decide::no_number(&error, word))?;
    let reason = match reason.trim() {
        "" => format!("{} at the shell.", capital(direction.past())),
        reason => reason.to_owned(),
    };
    decide::check(word, number, &reason)?;
    // Where nothing was ever staged, no state is made.
    if View::open_in(directory, &arguments.session, screen)?.state.is_none() && number.is_none() {
        return Ok(nothing(direction, screen));
    }
    let place = Place::open_to_commit(directory, &arguments.session, arguments.commit, screen)?;
    let target = (direction, number.and_then(StageNumber::new));
    let actions = place.session.actions();
    let undo = place.state.undo(actions, &place.workspace, target, &reason, Decider::Person);
    match block_on(undo)? {
        Ok(undone) => {
            print(&place, direction, &undone, screen);
            Ok(Status::Done)
        }
        Err(UndoError::NoTarget(NoTarget::Nothing(_))) => Ok(nothing(direction, screen)),
        Err(error) => Err(failure(direction, error, &place)),
    }
}

fn nothing(direction: Direction, screen: &mut Screen) -> Status {
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "action": null }));
    } else {
        let past = direction.past();
        screen.text(&format!("Nothing is there to be {past}. `xd log` lists what was decided."));
    }
    Status::Nothing
}

fn print(place: &Place, direction: Direction, undone: &Undone, screen: &mut Screen) {
    let Undone { number, change, result } = undone;
    let action = place.session.actions().get(*number).map(|(action, _)| action);
    let files = action.as_ref().and_then(|action| action.change_set()).map(|set| set.files());
    let files = files.unwrap_or_default();
    if screen.is_json() {
        screen.json(&json!({
            "v": 1,
            "action": {
                "number": number.get(),
                "change": change.get(),
                "direction": word(direction),
                "label": action.as_ref().map(|action| action.label()),
                "files": files,
            },
            "result": result,
        }));
        return;
    }
    for text in &result.content {
        screen.text(text);
    }
    let lines = preview::files(&files, "  ", screen.options());
    screen.lines(&lines);
    let other = match direction {
        Direction::Undo => "xd redo",
        Direction::Redo => "xd undo",
    };
    let flag = place.name.flag();
    screen.text(&format!("Recorded as @{number}; `{other}{flag} {change}` is the way back."));
}

/// Why it was not done, with the way out.
fn failure(direction: Direction, error: UndoError, place: &Place) -> Failure {
    let flag = place.name.flag();
    let error = match error {
        UndoError::State(error) => return state_failure(error),
        error => error,
    };
    let hint = match &error {
        UndoError::NoTarget(NoTarget::AlreadyUndone { number, .. }) => {
            format!(
                "`xd redo{flag} {number}` writes it again; `xd log{flag}` lists what was decided."
            )
        }
        UndoError::NoTarget(NoTarget::NotUndone(number)) => {
            format!("`xd undo{flag} {number}` puts it back; `xd log{flag}` lists what was decided.")
        }
        UndoError::NoTarget(_) => {
            format!("`xd log{flag}` lists what was decided, `xd status{flag}` what is pending.")
        }
        UndoError::Differs { number, .. } => format!(
            "Nothing was written. `xd show{flag} {number} --diff` prints the change, to be taken back by \
             hand or with patch --reverse where it still fits."
        ),
        UndoError::NotKept { .. } => {
            "Nothing was written. git has the former files, if they were committed.".to_owned()
        }
        _ => {
            format!("Nothing was written. Mend this and run `xd {}{flag}` again.", word(direction))
        }
    };
    Failure::new(error, hint)
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
