//! The reason of a decision (**Invariant P4**).

use core::fmt;

/// The longest reason, in characters (`CONTRACT D2`).
pub const MAX_REASON_CHARS: usize = 2_000;

/// Why somebody applies or discards: trimmed, not blank, at most [`MAX_REASON_CHARS`] characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reason<'a>(&'a str);

impl<'a> Reason<'a> {
    /// Takes the body of a confirm.
    ///
    /// # Errors
    /// [`ReasonFault`], whose text says what to write instead.
    pub fn new(body: &'a str) -> Result<Self, ReasonFault> {
        let text = body.trim();
        if text.chars().all(|c| c.is_whitespace() || c.is_control() || crate::is_invisible(c)) {
            return Err(ReasonFault::Blank);
        }
        let chars = text.chars().count();
        if chars > MAX_REASON_CHARS {
            return Err(ReasonFault::TooLong { chars });
        }
        Ok(Self(text))
    }

    /// The reason, trimmed.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Why a body is no reason. Nothing has happened, the action stays pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasonFault {
    /// Nothing visible is in it.
    Blank,
    /// It has more than [`MAX_REASON_CHARS`] characters.
    TooLong {
        /// How many it has.
        chars: usize,
    },
}

impl fmt::Display for ReasonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str(
                "The reason is blank. Write one plain-text sentence that says why, for example: \
                 All call sites use the new name.",
            ),
            Self::TooLong { chars } => write!(
                f,
                "The reason has {chars} characters; {MAX_REASON_CHARS} is the most. \
                 Write one plain-text sentence that says why.",
            ),
        }
    }
}

impl core::error::Error for ReasonFault {}
