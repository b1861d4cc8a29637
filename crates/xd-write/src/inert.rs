//! Text that a terminal or an editor cannot act on.

use std::fmt::Write as _;

use xd_protocol::{Visible, is_invisible};

/// `json` with every character escaped that somebody could act on: C0 is escaped already, DEL,
/// C1, line separators and invisible characters are not. They stand in strings only, so the value
/// stays the same; line feeds between values stay.
pub(crate) fn inert_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let acts = (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}');
        if acts || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` with its lines kept, tabs as four blanks, and every other control or invisible character
/// shown as `\u{…}`.
pub(crate) fn inert_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let _ = write!(out, "{}", Visible(&line.replace('\t', "    ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT L1
    #[test]
    fn l1_the_value_stays_the_same_and_nothing_acts() {
        let value = serde_json::json!({ "a\u{7f}": "\u{9b}2J\u{2028}\u{202e}\u{e0041}\n\u{1b}é" });
        let text = inert_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(
            text.chars().all(|c| c == '\n' || !(c.is_control() || is_invisible(c))),
            "{text:?}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    // CONTRACT R5
    #[test]
    fn r5_lines_stay_lines() {
        assert_eq!(inert_lines("a\r\n\tb\rc\u{1b}"), "a\n    b\\u{d}c\\u{1b}");
    }
}
