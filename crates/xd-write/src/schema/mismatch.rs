//! What does not fit, in words that a model can act on.

use std::fmt;

use serde_json::Value;
use xd_protocol::Visible;

use crate::{inert::inert_json, one_line::one_line};

/// One thing that does not fit: where, what is expected, what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where: `list[1].name`; empty for the arguments as a whole.
    pub at: String,
    /// What is expected there, behind the place in a sentence: `must be of type string`.
    pub expected: String,
    /// What is there instead, cut short, where that helps.
    pub found: Option<String>,
}

impl Mismatch {
    /// A mismatch that shows what is there.
    #[must_use]
    pub fn new(at: impl Into<String>, expected: impl Into<String>, found: &Value) -> Self {
        Self { found: Some(short(found)), ..Self::without_found(at, expected) }
    }

    /// A mismatch whose words say it all.
    #[must_use]
    pub fn without_found(at: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { at: at.into(), expected: expected.into(), found: None }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => f.write_str("the arguments")?,
            at => write!(f, "`{}`", cut(at, AT_BYTES))?,
        }
        write!(f, " {}", cut(&self.expected, EXPECTED_BYTES))?;
        match &self.found {
            Some(found) => write!(f, "; got {}", cut(found, SHOWN_BYTES)),
            None => Ok(()),
        }
    }
}

/// How long a place may be in a message, in bytes.
const AT_BYTES: usize = 160;
/// How long what is expected may be, in bytes.
const EXPECTED_BYTES: usize = 1_200;
/// How long a value may be, in bytes.
const SHOWN_BYTES: usize = 60;

/// `text` made visible, and cut on a character where it is longer than `most` bytes.
fn cut(text: &str, most: usize) -> String {
    let mut text = Visible(text).to_string();
    if text.len() > most {
        let end = (0..=most - '…'.len_utf8()).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

/// A value on one line, cut short.
pub(super) fn short(value: &Value) -> String {
    one_line(&inert_json(&value.to_string()), SHOWN_BYTES)
}
