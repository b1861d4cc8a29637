//! Unified diffs read back into files, hunks and lines.

/// A unified diff as text, taken apart. What belongs to no file (a notice in front, a summary
/// behind) is kept as notes, in its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    pub(crate) parts: Vec<Part>,
}

/// A piece of a [`Diff`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Note(String),
    File(FileDiff),
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The path; of a deleted file the one that it had.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    pub(crate) hunks: Vec<Hunk>,
    /// Whether every line ends in a carriage return, which is then not shown line by line.
    pub(crate) crlf: bool,
}

/// What a diff does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// Its content changes.
    Edited,
    /// It appears.
    Created,
    /// It goes.
    Deleted,
    /// It moves here from another path.
    Moved {
        /// The path that it had.
        from: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) header: String,
    pub(crate) old_start: usize,
    pub(crate) new_start: usize,
    pub(crate) lines: Vec<HunkLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkLine {
    pub(crate) mark: Mark,
    pub(crate) text: String,
    pub(crate) ends_file: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Context,
    Added,
    Removed,
}

impl Diff {
    /// Reads a unified diff. Nothing is refused: a line that is no part of a diff is a note.
    ///
    /// Hunks are read by the counts in their headers, so a removed line that looks like a header is
    /// a removed line. A header of a further file is found even where a count is wrong: no file may
    /// hide in another one's hunk.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut diff = Self::default();
        let mut rest: Vec<&str> = text.split('\n').collect();
        if rest.last() == Some(&"") {
            rest.pop();
        }
        let mut rest = rest.as_slice();
        let mut moved_from = None;
        while let Some((&line, behind)) = rest.split_first() {
            rest = behind;
            if let Some(from) = line.strip_prefix("rename from ") {
                moved_from = Some(from.to_owned());
            } else if let Some(to) = line.strip_prefix("rename to ")
                && let Some(from) = moved_from.take()
            {
                let change = FileChange::Moved { from };
                diff.parts.push(Part::File(FileDiff::new(to.to_owned(), change)));
            } else if let Some(old) = line.strip_prefix("--- ")
                && let Some(new) = behind.first().and_then(|next| next.strip_prefix("+++ "))
            {
                diff.add_file(file_of(old, new));
                rest = &behind[1..];
            } else if let Some((old_start, old, new_start, new)) = hunk_of(line)
                && let Some(Part::File(file)) = diff.parts.last_mut()
            {
                let header = line.trim_end_matches('\r').to_owned();
                let (lines, taken) = read_hunk(behind, old, new);
                file.take(Hunk { header, old_start, new_start, lines });
                rest = &behind[taken..];
            } else if !is_preamble(line) {
                diff.parts.push(Part::Note(line.to_owned()));
            }
        }
        for part in &mut diff.parts {
            if let Part::File(file) = part {
                file.settle_line_ends();
            }
        }
        diff
    }

    /// The files, in order.
    pub fn files(&self) -> impl Iterator<Item = &FileDiff> {
        self.parts.iter().filter_map(|part| match part {
            Part::File(file) => Some(file),
            Part::Note(_) => None,
        })
    }

    /// The lines of all hunks: added, removed and context.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.files().flat_map(|file| &file.hunks).map(|hunk| hunk.lines.len()).sum()
    }

    /// Whether there is text that belongs to no file.
    pub(crate) fn has_notes(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Note(_)))
    }

    /// A file's headers belong to the move announced right before them, where there is one.
    fn add_file(&mut self, file: FileDiff) {
        let same = matches!(self.parts.last(), Some(Part::File(last))
            if last.path == file.path && last.hunks.is_empty());
        if !same {
            self.parts.push(Part::File(file));
        }
    }
}

impl FileDiff {
    fn new(path: String, change: FileChange) -> Self {
        Self { path, change, added: 0, removed: 0, hunks: Vec::new(), crlf: false }
    }

