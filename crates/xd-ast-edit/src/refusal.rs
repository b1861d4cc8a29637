//! Why a source is not rewritten, and where.

use std::ops::Range;

use crate::tree::{glimpse, line_of};

/// Trees deeper than this are refused where a pattern compares whole subtrees (a name that occurs
/// twice): that comparison recurses. Generated code is the only thing ever seen to come near.
pub(crate) const DEEPEST_COMPARED: usize = 10_000;

/// A place in a source that an operation matched, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Index of the operation.
    pub op: usize,
    /// The bytes.
    pub range: Range<usize>,
    /// First and last line, from 1.
    pub lines: (usize, usize),
    /// How it begins.
    pub text: String,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { op, range, lines: (first, last), text } = self;
        if first == last {
            write!(f, "ops[{op}] at line {first}")?;
        } else {
            write!(f, "ops[{op}] at lines {first}-{last}")?;
        }
        write!(f, " (bytes {}..{}, `{text}`)", range.start, range.end)
    }
}

/// Why a source is not rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The source has a syntax error; it is left alone (`CONTRACT A4`).
    #[error("does not parse (line {line}, column {column})")]
    SourceDoesNotParse {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// The source is nested too deeply to compare parts of it; it is left alone.
    #[error(
        "is nested {depth} levels deep, and an op that compares or recurses goes at most {deepest} deep"
    )]
    TooDeep {
        /// How deep it is.
        depth: usize,
        /// How deep the operations can go.
        deepest: usize,
    },
    /// A match of a rule leaves a variable unbound that its `fix` inserts.
    #[error(
        "{site} does not bind `{name}`, which `fix` uses; bind it in every alternative of the rule, or make a rule of each"
    )]
    Unbound {
        /// The match.
        site: Box<Site>,
        /// The variable, with its dollars.
        name: String,
    },
    /// Two operations want to change the same bytes (`CONTRACT A5`).
    #[error(
        "two ops change the same code: {first} and {second}; stage one, apply it, then stage the other"
    )]
    Overlap {
        /// The place that begins first.
        first: Box<Site>,
        /// The other one.
        second: Box<Site>,
    },
    /// The result parses, but code that was kept is read otherwise than in the source: it has lost a
    /// part that it needs, or has taken in what stands beside the change.
    #[error(
        "{site} cannot be changed so: around it, `{kind}` at line {line} of the result (`{}`) would take in what follows or be read otherwise; nothing is staged: match the whole of it, or write what is to stand there in `out` (an empty body, parentheses)",
        xd_protocol::Visible(near)
    )]
    ReadOtherwise {
        /// The match.
        site: Box<Site>,
        /// The grammar's name of what would be read otherwise.
        kind: String,
        /// Its line in the result, from 1.
        line: usize,
        /// How it begins there.
        near: String,
    },
    /// A comment of the result would hide code that stands behind it.
    #[error(
        "{site} cannot be changed so: a comment would hide `{}`, which stands behind it; nothing is staged: end the comment's line in `out`, or write a comment that closes itself",
        xd_protocol::Visible(text)
    )]
    Hidden {
        /// The match.
        site: Box<Site>,
        /// How that begins which would be hidden.
        text: String,
    },
    /// A match holds code that its pattern neither spells nor captures.
    #[error(
        "{site} would lose `{}`, which `pat` neither has nor captures; nothing is staged: capture it with a variable, or write `$$$` in `pat` where it may be lost",
        xd_protocol::Visible(text)
    )]
    Uncaptured {
        /// The match.
        site: Box<Site>,
        /// How that begins which would be lost.
        text: String,
    },
    /// A line of the result was indented to where it lands, and begins inside a string.
    #[error(
        "{site} cannot be changed so: line {line} of the result (`{}`) is inside a string, which indenting it would change; nothing is staged: write the string in one line, or match from the beginning of the line that it lands on",
        xd_protocol::Visible(text)
    )]
    StringMoved {
        /// The match.
        site: Box<Site>,
        /// The line in the result, from 1.
        line: usize,
        /// How it begins.
        text: String,
    },
    /// The result has a syntax error that the source did not have.
    #[error(
        "the result would not parse at its line {line} ({}), after ops[{op}] changed line {source_line}; nothing is staged: adjust `out` or narrow `pat`",
        if near.is_empty() { "its end".to_owned() } else { format!("`{}`", xd_protocol::Visible(near)) }
    )]
    ResultDoesNotParse {
        /// Line in the result, from 1.
        line: usize,
        /// What stands there in the result.
        near: String,
        /// Line in the source of the change that is nearest before it.
        source_line: usize,
        /// The operation that made that change.
        op: usize,
    },
}

/// The place of a match, as messages tell it.
pub(crate) fn site(source: &str, op: usize, range: Range<usize>) -> Site {
    let lines = (
        line_of(source, range.start),
        line_of(source, range.end.saturating_sub(1).max(range.start)),
    );
    Site { op, lines, text: glimpse(source, range.start, 60), range }
}
