//! The terminal's events as the reviewer knows them.

use std::{io, time::Duration};

use ratatui_crossterm::crossterm::event::{
    self, Event as Read, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use xd_review::{Event, Key};

/// What comes from the terminal.
pub(super) enum Heard {
    /// An event that is something to the reviewer.
    Event(Event),
    /// Nothing in the time that was waited, or nothing that matters.
    Nothing,
    /// The terminal is not there any more.
    Gone,
}

/// Waits for what comes from the terminal, so long at the most. Whether it is there is looked at
/// before each read: the reader of events would read on at the end of one that is not, for ever.
pub(super) fn hear(wait: Duration) -> io::Result<Heard> {
    if is_gone(Duration::ZERO)? {
        return Ok(Heard::Gone);
    }
    // What was read with the last event waits in the reader and not in the terminal.
    if !event::poll(Duration::ZERO)? {
        if is_gone(wait)? {
            return Ok(Heard::Gone);
        }
        if !event::poll(Duration::ZERO)? {
            return Ok(Heard::Nothing);
        }
    }
    Ok(self::event(event::read()?).map_or(Heard::Nothing, Heard::Event))
}

/// Waits until there is something to read, and says whether that is the terminal's end.
fn is_gone(wait: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
    match poll(&mut terminal, Some(&wait)) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let end = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(terminal[0].revents().intersects(end))
}

/// What the reviewer is told of an event of the terminal; none where it is nothing to it.
fn event(read: Read) -> Option<Event> {
    match read {
        Read::Key(key) => self::key(key).map(Event::Key),
        Read::Paste(text) => Some(Event::Paste(text)),
        Read::Resize(columns, rows) => Some(Event::Resize(columns, rows)),
        Read::FocusGained | Read::FocusLost | Read::Mouse(_) => None,
    }
}

fn key(KeyEvent { code, modifiers, kind, .. }: KeyEvent) -> Option<Key> {
    if kind == KeyEventKind::Release || modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match code {
        // A line feed, as a paste without brackets or another program types it.
        KeyCode::Char('j' | 'J') if modifiers.contains(KeyModifiers::CONTROL) => Key::Enter,
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
