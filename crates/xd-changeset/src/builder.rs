//! Making a change set against the files as they are: everything that can be refused is refused
//! here (`CONTRACT S7`, `CONTRACT F5`).

mod staged;
#[cfg(test)]
mod tests;
mod writable;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::commit::RecoverError;
use crate::disk::EntryKind;
use crate::root::{PathError, Root, new_file_mode};
use crate::{
    ByteEdit, Change, ChangeSet, Content, EditError, FileKind, FileState, InvalidChangeSet, RelPath,
};

use crate::spill::{Spill, Unfilled};
use staged::StagedFile;
pub use writable::Place;

/// Collects what is to change and reads the files it starts from.
///
/// Nothing is looked at before [`build`](Builder::build). All paths name files as they are
/// before the set, and all ranges offsets into their present bytes, in whatever order the calls
/// come. Paths may be given as a producer wrote them; links are followed by edits, replacements
/// and modes (the target changes), and not by deletions and renames (the link itself goes).
#[derive(Debug)]
pub struct Builder {
    root: Root,
    steps: Vec<Step>,
    spill: Spill,
    /// The first content that could not be kept. The call that brought it cannot say so.
    failed: Option<(RelPath, io::Error)>,
}

#[derive(Debug)]
enum Step {
    Edit { path: RelPath, expected: Option<Content>, edits: Vec<ByteEdit> },
    Replace { path: RelPath, expected: Option<Content>, after: Content },
    Create { path: RelPath, after: Content, mode: Option<u32> },
    Put { path: RelPath, after: Content, executable: bool },
    Delete { path: RelPath },
    Rename { from: RelPath, to: RelPath },
    SetMode { path: RelPath, mode: u32 },
}

