//! The narrow trait through which every file effect goes, so that a simulated disk can stand in
//! for the real one.

mod attributes;
mod real;
mod scratch;
#[cfg(test)]
pub(crate) mod sim;

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::{Content, FileKind, Hash, RelPath};

pub(crate) use real::RealDisk;
pub(crate) use scratch::private_scratch;

/// What a name stands for on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link, as itself.
    Symlink,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket.
    Other,
}

impl EntryKind {
    /// The kind as a change set knows it, where it does.
    pub(crate) fn changeable(self) -> Option<FileKind> {
        match self {
            EntryKind::File => Some(FileKind::File),
            EntryKind::Symlink => Some(FileKind::Symlink),
            EntryKind::Folder | EntryKind::Other => None,
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::File => "a file",
            EntryKind::Symlink => "a symbolic link",
            EntryKind::Folder => "a folder",
            EntryKind::Other => "a device, a pipe or a socket",
        })
    }
}

/// What the disk says about a name, the last part of which is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: EntryKind,
    pub(crate) len: u64,
    /// Permission bits; `0o777` for a link.
    pub(crate) mode: u32,
    /// How many names the file has.
    pub(crate) links: u64,
    /// Device and inode: equal for two names of one file.
    pub(crate) identity: (u64, u64),
    pub(crate) owner: (u32, u32),
    /// Whether it is known to have no extended attributes.
    pub(crate) bare: bool,
}

/// The result of asking for a lock: held while the guard lives, or held by another.
pub(crate) enum LockAttempt {
    Taken(Box<dyn Send>),
    /// Held by the process with this number, where it could be told.
    Held(Option<u32>),
}

/// A file to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewFile<'a> {
    pub(crate) path: &'a RelPath,
    pub(crate) content: &'a Content,
    pub(crate) mode: u32,
    /// The file that lends its owner and attributes.
    pub(crate) like: Option<&'a RelPath>,
    /// What that file is, where it has been looked at.
    pub(crate) lender: Option<&'a Stat>,
    pub(crate) durable: bool,
}

/// A file could not be made.
#[derive(Debug)]
pub(crate) struct Unmade {
    /// What was being done, as a verb.
    pub(crate) action: &'static str,
    /// Whether to the file that lends its attributes rather than to the new one.
    pub(crate) of_like: bool,
    pub(crate) source: io::Error,
}

impl Unmade {
    pub(crate) fn of(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Unmade { action, of_like: false, source }
    }

    pub(crate) fn of_like(source: io::Error) -> Self {
        Unmade { action: "copy the owner and attributes of", of_like: true, source }
    }
}

