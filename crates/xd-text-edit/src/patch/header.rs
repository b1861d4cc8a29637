//! What stands above the hunks of one file, and what it comes to.

use super::name::{Named, bare};
use super::{Action, FilePatch, Hunk, ParseError, ParseFault, fault, shown};

/// The headers of one file as read.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Where it begins, from 0.
    pub(super) at: usize,
    /// The names of the `diff --git` line.
    pub(super) git: Option<(String, String)>,
    pub(super) old: Option<Named>,
    pub(super) new: Option<Named>,
    pub(super) old_mode: Option<String>,
    pub(super) new_mode: Option<String>,
    pub(super) created: bool,
    pub(super) deleted: bool,
    pub(super) moved: (Option<String>, Option<String>),
    pub(super) copied: (Option<String>, Option<String>),
}

impl Header {
    /// The file that headers and hunks describe.
    pub(super) fn file(self, hunks: Vec<Hunk>, line: &[u8]) -> Result<FilePatch, ParseError> {
        let at = self.at;
        let unnamed = || fault(at, ParseFault::Name { text: shown(line) });
        let executable = self.executable()?;
        let pair = match (&self.old, &self.new) {
            (Some(old), Some(new)) => Some((old.clone(), new.clone())),
            (_, _) => None,
        };
        let names = match (&self.git, &pair) {
            (Some((old, new)), Some((_, named))) => {
                // The pair tells whether there are prefixes, the marks the rest of the name.
                let (bare_old, bare_new) = bare(old, new);
                let cut = new.len() - bare_new.len();
                let given = |named: &Named, fallback: &str| match named.none {
                    true => fallback.to_owned(),
                    false => named.name.get(cut..).unwrap_or(&named.name).to_owned(),
                };
                let old =
                    pair.as_ref().map_or(bare_old.to_owned(), |(old, _)| given(old, bare_old));
                (old, given(named, bare_new))
            }
            (Some((old, new)), None) => {
                let (old, new) = bare(old, new);
                (old.to_owned(), new.to_owned())
            }
            (None, Some((old, new))) => {
                let (bare_old, bare_new) = bare(&old.name, &new.name);
                (bare_old.to_owned(), bare_new.to_owned())
            }
            (None, None) => return Err(unnamed()),
        };
        let gone = |side: Option<&Named>| side.is_some_and(|named| named.none);
        let created = self.created || gone(self.old.as_ref());
        let deleted = self.deleted || gone(self.new.as_ref());
        let (old, new) = names;
        let (path, or_path, action) = match (self.moved, self.copied) {
            ((Some(from), Some(to)), _) => (from, None, Action::Move { to }),
            (_, (Some(from), Some(to))) => (from, None, Action::Copy { to }),
            (_, _) if created && deleted => return Err(unnamed()),
            (_, _) if created => (new, None, Action::Create),
            (_, _) if deleted => (old, None, Action::Delete { shown: true }),
            (_, _) => {
                let other = (old != new).then_some(old);
                (new, other, Action::Edit)
            }
        };
        if path.is_empty() || path == "/dev/null" {
            return Err(unnamed());
        }
        Ok(FilePatch { line: at + 1, path, or_path, action, hunks, executable, utf8: true })
    }

    /// Whether the modes say that the file is executable, where they say anything.
    fn executable(&self) -> Result<Option<bool>, ParseError> {
        for mode in [&self.old_mode, &self.new_mode].into_iter().flatten() {
            if !mode.starts_with("100") || mode.len() != 6 {
                return Err(fault(self.at, ParseFault::NotAFile { mode: mode.clone() }));
            }
        }
        let bit = |mode: &String| u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & 0o111 != 0);
        Ok(match (&self.old_mode, &self.new_mode) {
            (Some(old), Some(new)) if bit(old) != bit(new) => Some(bit(new)),
            (None, Some(new)) if bit(new) => Some(true),
            (_, _) => None,
        })
    }
}
