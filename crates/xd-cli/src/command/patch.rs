//! `xd patch`: stage a unified diff.

use std::path::Path;

use serde_json::json;
use xd_text_edit::{Control, Limits, PatchError, propose_patch};

use super::{input, preview};
use crate::{
    failure::{Failure, Status},
    place::{Place, View},
    screen::Screen,
};

/// Stages the patch in `file` and prints its preview.
pub(crate) fn run(directory: &Path, file: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    let patch = input(file)?;
    // To place the hunks needs no state: where nothing is staged, none is made.
    let workspace = View::open(directory, screen)?.workspace;
    let limits = Limits { edits: usize::MAX, files: usize::MAX, ..Limits::default() };
    // Ctrl-C ends the process here, where nothing is staged yet.
    match propose_patch(workspace.root(), &patch, &limits, &Control::default()) {
        Ok(proposal) => {
            let summary = json!(proposal.summary);
            let place = Place::open(directory, screen)?;
            preview::stage(&place, proposal.into_proposed(), &summary, screen)
        }
        Err(PatchError::NothingChanges) => {
            let message = PatchError::NothingChanges.to_string();
            if screen.is_json() {
                screen.json(&json!({ "v": 1, "staged": null, "message": message }));
            } else {
                screen.text(&message);
            }
            Ok(Status::Nothing)
        }
        Err(error) => Err(Failure::new(
            error,
            "Nothing was staged. Paths count from the workspace, the folder of -C; mend the patch, \
             or make it anew against the present files.",
        )),
    }
}
