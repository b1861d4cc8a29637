//! The files of a call as they become, edit by edit, before anything is proposed.

use std::borrow::Cow;

use xd_changeset::{
    BuildError, ByteEdit, Change, ChangeSet, Content, EntryKind, PathError, ReadError, RelPath,
    Root, apply_edits,
};

use crate::compose::compose;
use crate::limits::Limits;

/// All files that a call has touched so far.
#[derive(Debug)]
pub(crate) struct Drafts<'a> {
    root: &'a Root,
    limits: Limits,
    files: Vec<Draft>,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Its name before; of a new file its name.
    pub(crate) path: RelPath,
    /// What it was; none for a new file.
    before: Option<Content>,
    /// What it is, where that is not `before`.
    now: Option<Vec<u8>>,
    /// How it became so.
    edits: Vec<ByteEdit>,
    fate: Fate,
    executable: Option<bool>,
    /// Replaced places or hunks.
    pub(crate) changes: usize,
    /// Which edits of the call changed it.
    pub(crate) by: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Stays,
    Deleted,
    Moved(RelPath),
}

/// Why a file cannot be drafted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftFault {
    /// The path leads outside or cannot be resolved.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The path lies in the workspace's or the repository's own state.
    #[error("it is off limits ('.xd' and '.git' are never edited)")]
    Protected,
    /// There is no such file.
    #[error("the file does not exist; check the path, or leave old_text empty to create it")]
    Missing,
    /// There is no such file to patch.
    #[error("the file does not exist; check the path")]
    NoFile,
    /// A file is to be created where one is.
    #[error("something exists there already; edit it, or delete it in the same call")]
    Exists,
    /// An earlier part of the call deleted it or gave it another name.
    #[error("an earlier part of this call deleted or moved it")]
    Gone,
    /// It is too large.
    #[error("the file has {bytes} bytes, and at most {most} are edited")]
    TooLarge {
        /// Its length, before or afterwards.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Too many files in one call.
    #[error("at most {most} files are changed in one call; split it")]
    TooManyFiles {
        /// The limit.
        most: usize,
    },
}

impl<'a> Drafts<'a> {
    pub(crate) fn new(root: &'a Root, limits: Limits) -> Self {
        Self { root, limits, files: Vec::new() }
    }

    /// The path that a text of the call names.
    pub(crate) fn path(&self, text: &str) -> Result<RelPath, DraftFault> {
        let path = self.root.relative(text)?;
        match path.is_protected() {
            true => Err(DraftFault::Protected),
            false => Ok(path),
        }
    }

    /// Whether there is a file of that name, on disk or made by the call.
    pub(crate) fn exists(&self, path: &RelPath) -> bool {
        match self.current(path) {
            Some(_) => true,
            None => self.root.exists(path) && !self.left(path),
        }
    }

    /// The draft of the file that has this name: what it was called before the call, or what the
    /// call called it.
    fn current(&self, path: &RelPath) -> Option<usize> {
        let stays = |draft: &Draft| draft.fate == Fate::Stays && draft.path == *path;
        let moved = |draft: &Draft| draft.fate == Fate::Moved(path.clone());
        self.files.iter().position(stays).or_else(|| {
            // A file on disk goes before one that is to take its name: patches name what was.
            let untouched = self.root.exists(path) && !self.left(path);
            if untouched { None } else { self.files.iter().position(moved) }
        })
    }

    /// Whether the call took the file away that had this name.
    fn left(&self, path: &RelPath) -> bool {
        self.files.iter().any(|draft| {
            draft.path == *path && draft.before_was_there() && draft.fate != Fate::Stays
        })
    }

    /// The file to change, read at its first mention.
    pub(crate) fn open(&mut self, path: &RelPath) -> Result<usize, DraftFault> {
        if let Some(at) = self.current(path) {
            return Ok(at);
        }
        if self.left(path) {
            return Err(DraftFault::Gone);
        }
        match self.root.metadata(path) {
            Ok(metadata) if metadata.len > self.limits.file_bytes => {
                let most = self.limits.file_bytes;
                return Err(DraftFault::TooLarge { bytes: metadata.len, most });
            }
            Ok(_) => {}
            Err(ReadError::NotFound(_)) => return Err(DraftFault::NoFile),
            Err(error) => return Err(error.into()),
        }
        let content = self.root.read(path)?;
        self.add(path, Some(content))
    }

