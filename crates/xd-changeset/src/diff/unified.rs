//! The unified text form of a file's differences.

use std::borrow::Cow;
use std::fmt;

use super::lines::Lines;
use super::{DiffLine, FileDiff, Hunk, LineTag};
use crate::shown::acts;
use crate::{FileKind, RelPath};

impl fmt::Display for FileDiff {
    /// The headers and hunks of this file. Git's extended headers appear where the plain ones
    /// cannot say it: a move, a mode, a binary file, an empty one created or deleted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, !self.is_plain())
    }
}

/// Several files' differences as one text.
pub(super) fn all(diffs: &[FileDiff]) -> String {
    each(diffs).map(|headed| headed.to_string()).collect()
}

/// Several files' differences as parts of one text.
pub(super) fn each(diffs: &[FileDiff]) -> impl Iterator<Item = Headed<'_>> {
    // Headers without a hunk end where the next extended header begins and nowhere else.
    let bare = diffs.iter().any(|diff| diff.hunks.is_empty());
    diffs.iter().map(move |diff| Headed { diff, extended: bare || !diff.is_plain() })
}

/// A file's differences with the headers that it has among others.
pub(super) struct Headed<'a> {
    diff: &'a FileDiff,
    extended: bool,
}

impl Headed<'_> {
    /// Writes it with the lines as they are in the contents.
    pub(super) fn write_raw(&self, old: &[u8], new: &[u8], patch: &mut Vec<u8>) {
        let (old, new) = (Lines::of(old), Lines::of(new));
        // The headers, and the hunks without their lines.
        let headers = FileDiff { hunks: Vec::new(), ..self.diff.clone() };
        let plain = Headed { diff: &headers, extended: self.extended };
        patch.extend(plain.to_string().into_bytes());
        if !self.diff.hunks.is_empty() {
            patch.extend(self.diff.sides_of_hunks().into_bytes());
        }
        for hunk in &self.diff.hunks {
            patch.extend(hunk.place().into_bytes());
            for line in &hunk.lines {
                let (mark, bytes) = match (line.tag, line.old_number, line.new_number) {
                    (LineTag::Removed, Some(at), _) => (b'-', old.get(at - 1)),
                    (LineTag::Added, _, Some(at)) => (b'+', new.get(at - 1)),
                    (LineTag::Context, Some(at), _) => (b' ', old.get(at - 1)),
                    // Every line has a number on each side that has it.
                    (LineTag::Removed | LineTag::Added | LineTag::Context, _, _) => continue,
                };
                patch.push(mark);
                patch.extend_from_slice(bytes);
                if line.missing_newline {
                    patch.extend_from_slice(b"\n\\ No newline at end of file\n");
                }
            }
        }
    }
}

impl fmt::Display for Headed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diff.write(f, self.extended)
    }
}

impl FileDiff {
    fn changes_mode(&self) -> bool {
        self.old_mode.is_some() && self.new_mode.is_some() && self.old_mode != self.new_mode
    }

    /// Whether the plain headers say everything.
    fn is_plain(&self) -> bool {
        let executable = |mode: Option<u32>| mode.is_some_and(|mode| mode & 0o111 != 0);
        let appears = self.old_mode.is_none() || self.new_mode.is_none();
        !self.hunks.is_empty()
            && self.source.is_none()
            && !self.changes_mode()
            && self.kind == FileKind::File
            && !(appears && executable(self.old_mode.or(self.new_mode)))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, extended: bool) -> fmt::Result {
        let old_path = self.source.as_ref().unwrap_or(&self.path);
        if extended {
            self.extended_headers(f, old_path, self.changes_mode())?;
        }
        if self.binary {
            let (old, new) = self.sides();
            return writeln!(f, "Binary files {old} and {new} differ");
        }
        if !self.hunks.is_empty() {
            f.write_str(&self.sides_of_hunks())?;
        }
        self.hunks.iter().try_for_each(|hunk| write!(f, "{hunk}"))
    }
}

impl FileDiff {
    /// What the headers call both sides.
    fn sides(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let old_path = self.source.as_ref().unwrap_or(&self.path);
        let nothing = Cow::Borrowed("/dev/null");
        (
            self.old_mode.map_or(nothing.clone(), |_| quoted("a/", old_path)),
            self.new_mode.map_or(nothing, |_| quoted("b/", &self.path)),
        )
    }

    /// The two lines in front of the hunks.
    fn sides_of_hunks(&self) -> String {
        let (old, new) = self.sides();
        format!("--- {old}\n+++ {new}\n")
    }

    fn extended_headers(
        &self,
        f: &mut fmt::Formatter<'_>,
        old_path: &RelPath,
        mode_changes: bool,
    ) -> fmt::Result {
        let kind = match self.kind {
            FileKind::File => 0o100_000,
            FileKind::Symlink => 0o120_000,
        };
        let full = |mode: u32| match self.kind {
            FileKind::File => kind | mode,
            FileKind::Symlink => kind,
        };
        writeln!(f, "diff --git {} {}", quoted("a/", old_path), quoted("b/", &self.path))?;
        match (self.old_mode, self.new_mode) {
            (None, Some(mode)) => writeln!(f, "new file mode {:06o}", full(mode))?,
            (Some(mode), None) => writeln!(f, "deleted file mode {:06o}", full(mode))?,
            (Some(old), Some(new)) if mode_changes => {
                writeln!(f, "old mode {:06o}\nnew mode {:06o}", full(old), full(new))?;
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        if self.source.is_some() {
            writeln!(
                f,
                "rename from {}\nrename to {}",
                quoted("", old_path),
                quoted("", &self.path)
            )?;
        }
        Ok(())
    }
}

impl Hunk {
    /// The line in front of its lines.
    fn place(&self) -> String {
        let span = |start: usize, lines: usize| match lines {
            1 => start.to_string(),
            _other => format!("{start},{lines}"),
        };
        let old = span(self.old_start, self.old_lines);
        format!("@@ -{old} +{} @@\n", span(self.new_start, self.new_lines))
    }
}

impl fmt::Display for Hunk {
    /// The `@@` line and the lines, each with its mark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        self.lines.iter().try_for_each(|line| line.fmt(f))
    }
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.tag {
            LineTag::Context => ' ',
            LineTag::Removed => '-',
            LineTag::Added => '+',
        };
        writeln!(f, "{mark}{}", self.text)?;
        if self.missing_newline {
            writeln!(f, "\\ No newline at end of file")?;
        }
        Ok(())
    }
}

/// A path for a header, in quotes with escapes where it holds what would break the line.
fn quoted<'a>(prefix: &str, path: &'a RelPath) -> Cow<'a, str> {
    let path = path.as_str();
    if !path.contains(|c: char| acts(c) || c == '"' || c == '\\') {
        return if prefix.is_empty() {
            Cow::Borrowed(path)
        } else {
            Cow::Owned(format!("{prefix}{path}"))
        };
    }
    let mut text = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if acts(c) => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    text.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    Cow::Owned(text)
}
