//! The reviewer at a terminal: keys and news into the state machine, its effects out.

mod editing;
mod effects;
mod keys;
mod picture;
mod signals;
mod terminal;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use xd_review::{Effect, Event, Look, Review};

use crate::{
    arguments::SessionArgument,
    failure::{Failure, Status},
    review::{effects::Desk, keys::Heard, signals::Signals, terminal::Screenful},
};

pub(crate) use picture::picture;

/// How long a key is waited for before signals and news are looked at.
const WAIT: Duration = Duration::from_millis(100);
/// How often it is looked whether somebody else staged, decided, or wrote a file that matters.
const NEWS: Duration = Duration::from_millis(1500);

/// Reviews what is pending in `directory` until somebody quits.
pub(crate) fn run(
    directory: &Path,
    session: &SessionArgument,
    coloured: bool,
) -> Result<Status, Failure> {
    let look = if coloured { Look::Colour } else { Look::Plain };
    let failure = |error: std::io::Error| {
        Failure::new(
            format!("the terminal cannot be used: {error}"),
            "`xd status` and `xd show` print what is pending; what is pending stays pending.",
        )
    };
    let signals = Signals::listen()?;
    let mut desk = Desk::new(directory, session);
    let mut screen = Screenful::open(look).map_err(failure)?;
    let (columns, rows) = screen.size().map_err(failure)?;
    let mut review = Review::new(columns, rows);
    review.update(desk.pending()?);
    let mut looked = Instant::now();
    screen.draw(&mut review).map_err(failure)?;
    loop {
        if let Some(signal) = signals.ended() {
            return Ok(Status::Signalled(signal));
        }
        let mut changed = false;
        if signals.continued() {
            screen.enter().map_err(failure)?;
            changed = true;
        }
        let mut effect = None;
        match keys::hear(WAIT).map_err(failure)? {
            Heard::Event(event) => {
                effect = review.update(event);
                changed = true;
            }
            Heard::Nothing => {}
            // Its signal may be on the way, or may have gone to somebody else.
            Heard::Gone => return Ok(Status::Signalled(signals::HANG_UP)),
        }
        if let Some(effect) = effect {
            let events = match effect {
                Effect::Quit => return Ok(Status::Done),
                Effect::Redraw => {
                    screen.clear().map_err(failure)?;
                    Vec::new()
                }
                Effect::Suspend => {
                    screen.leave();
                    signals::stop();
                    screen.enter().map_err(failure)?;
                    Vec::new()
                }
                Effect::Refresh => vec![desk.pending()?],
                Effect::Decide(decision) => {
                    screen.say(&mut review, "Deciding…").map_err(failure)?;
                    desk.decide(decision)?
                }
                Effect::Undo(number) => {
                    screen.say(&mut review, "Undoing…").map_err(failure)?;
                    desk.undo(number)?
                }
                Effect::Edit { number, path, shown } => {
                    let text = desk.text_of(&path, &shown);
                    let edited = text.and_then(|text| {
                        screen.leave();
                        editing::edit(&path, text)
                    });
                    screen.enter().map_err(failure)?;
                    desk.edited(number, &path, &shown, edited)?
                }
            };
            for event in events {
                review.update(event);
            }
            looked = Instant::now();
        } else if looked.elapsed() >= NEWS {
            if let Some(news) = desk.news()? {
                review.update(news);
                changed = true;
            }
            looked = Instant::now();
        }
        if changed || screen.is_resized() {
            let (columns, rows) = screen.size().map_err(failure)?;
            review.update(Event::Resize(columns, rows));
            screen.draw(&mut review).map_err(failure)?;
        }
    }
}
