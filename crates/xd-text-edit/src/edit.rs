//! One edit: exact old text, new text, on the bytes of one file.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use xd_changeset::ByteEdit;

use crate::ending::fit;
use crate::fold::{Folded, line_at};
use crate::locate::{apart, occurrences};
use crate::near_miss::{NearMiss, near_miss};
use crate::wording::{counted, line_list};

/// An edit of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, relative to the workspace root, or absolute and inside it.
    pub path: String,
    /// The text as it stands in the file. Empty only to create a file or to fill an empty one.
    pub old_text: String,
    /// What it becomes. Empty deletes.
    pub new_text: String,
    /// Whether all places change. Without it the text must stand in one place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace_all: bool,
}

/// What an edit does to the bytes it was tried on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The changes, sorted and disjoint, one a place.
    pub edits: Vec<ByteEdit>,
    /// Places that stay because they overlap a replaced one.
    pub overlapping: usize,
}

/// Why an edit is refused. The text names the way out; the path goes before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditFault {
    /// Nothing would change (case 25).
    #[error("no change needed: old_text and new_text are the same; leave this edit out")]
    Same,
    /// There is no old text, and the file is not empty.
    #[error(
        "old_text is empty, and the file has {bytes} bytes; give the text to change, or replace \
         the whole file with the write tool"
    )]
    EmptyOld {
        /// The length of the file.
        bytes: usize,
    },
    /// The old text stands nowhere.
    #[error("old_text occurs 0 times{near}")]
    NotFound {
        /// Where something like it stands.
        near: Box<NearMiss>,
    },
    /// The old text stands in several places (case 11).
    #[error(
        "old_text occurs {total} times ({}); add lines around it until it is unique, or set \
         replace_all to change every one",
        line_list(lines, *total)
    )]
    Ambiguous {
        /// All places, overlapping ones too.
        total: usize,
        /// The lines of the first ones.
        lines: Vec<usize>,
    },
    /// More places than a call may change.
    #[error(
        "old_text occurs {total} times, and at most {most} replacements are made; give more of the text"
    )]
    TooMany {
        /// The places.
        total: usize,
        /// The limit.
        most: usize,
    },
    /// All replacements together are too long.
    #[error("{total} replacements of {bytes} bytes are more than one call may write; split it")]
    TooLong {
        /// The places.
        total: usize,
        /// The length of the new text.
        bytes: usize,
    },
    /// The file has NUL bytes.
    #[error("the file is binary: byte {byte} is NUL; only text is edited")]
    Binary {
        /// Offset of the first one.
        byte: usize,
    },
    /// The file is UTF-16.
    #[error("the file is UTF-16 text, and edits are made of UTF-8; convert the file first")]
    Utf16,
    /// Non-ASCII text would go into a file of another encoding (case 133).
    #[error(
        "the file is not UTF-8 (byte {byte}, line {line}), so that new_text may only be ASCII: \
         other characters would be in another encoding than the rest of the file"
    )]
    OtherEncoding {
        /// Offset of the first byte that is not UTF-8.
        byte: usize,
        /// Its line.
        line: usize,
    },
    /// In a file that is not UTF-8 the match begins where a character of two bytes may.
    #[error(
        "the file is not UTF-8, and old_text at line {line} may begin in the middle of a \
         character; let it begin elsewhere"
    )]
    InsideCharacter {
        /// The line of the match.
        line: usize,
    },
}

