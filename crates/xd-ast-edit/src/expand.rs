//! Expanding a template for one match: captures go in literally and once, with the indentation of
//! the place where they land and without commas that an empty list would leave behind.

use std::ops::Range;

use ast_grep_core::meta_var::MetaVarEnv;

use crate::indent::{Lines, fixed_ranges, leading, push_moved};
use crate::language::Lang;
use crate::template::{Piece, Template};
use crate::tree::Doc;

/// How the file of a match is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileStyle {
    /// Whether the file's first indented line is indented by tabs.
    pub(crate) tabs: bool,
    /// Whether CRLF occurs in it.
    pub(crate) crlf: bool,
}

impl FileStyle {
    /// Reads the style off a source.
    pub(crate) fn of(source: &str) -> Self {
        let bytes = source.as_bytes();
        let tabs = memchr::memchr_iter(b'\n', bytes)
            .filter_map(|end| bytes.get(end + 1))
            .find(|byte| matches!(byte, b' ' | b'\t'))
            .is_some_and(|byte| *byte == b'\t');
        Self { tabs, crlf: memchr::memmem::find(bytes, b"\r\n").is_some() }
    }

    /// The line break of the line that holds byte `at`, or of the line before where it is the last.
    pub(crate) fn line_break(self, lines: &Lines<'_>, at: usize) -> &'static str {
        if !self.crlf {
            return "\n";
        }
        let bytes = lines.source.as_bytes();
        let (start, end) = (lines.start(at), lines.end(at));
        let end = if end < bytes.len() { end } else { start.saturating_sub(1) };
        if bytes[..end].ends_with(b"\r") { "\r\n" } else { "\n" }
    }
}

/// What a template became.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    /// The text.
    pub(crate) text: String,
    /// Bytes of the source that are in it.
    pub(crate) kept: Vec<Range<usize>>,
    /// Where the captures are in the text.
    pub(crate) captures: Vec<Range<usize>>,
    /// Where the lines of the text begin that are indented otherwise than in template or source.
    pub(crate) moved: Vec<usize>,
}

struct Writer<'s> {
    template: &'s Template,
    lines: &'s Lines<'s>,
    lang: Lang,
    style: FileStyle,
    line_break: &'static str,
    /// Indentation of the line on which the match begins.
    base: &'s str,
    out: String,
    kept: Vec<Range<usize>>,
    captures: Vec<Range<usize>>,
    moved: Vec<usize>,
    /// The template's current line, from 0.
    number: usize,
    /// The text ends in a comment that only a line break ends.
    in_comment: bool,
    /// Indentation of the template's current line in the result, and whether it is written yet.
    line: String,
    fresh: bool,
    /// A comma and the space around it are to be left out at the start of the next text.
    skip_comma: bool,
}

/// Expands `template` for the match that begins at byte `at` of a source and bound `env`.
pub(crate) fn expand(
    template: &Template,
    env: &MetaVarEnv<'_, Doc>,
    lines: &Lines<'_>,
    at: usize,
    lang: Lang,
    style: FileStyle,
) -> Expansion {
    let base = lines.indent(at);
    let mut writer = Writer {
        template,
        lines,
        lang,
        style,
        line_break: style.line_break(lines, at),
        base,
        out: String::new(),
        kept: Vec::new(),
        captures: Vec::new(),
        moved: Vec::new(),
        number: 0,
        in_comment: false,
        line: base.to_owned(),
        fresh: false,
        skip_comma: false,
    };
    for (index, piece) in template.pieces.iter().enumerate() {
        let literal = template.is_literal(index);
        let next = match template.pieces.get(index + 1) {
            Some(Piece::Text(text)) => Some(text.as_str()),
            Some(Piece::Single(_) | Piece::List(_)) => Some("$"),
            None => None,
        };
        match piece {
            Piece::Text(text) => writer.text(text, next.is_some()),
            Piece::Single(name) => {
                if let Some(node) = env.get_match(name) {
                    writer.capture(std::slice::from_ref(node), node.range(), literal);
                } else if let Some(bytes) = env.get_transformed(name) {
                    writer.made(&String::from_utf8_lossy(bytes), literal);
                }
            }
            Piece::List(name) => {
                let mut nodes = env.get_multiple_matches(name);
                let tokens = nodes.iter().rev().take_while(|node| !node.is_named()).count();
                nodes.truncate(nodes.len() - tokens.min(template.tail(name)));
                writer.list(&nodes, next, literal);
            }
        }
    }
    let Writer { out: text, kept, captures, moved, .. } = writer;
    Expansion { text, kept, captures, moved }
}

