//! Foreign text made inert: what a terminal would obey, hide or reorder is spelt out.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;
use xd_protocol::is_invisible;

use crate::Cells;

/// Tab stops stand every this many cells.
const TAB: usize = 4;

/// The most zero-width marks that one cluster keeps. Scripts need a handful; a thousand of them
/// draw over the lines above and make a line without end.
const MARKS: usize = 16;

/// `text` as one line that no terminal takes for anything but text (`CONTRACT V4`).
///
/// Control characters (C0, DEL, C1), line breaks and separators, bidirectional and invisible
/// characters become `\u{…}`; tabs become blanks up to the next stop. What a script needs stays:
/// combining marks, one variation selector behind its base, joiners inside an emoji or a conjunct.
/// Cleaning clean text changes nothing.
///
/// ```
/// assert_eq!(xd_render::clean_line("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\u{a}b");
/// ```
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean_line_at(text, &Cells::default())
}

/// The lines of `text`, each [cleaned](clean_line). `\n` and `\r\n` end a line; every other
/// breaking character is shown. A line break at the end begins no further line.
#[must_use]
pub fn clean_lines(text: &str, cells: &Cells) -> Vec<String> {
    text.lines().map(|line| clean_line_at(line, cells)).collect()
}

/// [`clean_line`] with tab stops by the given measure.
pub(crate) fn clean_line_at(text: &str, cells: &Cells) -> String {
    if text.bytes().all(|b| b.is_ascii_graphic() || b == b' ') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for (i, piece) in text.split('\t').enumerate() {
        if i > 0 {
            let blanks = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        }
        let from = out.len();
        for cluster in piece.graphemes(true) {
            clean_cluster(cluster, &mut out);
        }
        column += cells.width(&out[from..]);
    }
    out
}

/// Appends one cluster. Once a character of it is spelt out, what follows has lost its base, so
/// every further invisible character of the cluster is spelt out too.
fn clean_cluster(cluster: &str, out: &mut String) {
    let mut before = None;
    let mut marks = 0;
    let mut chars = cluster.chars().peekable();
    while let Some(c) = chars.next() {
        let drawn = |c: char| c.width().unwrap_or(0) > 0;
        marks += usize::from(!drawn(c));
        let keep = if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || marks > MARKS {
            false
        } else if !drawn(c) && before.is_none() {
            // A mark without a base would be drawn on whatever stands before this text.
            false
        } else if is_selector(c) {
            before.is_some_and(|b: char| !is_selector(b) && !b.is_whitespace())
        } else if c == '\u{200d}' {
            before.is_some() && chars.peek().is_some_and(|next| drawn(*next) && !extends(*next))
        } else {
            !is_invisible(c)
        };
        if keep {
            out.push(c);
            before = Some(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            before = None;
        }
    }
}

/// Whether `c` joins the cluster before it whatever that is: a skin tone, a spacing mark. What is
/// behind a joiner in one cluster and is none of these is an emoji behind an emoji, or a consonant
/// behind a virama.
fn extends(c: char) -> bool {
    let mut text = String::from('a');
    text.push(c);
    text.graphemes(true).count() == 1
}

/// The variation selectors: U+FE00–FE0F and the supplementary ones.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}
