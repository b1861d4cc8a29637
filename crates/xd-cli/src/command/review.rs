//! `xd review`: what is pending on the whole screen.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
};

use xd_review::Look;

use crate::{
    arguments::SessionArgument,
    failure::{Failure, Status},
    place::View,
    review,
    screen::Screen,
};

/// Opens the reviewer where there is a terminal and something to review.
pub(crate) fn run(
    directory: &Path,
    session: &SessionArgument,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    const INSTEAD: &str = "`xd status` lists what is pending, `xd show N` prints a change, and \
                           `xd resolve N \"why\"` or `xd reject N \"why\"` decide, with --files or \
                           --hunks about a part.";
    if screen.is_json() {
        return Err(Failure::new("`xd review` has no JSON: it is for a person", INSTEAD));
    }
    if let Some(ground) = screen.ground() {
        let look = if screen.is_coloured() { Look::Colour } else { Look::Plain };
        let picture = review::picture(directory, session, look, ground)?;
        screen.draw(&picture);
        return Ok(Status::Done);
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new("`xd review` needs a terminal to read keys and draw", INSTEAD));
    }
    if matches!(std::env::var("TERM").as_deref(), Err(_) | Ok("" | "dumb")) {
        return Err(Failure::new("this terminal (TERM) has no way to draw a screen", INSTEAD));
    }
    let view = View::open_in(directory, session, screen)?;
    if view.actions().pending().is_empty() {
        screen.text("Nothing is pending. `xd log` lists what was decided.");
        return Ok(Status::Done);
    }
    drop(view);
    review::run(directory, session, screen.is_coloured())
}
