//! The `inline` filter: foreign text that stays on its line.

/// `text` as one line: runs of whitespace with a line break become one blank, and control,
/// bidirectional and invisible characters are spelt out as `\u{…}` (`CONTRACT R5`, case 52).
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if breaks_line(c) || c == '\t' {
            while chars.peek().is_some_and(|next| breaks_line(*next) || next.is_whitespace()) {
                chars.next();
            }
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else if c.is_control() || is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether some reader takes `c` as the end of a line.
fn breaks_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Bidirectional controls, zero-width characters, tags and other characters without a shape. The
/// joiners U+200C and U+200D stay: scripts and emoji need them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::inline;

    #[test]
    fn case_052_a_summary_stays_on_its_line() {
        assert_eq!(inline("a\r\n  b\tc\u{2028}d\u{85}e \n"), "a b c d e");
        assert_eq!(inline("x\u{0}y\u{1b}[2J\u{9b}z"), "x\\u{0}y\\u{1b}[2J\\u{9b}z");
        assert_eq!(inline("p\u{202e}q\u{200b}r\u{e0041}"), "p\\u{202e}q\\u{200b}r\\u{e0041}");
        assert_eq!(inline("\u{1f469}\u{200d}\u{1f467} é"), "\u{1f469}\u{200d}\u{1f467} é");
    }
}
