//! Writing one file, whatever is there: what the write tool does.

use super::Root;
use crate::builder::BuildError;
use crate::commit::{ApplyError, Options};
use crate::{AppliedFile, ChangeSet, Content, RelPath};

/// How often a write that lost a race against another writer is tried again.
const ATTEMPTS: usize = 5;

/// How to write a single file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Whether the file becomes executable for those who may read it (`CONTRACT W1`). A file
    /// that is executable already stays so either way.
    pub executable: bool,
    /// How the change is applied.
    pub apply: Options,
}

impl WriteOptions {
    /// The usual options: durable, not executable.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the file becomes executable.
    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = executable;
        self
    }

    /// Sets how the change is applied.
    pub fn apply(mut self, apply: Options) -> Self {
        self.apply = apply;
        self
    }
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file that was written: the target where the path named a link.
    pub path: RelPath,
    /// How many bytes it has.
    pub len: u64,
    /// Whether it did not exist before.
    pub created: bool,
    /// What changed; none where the file held these bytes already.
    pub file: Option<AppliedFile>,
}

/// A file cannot be written; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// It is refused beforehand.
    #[error(transparent)]
    Refused(#[from] BuildError),
    /// Writing failed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

impl Root {
    /// Creates or replaces one file, atomically, with the folders it needs (`CONTRACT W1`,
    /// `CONTRACT W2`). Mode, owner and attributes of an existing file are kept; of a link the
    /// target is written, where it is inside the workspace; a file with several names is written
    /// in place. What another writer does at the same time is replaced too, never mixed.
    pub fn write_atomic(
        &self,
        path: &RelPath,
        bytes: impl Into<Content>,
        options: WriteOptions,
    ) -> Result<Written, WriteError> {
        let after: Content = bytes.into();
        let mut attempt = 1;
        loop {
            let set =
                ChangeSet::builder(self).put(path, after.clone(), options.executable).build()?;
            match set.apply(self, options.apply) {
                Ok(applied) => {
                    let file = applied.files.into_iter().next();
                    return Ok(Written {
                        path: match &file {
                            Some(file) => file.path.clone(),
                            None => self.follow(path).map_err(BuildError::from)?,
                        },
                        len: after.len(),
                        created: file.as_ref().is_some_and(|file| file.before.is_none()),
                        file,
                    });
                }
                Err(ApplyError::Stale(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