impl Edit {
    /// An edit of one place.
    pub fn new(
        path: impl Into<String>,
        old_text: impl Into<String>,
        new_text: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            old_text: old_text.into(),
            new_text: new_text.into(),
            replace_all: false,
        }
    }

    /// The same for all places.
    #[must_use]
    pub fn everywhere(self) -> Self {
        Self { replace_all: true, ..self }
    }

    /// Tries the edit on the bytes of an existing file; at most `most` places are changed.
    ///
    /// Line ends match whichever they are, and new lines end as those that they replace. An edit
    /// whose texts differ in line ends alone is exact in both.
    ///
    /// # Errors
    /// [`EditFault`].
    ///
    /// ```
    /// use xd_text_edit::Edit;
    /// use xd_changeset::apply_edits;
    ///
    /// let file = b"one\r\ntwo\r\n";
    /// let done = Edit::new("a.txt", "one\n", "1\n1.5\n").apply_to_bytes(file, 1).unwrap();
    /// assert_eq!(apply_edits(file, &done.edits).unwrap(), b"1\r\n1.5\r\ntwo\r\n");
    /// ```
    pub fn apply_to_bytes(&self, bytes: &[u8], most: usize) -> Result<Replaced, EditFault> {
        self.try_on(bytes, most, true)
    }

    /// As [`apply_to_bytes`](Self::apply_to_bytes); looks for near misses only where `look`.
    pub(crate) fn try_on(
        &self,
        bytes: &[u8],
        most: usize,
        look: bool,
    ) -> Result<Replaced, EditFault> {
        if self.old_text == self.new_text {
            return Err(EditFault::Same);
        }
        let not_utf8 = check_encoding(bytes)?;
        if let Some(byte) = not_utf8.filter(|_| !self.new_text.is_ascii()) {
            return Err(EditFault::OtherEncoding { byte, line: line_at(bytes, byte) });
        }
        if self.old_text.is_empty() {
            return self.fill(bytes);
        }
        let (old, new) =
            (Folded::of(self.old_text.as_bytes()), Folded::of(self.new_text.as_bytes()));
        let exact = old.bytes() == new.bytes();
        let (file, old) = match exact {
            true => (Folded::exactly(bytes), Folded::exactly(self.old_text.as_bytes())),
            false => (Folded::of(bytes), old),
        };
        let found = occurrences(bytes, &file, old.bytes());
        if found.total == 0 {
            let near = match look {
                true => near_miss(bytes, &self.old_text, Some(&self.new_text)),
                false => NearMiss::unsought(),
            };
            let near = Box::new(near);
            return Err(EditFault::NotFound { near });
        }
        if found.total > 1 && !self.replace_all {
            let lines = found.first.iter().map(|place| place.line).collect();
            return Err(EditFault::Ambiguous { total: found.total, lines });
        }
        if found.apart > most {
            return Err(EditFault::TooMany { total: found.apart, most });
        }
        if found.apart.saturating_mul(self.new_text.len()) > MOST_WRITTEN {
            let bytes = self.new_text.len();
            return Err(EditFault::TooLong { total: found.apart, bytes });
        }
        let ranges: Vec<Range<usize>> = apart(file.bytes(), old.bytes())
            .map(|at| file.raw_range(&(at..at + old.bytes().len())))
            .collect();
        if not_utf8.is_some()
            && let Some(range) = ranges.iter().find(|range| may_split(bytes, range.start))
        {
            return Err(EditFault::InsideCharacter { line: line_at(bytes, range.start) });
        }
        let text = |range: &Range<usize>| match exact {
            true => self.new_text.as_bytes().to_vec(),
            false => fit(bytes, range, new.bytes()),
        };
        let edits = ranges.iter().map(|range| ByteEdit::new(range.clone(), text(range))).collect();
        Ok(Replaced { edits, overlapping: found.total - found.apart })
    }

    /// Fills an empty file; a byte-order mark stays in front.
    fn fill(&self, bytes: &[u8]) -> Result<Replaced, EditFault> {
        let at = if bytes == BOM { BOM.len() } else { 0 };
        if bytes.len() > at {
            return Err(EditFault::EmptyOld { bytes: bytes.len() });
        }
        let edits = vec![ByteEdit::new(at..at, self.new_text.as_bytes())];
        Ok(Replaced { edits, overlapping: 0 })
    }
}

impl Replaced {
    /// What there is to remark, if anything.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        (self.overlapping > 0).then(|| {
            format!(
                "{} of old_text overlapped a replaced one and went with it",
                counted(self.overlapping, "occurrence")
            )
        })
    }
}

/// What the replacements of one edit may come to, in bytes.
const MOST_WRITTEN: usize = 64 * 1024 * 1024;

/// The byte-order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Refuses what is no text; answers where a text stops to be UTF-8, if it does.
pub(crate) fn check_encoding(bytes: &[u8]) -> Result<Option<usize>, EditFault> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(EditFault::Utf16);
    }
    if let Some(byte) = memchr::memchr(0, bytes) {
        return Err(EditFault::Binary { byte });
    }
    Ok(std::str::from_utf8(bytes).err().map(|error| error.valid_up_to()))
}

/// Whether a match that begins at `at` may begin with the second byte of a character: in the
/// encodings of East Asia an ASCII letter, digit or sign can be one.
fn may_split(bytes: &[u8], at: usize) -> bool {
    let second = |byte: u8| matches!(byte, 0x30..=0x39 | 0x40..=0x7e);
    at > 0 && bytes[at - 1] >= 0x80 && bytes.get(at).is_some_and(|byte| second(*byte))
}