/// Takes what is read, piece by piece.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Hands over what is to be written, piece by piece.
pub(crate) type Feed<'a> = &'a mut dyn FnMut(Take<'_>) -> io::Result<()>;

/// File effects below one folder. Paths are never followed through symbolic links, not on the
/// way and not at the end: a link anywhere is an error (`CONTRACT W3`). `None` is the root.
///
/// Nothing is durable before `sync` (a file's bytes, mode and attributes) or `sync_folder` (the
/// names in a folder).
pub(crate) trait Disk: fmt::Debug + Send + Sync {
    fn stat(&self, path: &RelPath) -> io::Result<Stat>;
    fn read(&self, path: &RelPath) -> io::Result<Vec<u8>>;
    /// Reads a file piece by piece.
    fn read_through(&self, path: &RelPath, take: Take<'_>) -> io::Result<()>;
    fn read_link(&self, path: &RelPath) -> io::Result<String>;
    /// The names in a folder, sorted; those that are not UTF-8 are left out.
    fn list(&self, folder: Option<&RelPath>) -> io::Result<Vec<String>>;
    /// Makes a new file with exactly these bytes and permission bits.
    fn create(&self, path: &RelPath, bytes: &[u8], mode: u32) -> io::Result<()>;
    fn create_link(&self, path: &RelPath, target: &str) -> io::Result<()>;
    /// Reads up to `len` bytes of a file from `at` on; fewer only where it ends.
    fn read_part(&self, path: &RelPath, at: u64, len: usize) -> io::Result<Vec<u8>>;
    /// Writes what `feed` hands over, piece by piece, into an existing file, keeping everything but
    /// its bytes.
    fn overwrite(&self, path: &RelPath, feed: Feed<'_>) -> io::Result<()>;
    fn append(&self, path: &RelPath, bytes: &[u8]) -> io::Result<()>;
    /// Whether the process may write into this file; the system's reason where it may not.
    fn may_write(&self, path: &RelPath) -> io::Result<()>;
    /// Whether the process may change the names in this folder; the reason where it may not.
    fn may_rename_in(&self, folder: Option<&RelPath>) -> io::Result<()>;
    /// Whether a new file can be given this owner.
    fn can_own(&self, owner: (u32, u32)) -> bool;
    /// Whether the process may read every file, whatever its mode says.
    fn reads_anything(&self) -> bool;
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    fn sync(&self, path: &RelPath) -> io::Result<()>;
    fn sync_folder(&self, folder: Option<&RelPath>) -> io::Result<()>;
    /// Renames over whatever is at `to`.
    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Renames where nothing is at `to`; `EINVAL` or the like where the file system cannot.
    fn rename_new(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Exchanges two names in one step; `EINVAL` or the like where the file system cannot.
    fn exchange(&self, a: &RelPath, b: &RelPath) -> io::Result<()>;
    fn link(&self, existing: &RelPath, new: &RelPath) -> io::Result<()>;
    fn remove(&self, path: &RelPath) -> io::Result<()>;
    /// Makes a folder with these permission bits, less those that the process's mask takes away.
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &RelPath) -> io::Result<()>;
    /// Takes the lock on a file, which is made for its owner alone.
    fn try_lock(&self, path: &RelPath) -> io::Result<LockAttempt>;
    /// What is at `path`; where it is of `kind` with the hash of its contents.
    fn look(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>>;
    /// As `look`, and whether it is bare as far as that costs little.
    fn examine(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>>;
    /// Makes a whole new file: its bytes, the owner and attributes of another, its mode; and
    /// makes it durable, in this order. What was made before a failure may be there.
    fn prepare(&self, new: &NewFile<'_>) -> Result<(), Unmade>;
    /// By how many threads work that waits for the disk, or not, is best done.
    fn hands(&self, waits: bool) -> usize;
    /// A new file without a name, for what has no room in memory; in the state folder where that
    /// can be.
    fn scratch(&self) -> io::Result<File>;
    /// The same disk for the length of one commit: every folder is opened once and stays that
    /// folder, whatever is put in its place meanwhile.
    fn pinned(&self) -> Arc<dyn Disk>;
}

/// Helpers that both implementations share.
impl dyn Disk + '_ {
    /// What is at `path`, by two questions.
    #[allow(dead_code, reason = "what only one implementation needs")]
    pub(crate) fn stat_and_hash(
        &self,
        path: &RelPath,
        kind: FileKind,
    ) -> io::Result<Option<(Stat, Option<Hash>)>> {
        let Some(stat) = self.stat_if_any(path)? else { return Ok(None) };
        let same = stat.kind.changeable() == Some(kind);
        let hash = same.then(|| self.hash(path, kind)).transpose()?;
        Ok(Some((stat, hash)))
    }

    /// As `stat`, with none for a name that does not exist (or whose folder does not).
    pub(crate) fn stat_if_any(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        match self.stat(path) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of a file or the text of a link's target.
    pub(crate) fn contents(&self, path: &RelPath, kind: FileKind) -> io::Result<Vec<u8>> {
        match kind {
            FileKind::File => self.read(path),
            FileKind::Symlink => self.read_link(path).map(String::into_bytes),
        }
    }

    /// The hash of what `contents` reads, in little memory.
    pub(crate) fn hash(&self, path: &RelPath, kind: FileKind) -> io::Result<Hash> {
        match kind {
            FileKind::File => {
                let mut hasher = blake3::Hasher::new();
                self.read_through(path, &mut |piece| {
                    hasher.update(piece);
                    Ok(())
                })?;
                Ok(Hash::of_all(&hasher))
            }
            FileKind::Symlink => Ok(Hash::of(self.read_link(path)?.as_bytes())),
        }
    }

    /// Removes a file that may not be there.
    pub(crate) fn remove_if_any(&self, path: &RelPath) -> io::Result<()> {
        match self.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Whether the error says that the file system has no such operation.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let Some(code) = error.raw_os_error() else { return false };
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTTY]
        .iter()
        .any(|errno| errno.raw_os_error() == code)
}
