//! Foreign text that neither a terminal nor a client can be moved by.

use std::borrow::Cow;

use xd_protocol::{Visible, is_invisible};

/// `text` with its lines and tabs as they are, and every other control or invisible character shown
/// as `\u{…}`; what emoji are joined of stays. A line end of two characters becomes one.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| {
        matches!(c, '\n' | '\t' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
            || !(c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'))
    };
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_plain(c) => out.push(c),
            c => out += &Visible(c.encode_utf8(&mut [0; 4])).to_string(),
        }
    }
    Cow::Owned(out)
}

/// At most `bytes` of `text`, cut on a character and said so.
#[cfg(feature = "devices")]
pub(crate) fn cut(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let kept = &text[..text.floor_char_boundary(bytes)];
    Cow::Owned(format!("{kept}…\n[Cut here: {} bytes in all.]", text.len()))
}

/// At most `bytes` of `text` on one line, everything in it visible.
#[cfg(feature = "devices")]
pub(crate) fn line(text: &str, bytes: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut shown = Visible(&words.join(" ")).to_string();
    if shown.len() > bytes {
        shown.truncate(shown.floor_char_boundary(bytes.saturating_sub('…'.len_utf8())));
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 54
    #[test]
    fn case_54_nothing_acts_and_lines_stay() {
        assert_eq!(inert("a\r\n\tb\u{1b}[2J\n"), "a\n\tb\\u{1b}[2J\n");
        assert!(matches!(inert("plain\n\ttext"), Cow::Borrowed(_)));
        assert_eq!(inert("\u{202e}x\u{7}\r"), "\\u{202e}x\\u{7}\\u{d}");
        assert_eq!(inert("✔\u{fe0f}\u{1b}"), "✔\u{fe0f}\\u{1b}");
    }

    // case 52
    #[cfg(feature = "devices")]
    #[test]
    fn case_52_a_line_is_one() {
        assert_eq!(line("a\nb\u{1b}\t c", 100), "a b\\u{1b} c");
        assert_eq!(line("ääää", 6), "ä…");
    }

    #[cfg(feature = "devices")]
    #[test]
    fn foreign_text_is_cut_on_a_character() {
        assert_eq!(cut("short", 10), "short");
        let text = "ä".repeat(100);
        let kept = cut(&text, 11);
        assert!(kept.starts_with(&"ä".repeat(5)) && !kept.starts_with(&"ä".repeat(6)));
        assert!(kept.contains("200 bytes in all"));
    }
}