    fn take(&mut self, hunk: Hunk) {
        let count = |mark| hunk.lines.iter().filter(|line| line.mark == mark).count();
        self.added += count(Mark::Added);
        self.removed += count(Mark::Removed);
        self.hunks.push(hunk);
    }

    /// Where all lines end alike in `\r\n`, the `\r` says nothing line by line.
    fn settle_line_ends(&mut self) {
        let lines = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        self.crlf = lines().next().is_some()
            && lines().all(|line| line.ends_file || line.text.ends_with('\r'));
        if self.crlf {
            for line in self.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                if line.text.ends_with('\r') {
                    line.text.pop();
                }
            }
        }
    }
}

/// The lines of a hunk at the start of `source`, as many as its header says, and how many lines of
/// `source` they take.
fn read_hunk(source: &[&str], old: usize, new: usize) -> (Vec<HunkLine>, usize) {
    let (mut old, mut new) = (old, new);
    let mut lines: Vec<HunkLine> = Vec::new();
    for (taken, line) in source.iter().enumerate() {
        let ends = line.starts_with('\\');
        if ends {
            if let Some(last) = lines.last_mut() {
                last.ends_file = true;
            }
            continue;
        }
        if old == 0 && new == 0 || (old, new) != (1, 1) && begins_file(&source[taken..]) {
            return (lines, taken);
        }
        let (mark, text) = match (line.as_bytes().first(), line.get(1..)) {
            (Some(b'+'), Some(text)) if new > 0 => (Mark::Added, text),
            (Some(b'-'), Some(text)) if old > 0 => (Mark::Removed, text),
            (Some(b' '), Some(text)) => (Mark::Context, text),
            // Some tools strip the blank of an empty context line.
            (None, _) if old > 0 && new > 0 => (Mark::Context, ""),
            (Some(_) | None, _) => return (lines, taken),
        };
        match mark {
            Mark::Context => {
                old = old.saturating_sub(1);
                new = new.saturating_sub(1);
            }
            Mark::Added => new -= 1,
            Mark::Removed => old -= 1,
        }
        lines.push(HunkLine { mark, text: text.to_owned(), ends_file: false });
    }
    (lines, source.len())
}

/// Whether a file's two headers and a hunk's header stand at the start of `source`. Inside a hunk
/// no line begins with `@@`; only a hunk that ends with the two lines before it can look like this,
/// and the caller knows by its counts.
fn begins_file(source: &[&str]) -> bool {
    match source {
        [old, new, hunk, ..] => {
            old.starts_with("--- ") && new.starts_with("+++ ") && hunk_of(hunk).is_some()
        }
        [] | [_] | [_, _] => false,
    }
}

/// The file that a pair of `---` and `+++` headers names.
fn file_of(old: &str, new: &str) -> FileDiff {
    let (old, new) = (header_path(old), header_path(new));
    let stripped =
        |path: &str, side: &str| -> String { path.strip_prefix(side).unwrap_or(path).to_owned() };
    let (from, to) = (stripped(&old, "a/"), stripped(&new, "b/"));
    let (path, change) = match (old == "/dev/null", new == "/dev/null") {
        (true, _) => (to, FileChange::Created),
        (false, true) => (from, FileChange::Deleted),
        (false, false) if from == to => (to, FileChange::Edited),
        (false, false) => (to, FileChange::Moved { from }),
    };
    FileDiff::new(path, change)
}

/// A header's path without the time that some tools put behind a tab.
fn header_path(header: &str) -> String {
    header.split('\t').next().unwrap_or(header).trim_end_matches('\r').to_owned()
}

/// The numbers of `@@ -old_start,old +new_start,new @@`; a count left out is 1.
fn hunk_of(line: &str) -> Option<(usize, usize, usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old_start, old), (new_start, new)) = (range(old)?, range(new)?);
    Some((old_start, old, new_start, new))
}

/// Lines in front of a file's headers that repeat what the headers say.
fn is_preamble(line: &str) -> bool {
    ["diff --git ", "index ", "similarity index ", "new file mode ", "deleted file mode "]
        .iter()
        .any(|start| line.starts_with(start))
}
