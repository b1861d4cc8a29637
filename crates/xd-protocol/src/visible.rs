//! Foreign text made visible: what a terminal would obey or hide is shown as an escape.

use core::fmt::{self, Write as _};

/// Shows text on one line with every control, line-breaking, bidirectional and invisible
/// character written as `\u{…}`.
///
/// ```
/// assert_eq!(xd_protocol::Visible("a\u{1b}[2Jb\n").to_string(), "a\\u{1b}[2Jb\\u{a}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visible<'a>(pub &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() || is_line_separator(c) || is_invisible(c) {
                write!(f, "\\u{{{:x}}}", u32::from(c))?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// How many characters an [`Excerpt`] shows.
pub const MAX_EXCERPT_CHARS: usize = 512;

/// As [`Visible`], but of a long text the beginning alone, with how many bytes the whole has: what a
/// message quotes must not fill a model's context.
///
/// ```
/// use xd_protocol::Excerpt;
/// assert_eq!(Excerpt("xd://a\t").to_string(), "xd://a\\u{9}");
/// let long = "x".repeat(1_000_000);
/// assert!(Excerpt(&long).to_string().ends_with("x… (1000000 bytes)"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt<'a>(pub &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(MAX_EXCERPT_CHARS) {
            Some((end, _)) => {
                write!(f, "{}… ({} bytes)", Visible(&self.0[..end]), self.0.len())
            }
            None => Visible(self.0).fmt(f),
        }
    }
}

/// The two line separators that are not control characters: U+2028 and U+2029.
pub(crate) fn is_line_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether `c` is drawn as nothing or reorders what is drawn: bidirectional controls, zero-width
/// characters, tags, fillers and variation selectors.
///
/// These are Unicode's default-ignorable code points and the interlinear annotation marks.
/// Variation selectors and U+200D are among them although emoji use both: a device name may not
/// hold them, and a renderer that draws emoji decides for itself.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
