//! The first line of a text that grows, cut to a number of columns, at a bounded cost.

use crate::cells::Cells;
use crate::clean::clean_line;

/// Follows a growing text and keeps the start of its first non-blank line.
///
/// Once the line has ended or is wider than `columns`, nothing of the text is looked at any more;
/// until then it is shorter than a few hundred bytes, so the cost of each step is bounded.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    columns: usize,
    /// How much of the text has been looked at.
    seen: usize,
    raw: String,
    clean: String,
    closed: bool,
    repeats: u32,
    steps: u64,
}

impl Head {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            seen: 0,
            raw: String::new(),
            clean: String::new(),
            closed: false,
            repeats: 0,
            steps: 0,
        }
    }

    /// Takes what is new in `text`. True where the head has changed.
    pub(crate) fn advance(&mut self, text: &str, repeats: u32) -> bool {
        let restarted = repeats != self.repeats;
        if restarted {
            self.restart();
            self.repeats = repeats;
        }
        let before = self.raw.len();
        while !self.closed {
            let Some(c) = text[self.seen..].chars().next() else { break };
            self.seen += c.len_utf8();
            self.steps += 1;
            if self.raw.is_empty() && c.is_whitespace() {
                continue;
            }
            if c == '\n' {
                self.closed = true;
                self.raw.truncate(self.raw.trim_end().len());
                break;
            }
            self.raw.push(c);
            // The measure costs as much as the line is long, so it is taken when the line has as
            // many characters as columns at least, and at the end of what is there.
            let due = self.raw.len() > self.columns && self.raw.len().is_multiple_of(64);
            if due || self.seen == text.len() || self.raw.len() > 16 * self.columns {
                self.measure();
            }
        }
        if self.raw.len() != before {
            self.clean = clean_line(&self.raw);
        }
        restarted || self.raw.len() != before
    }

    /// Forgets the text; another one is followed from its start.
    pub(crate) fn restart(&mut self) {
        *self = Self { steps: self.steps, ..Self::new(self.columns) };
    }

    /// The head, clean, possibly somewhat wider than the limit.
    pub(crate) fn text(&self) -> &str {
        &self.clean
    }

    /// Whether no more of the text can change the head.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// How often the key has begun anew in what was looked at.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    fn measure(&mut self) {
        self.steps += self.raw.len() as u64;
        let wide = Cells::default().width(&clean_line(&self.raw)) > self.columns;
        self.closed = wide || self.raw.len() > 16 * self.columns;
    }
}
