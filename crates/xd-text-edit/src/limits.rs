//! The bounds of one call, and how a caller ends it.

use std::fmt;

/// Bounds of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most this many edits, or hunks.
    pub edits: usize,
    /// At most this many files.
    pub files: usize,
    /// At most this many places of one edit are replaced.
    pub replacements: usize,
    /// Texts and patches together may have this many bytes.
    pub text_bytes: usize,
    /// Larger files, in bytes, are refused, before an edit and after it.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// 500 edits, 200 files, 10,000 replacements an edit, 8 MiB of text, 16 MiB a file.
    fn default() -> Self {
        Self {
            edits: 500,
            files: 200,
            replacements: 10_000,
            text_bytes: 8 * 1024 * 1024,
            file_bytes: 16 * 1024 * 1024,
        }
    }
}

/// How a caller follows and ends a call. Both functions are called between edits.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Answers whether to stop.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Told how many edits, or files of a patch, are done.
    pub progress: &'a dyn Fn(usize),
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
