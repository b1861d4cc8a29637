//! What a call came to, as data: counts, places, and what was left alone.

use std::fmt;

use serde::{Serialize, Serializer};
use xd_changeset::RelPath;
use xd_protocol::Visible;

/// The one pair of numbers that label, preview and result show (`CONTRACT A3`, `A6`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Replaced matches.
    pub replacements: usize,
    /// Files with at least one.
    pub files: usize,
}

impl fmt::Display for Counts {
    /// `2 replacements in 1 file`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { replacements, files } = self;
        write!(f, "{} in {}", counted(*replacements, "replacement"), counted(*files, "file"))
    }
}

impl Counts {
    /// The label of the staged action: `AST Edit: 2 replacements in 1 file` (`CONTRACT A6`).
    #[must_use]
    pub fn label(self) -> String {
        format!("AST Edit: {self}")
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.` (`CONTRACT A6`).
    #[must_use]
    pub fn applied(self) -> String {
        format!("Applied {self}.")
    }
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCount {
    /// The file.
    #[serde(serialize_with = "as_text")]
    pub path: RelPath,
    /// Its language.
    pub lang: &'static str,
    /// Replaced matches in it.
    pub replacements: usize,
}

/// Why a file that may hold matches was left alone (`CONTRACT A4`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum IssueKind {
    /// It has a syntax error.
    DoesNotParse {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// It is not UTF-8.
    NotUtf8 {
        /// Offset of the first byte that is not.
        byte: usize,
    },
    /// It holds a NUL byte near its start.
    Binary,
    /// It is larger than the limit.
    TooLarge {
        /// Its length in bytes.
        bytes: u64,
    },
    /// It is nested too deeply for a pattern that compares parts.
    TooDeep {
        /// How many levels.
        depth: usize,
    },
    /// It cannot be read.
    Unreadable {
        /// The system's reason.
        reason: String,
    },
    /// No language is known for its name, and it was named itself.
    NoLanguage,
    /// Its name is not UTF-8, so that nothing could name it. The path shows the bytes that are not
    /// as `\xNN`.
    NameNotUtf8,
    /// The parser failed in a way that is a fault of its own.
    ParserFailed,
}

/// A file that was left alone, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// The file.
    #[serde(serialize_with = "as_text")]
    pub path: RelPath,
    /// Why.
    #[serde(flatten)]
    pub kind: IssueKind,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            IssueKind::DoesNotParse { line, column } => {
                write!(f, "{path}:{line}:{column}: does not parse")
            }
            IssueKind::NotUtf8 { byte } => write!(f, "{path}: is not UTF-8 (byte {byte})"),
            IssueKind::Binary => write!(f, "{path}: is binary"),
            IssueKind::TooLarge { bytes } => write!(f, "{path}: is too large ({bytes} bytes)"),
            IssueKind::TooDeep { depth } => {
                write!(f, "{path}: is nested too deeply ({depth} levels)")
            }
            IssueKind::Unreadable { reason } => {
                write!(f, "{path}: cannot be read: {}", Visible(reason))
            }
            IssueKind::NoLanguage => {
                write!(f, "{path}: no language is known for this name; give `lang`")
            }
            IssueKind::NameNotUtf8 => write!(f, "{path}: its name is not UTF-8; rename it"),
            IssueKind::ParserFailed => write!(f, "{path}: the parser failed on it"),
        }
    }
}

/// A comment that goes away with the code around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostComment {
    /// The file.
    #[serde(serialize_with = "as_text")]
    pub path: RelPath,
    /// Its line before the change, from 1.
    pub line: usize,
    /// How it begins.
    pub text: String,
}

/// An operation that means nothing in one of the languages found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Index of the operation.
    pub op: usize,
    /// The language.
    pub lang: &'static str,
    /// How many files of that language there are.
    pub files: usize,
    /// Why.
    pub reason: String,
}

/// A limit that a call reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// The number of changed files.
    Files(usize),
    /// The number of replacements.
    Replacements(usize),
}

/// Everything that a call has to say beside its changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The totals.
    pub counts: Counts,
    /// The changed files, sorted by path.
    pub files: Vec<FileCount>,
    /// Replaced matches of each operation, by its index.
    pub by_op: Vec<usize>,
    /// The one language that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<&'static str>,
    /// Files looked at.
    pub searched: usize,
    /// Matches inside replaced ones, left as they are.
    pub nested: usize,
    /// Matches whose replacement equals what stands there.
    pub unchanged: usize,
    /// Operations whose result matches their own pattern, by index.
    pub regrowing: Vec<usize>,
    /// Replaced places that already read as an earlier run left them.
    pub regrown: usize,
    /// Comments that go away.
    pub lost: usize,
    /// The first of these.
    pub lost_comments: Vec<LostComment>,
    /// Files left alone.
    pub issues: Vec<Issue>,
    /// Operations left out in some language.
    pub left_out: Vec<LeftOut>,
    /// The limit that ended the call early.
    pub cap: Option<Cap>,
}

/// At most this many issues or comments are written out in a text.
const TOLD: usize = 20;

impl Summary {
    /// The remarks for a reader, without the counts; empty where there are none. Each is one line,
    /// whatever the files are called.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.cap {
            Some(Cap::Files(limit)) => {
                notes.push(format!("Stopped at the limit of {limit} files: there are more. Apply this, then run it again."));
            }
            Some(Cap::Replacements(limit)) => notes.push(format!(
                "Stopped at the limit of {limit} replacements: there are more. Apply this, then run it again."
            )),
            None => {}
        }
        if self.nested > 0 {
            let matches = if self.nested == 1 { "match" } else { "matches" };
            notes.push(format!(
                "{} nested {matches} left (only the outermost is rewritten; run it again for the rest).",
                self.nested
            ));
        }
        if self.unchanged > 0 {
            let (matches, read) =
                if self.unchanged == 1 { ("match", "reads") } else { ("matches", "read") };
            notes.push(format!(
                "{} {matches} already {read} as `out` says: no change needed.",
                self.unchanged
            ));
        }
        if self.counts.replacements > 0 {
            for op in &self.regrowing {
                notes.push(format!("ops[{op}] grows: its result matches its own `pat`, so a second run would rewrite it again."));
            }
            if self.regrown > 0 {
                let places = if self.regrown == 1 { "place reads" } else { "places read" };
                notes.push(format!(
                    "{} {places} as an earlier run of this left them, and would grow once more.",
                    self.regrown
                ));
            }
        }
        self.lost_note(&mut notes);
        for left in &self.left_out {
            notes.push(format!(
                "ops[{}] was left out in {} ({}): {}.",
                left.op,
                left.lang,
                counted(left.files, "file"),
                Visible(&left.reason)
            ));
        }
        if !self.issues.is_empty() {
            notes.push(format!("{} left alone:", counted(self.issues.len(), "file")));
            notes.extend(self.issues.iter().take(TOLD).map(|issue| format!("  {issue}")));
            if self.issues.len() > TOLD {
                notes.push(format!("  and {} more", self.issues.len() - TOLD));
            }
        }
        notes
    }

    fn lost_note(&self, notes: &mut Vec<String>) {
        if self.lost == 0 {
            return;
        }
        notes.push(format!("{} dropped by the rewrite:", counted(self.lost, "comment")));
        for comment in self.lost_comments.iter().take(TOLD) {
            let text = Visible(&comment.text);
            notes.push(format!("  {}:{}: {text}", comment.path, comment.line));
        }
        let told = self.lost_comments.len().min(TOLD);
        if self.lost > told {
            notes.push(format!("  and {} more", self.lost - told));
        }
    }

    /// The text of a call that replaced nothing (`CONTRACT S6`).
    #[must_use]
    pub fn no_replacements(&self) -> String {
        let mut text = if self.unchanged > 0 {
            "No replacements made: no change needed.".to_owned()
        } else {
            "No replacements made".to_owned()
        };
        text.push_str(&match self.searched {
            0 => match self.lang {
                Some(lang) => format!(" (no file of the language {lang} there)."),
                None => " (no file of a known language there).".to_owned(),
            },
            _ if self.unchanged > 0 => String::new(),
            searched => format!(" ({} searched, no match).", counted(searched, "file")),
        });
        for note in self.notes() {
            text.push('\n');
            text.push_str(&note);
        }
        text
    }
}

fn as_text<S: Serializer>(path: &RelPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a6_label_and_result_have_the_right_number() {
        let label = |replacements, files| Counts { replacements, files }.label();
        assert_eq!(label(2, 1), "AST Edit: 2 replacements in 1 file");
        assert_eq!(label(1, 1), "AST Edit: 1 replacement in 1 file");
        assert_eq!(label(12, 3), "AST Edit: 12 replacements in 3 files");
        assert_eq!(
            Counts { replacements: 1, files: 1 }.applied(),
            "Applied 1 replacement in 1 file."
        );
        assert_eq!(
            Counts { replacements: 5, files: 2 }.applied(),
            "Applied 5 replacements in 2 files."
        );
    }
}
