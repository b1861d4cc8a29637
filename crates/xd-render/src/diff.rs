//! Unified diffs read back into files, hunks and lines.

use crate::diff_header::header_at;

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
    /// What the line in front of the headers says of it, if it begins with the path: `2
    /// replacements`.
    pub note: Option<String>,
    /// What else the headers say, in a few words each: a mode, a link, a binary file.
    pub facts: Vec<String>,
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
        while let Some((&line, behind)) = rest.split_first() {
            if let Some((mut file, taken)) = header_at(rest) {
                diff.take_note(&mut file);
                diff.parts.push(Part::File(file));
                rest = &rest[taken..];
                continue;
            }
            rest = behind;
            if let Some((old_start, old, new_start, new)) = hunk_of(line)
                && let Some(Part::File(file)) = diff.parts.last_mut()
            {
                let header = line.trim_end_matches('\r').to_owned();
                let (lines, taken) = read_hunk(behind, old, new);
                file.take(Hunk { header, old_start, new_start, lines });
                rest = &behind[taken..];
            } else {
                diff.parts.push(Part::Note(line.to_owned()));
            }
        }
        for part in &mut diff.parts {
            if let Part::File(file) = part {
                file.settle_line_ends();
                file.settle_counts();
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

    /// Moves a note `<path>: …` right in front of a file's headers into the file.
    fn take_note(&mut self, file: &mut FileDiff) {
        let Some(Part::Note(last)) = self.parts.last() else { return };
        let note = last.strip_prefix(&file.path).and_then(|rest| rest.strip_prefix(": "));
        if let Some(note) = note {
            file.note = Some(note.to_owned());
            self.parts.pop();
        }
    }

    /// Whether there is text that belongs to no file.
    pub(crate) fn has_notes(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Note(_)))
    }
}

impl FileDiff {
    pub(crate) fn new(path: String, change: FileChange) -> Self {
        Self {
            path,
            change,
            added: 0,
            removed: 0,
            note: None,
            facts: Vec::new(),
            hunks: Vec::new(),
            crlf: false,
        }
    }

    fn take(&mut self, hunk: Hunk) {
        let count = |mark| hunk.lines.iter().filter(|line| line.mark == mark).count();
        self.added += count(Mark::Added);
        self.removed += count(Mark::Removed);
        self.hunks.push(hunk);
    }

    /// A note that ends in `(+3 -1)` states the counts of the whole file, of which a cut diff holds
    /// only a part; the greater number is the true one.
    fn settle_counts(&mut self) {
        let Some((note, stated)) = self.note.as_deref().and_then(|note| note.rsplit_once(" (+"))
        else {
            return;
        };
        let counts = stated.strip_suffix(')').and_then(|stated| stated.split_once(" -"));
        let parsed = counts.and_then(|(a, r)| Some((a.parse().ok()?, r.parse().ok()?)));
        if let Some((added, removed)) = parsed {
            self.added = self.added.max(added);
            self.removed = self.removed.max(removed);
            self.note = Some(note.to_owned());
        }
    }

    /// Where all lines end alike in `\r\n`, the `\r` says nothing line by line. Where lines change
    /// in their ends alone, the header says so: their texts look alike.
    fn settle_line_ends(&mut self) {
        let changed = self.hunks.iter().filter_map(|hunk| line_ends_of(&hunk.lines)).next();
        if let Some(fact) = changed {
            self.facts.push(fact.to_owned());
        }
        let lines = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        self.crlf = lines().any(|line| line.text.ends_with('\r'))
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

/// How the ends of lines change, where a removed line and an added one differ in nothing else.
fn line_ends_of(lines: &[HunkLine]) -> Option<&'static str> {
    let mut rest = lines;
    while let Some(from) = rest.iter().position(|line| line.mark == Mark::Removed) {
        rest = &rest[from..];
        let run =
            |lines: &[HunkLine], mark| lines.iter().take_while(|line| line.mark == mark).count();
        let removed = run(rest, Mark::Removed);
        let added = run(&rest[removed..], Mark::Added);
        let (olds, others) = rest.split_at(removed);
        let (news, others) = others.split_at(added);
        for (old, new) in olds.iter().zip(news) {
            if new.text.strip_suffix('\r') == Some(&old.text) {
                return Some("line ends LF → CRLF");
            }
            if old.text.strip_suffix('\r') == Some(&new.text) {
                return Some("line ends CRLF → LF");
            }
        }
        rest = others;
    }
    None
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
