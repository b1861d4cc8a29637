//! The block that a decision is drawn as.

use crate::cells::Break;
use crate::clean::clean_lines;
use crate::decision::{Decision, Outcome};
use crate::icon;
use crate::options::Options;
use crate::style::{Line, Role, Style};

/// The most lines of a reason. Our own are at most 2,000 characters; a foreign one may be a book.
const REASON_LINES: usize = 24;

/// The most lines of an error's text.
const MESSAGE_LINES: usize = 12;

/// The block of a decision, drawn in place of its call: full width, inverse, with the verb, what
/// was decided, its source, how it ended, and the reason (`CONTRACT V2`).
///
/// Every line is exactly as wide as the terminal, at any width from 1.
///
/// ```
/// use xd_render::{Decision, Options, Outcome, result_block, to_plain};
///
/// let decision = Decision {
///     outcome: Outcome::Applied,
///     label: Some("AST Edit: 2 replacements in 1 file".into()),
///     source: Some("ast_edit".into()),
///     reason: Some("Renames every caller.".into()),
///     message: None,
/// };
/// let drawn = to_plain(&result_block(&decision, &Options::new(76)));
/// assert_eq!(
///     drawn,
///     " ✓ Accept: 2 replacements in 1 file [AST Edit]         proposed -> resolved\n \
///      Renames every caller.\n"
/// );
/// ```
#[must_use]
pub fn result_block(decision: &Decision, options: &Options) -> Vec<Line> {
    let (role, sign, verb, badge) = match decision.outcome {
        Outcome::Applied => (Role::Success, icon::SUCCESS, "Accept", "proposed -> resolved"),
        Outcome::Discarded => (Role::Warning, icon::DISCARD, "Discard", "proposed -> rejected"),
        Outcome::Failed => (Role::Error, icon::FAILURE, "Failed", "failed"),
        Outcome::NothingPending => (Role::Warning, icon::DISCARD, "Discard", "nothing pending"),
    };
    let style = Style::new(role).inverse();
    let block = Block::new(style, options);
    let (source, summary) = split_label(decision.label.as_deref(), decision.source.as_deref());

    let mut header = Line::of(&format!("{sign} "), style);
    match summary {
        Some(summary) => {
            header.add(&format!("{verb}:"), style.bold());
            header.add(&format!(" {summary}"), style);
        }
        None => header.add(verb, style.bold()),
    }
    if let Some(source) = source {
        header.add(" ", style);
        header.add(&format!("[{source}]"), style.bold());
    }
    let mut lines = block.header(&header, &Line::of(badge, style.bold()));

    let reason = decision.reason.as_deref().unwrap_or("No reason provided");
    lines.extend(block.body(reason, style.italic(), REASON_LINES));
    if let Some(message) = &decision.message {
        lines.extend(block.body(message, style, MESSAGE_LINES));
    }
    lines
}

/// The label's source and the rest: the part before `: `, or the tool that staged it.
pub(crate) fn split_label<'t>(
    label: Option<&'t str>,
    source: Option<&'t str>,
) -> (Option<&'t str>, Option<&'t str>) {
    match label.and_then(|label| label.split_once(": ")) {
        Some((source, summary)) if !source.trim().is_empty() => {
            (Some(source.trim()), Some(summary.trim()))
        }
        Some(_) | None => (source, label),
    }
}

/// A block of full-width lines in one style, with a margin where there is room.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    style: Style,
    options: &'a Options,
    margin: usize,
    fills: bool,
}

impl<'a> Block<'a> {
    pub(crate) fn new(style: Style, options: &'a Options) -> Self {
        Self { style, options, margin: usize::from(options.columns() >= 8), fills: true }
    }

    /// Lines without a ground: no margin, and no blanks up to the edge.
    pub(crate) fn bare(options: &'a Options) -> Self {
        Self { style: Style::new(Role::Text), options, margin: 0, fills: false }
    }

    /// The lines of a header with a badge at the right edge, or on a line of its own where both do
    /// not fit.
    pub(crate) fn header(&self, header: &Line, badge: &Line) -> Vec<Line> {
        let (inner, cells) = (self.inner(), &self.options.cells);
        let (left, right) = (header.width(cells), badge.width(cells));
        if left + 2 + right <= inner {
            let mut line = header.clone().pad(inner - right, self.style, cells);
            line.extend(badge.clone());
            return vec![self.fill(line)];
        }
        let mut lines = header.wrap(inner, Break::Words, cells);
        lines.extend(badge.wrap(inner, Break::Words, cells));
        lines.into_iter().map(|line| self.fill(line)).collect()
    }

    /// The lines of `text`, at most `bound` of them; what is cut is counted.
    pub(crate) fn body(&self, text: &str, style: Style, bound: usize) -> Vec<Line> {
        let (inner, cells) = (self.inner(), &self.options.cells);
        let mut lines: Vec<Line> = clean_lines(text, cells)
            .iter()
            .flat_map(|source| Line::of(source, style).wrap(inner, Break::Words, cells))
            .collect();
        if lines.len() > bound {
            let note = format!("… {} more lines", lines.len() - bound);
            lines.truncate(bound);
            lines.extend(Line::of(&note, style).wrap(inner, Break::Words, cells));
        }
        lines.into_iter().map(|line| self.fill(line)).collect()
    }

    fn inner(&self) -> usize {
        self.options.columns() - 2 * self.margin
    }

    fn fill(&self, line: Line) -> Line {
        if !self.fills {
            return line;
        }
        let cells = &self.options.cells;
        let mut full = Line::of(&" ".repeat(self.margin), self.style);
        full.extend(line);
        full.pad(self.options.columns(), self.style, cells)
    }
}
