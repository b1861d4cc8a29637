//! Patches as data: files, hunks, lines. Reading one needs no file.

mod envelope;
mod header;
mod hunk;
mod name;
mod place;
mod unified;

use std::fmt;

use crate::wording::excerpt;

pub use place::{HunkFault, HunkFaultKind, HunkFaults, Patched};

/// What a patch says, in the order in which it says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The files, each at least one.
    pub files: Vec<FilePatch>,
    /// What was put up with in reading it, a sentence each.
    pub notes: Vec<String>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The line of the patch, from 1, where it begins.
    pub line: usize,
    /// The file before the patch; of a new file its name.
    pub path: String,
    /// Another name that the patch gives for the same file, to use where `path` does not exist.
    pub or_path: Option<String>,
    /// What becomes of the file as a whole.
    pub action: Action,
    /// The hunks; all lines of a new or deleted file in one.
    pub hunks: Vec<Hunk>,
    /// Whether the file becomes executable, or no longer is, where the patch says so.
    pub executable: Option<bool>,
    /// Whether the patch is UTF-8, so that what it adds is in no other encoding.
    pub utf8: bool,
}

/// What becomes of a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It stays under its name.
    Edit,
    /// It comes into being.
    Create,
    /// It goes. The lines that the patch gives must be all it has, where it gives any.
    Delete {
        /// Whether the patch gives them.
        shown: bool,
    },
    /// It gets another name.
    Move {
        /// The new name.
        to: String,
    },
    /// A copy of it, with the hunks, comes into being.
    Copy {
        /// The name of the copy.
        to: String,
    },
}

/// One stretch of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the patch, from 1, where it begins.
    pub line: usize,
    /// The line of the file, from 1, at which the patch says it begins.
    pub at: Option<usize>,
    /// Lines that stand before the place, one below the other, where the patch names some.
    pub anchors: Vec<Vec<u8>>,
    /// Whether the patch says that it reaches to the end of the file.
    pub to_end: bool,
    /// Its lines.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// Which sides have it.
    pub side: Side,
    /// Its bytes without the line feed.
    pub text: Vec<u8>,
    /// Whether a line feed follows; false for the last line of a side that has none.
    pub newline: bool,
}

/// Which sides have a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Both.
    Context,
    /// Only the file before.
    Removed,
    /// Only the file afterwards.
    Added,
}

/// Why a text is no patch: the line of it, from 1, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("patch line {line}: {kind}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: ParseFault,
}

/// What is wrong with a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseFault {
    /// There is no file header in it.
    NoFiles,
    /// A hunk or a changed line stands where no file is named.
    Stray {
        /// The line as an excerpt.
        text: String,
    },
    /// A line of a hunk begins with none of the marks.
    NoMark {
        /// The hunk of its file, from 1.
        hunk: usize,
        /// The line as an excerpt.
        text: String,
    },
    /// A hunk has no lines.
    EmptyHunk {
        /// The hunk of its file, from 1.
        hunk: usize,
    },
    /// A header of hunks cannot be read.
    HunkHeader {
        /// The line as an excerpt.
        text: String,
    },
    /// The mark for a missing line feed stands where more lines follow.
    Marker,
    /// A merge's patch with several old sides.
    Combined,
    /// The patch of a binary file.
    Binary,
    /// A symbolic link or a submodule.
    NotAFile {
        /// Its mode in the patch.
        mode: String,
    },
    /// A file name cannot be read.
    Name {
        /// The line as an excerpt.
        text: String,
    },
    /// `diff` says that a file is on one side only, and not what is in it.
    OnlyIn,
    /// The envelope's last line is missing: the patch may be cut.
    NoEnd,
    /// A line of the envelope is none that it may have there.
    Envelope {
        /// The line as an excerpt.
        text: String,
    },
}

