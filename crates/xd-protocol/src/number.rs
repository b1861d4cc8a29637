//! The number of a staged action.

use core::{fmt, num::NonZeroU64};

/// The number of a staged action: from 1, increasing within its session, never reused
/// (`CONTRACT S1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageNumber(NonZeroU64);

impl StageNumber {
    /// The first number of a session.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The number `n`, or none for 0.
    #[must_use]
    pub const fn new(n: u64) -> Option<Self> {
        match NonZeroU64::new(n) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// The number as an integer.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The number after this one.
    ///
    /// # Panics
    /// After 2^64 − 1 actions in one session.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("a session stages fewer than 2^64 actions"))
    }

    /// Parses the one spelling of a number: decimal digits, no sign, no leading zero.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let spelled = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
        if spelled { text.parse().ok().and_then(Self::new) } else { None }
    }
}

impl fmt::Display for StageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
