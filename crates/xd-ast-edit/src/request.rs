//! What a call asks for, its limits, and why it is refused as a whole.

use std::fmt;

use serde::{Deserialize, Serialize};
use xd_changeset::{BuildError, PathError, RelPath};
use xd_protocol::Visible;

use crate::language::{Lang, LangError};
use crate::op::{Op, OpError, OpsError};
use crate::refusal::Refusal;

/// A call: operations, and where they run (`CONTRACT A1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The operations, in the order in which they are reported.
    pub ops: Vec<Op>,
    /// Files, folders and globs, relative to the workspace root or absolute and inside it. What
    /// ignore files name is left out (`CONTRACT A2`), but for a file or folder that is named itself.
    pub paths: Vec<String>,
    /// One language; files of others are left out, and files that are named one by one are read
    /// as this language whatever they are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
}

/// Bounds of one call (`CONTRACT A2`). Reaching one is stated in preview and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most this many files are changed.
    pub files: usize,
    /// At most this many replacements are made.
    pub replacements: usize,
    /// Larger files, in bytes, are listed and left alone.
    pub file_bytes: u64,
    /// At most this many threads work; 0 means as many as there are cores.
    pub threads: usize,
}

impl Limits {
    /// How many threads work.
    pub(crate) fn threads_used(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads == 0 { cores() } else { self.threads }
    }
}

impl Default for Limits {
    /// 1,000 files, 10,000 replacements, 16 MiB a file, all cores: more than a person can review,
    /// less than what fills a host's memory.
    fn default() -> Self {
        Self { files: 1_000, replacements: 10_000, file_bytes: 16 * 1024 * 1024, threads: 0 }
    }
}

/// How far a call has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Files found so far: while folders are walked it grows.
    pub files: usize,
    /// Files among these that are done with.
    pub seen: usize,
    /// Files among these with at least one replacement.
    pub matched: usize,
}

/// How a caller follows and ends a call. Both functions are called from several threads.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Answers whether to stop; asked before every file, and while a large one is parsed.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Told after every file.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self { cancelled: &|| false, progress: &|_| {} }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Control")
    }
}

/// Why a call is refused (`CONTRACT A1`, `S7`). Nothing is staged, and each names the operand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The operations are refused by their text alone.
    #[error(transparent)]
    Ops(#[from] OpsError),
    /// The language is unknown or not in this build.
    #[error(transparent)]
    Lang(#[from] LangError),
    /// No path is given.
    #[error("paths: is empty; give files, folders or globs, or \".\" for the whole workspace")]
    NoPaths,
    /// A path leads outside or cannot be resolved.
    #[error("paths[{index}]: {source}")]
    Path {
        /// Index of the path, from 0.
        index: usize,
        /// What is wrong with it.
        source: PathError,
    },
    /// A path names nothing.
    #[error(
        "paths[{index}]: '{}' does not exist; check the spelling, or give the folder that it is in",
        Visible(path)
    )]
    Missing {
        /// Index of the path, from 0.
        index: usize,
        /// The path as given.
        path: String,
    },
    /// A path lies in the workspace's or the repository's own state.
    #[error(
        "paths[{index}]: '{}' is off limits ('.xd' and '.git' are never rewritten); give another path",
        Visible(path)
    )]
    Protected {
        /// Index of the path, from 0.
        index: usize,
        /// The path as given.
        path: String,
    },
    /// A glob cannot be read.
    #[error("paths[{index}]: '{}' is no glob: {}", Visible(path), Visible(reason))]
    Glob {
        /// Index of the path, from 0.
        index: usize,
        /// The path as given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An operation means nothing in any language that was found.
    #[error("ops[{op}]: `{}` cannot be used: {}", Visible(pat), reasons(failures))]
    Op {
        /// Index of the operation, from 0.
        op: usize,
        /// Its pattern.
        pat: String,
        /// The reason in each language.
        failures: Vec<(Lang, OpError)>,
    },
    /// A file refuses the call.
    #[error("'{path}': {refusal}")]
    File {
        /// The file.
        path: RelPath,
        /// Why.
        refusal: Refusal,
    },
    /// The changes do not make a change set.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The caller ended the call. Nothing is staged.
    #[error("cancelled; nothing is staged")]
    Cancelled,
}

fn reasons(failures: &[(Lang, OpError)]) -> String {
    reasons_by_language(failures.iter().map(|(lang, error)| (*lang, error.to_string())))
}

/// Reasons in words, the languages that share one named together: `as rust and go, it is empty; as
/// python, …`.
#[must_use]
pub fn reasons_by_language(failures: impl IntoIterator<Item = (Lang, String)>) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (lang, reason) in failures {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, langs)) => langs.push(lang.name()),
            None => reasons.push((reason, vec![lang.name()])),
        }
    }
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(reason, langs)| format!("as {}, {reason}", langs.join(" and ")))
        .collect();
    reasons.join("; ")
}