/// Why a change set cannot be made. Every variant names the path that it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A path leads outside or cannot be resolved.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The changes contradict each other, or touch what is off limits.
    #[error(transparent)]
    Invalid(#[from] InvalidChangeSet),
    /// The file to change does not exist.
    #[error("'{0}' does not exist; create it instead, or check the path")]
    NotFound(RelPath),
    /// The path names something that cannot be changed.
    #[error("'{path}' is {is}; only files can be changed this way")]
    WrongKind {
        /// The path.
        path: RelPath,
        /// What is there.
        is: EntryKind,
    },
    /// A create or a rename would end where something is (`CONTRACT F5`).
    #[error("'{path}' exists already ({is}); edit or replace it, or choose another name")]
    Exists {
        /// The path.
        path: RelPath,
        /// What is there.
        is: EntryKind,
    },
    /// A folder on the way to a new file is something else.
    #[error("'{path}' cannot be created: '{folder}' is {is}, not a folder")]
    NotAFolder {
        /// The new file.
        path: RelPath,
        /// The part that is no folder.
        folder: RelPath,
        /// What it is.
        is: EntryKind,
    },
    /// The edits of a file overlap or lie outside it (`CONTRACT F5`).
    #[error("'{path}': {source}")]
    Edits {
        /// The file.
        path: RelPath,
        /// What is wrong with them.
        source: EditError,
    },
    /// The file is not what the producer read.
    #[error("'{0}' changed while the change was being prepared; read it again and stage anew")]
    ChangedSinceRead(RelPath),
    /// Two paths are names of one file and are to become different.
    #[error(
        "'{first}' and '{second}' are two names of one file (a hard link); change only one of them"
    )]
    SameFile {
        /// One name.
        first: RelPath,
        /// The other.
        second: RelPath,
    },
    /// Something about the file would be lost.
    #[error("'{path}' cannot be changed this way: {why}")]
    CannotKeep {
        /// The file.
        path: RelPath,
        /// What would be lost, and what to do.
        why: &'static str,
    },
    /// The user may not write there, so that applying would fail (`CONTRACT S7`).
    #[error(
        "'{path}' cannot be changed: {place} is not writable for this user ({source}); \
         give the permission, or leave the file out"
    )]
    NotWritable {
        /// The file to change.
        path: RelPath,
        /// What is not writable.
        place: Place,
        /// The system's reason.
        source: io::Error,
    },
    /// A large content cannot be kept on disk while the change is staged.
    #[error(
        "the large content of '{path}' cannot be kept on disk: {source}. Nothing is staged; \
         free some space and stage again"
    )]
    NoRoom {
        /// The file.
        path: RelPath,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refuses to let the file be read.
    #[error("cannot read '{path}': {source}")]
    Io {
        /// The file.
        path: RelPath,
        /// The system's reason.
        source: io::Error,
    },
    /// An interrupted commit is in the way and cannot be recovered.
    #[error(transparent)]
    Recover(#[from] RecoverError),
}

impl ChangeSet {
    /// Begins a change set of files below `root`.
    pub fn builder(root: &Root) -> Builder {
        let spill = Spill::of(root.shared_disk());
        Builder { root: root.clone(), steps: Vec::new(), spill, failed: None }
    }
}

impl Builder {
    /// Replaces byte ranges of a file. Several calls for one file are put together, and refused
    /// where they overlap.
    pub fn edit(&mut self, path: &RelPath, edits: Vec<ByteEdit>) -> &mut Self {
        self.push(Step::Edit { path: path.clone(), expected: None, edits })
    }

    /// As [`edit`](Self::edit), for a producer that has read the file: the set is bound to
    /// `expected`, the bytes that it saw, and not to what the file became meanwhile.
    pub fn edit_from(
        &mut self,
        path: &RelPath,
        expected: Content,
        edits: Vec<ByteEdit>,
    ) -> &mut Self {
        let expected = Some(self.keep(path, expected));
        self.push(Step::Edit { path: path.clone(), expected, edits })
    }

    /// Replaces the whole content of an existing file.
    pub fn replace(&mut self, path: &RelPath, after: impl Into<Content>) -> &mut Self {
        let after = self.keep(path, after);
        self.push(Step::Replace { path: path.clone(), expected: None, after })
    }

    /// As [`replace`](Self::replace), bound to the bytes that the producer saw.
    pub fn replace_from(
        &mut self,
        path: &RelPath,
        expected: Content,
        after: impl Into<Content>,
    ) -> &mut Self {
        let (expected, after) = (Some(self.keep(path, expected)), self.keep(path, after));
        self.push(Step::Replace { path: path.clone(), expected, after })
    }

    /// Creates a file where nothing is, with the folders it needs. Without `mode` it gets what
    /// any new file gets.
    pub fn create(
        &mut self,
        path: &RelPath,
        after: impl Into<Content>,
        mode: Option<u32>,
    ) -> &mut Self {
        let after = self.keep(path, after);
        self.push(Step::Create { path: path.clone(), after, mode })
    }

    /// Replaces the file if it exists and creates it otherwise (`CONTRACT W1`). `executable`
    /// adds the executable bits that go with its readable ones.
    pub fn put(
        &mut self,
        path: &RelPath,
        after: impl Into<Content>,
        executable: bool,
    ) -> &mut Self {
        let after = self.keep(path, after);
        self.push(Step::Put { path: path.clone(), after, executable })
    }

    /// Deletes a file, or a link as itself.
    pub fn delete(&mut self, path: &RelPath) -> &mut Self {
        self.push(Step::Delete { path: path.clone() })
    }

    /// Gives a file another name where nothing is. Edits of the same file, by its former name,
    /// go with it.
    pub fn rename(&mut self, from: &RelPath, to: &RelPath) -> &mut Self {
        self.push(Step::Rename { from: from.clone(), to: to.clone() })
    }

    /// Sets the permission bits (`0o7777`) of a file.
    pub fn set_mode(&mut self, path: &RelPath, mode: u32) -> &mut Self {
        self.push(Step::SetMode { path: path.clone(), mode })
    }

    /// The content, on disk where it has no room in memory.
    fn keep(&mut self, path: &RelPath, content: impl Into<Content>) -> Content {
        self.spill.keep(content.into()).unwrap_or_else(|error| {
            self.failed.get_or_insert_with(|| (path.clone(), error));
            Content::new([])
        })
    }

    fn push(&mut self, step: Step) -> &mut Self {
        self.steps.push(step);
        self
    }

    /// Reads what the changes start from, checks everything, and makes the change set. Files
    /// whose result equals what they are are left out (`CONTRACT S6`), so that the set may be
    /// empty. An interrupted commit is recovered first.
    ///
    /// Reads only; takes the lock only where there is something to recover. Contents that have no
    /// room in memory ([`Content::LARGE`], [`Content::TOTAL`]) are kept in a file without a name.
    pub fn build(&self) -> Result<ChangeSet, BuildError> {
        if let Some((path, error)) = &self.failed {
            let source = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            return Err(BuildError::NoRoom { path: path.clone(), source });
        }
        self.root.settle()?;
        let mut files = Staging {
            root: &self.root,
            spill: &self.spill,
            files: BTreeMap::new(),
            created: BTreeMap::new(),
        };
        // Deletions first, so that a create may take the name of a deleted file.
        let (deletions, others): (Vec<_>, Vec<_>) =
            self.steps.iter().partition(|step| matches!(step, Step::Delete { .. }));
        deletions.into_iter().chain(others).try_for_each(|step| files.take(step))?;
        files.finish()
    }
}

/// The files touched so far, by the path that they really have.
struct Staging<'a> {
    root: &'a Root,
    spill: &'a Spill,
    files: BTreeMap<RelPath, StagedFile>,
    created: BTreeMap<RelPath, (Content, u32)>,
}