    /// A file that is only deleted or moved: a link as itself, and never read.
    fn open_name(&mut self, path: &RelPath) -> Result<usize, DraftFault> {
        let is_link = |path| {
            self.root.link_metadata(path).is_ok_and(|metadata| metadata.kind == EntryKind::Symlink)
        };
        match self.current(path).is_none() && !self.left(path) && is_link(path) {
            true => self.add(path, Some(Content::new(""))),
            false => self.open(path),
        }
    }

    /// A new file, empty as yet.
    pub(crate) fn create(&mut self, path: &RelPath) -> Result<usize, DraftFault> {
        match self.exists(path) {
            true => Err(DraftFault::Exists),
            false => self.add(path, None),
        }
    }

    fn add(&mut self, path: &RelPath, before: Option<Content>) -> Result<usize, DraftFault> {
        if self.files.len() == self.limits.files {
            return Err(DraftFault::TooManyFiles { most: self.limits.files });
        }
        self.files.push(Draft {
            path: path.clone(),
            now: before.is_none().then(Vec::new),
            before,
            edits: Vec::new(),
            fate: Fate::Stays,
            executable: None,
            changes: 0,
            by: Vec::new(),
        });
        Ok(self.files.len() - 1)
    }

    pub(crate) fn get(&self, at: usize) -> &Draft {
        &self.files[at]
    }

    /// Makes edits of what the file is now.
    pub(crate) fn edit(
        &mut self,
        at: usize,
        edits: &[ByteEdit],
        changes: usize,
        by: usize,
    ) -> Result<(), DraftFault> {
        let draft = &mut self.files[at];
        let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
        let removed: usize = edits.iter().map(|edit| edit.range.len()).sum();
        let bytes = (draft.now().len() - removed + grown) as u64;
        if bytes > self.limits.file_bytes {
            return Err(DraftFault::TooLarge { bytes, most: self.limits.file_bytes });
        }
        // Both producers answer sorted, disjoint edits within the bytes.
        if let Ok(now) = apply_edits(&draft.now(), edits) {
            draft.edits = compose(&draft.edits, edits);
            draft.now = Some(now);
        }
        draft.changes += changes;
        draft.by.push(by);
        Ok(())
    }

    pub(crate) fn delete(&mut self, path: &RelPath) -> Result<(), DraftFault> {
        let at = self.open_name(path)?;
        match self.files[at].before {
            Some(_) => self.files[at].fate = Fate::Deleted,
            None => drop(self.files.remove(at)),
        }
        Ok(())
    }

    pub(crate) fn rename(&mut self, from: &RelPath, to: &RelPath) -> Result<usize, DraftFault> {
        let at = self.open_name(from)?;
        // Whether the new name is free is seen in the end: what has it now may leave as well.
        let draft = &mut self.files[at];
        match draft.before {
            Some(_) => draft.fate = Fate::Moved(to.clone()),
            None => draft.path = to.clone(),
        }
        Ok(at)
    }

    pub(crate) fn set_executable(&mut self, at: usize, executable: bool) {
        self.files[at].executable = Some(executable);
    }

    /// Whether the file is executable now, by the call or on the disk.
    pub(crate) fn is_executable(&self, at: usize) -> bool {
        let draft = &self.files[at];
        let on_disk = || {
            let metadata = self.root.metadata(&draft.path);
            metadata.is_ok_and(|metadata| metadata.mode & 0o111 != 0)
        };
        draft.executable.unwrap_or_else(|| draft.before.is_some() && on_disk())
    }

    /// Files whose edits leave them as they were.
    pub(crate) fn unchanged(&self) -> impl Iterator<Item = &Draft> {
        self.files.iter().filter(|draft| {
            draft.fate == Fate::Stays
                && draft.executable.is_none()
                && draft.before.as_ref().is_some_and(|before| {
                    before.bytes().is_ok_and(|before| *before == *draft.now())
                })
        })
    }

