//! Names in texts: what a terminal or a reader of lines would obey is shown as an escape.

use std::fmt::{self, Write as _};

/// A name or an operand as every text of this crate shows it: on one line, each control,
/// line-breaking, bidirectional and invisible character written as `\u{…}`. File names are foreign
/// text, and a text that holds one goes to a model and to a terminal.
///
/// The same characters as in `xd_protocol::Visible`, which this crate must not use; a test of a
/// crate above compares the two over every character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if acts(c) {
                write!(f, "\\u{{{:x}}}", u32::from(c))?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Whether a terminal, or a reader of lines, would obey or not see `c`.
pub(crate) fn acts(c: char) -> bool {
    c.is_control() || breaks_or_hides(c)
}

/// The line separators that are no control characters, Unicode's default-ignorable characters, the
/// blank Braille pattern, and the marks of interlinear annotation.
fn breaks_or_hides(c: char) -> bool {
    matches!(c,
        '\u{2028}' | '\u{2029}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
