//! A workspace root: the one folder below which everything happens.

mod paths;
mod umask;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

use crate::disk::{Disk, EntryKind, RealDisk};
use crate::shown::Shown;
use crate::{Content, RelPath};

pub use paths::PathError;
pub(crate) use umask::new_file_mode;
pub use write::{WriteError, WriteOptions, Written};

/// The name of the folder that holds the workspace's own state.
pub(crate) const STATE_FOLDER: &str = ".xd";

/// A handle on the workspace root. It stays that folder, whatever is later put at its path, and
/// nothing outside is reachable through it (`CONTRACT W3`).
///
/// **Invariant C4:** every access walks from this handle one part at a time and follows no link;
/// links are resolved before, to a path below the root, or refused.
///
/// Cloning is cheap. All calls block; none needs a runtime.
#[derive(Debug, Clone)]
pub struct Root {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    given: PathBuf,
}

/// The workspace root cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the workspace root '{}': {source}", Shown(&path.to_string_lossy()))]
pub struct RootError {
    /// The path given.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// A file cannot be read or looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It leads outside, or cannot be resolved.
    #[error(transparent)]
    Path(#[from] PathError),
    /// There is nothing of that name.
    #[error("'{0}' does not exist; check the path")]
    NotFound(RelPath),
    /// It is something else than the call needs.
    #[error("'{path}' is {is}, not {wanted}")]
    WrongKind {
        /// The path.
        path: RelPath,
        /// What it is.
        is: EntryKind,
        /// What the call needs.
        wanted: EntryKind,
    },
    /// The system refuses.
    #[error("cannot read '{path}': {source}")]
    Io {
        /// The path.
        path: RelPath,
        /// The system's reason.
        source: io::Error,
    },
}

/// What is known of a name without reading its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: EntryKind,
    /// Its length in bytes; for a link that of its target's text.
    pub len: u64,
    /// Its permission bits (`0o7777`).
    pub mode: u32,
    /// How many names it has; more than one for a hard link.
    pub links: u64,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path from the root.
    pub path: RelPath,
    /// What it is; links are not followed.
    pub kind: EntryKind,
}

impl Root {
    /// Opens the folder at `path`, which must exist. Links on the way are followed once, now.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RootError> {
        let given = path.as_ref();
        let error = |source| RootError { path: given.to_owned(), source };
        let path = std::fs::canonicalize(given).map_err(error)?;
        // As a folder or not at all: to open a pipe would wait for its other end, for ever.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = retry_on_intr(|| rustix::fs::open(&path, flags, Mode::empty()))
            .map_err(|errno| error(errno.into()))?;
        let given = std::path::absolute(given).map_err(error)?;
        Ok(Self { disk: Arc::new(RealDisk::new(handle)), path, given })
    }

    /// A root on another disk.
    #[cfg(test)]
    pub(crate) fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, path: PathBuf::from("/simulated"), given: PathBuf::from("/simulated") }
    }

    /// The absolute path of the root, links resolved, as it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// The disk, for what outlives the call.
    pub(crate) fn shared_disk(&self) -> Arc<dyn Disk> {
        self.disk.clone()
    }

    pub(crate) fn pinned(&self) -> Arc<dyn Disk> {
        self.disk.pinned()
    }

    /// Reads a whole file. A final link is followed where it stays inside.
    pub fn read(&self, path: &RelPath) -> Result<Content, ReadError> {
        let real = self.follow(path)?;
        let metadata = self.look(&real)?;
        match metadata.kind {
            EntryKind::File => {}
            is @ (EntryKind::Folder | EntryKind::Symlink | EntryKind::Other) => {
                return Err(ReadError::WrongKind {
                    path: path.clone(),
                    is,
                    wanted: EntryKind::File,
                });
            }
        }
        let bytes =
            self.disk.read(&real).map_err(|source| ReadError::Io { path: path.clone(), source })?;
        Ok(Content::new(bytes))
    }

    /// What `path` is, a final link followed where it stays inside.
    pub fn metadata(&self, path: &RelPath) -> Result<Metadata, ReadError> {
        self.look(&self.follow(path)?)
    }

    /// What `path` is, a final link not followed.
    pub fn link_metadata(&self, path: &RelPath) -> Result<Metadata, ReadError> {
        self.look(&self.follow_folders(path)?)
    }

    /// Whether anything is at `path`, a link that leads nowhere included. A path that cannot be
    /// looked at counts as existing, so that nothing is created over it by mistake.
    pub fn exists(&self, path: &RelPath) -> bool {
        !matches!(self.link_metadata(path), Err(ReadError::NotFound(_)))
    }

    /// What a folder holds, sorted by name; none for the root. Names that are not UTF-8 are left
    /// out, since no path can name them.
    pub fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Entry>, ReadError> {
        let real = folder.map(|folder| self.follow(folder)).transpose()?;
        let error = |source: io::Error| match folder {
            Some(path) if source.kind() == io::ErrorKind::NotFound => {
                ReadError::NotFound(path.clone())
            }
            Some(path) => ReadError::Io { path: path.clone(), source },
            None => ReadError::Path(PathError::Unreadable { path: ".".to_owned(), source }),
        };
        let mut entries = Vec::new();
        for name in self.disk.list(real.as_ref()).map_err(error)? {
            let Ok(path) = (match folder {
                Some(folder) => folder.join(&name),
                None => RelPath::new(&name),
            }) else {
                continue;
            };
            // A name that goes while the folder is read is simply not there.
            if let Ok(metadata) = self.link_metadata(&path) {
                entries.push(Entry { path, kind: metadata.kind });
            }
        }
        Ok(entries)
    }

    fn look(&self, real: &RelPath) -> Result<Metadata, ReadError> {
        match self.disk.stat_if_any(real) {
            Ok(Some(stat)) => {
                Ok(Metadata { kind: stat.kind, len: stat.len, mode: stat.mode, links: stat.links })
            }
            Ok(None) => Err(ReadError::NotFound(real.clone())),
            Err(source) => Err(ReadError::Io { path: real.clone(), source }),
        }
    }
}
