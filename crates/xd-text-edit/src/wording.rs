//! Words of messages: numbers with nouns, lists of lines, excerpts of files.

use std::fmt::Write as _;

/// Characters of an excerpt.
const EXCERPT: usize = 120;
/// Characters of an excerpt before the place that it is about.
const BEFORE: usize = 60;

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `line 3`, `lines 3, 17 and 4 more`: the first lines of `total` places.
pub(crate) fn line_list(lines: &[usize], total: usize) -> String {
    let list: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = match total.saturating_sub(lines.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("line{} {}{more}", if total == 1 { "" } else { "s" }, list.join(", "))
}

/// A line in quotes on one line, with all that cannot be seen written out, cut around the
/// character with the index `at`.
pub(crate) fn excerpt(text: &str, at: usize) -> String {
    let skip = at.saturating_sub(BEFORE);
    let skip = if text.chars().nth(EXCERPT).is_none() { 0 } else { skip };
    let mut out = String::from(if skip > 0 { "…\"" } else { "\"" });
    let mut rest = text.chars().skip(skip);
    for c in rest.by_ref().take(EXCERPT) {
        push_seen(&mut out, c);
    }
    out.push('"');
    if rest.next().is_some() {
        out.push('…');
    }
    out
}

fn push_seen(out: &mut String, c: char) {
    let plain = xd_protocol::is_invisible(c) || c.is_control() || (c.is_whitespace() && c != ' ');
    match c {
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\n' => out.push_str("\\n"),
        '"' | '\\' => out.extend(['\\', c]),
        // A combining mark would be drawn onto its neighbour.
        c if plain || is_combining(c) => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Whether a mark combines with the character before it.
pub(crate) fn is_combining(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_what_cannot_be_seen() {
        assert_eq!(
            excerpt("\ta\u{a0}\"b\u{200b}e\u{301}\u{1b}", 0),
            r#""\ta\u{a0}\"b\u{200b}e\u{301}\u{1b}""#
        );
        let long = "x".repeat(300);
        assert_eq!(excerpt(&long, 0).chars().count(), EXCERPT + 3);
        assert!(excerpt(&long, 250).starts_with("…\"xxx") && excerpt(&long, 250).ends_with("x\""));
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(line_list(&[3], 1), "line 3");
        assert_eq!(line_list(&[3, 4], 6), "lines 3, 4 and 4 more");
        assert_eq!(counted(1, "file") + &counted(2, "hunk"), "1 file2 hunks");
    }
}