impl Writer<'_> {
    /// Template text; `more` says that a capture follows on its last line.
    fn text(&mut self, text: &str, more: bool) {
        let unit = self.template.indent_unit;
        let mut text = text;
        if std::mem::take(&mut self.skip_comma)
            && let Some(rest) = text.trim_start().strip_prefix(',')
        {
            text = rest.trim_start_matches([' ', '\t']);
        }
        let first = text.split('\n').next().unwrap_or_default();
        if !first.trim().is_empty() && std::mem::take(&mut self.in_comment) {
            self.break_line();
            text = text.trim_start_matches([' ', '\t']);
        } else if text.contains('\n') {
            self.in_comment = false;
        }
        let last = text.matches('\n').count();
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.out.push_str(self.line_break);
                self.number += 1;
                self.fresh = !self.template.is_fixed(self.number);
                self.line = self.base.to_owned();
            }
            if self.fresh && line.trim().is_empty() {
                // A blank line stays empty; the space before a capture waits for what comes.
                if number == last && more {
                    self.line.push_str(&self.in_file_style(line, unit));
                }
                continue;
            }
            if self.fresh {
                let lead = leading(line);
                self.line.push_str(&self.in_file_style(lead, unit));
                if self.line != lead {
                    self.moved.push(self.out.len());
                }
                self.start_line();
                self.out.push_str(&line[lead.len()..]);
            } else {
                self.out.push_str(line);
            }
        }
    }

    /// Ends the line for what stands behind a comment.
    fn break_line(&mut self) {
        self.out.truncate(self.out.trim_end().len());
        self.out.push_str(self.line_break);
        self.out.push_str(&self.line);
    }

    /// The template's own indentation, in tabs where the file has tabs and the template spaces.
    fn in_file_style(&self, lead: &str, unit: usize) -> String {
        if !self.style.tabs || unit == 0 || lead.contains('\t') {
            return lead.to_owned();
        }
        "\t".repeat(lead.len() / unit) + &" ".repeat(lead.len() % unit)
    }

    /// Writes the current line's indentation, once.
    fn start_line(&mut self) {
        if std::mem::take(&mut self.fresh) {
            self.out.push_str(&self.line);
        }
    }

    /// Text that a rule made of a capture. It comes without the indentation of where that stood.
    fn made(&mut self, text: &str, literal: bool) {
        self.skip_comma = false;
        if std::mem::take(&mut self.in_comment) {
            self.break_line();
        }
        self.start_line();
        let line = if literal { "" } else { self.line.as_str() };
        push_moved(&mut self.out, text, 0, "", line, &[], &mut self.moved);
    }

    /// Captured text; in a `literal` place it goes in as it stands in the source.
    fn capture(
        &mut self,
        nodes: &[ast_grep_core::Node<'_, Doc>],
        range: Range<usize>,
        literal: bool,
    ) {
        self.skip_comma = false;
        if std::mem::take(&mut self.in_comment) {
            self.break_line();
        }
        let begins_line = self.fresh;
        self.start_line();
        let begin = self.out.len();
        let range = if begins_line { self.laid_out(range) } else { range };
        // Some grammars count the line break behind a body to it; the template has its own.
        let text = &self.lines.source[range.clone()];
        let text = if text.ends_with('\n') { text.trim_end() } else { text };
        if text.contains('\n') && !literal {
            let old = self.lines.indent(range.start);
            let fixed = |node: &ast_grep_core::Node<'_, Doc>| {
                fixed_ranges(node.get_inner_node(), self.lines.source, self.lang)
            };
            let fixed: Vec<_> = nodes.iter().flat_map(fixed).collect();
            let moved = &mut self.moved;
            push_moved(&mut self.out, text, range.start, old, &self.line, &fixed, moved);
        } else {
            self.out.push_str(text);
        }
        self.captures.push(begin..self.out.len());
        self.kept.push(range);
        self.in_comment = nodes.last().is_some_and(ends_in_line_comment);
    }

    /// The same without the line breaks that a language has at the ends of its text.
    fn laid_out(&self, range: Range<usize>) -> Range<usize> {
        if !self.lang.lays_out_ends() {
            return range;
        }
        let text = &self.lines.source[range.clone()];
        let (first, last) = (text.trim_start(), text.trim_end());
        let has_break = |space: &str| space.contains('\n');
        let start =
            if has_break(&text[..text.len() - first.len()]) { text.len() - first.len() } else { 0 };
        let end = if has_break(&text[last.len()..]) { last.len().max(start) } else { text.len() };
        range.start + start..range.start + end
    }

    /// A list, with the commas around it put right: an empty one takes a comma of the template
    /// with it, one that ends in a comma does not bring a second.
    fn list(&mut self, nodes: &[ast_grep_core::Node<'_, Doc>], next: Option<&str>, literal: bool) {
        let behind = next.map_or("", str::trim_start);
        let mut nodes = nodes;
        // Some grammars have line ends as nodes; and a comma is not brought twice.
        while let Some((last, rest)) = nodes.split_last()
            && !last.is_named()
            && (last.text().trim().is_empty() || (last.text() == "," && behind.starts_with(',')))
        {
            nodes = rest;
        }
        // The comma between two lists of a pattern belongs to neither.
        if let Some((first, rest)) = nodes.split_first()
            && !first.is_named()
            && first.text() == ","
        {
            nodes = rest;
        }
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            let before = self.out.trim_end();
            if before.ends_with(',')
                && (behind.is_empty() || behind.starts_with([')', ']', '}', '>', ',']))
            {
                let tail = self.out.split_off(before.len() - 1);
                // A line break before the closing bracket is layout; a space was the comma's.
                if let Some(layout) = tail.find(['\r', '\n']) {
                    self.out.push_str(&tail[layout..]);
                }
            } else if behind.starts_with(',')
                && (before.is_empty() || before.ends_with(['(', '[', '{', '<']))
            {
                self.skip_comma = true;
            } else {
                self.skip_comma = self.skip_comma && behind.starts_with(',');
            }
            // A line that held nothing but the empty list goes.
            if self.fresh && next.is_some_and(|next| next.starts_with('\n')) {
                self.out.truncate(self.out.len() - self.line_break.len());
                self.fresh = false;
            }
            return;
        };
        let range = first.range().start..last.range().end;
        self.capture(nodes, range, literal);
    }
}

/// Whether a node's last piece is a comment that goes on to the end of its line.
fn ends_in_line_comment(node: &ast_grep_core::Node<'_, Doc>) -> bool {
    const CLOSED: [&str; 6] = ["*/", "-->", "-}", "]]", "*)", "=end"];
    let mut last = node.get_inner_node();
    while !last.kind().contains("comment")
        && let Some(at) = last.child_count().checked_sub(1)
        && let Some(child) = last.child(at)
    {
        last = child;
    }
    let text = node.text();
    last.is_named()
        && last.kind().contains("comment")
        && !CLOSED.iter().any(|close| text.trim_end().ends_with(close))
}
