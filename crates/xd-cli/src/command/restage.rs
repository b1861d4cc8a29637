//! `xd restage`: a stale action made anew against the present files (`CONTRACT F7`).

use std::path::Path;

use serde_json::json;
use xd_protocol::StageNumber;
use xd_resolve::Decider;
use xd_write::{RestageFailure, restage};

use super::{block_on, preview};
use crate::{
    arguments::{CommitArguments, SessionArgument},
    failure::{Failure, Status},
    place::{Place, View},
    screen::Screen,
};

/// Stages anew and prints the new preview.
pub(crate) fn run(
    directory: &Path,
    session: &SessionArgument,
    number: Option<u64>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    // Where nothing was ever staged, no state is made.
    if View::open_in(directory, session, screen)?.state.is_none() && number.is_none() {
        return Ok(nothing(screen));
    }
    let place = Place::open_to_commit(directory, session, CommitArguments::default(), screen)?;
    let number = number.and_then(StageNumber::new);
    let again = restage(&*place.session, &place.workspace, number, Decider::Person);
    let restaged = match block_on(again)? {
        Ok(restaged) => restaged,
        Err(RestageFailure::NothingPending) => return Ok(nothing(screen)),
        Err(error) => return Err(failure(error, &place.name.flag())),
    };
    let action = restaged.staged.action();
    if screen.is_json() {
        screen.json(&json!({
            "v": 1,
            "staged": {
                "number": action.number().get(),
                "id": action.id(),
                "label": action.label(),
                "files": action.change_set().map(|set| set.files()).unwrap_or_default(),
                "preview": action.preview(),
                "supersedes": restaged.superseded.get(),
            }
        }));
    } else {
        preview::staged(&restaged.staged, screen);
        screen.text(&format!("It supersedes @{}, which is discarded.", restaged.superseded));
    }
    Ok(Status::Done)
}

fn nothing(screen: &mut Screen) -> Status {
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "staged": null }));
    } else {
        screen.text("Nothing is pending, so there is nothing to stage again.");
    }
    Status::Nothing
}

/// Why it was not done, with the way out.
fn failure(error: RestageFailure, flag: &str) -> Failure {
    let hint = match &error {
        RestageFailure::NotStale(number) => {
            format!(
                "xd resolve{flag} {number} \"why\" applies it, xd show{flag} {number} shows it."
            )
        }
        RestageFailure::NothingLeft(number) => {
            format!("xd reject{flag} {number} \"why\" drops it.")
        }
        RestageFailure::Touches { number, .. } | RestageFailure::NoChangeSet(number) => format!(
            "Staged action @{number} is still pending: xd reject{flag} {number} \"why\", then stage the \
             change anew."
        ),
        _ => format!("`xd status{flag}` lists what is pending, `xd log{flag}` what was decided."),
    };
    Failure::new(error, hint)
}