    /// How many changes there are in the file that ends under `path`; links are resolved by the
    /// change set, so that a file may be known under its own name there.
    pub(crate) fn changes_in(&self, path: &RelPath) -> usize {
        let named = |draft: &&Draft| draft.name() == path;
        match self.files.iter().find(named) {
            Some(draft) => draft.changes,
            None => {
                let content = self.root.read(path).ok();
                let same = |draft: &&Draft| {
                    draft.before.is_some() && draft.before == content && !self.is_own_name(draft)
                };
                self.files.iter().filter(same).map(|draft| draft.changes).sum()
            }
        }
    }

    fn is_own_name(&self, draft: &Draft) -> bool {
        self.root
            .link_metadata(&draft.path)
            .is_ok_and(|metadata| metadata.kind != EntryKind::Symlink)
    }

    /// The change set of all drafts, bound to the contents that the drafts began with.
    pub(crate) fn build(&self) -> Result<ChangeSet, BuildError> {
        let mut builder = ChangeSet::builder(self.root);
        for draft in &self.files {
            match (&draft.before, &draft.fate) {
                (None, _) => {
                    let mode = draft.executable.filter(|executable| *executable).map(|_| 0o755);
                    builder.create(&draft.path, draft.now().into_owned(), mode);
                }
                (Some(_), Fate::Deleted) => drop(builder.delete(&draft.path)),
                (Some(before), Fate::Stays) => {
                    builder.edit_from(&draft.path, before.clone(), draft.edits.clone());
                }
                (Some(before), Fate::Moved(to)) => {
                    if self.is_own_name(draft) {
                        builder.edit_from(&draft.path, before.clone(), draft.edits.clone());
                    }
                    builder.rename(&draft.path, to);
                }
            }
            if let (Some(executable), Some(_)) = (draft.executable, &draft.before)
                && let Ok(metadata) = self.root.metadata(&draft.path)
            {
                let mode = match executable {
                    true => metadata.mode | (metadata.mode & 0o444) >> 2,
                    false => metadata.mode & !0o111,
                };
                builder.set_mode(&draft.path, mode);
            }
        }
        let set = builder.build()?;
        // A deletion is not bound to what was read; it must be of that all the same.
        for change in set.changes() {
            if let Change::Delete { path, before, .. } = change
                && let Some(draft) = self.files.iter().find(|draft| draft.path == *path)
                && self.is_own_name(draft)
                && draft.before.as_ref().is_some_and(|seen| seen != before)
            {
                return Err(BuildError::ChangedSinceRead(path.clone()));
            }
        }
        Ok(set)
    }
}

impl Draft {
    fn before_was_there(&self) -> bool {
        self.before.is_some()
    }

    /// The name that it has in the end.
    fn name(&self) -> &RelPath {
        match &self.fate {
            Fate::Moved(to) => to,
            Fate::Stays | Fate::Deleted => &self.path,
        }
    }

    /// What it is now.
    pub(crate) fn now(&self) -> Cow<'_, [u8]> {
        match (&self.now, &self.before) {
            (Some(now), _) => Cow::Borrowed(now),
            (None, Some(before)) => before.bytes().unwrap_or_default(),
            (None, None) => Cow::Borrowed(&[]),
        }
    }

    /// What it was before the call, where the call has changed it.
    pub(crate) fn original(&self) -> Option<Cow<'_, [u8]>> {
        self.now.as_ref()?;
        self.before.as_ref()?.bytes().ok()
    }

    /// Whether any of `edits` changes bytes that an earlier edit of the call put there.
    pub(crate) fn touches_own(&self, edits: &[ByteEdit]) -> bool {
        let mut put = Vec::new();
        let (mut at, mut from) = (0, 0);
        for edit in &self.edits {
            at += edit.range.start - from;
            put.push(at..at + edit.text.len());
            at += edit.text.len();
            from = edit.range.end;
        }
        edits.iter().any(|edit| {
            let next = put.partition_point(|put| put.end <= edit.range.start);
            put.get(next).is_some_and(|put| !put.is_empty() && put.start < edit.range.end)
        })
    }
}
