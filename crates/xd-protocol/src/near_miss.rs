//! Texts that were meant as addresses and are none (**Invariant P2**, `CONTRACT U7`).

use core::fmt;

use crate::{Excerpt, SCHEME, address::target_of, visible::is_invisible};

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
        self.tell(f, "write")
    }
}

impl NearMiss<'_> {
    /// The error for one of the two tools, `deed`: `write` or `read`.
    pub(crate) fn tell(self, f: &mut fmt::Formatter<'_>, deed: &str) -> fmt::Result {
        write!(f, "Unknown URI-like {deed} target '{}'. Did you mean '", Excerpt(self.written))?;
        // A suggestion that is itself broken would only lead to the next error.
        if target_of(self.rest).is_ok() {
            write!(f, "xd://{}", self.rest)?;
        } else {
            f.write_str("xd://<tool>")?;
        }
        write!(f, "'? Prefix the path with './' to {deed} it as a filesystem path.")
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
        self.tell(f, "write")
    }
}

impl ForeignScheme<'_> {
    /// The error for one of the two tools, `deed`: `write` or `read`.
    pub(crate) fn tell(self, f: &mut fmt::Formatter<'_>, deed: &str) -> fmt::Result {
        write!(
            f,
            "Unknown URI-like {deed} target '{}'. Tool devices use 'xd://<tool>'.",
            Excerpt(self.written)
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

/// The colon, and the full-width one of an East Asian keyboard.
const COLONS: &[char] = &[':', '：'];
/// What is typed, or drawn, as a slash.
const SLASHES: &[char] = &['/', '\\', '／', '∕', '⁄'];

/// Reads the scheme of `text`, which is trimmed and does not begin with the right prefix.
///
/// | written | is |
/// |---|---|
/// | `xd:…`, `xd/…`, `xd\…`, `xd :…` | a slip |
/// | `xd：／／…`, with a colon or slashes of another alphabet | a slip |
/// | `xdd://…`, `dx:/…`, any scheme one edit from `xd` | a slip |
/// | the same with invisible characters in it or before it | a slip |
/// | `c:/…`, `c:\…` | a path: a drive |
/// | `http://…`, and `http:/…` as a path library would have normalised it | another scheme |
/// | any other text without a slash before `://` | another scheme |
/// | all else | a path |
pub(crate) fn scheme_of(text: &str) -> Scheme<'_> {
    let end = text.find(|c| COLONS.contains(&c) || SLASHES.contains(&c)).unwrap_or(text.len());
    let (before, after) = text.split_at(end);
    let scheme = before.trim_end();
    let exact = visible(scheme).map(|c| c.to_ascii_lowercase()).eq(SCHEME.chars());
    let close = exact || one_edit_from_ours(scheme);
    let slash = after.strip_prefix(COLONS).is_some_and(|path| path.starts_with(SLASHES));

    // With the right letters one of the separators is enough.
    if (exact && !after.is_empty()) || (close && slash && !is_drive(scheme, after)) {
        return slip(text, after);
    }
    let other = |scheme| Scheme::Other(ForeignScheme { written: text, scheme });
    if let Some((scheme, _)) = text.split_once("://").filter(|(it, _)| !it.contains(['/', '\\'])) {
        return other(scheme);
    }
    if slash && is_scheme(scheme) && scheme.len() > 1 { other(scheme) } else { Scheme::None }
}

fn slip<'a>(written: &'a str, after: &'a str) -> Scheme<'a> {
    let rest =
        after.trim_start_matches(|c| c == ' ' || COLONS.contains(&c) || SLASHES.contains(&c));
    // Quoted as in prose: the closing mark is no part of the name.
    let quoted = written.starts_with(['"', '\'', '`', '<', '(', '[']);
    let rest = if quoted { rest.trim_end_matches(['"', '\'', '`', '>', ')', ']']) } else { rest };
    Scheme::Slip(NearMiss { written, rest })
}

/// One letter with one slash, or with backslashes: a drive. With two slashes it is a scheme that
/// lost its other letter.
fn is_drive(scheme: &str, after: &str) -> bool {
    scheme.len() == 1 && !after.starts_with("://")
}

/// Whether `text` is spelled as schemes are: a letter, then letters, digits, `+`, `-`, `.`.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The characters of `scheme` that a reader sees.
fn visible(scheme: &str) -> impl Iterator<Item = char> + '_ {
    scheme.chars().filter(|&c| !is_invisible(c))
}

/// Whether one insertion, deletion, substitution or swap of neighbours makes `scheme` ours.
fn one_edit_from_ours(scheme: &str) -> bool {
    let mut chars = visible(scheme).map(|c| c.to_ascii_lowercase());
    match (chars.next(), chars.next(), chars.next(), chars.next()) {
        (Some(a), None, None, None) => a == 'x' || a == 'd',
        (Some(a), Some(b), None, None) => a == 'x' || b == 'd' || (a, b) == ('d', 'x'),
        (Some(a), Some(b), Some(c), None) => [(a, b), (a, c), (b, c)].contains(&('x', 'd')),
        _ => false,
    }
}
