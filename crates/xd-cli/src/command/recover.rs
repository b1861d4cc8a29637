//! `xd recover`: what was interrupted, finished or taken back (`CONTRACT F3`, E3).

use std::path::Path;

use serde_json::json;

use crate::{
    failure::{Failure, Status},
    place::{self, View},
    recovered::Recovered,
    screen::Screen,
    sessions::SessionName,
};

/// Settles what was left half done, and says what became of it.
pub(crate) fn run(directory: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    let (view, told) = View::settle(directory, SessionName::default())?;
    if let Some(busy) = &view.busy {
        return Err(Failure::new(
            format!("{busy} is at work here just now"),
            "What it is at is not interrupted; run this again when it is done.",
        ));
    }
    if let Some(trouble) = &told.trouble {
        return Err(Failure::new(
            trouble,
            "Nothing is lost: every former content is kept until this is mended; then run `xd \
             recover` again.",
        ));
    }
    Ok(tell(&told, screen))
}

/// Says what would be settled, and settles nothing.
pub(crate) fn look(directory: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    Ok(tell(&place::unsettled(directory)?, screen))
}

fn tell(told: &Recovered, screen: &mut Screen) -> Status {
    if screen.is_json() {
        let recovered = if told.is_empty() { None } else { Some(told.json()) };
        screen.json(&json!({ "v": 1, "recovered": recovered }));
    } else if told.is_empty() {
        screen.text("Nothing was interrupted here.");
    } else {
        screen.text(&told.line());
        for file in told.commit.iter().flat_map(|commit| &commit.files) {
            screen.text(&format!("  {file}"));
        }
    }
    match told.is_empty() {
        true => Status::Nothing,
        false => Status::Done,
    }
}
