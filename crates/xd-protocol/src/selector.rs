//! Read selectors: `file.rs:3-9`, `file.rs:raw` (`CONTRACT W4`).
//!
//! A selector is text behind the last colon. Whether it is meant as one is for the reader to say:
//! a file whose literal name ends so always wins.

use core::{iter::FusedIterator, str::Split};

/// The part of a file that a read selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector<'a> {
    /// A trailing colon with nothing behind it: the whole file.
    Empty,
    /// `:raw`: the whole file, without line numbers.
    Raw,
    /// `:3`, `:3-9`, `:3-`, `:3+4`, or several with commas.
    Lines(LineRanges<'a>),
}

/// The line ranges of a selector, already checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRanges<'a>(&'a str);

impl<'a> LineRanges<'a> {
    /// The ranges in their written order.
    pub fn iter(self) -> impl FusedIterator<Item = LineRange> + use<'a> {
        let parts: Split<'a, char> = self.0.split(',');
        parts.filter_map(LineRange::parse).fuse()
    }
}

/// Lines from `first` to `last`, both counted from 1 and included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub first: u32,
    /// The last line, or none for the end of the file.
    pub last: Option<u32>,
}

impl LineRange {
    fn parse(text: &str) -> Option<Self> {
        let number = |s: &str| {
            let digits = !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            if digits { s.parse::<u32>().ok().filter(|&n| n > 0) } else { None }
        };
        let (first, last) = if let Some((first, last)) = text.split_once('-') {
            let first = number(first)?;
            (first, if last.is_empty() { None } else { Some(number(last)?) })
        } else if let Some((first, count)) = text.split_once('+') {
            let first = number(first)?;
            (first, Some(first.saturating_add(number(count)? - 1)))
        } else {
            let only = number(text)?;
            (only, Some(only))
        };
        last.is_none_or(|last| last >= first).then_some(Self { first, last })
    }
}

/// Splits `path` into the part before its selector and the selector, or none where the text
/// behind the last colon is no selector.
///
/// ```
/// use xd_protocol::{Selector, split_selector};
/// assert_eq!(split_selector("a.rs:raw"), Some(("a.rs", Selector::Raw)));
/// assert!(split_selector("a.rs:3-9,12").is_some());
/// assert_eq!(split_selector("a.rs:nine"), None);
/// ```
#[must_use]
pub fn split_selector(path: &str) -> Option<(&str, Selector<'_>)> {
    let (base, suffix) = path.rsplit_once(':')?;
    if base.is_empty() {
        return None;
    }
    match suffix {
        "" => Some((base, Selector::Empty)),
        "raw" => Some((base, Selector::Raw)),
        _ => {
            let whole = suffix.split(',').all(|part| LineRange::parse(part).is_some());
            whole.then_some((base, Selector::Lines(LineRanges(suffix))))
        }
    }
}

/// Whether `path` is several reads in one: `a:1-2;b:4`, each part with a selector of its own.
#[must_use]
pub fn is_selector_list(path: &str) -> bool {
    path.contains(';') && path.split(';').all(|part| split_selector(part.trim()).is_some())
}