impl Staging<'_> {
    fn take(&mut self, step: &Step) -> Result<(), BuildError> {
        match step {
            Step::Edit { path, expected, edits } => {
                self.existing(path, expected.as_ref(), Last::Follow)?.edit(edits)
            }
            Step::Replace { path, expected, after } => {
                self.existing(path, expected.as_ref(), Last::Follow)?.replace(after)
            }
            Step::Create { path, after, mode } => {
                self.create(path, after, mode.unwrap_or_else(|| new_file_mode(false)))
            }
            Step::Put { path, after, executable } => {
                let real = self.root.follow(path)?;
                match self.stat(&real)? {
                    None => self.create(&real, after, new_file_mode(*executable)),
                    Some(_) => {
                        let file = self.existing(path, None, Last::Follow)?;
                        file.replace(after)?;
                        if *executable {
                            file.make_executable();
                        }
                        Ok(())
                    }
                }
            }
            Step::Delete { path } => self.existing(path, None, Last::Keep)?.delete(),
            Step::Rename { from, to } => {
                let to = self.root.follow_folders(to)?;
                self.existing(from, None, Last::Keep)?.rename(to)
            }
            Step::SetMode { path, mode } => {
                let real = self.root.follow(path)?;
                if let Some((_, created)) = self.created.get_mut(&real) {
                    *created = *mode;
                    return Ok(());
                }
                self.existing(path, None, Last::Follow)?.set_mode(*mode)
            }
        }
    }

    fn stat(&self, path: &RelPath) -> Result<Option<crate::disk::Stat>, BuildError> {
        match self.root.disk().stat_if_any(path) {
            Ok(stat) => Ok(stat),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(source) => Err(BuildError::Io { path: path.clone(), source }),
        }
    }

    /// The file at `path`, read at its first mention.
    fn existing(
        &mut self,
        path: &RelPath,
        expected: Option<&Content>,
        last: Last,
    ) -> Result<&mut StagedFile, BuildError> {
        let real = match last {
            Last::Follow => self.root.follow(path)?,
            Last::Keep => self.root.follow_folders(path)?,
        };
        for named in [path, &real] {
            if named.is_protected() {
                return Err(InvalidChangeSet::Protected(named.clone()).into());
            }
        }
        if !self.files.contains_key(&real) {
            let stat = self.stat(&real)?.ok_or_else(|| BuildError::NotFound(path.clone()))?;
            let kind = stat
                .kind
                .changeable()
                .ok_or(BuildError::WrongKind { path: path.clone(), is: stat.kind })?;
            let before = match expected {
                Some(seen) if seen.len() == stat.len && kind == FileKind::File => seen.clone(),
                Some(_) => return Err(BuildError::ChangedSinceRead(path.clone())),
                None => self.spill.file_at(self.root.disk(), &real, kind, stat.len).map_err(
                    |error| match error {
                        Unfilled::Source(source) => BuildError::Io { path: path.clone(), source },
                        Unfilled::Scratch(source) => {
                            BuildError::NoRoom { path: path.clone(), source }
                        }
                    },
                )?,
            };
            self.files.insert(real.clone(), StagedFile::new(real.clone(), stat, kind, before));
        }
        match self.files.get_mut(&real) {
            Some(file) => match expected {
                Some(seen) if *seen != *file.before() => {
                    Err(BuildError::ChangedSinceRead(path.clone()))
                }
                Some(_) | None => Ok(file),
            },
            None => Err(BuildError::NotFound(path.clone())),
        }
    }

    fn create(&mut self, path: &RelPath, after: &Content, mode: u32) -> Result<(), BuildError> {
        let real = self.root.follow_folders(path)?;
        for named in [path, &real] {
            if named.is_protected() {
                return Err(InvalidChangeSet::Protected(named.clone()).into());
            }
        }
        if let Some(deleted) = self.files.get_mut(&real)
            && deleted.is_deleted()
        {
            return deleted.replace_deleted(after);
        }
        if self.created.insert(real.clone(), (after.clone(), mode)).is_some() {
            return Err(InvalidChangeSet::FilledTwice(real).into());
        }
        Ok(())
    }

    fn finish(self) -> Result<ChangeSet, BuildError> {
        staged::refuse_same_file(&self.files, self.spill)?;
        let mut changes = Vec::new();
        let mut twins = BTreeSet::new();
        for file in self.files.values() {
            let Some(change) = file.change(self.spill)? else { continue };
            // Two names of one file with one result: writing one writes both.
            let shared = file.has_other_names() && change.vacates().is_none();
            if shared && !twins.insert(file.identity()) {
                continue;
            }
            changes.push(change);
        }
        for (path, (after, mode)) in &self.created {
            changes.push(Change::Create {
                path: path.clone(),
                kind: FileKind::File,
                after: after.clone(),
                mode: *mode,
            });
        }
        self.refuse_unreadable(&changes)?;
        let mut makes_folders = BTreeSet::new();
        for change in &changes {
            if let Some(path) = change.fills() {
                self.refuse_occupied(path, change.source())?;
                self.missing_folders(path, &mut makes_folders)?;
            }
        }
        writable::check(self.root.disk(), &changes, |path| {
            self.files.get(path).is_some_and(|file| file.is_written_in_place(self.root.disk()))
        })?;
        Ok(ChangeSet::with_folders(changes, makes_folders.into_iter().collect(), Vec::new())?)
    }

    /// A result that this user could not read could neither be compared nor taken back.
    fn refuse_unreadable(&self, changes: &[Change]) -> Result<(), BuildError> {
        let unreadable = |state: FileState| state.kind == FileKind::File && state.mode & 0o400 == 0;
        if self.root.disk().reads_anything() {
            return Ok(());
        }
        match changes.iter().find(|change| change.to_state().is_some_and(unreadable)) {
            None => Ok(()),
            Some(change) => {
                let why = "with a mode that keeps its owner from reading it, the change could not \
                           be taken back; leave the owner the permission to read (0o400)";
                Err(BuildError::CannotKeep { path: change.path().clone(), why })
            }
        }
    }

    /// Nothing may be where a create or rename ends, but a file that leaves with this set, or
    /// the renamed file itself under a name that the file system takes for the same.
    fn refuse_occupied(&self, path: &RelPath, source: Option<&RelPath>) -> Result<(), BuildError> {
        let Some(stat) = self.stat(path)? else { return Ok(()) };
        let itself = source
            .and_then(|source| self.files.get(source))
            .is_some_and(|file| file.identity() == stat.identity && !file.has_other_names());
        if itself || self.files.get(path).is_some_and(StagedFile::is_leaving) {
            return Ok(());
        }
        Err(BuildError::Exists { path: path.clone(), is: stat.kind })
    }

    fn missing_folders(
        &self,
        path: &RelPath,
        missing: &mut BTreeSet<RelPath>,
    ) -> Result<(), BuildError> {
        for folder in path.ancestors() {
            if missing.contains(&folder) {
                break;
            }
            match self.stat(&folder)? {
                None => drop(missing.insert(folder)),
                Some(stat) if stat.kind == EntryKind::Folder => break,
                Some(stat) => {
                    return Err(BuildError::NotAFolder {
                        path: path.clone(),
                        folder,
                        is: stat.kind,
                    });
                }
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Last {
    Follow,
    Keep,
}
