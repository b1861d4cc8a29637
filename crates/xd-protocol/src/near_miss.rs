//! Texts that were meant as addresses and are none (**Invariant P2**, `CONTRACT U7`).

use core::fmt;

use crate::{SCHEME, Visible, address::target_of};

/// A slip of an `xd://` address. Displays the error that a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearMiss<'a> {
    written: &'a str,
    rest: &'a str,
}

impl<'a> NearMiss<'a> {
    /// The text as it was written, trimmed.
    #[must_use]
    pub const fn written(self) -> &'a str {
        self.written
    }

    /// The part behind the broken scheme, which the right spelling keeps: `x` of `xd:/x`.
    #[must_use]
    pub const fn rest(self) -> &'a str {
        self.rest
    }
}

impl fmt::Display for NearMiss<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unknown URI-like write target '{}'. Did you mean '", Visible(self.written))?;
        // A suggestion that is itself broken would only lead to the next error.
        if target_of(self.rest).is_ok() {
            write!(f, "xd://{}", self.rest)?;
        } else {
            f.write_str("xd://<tool>")?;
        }
        f.write_str("'? Prefix the path with './' to write it as a filesystem path.")
    }
}

impl core::error::Error for NearMiss<'_> {}

/// An address of a scheme that is not ours. Displays the error that a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignScheme<'a> {
    written: &'a str,
    scheme: &'a str,
}

impl<'a> ForeignScheme<'a> {
    /// The text as it was written, trimmed.
    #[must_use]
    pub const fn written(self) -> &'a str {
        self.written
    }

    /// Its scheme, in the case it was written: `local` of `local://plan.md`.
    #[must_use]
    pub const fn scheme(self) -> &'a str {
        self.scheme
    }
}

impl fmt::Display for ForeignScheme<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Unknown URI-like write target '{}'. Tool devices use 'xd://<tool>'.",
            Visible(self.written)
        )
    }
}

impl core::error::Error for ForeignScheme<'_> {}

/// What stands before the first colon or slash of a text.
pub(crate) enum Scheme<'a> {
    None,
    Slip(NearMiss<'a>),
    Other(ForeignScheme<'a>),
}

/// Reads the scheme of `text`, which is trimmed and does not begin with the right prefix.
///
/// | written | is |
/// |---|---|
/// | `xd:…`, `xd/…`, `xd\…`, `xd ://…` | a slip |
/// | `xdd://…`, `dx:/…`, any scheme one edit from `xd` | a slip |
/// | `c:/…`, `c:\…` | a path: a drive |
/// | `http://…`, and `http:/…` as a path library would have normalised it | another scheme |
/// | all else | a path |
pub(crate) fn scheme_of(text: &str) -> Scheme<'_> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let (scheme, after) = text.split_at(end.unwrap_or(text.len()));
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Scheme::None;
    }
    let exact = scheme.eq_ignore_ascii_case(SCHEME);
    let close = exact || one_edit_from_ours(scheme);
    let slip = |rest: &'static [char], after| {
        let written = text;
        let rest = str::trim_start_matches(after, rest);
        Scheme::Slip(NearMiss { written, rest })
    };
    const SLASHES: &[char] = &['/', '\\'];
    const LEAD: &[char] = &[':', '/', '\\', ' '];

    if exact && after.starts_with([':', '/', '\\']) {
        return slip(LEAD, after);
    }
    if close && after.trim_start().starts_with("://") {
        return slip(LEAD, after.trim_start());
    }
    let Some(path) = after.strip_prefix(':') else { return Scheme::None };
    let doubled = path.starts_with("//") || path.starts_with("\\\\");
    // One letter and one slash is a drive; one letter and two is a scheme that lost its other one.
    if doubled || (scheme.len() > 1 && path.starts_with(SLASHES)) {
        return if close {
            slip(SLASHES, path)
        } else {
            Scheme::Other(ForeignScheme { written: text, scheme })
        };
    }
    Scheme::None
}

/// Whether one insertion, deletion, substitution or swap of neighbours makes `scheme` ours.
fn one_edit_from_ours(scheme: &str) -> bool {
    let is = |c: &u8, ours: u8| c.eq_ignore_ascii_case(&ours);
    match scheme.as_bytes() {
        [a] => is(a, b'x') || is(a, b'd'),
        [a, b] => is(a, b'x') || is(b, b'd') || (is(a, b'd') && is(b, b'x')),
        [a, b, c] => {
            let pair = |p: &u8, q: &u8| is(p, b'x') && is(q, b'd');
            pair(a, b) || pair(a, c) || pair(b, c)
        }
        _ => false,
    }
}
