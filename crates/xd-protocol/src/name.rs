//! Device names and what is wrong with a text that is none.

use core::fmt;

use crate::visible::{is_invisible, is_line_separator};

/// The longest device name, in bytes (`CONTRACT U2`).
pub const MAX_NAME_BYTES: usize = 128;

/// The device names that no mount may take (`CONTRACT U5`).
pub const RESERVED: [&str; 3] = ["resolve", "reject", "propose"];

/// Whether `name` is one of the [`RESERVED`] names. Case counts, as in addresses.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// A well-formed device name (`CONTRACT U2`). It may be a [reserved](is_reserved) one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceName<'a>(&'a str);

impl<'a> DeviceName<'a> {
    /// Checks `name`; nothing is trimmed or changed.
    ///
    /// # Errors
    /// The first fault of the name, from its start.
    pub fn new(name: &'a str) -> Result<Self, NameFault> {
        if name.is_empty() {
            return Err(NameFault::Empty);
        }
        if let Some(fault) = name.chars().find_map(fault_of) {
            return Err(fault);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameFault::TooLong { bytes: name.len() });
        }
        Ok(Self(name))
    }

    /// The name as written.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for DeviceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Why a text is no device name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameFault {
    /// It is empty.
    Empty,
    /// It holds `/`, `\`, `?` or `#`.
    Separator(char),
    /// It holds white space.
    WhiteSpace(char),
    /// It holds a control character or a line separator.
    Control(char),
    /// It holds a bidirectional, zero-width or otherwise invisible character.
    Invisible(char),
    /// It holds `@`, which only `resolve@<n>` and `reject@<n>` may (`CONTRACT U6`).
    At,
    /// The text behind `resolve@` or `reject@` is no staged action's number.
    NotANumber,
    /// It is longer than [`MAX_NAME_BYTES`].
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("the name is empty"),
            Self::Separator(c) => write!(f, "the name holds '{c}'"),
            Self::WhiteSpace(c) => write!(f, "the name holds white space (U+{:04X})", u32::from(c)),
            Self::Control(c) => {
                write!(f, "the name holds a control character (U+{:04X})", u32::from(c))
            }
            Self::Invisible(c) => {
                write!(f, "the name holds an invisible character (U+{:04X})", u32::from(c))
            }
            Self::At => f.write_str("only resolve@<n> and reject@<n> hold '@'"),
            Self::NotANumber => {
                f.write_str("behind '@' stands a staged action's number, from 1, in plain digits")
            }
            Self::TooLong { bytes } => {
                write!(f, "the name has {bytes} bytes; {MAX_NAME_BYTES} is the most")
            }
        }
    }
}

impl core::error::Error for NameFault {}

fn fault_of(c: char) -> Option<NameFault> {
    match c {
        '/' | '\\' | '?' | '#' => Some(NameFault::Separator(c)),
        '@' => Some(NameFault::At),
        // Control first: a line feed is white space too, and the sharper word helps more.
        c if c.is_control() || is_line_separator(c) => Some(NameFault::Control(c)),
        c if c.is_whitespace() => Some(NameFault::WhiteSpace(c)),
        c if is_invisible(c) => Some(NameFault::Invisible(c)),
        _ => None,
    }
}
