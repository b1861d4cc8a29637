//! Foreign text on one line, within a budget.

use std::fmt::Write as _;

use xd_protocol::Visible;

/// `text` on one line: white space folded to single spaces, control and invisible characters
/// escaped, cut with an ellipsis at `most` bytes, never within a character.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let fold = |c: char| c.is_whitespace();
    for word in text.split(fold).filter(|word| !word.is_empty()) {
        let space = if out.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(out, "{space}{}", Visible(word));
        if out.len() > most {
            let room = most.saturating_sub('…'.len_utf8());
            let cut = (0..=room).rev().find(|&at| out.is_char_boundary(at)).unwrap_or(0);
            out.truncate(cut);
            out.push('…');
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::one_line;

    // case 52
    #[test]
    fn case_052_one_physical_line() {
        assert_eq!(one_line("a\nb\r\n\tc\u{2028}d\0e", 100), "a b c d\\u{0}e");
        assert_eq!(one_line("  ", 100), "");
    }

    // CONTRACT R5
    #[test]
    fn r5_cut_on_a_character() {
        assert_eq!(one_line("ääää", 6), "ä…");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert!(one_line(&"€".repeat(200), 200).len() <= 200);
    }
}
