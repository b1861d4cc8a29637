//! Indentation: where a capture stood, where it lands, and which of its lines may move.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Lang;
use crate::tree::{Walk, walk};

/// A source with the places of its lines, so that a long line is not searched for each match on it.
#[derive(Debug)]
pub(crate) struct Lines<'s> {
    /// The source.
    pub(crate) source: &'s str,
    breaks: Vec<usize>,
}

impl<'s> Lines<'s> {
    /// Finds the lines of a source.
    pub(crate) fn of(source: &'s str) -> Self {
        Self { source, breaks: memchr::memchr_iter(b'\n', source.as_bytes()).collect() }
    }

    /// Where the line begins that holds byte `at`.
    pub(crate) fn start(&self, at: usize) -> usize {
        let before = self.breaks.partition_point(|end| *end < at);
        before.checked_sub(1).map_or(0, |last| self.breaks[last] + 1)
    }

    /// Where the line ends that holds byte `at`: its line break, or the end of the source.
    pub(crate) fn end(&self, at: usize) -> usize {
        let next = self.breaks.partition_point(|end| *end < at);
        self.breaks.get(next).copied().unwrap_or(self.source.len())
    }

    /// The whitespace at the beginning of the line that holds byte `at`, up to `at`.
    pub(crate) fn indent(&self, at: usize) -> &'s str {
        leading(&self.source[self.start(at)..at])
    }
}

/// The spaces and tabs that `line` begins with.
pub(crate) fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether nothing but spaces, tabs and a line break is in `line`.
pub(crate) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Puts `text`, captured at `from`, into `out`, its later lines moved from the indentation `old`
/// to `new`. Where in `out` the moved lines begin is added to `moved`.
///
/// Relative indentation is kept. Not moved are blank lines (which stay as they are), lines that
/// are indented less than `old` (a comment at the left margin), and lines that begin inside one of
/// the `fixed` ranges, whose whitespace is content.
pub(crate) fn push_moved(
    out: &mut String,
    text: &str,
    from: usize,
    old: &str,
    new: &str,
    fixed: &[Range<usize>],
    moved: &mut Vec<usize>,
) {
    if old == new || !text.contains('\n') {
        out.push_str(text);
        return;
    }
    let mut at = from;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let inside = fixed.iter().any(|range| range.start < at && at < range.end);
        match line.strip_prefix(old) {
            Some(rest) if number > 0 && !inside && !is_blank(line) => {
                moved.push(out.len());
                out.push_str(new);
                out.push_str(rest);
            }
            Some(_) | None => out.push_str(line),
        }
        at += line.len();
    }
}

/// The multi-line pieces of `node` whose whitespace is content: strings, here-documents, templates
/// and every other leaf that spans lines, but for comments and for text that the language lays out
/// itself (JSX, HTML outside of `<pre>`).
///
/// **Invariant A8:** no line inside one of these is indented otherwise than it was, neither of a
/// capture nor of a template.
pub(crate) fn fixed_ranges(node: Node<'_>, source: &str, lang: Lang) -> Vec<Range<usize>> {
    let mut fixed = Vec::new();
    if lang.indents_leaves() {
        return fixed;
    }
    walk(node.walk(), |node, _| {
        if node.start_position().row == node.end_position().row {
            return Walk::Over;
        }
        let kind = node.kind();
        let string =
            (kind.contains("string") && !kind.contains("concatenated")) || kind.contains("heredoc");
        let leaf = node.child_count() == 0 && !kind.contains("comment") && !lang.lays_out(kind);
        if (string && !lang.lays_out(kind)) || leaf || lang.keeps_layout(node, source) {
            // The first line of a here-document is content too.
            let start = node.start_byte();
            let begins_line = source.as_bytes()[..start].last() == Some(&b'\n');
            let body = begins_line && kind.contains("heredoc_body");
            fixed.push(start - usize::from(body)..node.end_byte());
            return Walk::Over;
        }
        Walk::Into
    });
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, old: &str, new: &str, expect: &str) {
        let mut out = String::new();
        push_moved(&mut out, text, 0, old, new, &[], &mut Vec::new());
        assert_eq!(out, expect);
    }

    #[test]
    fn case_171_relative_indentation_is_kept() {
        check("a:\n        b\n    c", "    ", "", "a:\n    b\nc");
        check("a:\n    b\nc", "", "    ", "a:\n        b\n    c");
        check("a\n\tb", "\t", "\t\t", "a\n\t\tb");
    }

    #[test]
    fn case_173_blank_lines_and_comments_at_the_margin_stay() {
        check("a\n\n    b", "    ", "        ", "a\n\n        b");
        check("a\n# odd\n    b", "    ", "        ", "a\n# odd\n        b");
        check("a\r\n\r\n    b", "    ", "  ", "a\r\n\r\n  b");
    }

    #[test]
    fn a1_lines_inside_a_fixed_range_do_not_move() {
        let (mut out, mut moved) = (String::new(), Vec::new());
        push_moved(
            &mut out,
            "a(`\n    x\n    `,\n    b)",
            0,
            "    ",
            "",
            &[Range { start: 2, end: 16 }],
            &mut moved,
        );
        assert_eq!(moved, [17]);
        assert_eq!(out, "a(`\n    x\n    `,\nb)");
    }
}
