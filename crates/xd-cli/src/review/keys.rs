//! The terminal's events as the reviewer knows them.

use ratatui_crossterm::crossterm::event::{
    Event as Read, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use xd_review::{Event, Key};

/// What the reviewer is told of an event of the terminal; none where it is nothing to it.
pub(super) fn event(read: Read) -> Option<Event> {
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
