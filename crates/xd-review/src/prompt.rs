//! A line that a person types.

use xd_protocol::MAX_REASON_CHARS;

use crate::Key;

/// What was typed so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    text: String,
}

/// What a key does to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// It goes on.
    More,
    /// It is done.
    Enter,
    /// It is left.
    Leave,
}

impl Prompt {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn key(&mut self, key: Key) -> Typed {
        match key {
            Key::Enter => return Typed::Enter,
            Key::Esc | Key::Ctrl('c') => return Typed::Leave,
            Key::Char(c) => self.push(c),
            Key::Backspace | Key::Ctrl('h') => drop(self.text.pop()),
            Key::Ctrl('u') => self.text.clear(),
            Key::Ctrl('w') => {
                let kept = self.text.trim_end();
                let end = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.truncate(end);
            }
            Key::Ctrl(_)
            | Key::Tab
            | Key::BackTab
            | Key::Up
            | Key::Down
            | Key::Left
            | Key::Right
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End => {}
        }
        Typed::More
    }

    /// Takes pasted text as one line.
    pub(crate) fn paste(&mut self, text: &str) {
        for c in text.trim_end().chars() {
            self.push(if c.is_control() { ' ' } else { c });
        }
    }

    fn push(&mut self, c: char) {
        // One more than a reason may have, so that too long a one is refused and not cut.
        if !c.is_control() && self.text.chars().count() <= MAX_REASON_CHARS {
            self.text.push(c);
        }
    }
}
