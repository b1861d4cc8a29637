//! What a search found in one file, as lines that a model reads.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use xd_changeset::RelPath;

/// The most bytes of one line that are shown.
const LINE_BYTES: usize = 400;

/// What a whole search comes to.
#[derive(Debug)]
pub(super) struct Matches {
    /// The lines to show.
    pub(super) text: String,
    /// Matching lines, shown or not.
    pub(super) total: usize,
    /// Of these the shown ones.
    pub(super) shown: usize,
    /// The files of the matching lines that come after what is shown, with how many are in each.
    pub(super) later: Vec<(RelPath, usize)>,
    /// Files with a match.
    pub(super) files: usize,
    /// Each of them with how many matching lines it has, where only they are asked for.
    pub(super) counts: Vec<(RelPath, usize)>,
    /// Whether the lines are wanted, or the files alone.
    pub(super) lines: bool,
    /// How many matching lines are left out at the begin.
    pub(super) offset: usize,
    /// How many are shown.
    pub(super) limit: usize,
    /// The most bytes that are shown.
    pub(super) bytes: usize,
}

/// The search of one file.
pub(super) struct InFile<'a> {
    pub(super) all: &'a mut Matches,
    pub(super) path: &'a RelPath,
    /// Its matching lines.
    count: usize,
    /// Of these those behind what is shown.
    late: usize,
    /// Whether the line before was shown, so that one that is not leaves a mark.
    binary: bool,
    /// Where the text of this file begins.
    start: usize,
    before: (usize, usize, usize),
}

impl<'a> InFile<'a> {
    pub(super) fn new(all: &'a mut Matches, path: &'a RelPath) -> Self {
        let (start, before) = (all.text.len(), (all.total, all.shown, all.later.len()));
        Self { all, path, count: 0, late: 0, binary: false, start, before }
    }

    /// Whether a file that turned out to be binary was searched: then it counts for nothing.
    pub(super) fn end(self) -> bool {
        let Self { all, path, count, late, binary, start, before } = self;
        if binary {
            all.text.truncate(start);
            (all.total, all.shown) = (before.0, before.1);
            all.later.truncate(before.2);
            return true;
        }
        if count > 0 {
            all.files += 1;
            if !all.lines {
                all.counts.push((path.clone(), count));
            }
        }
        if late > 0 {
            all.later.push((path.clone(), late));
        }
        false
    }

    fn is_full(&self) -> bool {
        self.all.shown >= self.all.limit || self.all.text.len() >= self.all.bytes
    }

    fn show(&mut self, number: Option<u64>, sign: char, bytes: &[u8]) {
        let number = number.unwrap_or(0);
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let cut = cut(line, LINE_BYTES);
        let more = line.len() - cut.len();
        self.all.text.push_str(&format!("{}:{number}{sign} {cut}", self.path));
        if more > 0 {
            self.all.text.push_str(&format!(" … {more} bytes more"));
        }
        self.all.text.push('\n');
    }
}

/// The begin of `text`, at most `bytes` long, cut at a letter.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.all.total += 1;
        self.count += 1;
        if !self.all.lines || self.all.total <= self.all.offset {
            return Ok(true);
        }
        if self.late > 0 || self.is_full() {
            self.late += 1;
            return Ok(true);
        }
        self.all.shown += 1;
        self.show(found.line_number(), ':', found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        let skipped = self.all.total < self.all.offset;
        if self.all.lines && !skipped && self.late == 0 && !self.is_full() {
            self.show(line.line_number(), '-', line.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.all.lines && self.all.text.len() > self.start && !self.is_full() {
            self.all.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}
