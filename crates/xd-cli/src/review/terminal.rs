//! The whole screen, taken and given back.

use std::{
    io::{self, Stdout, Write as _},
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use ratatui_core::{layout::Position, terminal::Terminal};
use ratatui_crossterm::{
    CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{DisableBracketedPaste, EnableBracketedPaste},
        execute,
        terminal::{
            EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
        },
    },
};
use xd_review::{Event, Look, Review, draw};

/// The screen while the reviewer has it. However it ends, the terminal is given back as it was:
/// dropped, by a panic of any thread, by a signal that ends the reviewer.
pub(super) struct Screenful {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    look: Look,
    drawn: (u16, u16),
}

/// Whether the terminal is taken just now.
static TAKEN: AtomicBool = AtomicBool::new(false);

impl Screenful {
    /// Takes the terminal.
    pub(super) fn open(look: Look) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let former = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                former(panic);
            }));
        });
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        match terminal {
            Ok(terminal) => Ok(Self { terminal, look, drawn: (0, 0) }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        size()
    }

    /// Whether it has another size than it was last drawn at.
    pub(super) fn is_resized(&self) -> bool {
        self.size().is_ok_and(|size| size != self.drawn)
    }

    /// Draws what is to be seen.
    pub(super) fn draw(&mut self, review: &mut Review) -> io::Result<()> {
        let look = self.look;
        let drawn = self.terminal.draw(|frame| {
            // The frame's own size is what is drawn into; the reviewer lays out for it.
            let area = frame.area();
            review.update(Event::Resize(area.width, area.height));
            if let Some((x, y)) = draw(review, look, frame.buffer_mut()) {
                frame.set_cursor_position(Position { x, y });
            }
        })?;
        self.drawn = (drawn.area.width, drawn.area.height);
        Ok(())
    }

    /// Says that something takes a moment.
    pub(super) fn say(&mut self, review: &mut Review, text: &str) -> io::Result<()> {
        review.update(Event::Done(text.to_owned()));
        self.draw(review)
    }

    /// Gives the terminal back for a while.
    pub(super) fn leave(&mut self) {
        give_back();
    }

    /// Takes it again, whatever others drew there meanwhile.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        take()?;
        self.clear()
    }

    /// Forgets what is on the screen, so that all of it is drawn anew.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.drawn = (0, 0);
        self.terminal.clear()
    }
}

impl Drop for Screenful {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Gives the terminal back, once.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // The terminal may be gone: then there is nothing to give back.
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}
