//! The last completed lines of a text that grows, each laid out and coloured once.

use std::collections::VecDeque;

use crate::clean::clean_line_at;
use crate::highlight::{Syntax, Token};
use crate::options::Options;
use crate::style::{Line, Role, Span, Style};

/// The most bytes of a line that are laid out: more than any terminal is wide.
const LINE_BYTES: usize = 1600;

/// The width from which on line numbers are drawn.
const NUMBERS_FROM: usize = 20;

/// Follows a growing text line by line.
///
/// Looking for line ends looks at every byte once. Of the lines that were completed since the last
/// drawing only those are laid out that are drawn, and a line that was laid out is not again, as
/// long as the options stay. A line that is not whole yet is not drawn: each byte of it would lay it
/// out anew.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growing {
    /// How much of the text has been looked at.
    seen: usize,
    /// How many lines are whole.
    whole: usize,
    /// Where the last whole lines begin and end, the last of them last.
    ends: VecDeque<(usize, usize)>,
    /// Where the line begins that is not whole.
    open: usize,
    repeats: u32,
    /// The drawn lines with their numbers, counted from 1.
    drawn: VecDeque<(usize, Line)>,
    drawn_for: Option<Options>,
    steps: u64,
    laid_out: u64,
}

/// The most lines that are kept, whatever is asked for.
const KEPT: usize = 40;

impl Growing {
    /// Takes what is new in `text`. True where a line was completed, or the text began anew.
    pub(crate) fn advance(&mut self, text: &str, repeats: u32) -> bool {
        let restarted = repeats != self.repeats;
        if restarted {
            *self = Self { repeats, steps: self.steps, laid_out: self.laid_out, ..Self::default() };
        }
        let before = self.whole;
        self.steps += (text.len() - self.seen) as u64;
        for (offset, _) in text[self.seen..].match_indices('\n') {
            let end = self.seen + offset;
            self.ends.push_back((self.open, end));
            if self.ends.len() > KEPT {
                self.ends.pop_front();
            }
            self.open = end + 1;
            self.whole += 1;
        }
        self.seen = text.len();
        restarted || self.whole != before
    }

    /// The last lines of `text`, the one that was advanced by, of a file at `path`.
    pub(crate) fn lines(&mut self, text: &str, path: &str, options: &Options) -> Vec<Line> {
        if self.drawn_for.as_ref() != Some(options) {
            self.drawn.clear();
            self.drawn_for = Some(options.clone());
        }
        self.lay_out_new(text, path, options);
        self.drawn.iter().map(|(_, line)| line.clone()).collect()
    }

    /// Brings `shown`, which ends in what was answered before for the same options, up to date: a
    /// line that comes costs that line, not all that are shown.
    pub(crate) fn bring_up(
        &mut self,
        text: &str,
        path: &str,
        options: &Options,
        shown: &mut Vec<Line>,
    ) {
        if self.drawn_for.is_none() {
            shown.truncate(1);
            shown.extend(self.lines(text, path, options));
            return;
        }
        let new = self.lay_out_new(text, path, options);
        let from = self.drawn.len() - new;
        shown.extend(self.drawn.range(from..).map(|(_, line)| line.clone()));
        let over = shown.len().saturating_sub(1 + self.drawn.len());
        shown.drain(1..1 + over);
    }

    /// Lays out what was completed since, as far as it is to be drawn, and answers how much that is.
    fn lay_out_new(&mut self, text: &str, path: &str, options: &Options) -> usize {
        let count = options.live_lines.min(self.ends.len());
        let first = self.whole - count + 1;
        while self.drawn.front().is_some_and(|(number, _)| *number < first) {
            self.drawn.pop_front();
        }
        let next = self.drawn.back().map_or(first, |(number, _)| number + 1);
        for number in next..=self.whole {
            let (start, end) = self.ends[self.ends.len() - 1 - (self.whole - number)];
            let line = text.get(start..end).unwrap_or_default();
            let line = &line[..line.floor_char_boundary(LINE_BYTES)];
            self.laid_out += line.len() as u64;
            self.drawn.push_back((number, lay_out(number, line, path, options)));
        }
        self.whole + 1 - next
    }

    /// How often the text has begun anew.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats
    }

    /// The work done so far, in bytes looked at or laid out.
    pub(crate) fn steps(&self) -> u64 {
        self.steps + self.laid_out
    }
}

fn lay_out(number: usize, text: &str, path: &str, options: &Options) -> Line {
    let (width, cells) = (options.columns(), &options.cells);
    let mut line = Line::new();
    if width >= NUMBERS_FROM {
        line.add(&format!("{number:>5} "), Role::Muted);
    }
    let text = clean_line_at(text.trim_end_matches('\r'), cells);
    let told = options.highlighting.lines(path, &[&text]).and_then(|mut lines| lines.pop());
    match told {
        Some(tokens) => {
            for Token { range, syntax } in tokens {
                line.push(Span::new(&text[range], Style::new(Role::Text).code(syntax)));
            }
        }
        None => line.push(Span::new(&text, Style::new(Role::Text).code(Syntax::Plain))),
    }
    line.cut(width, cells)
}