impl fmt::Display for ParseFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseFault::NoFiles => f.write_str(
                "no file header; begin each file with '--- a/PATH' and '+++ b/PATH', or the patch \
                 with '*** Begin Patch'",
            ),
            ParseFault::Stray { text } => {
                write!(f, "{text} belongs to no file; put '--- a/PATH' and '+++ b/PATH' above the hunk")
            }
            ParseFault::NoMark { hunk, text } => write!(
                f,
                "hunk {hunk}: a line begins with ' ', '-' or '+', and this is {text}; mark it, with \
                 a blank if it stays as it is"
            ),
            ParseFault::EmptyHunk { hunk } => write!(f, "hunk {hunk} has no lines"),
            ParseFault::HunkHeader { text } => {
                write!(f, "{text} is no hunk header; write '@@ -LINE,COUNT +LINE,COUNT @@'")
            }
            ParseFault::Marker => f.write_str(
                "'\\ No newline at end of file' stands behind a line that is not the last of its side",
            ),
            ParseFault::Combined => {
                f.write_str("this is the combined patch of a merge; make one against one parent")
            }
            ParseFault::Binary => f.write_str("the patch is of a binary file; only text is patched"),
            ParseFault::NotAFile { mode } => {
                write!(f, "mode {mode} is a symbolic link or a submodule; only files are patched")
            }
            ParseFault::Name { text } => write!(f, "{text} names no file"),
            ParseFault::OnlyIn => f.write_str(
                "a file that is on one side only is not in the patch; make the patch with 'diff -N'",
            ),
            ParseFault::NoEnd => {
                f.write_str("'*** End Patch' is missing; the patch may have been cut")
            }
            ParseFault::Envelope { text } => write!(
                f,
                "{text} is not expected here; after '*** Begin Patch' comes '*** Add File: PATH', \
                 '*** Update File: PATH' or '*** Delete File: PATH', and lines of an added file \
                 begin with '+'"
            ),
        }
    }
}

impl Patch {
    /// Reads a patch: unified or git's, or the one between `*** Begin Patch` and `*** End Patch`.
    ///
    /// Text around it is skipped. Where the numbers of a hunk's header do not fit its lines the
    /// lines count, and a note says so.
    ///
    /// # Errors
    /// [`ParseError`], with the line.
    ///
    /// ```
    /// let patch = xd_text_edit::Patch::parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    /// assert_eq!((patch.files[0].path.as_str(), patch.files[0].hunks.len()), ("x", 1));
    /// ```
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        if transported_with_returns(&lines) {
            for line in &mut lines {
                *line = line.strip_suffix(b"\r").unwrap_or(line);
            }
        }
        let mut patch = match envelope::begin(&lines) {
            Some(begin) => envelope::parse(&lines, begin)?,
            None => unified::parse(&lines)?,
        };
        let utf8 = std::str::from_utf8(text).is_ok();
        patch.files.iter_mut().for_each(|file| file.utf8 = utf8);
        Ok(patch)
    }

    /// The number of hunks in all files.
    #[must_use]
    pub fn hunks(&self) -> usize {
        self.files.iter().map(|file| file.hunks.len()).sum()
    }
}

/// Whether every header ends in a carriage return: then the whole patch came that way, and its
/// line ends say nothing about those of the files.
fn transported_with_returns(lines: &[&[u8]]) -> bool {
    let header = |line: &&&[u8]| {
        [&b"--- "[..], b"+++ ", b"diff ", b"*** "].iter().any(|start| line.starts_with(start))
    };
    let mut headers = lines.iter().filter(header).peekable();
    headers.peek().is_some() && headers.all(|line| line.ends_with(b"\r"))
}

/// A line of the patch for a message.
fn shown(line: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(line), 0)
}

fn fault(at: usize, kind: ParseFault) -> ParseError {
    ParseError { line: at + 1, kind }
}

impl Hunk {
    /// The lines of the file before.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| match line.side {
            Side::Context | Side::Removed => true,
            Side::Added => false,
        })
    }

    /// The lines of the file afterwards.
    pub fn new_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| match line.side {
            Side::Context | Side::Added => true,
            Side::Removed => false,
        })
    }

    /// The lines afterwards as bytes: the content of a new file.
    #[must_use]
    pub fn new_bytes(&self) -> Vec<u8> {
        joined(self.new_lines())
    }
}

/// Lines with their line feeds.
fn joined<'a>(lines: impl Iterator<Item = &'a HunkLine>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        out.extend_from_slice(&line.text);
        if line.newline {
            out.push(b'\n');
        }
    }
    out
}
