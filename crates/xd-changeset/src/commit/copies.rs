//! The two copies of a file that is overwritten in place, and what is done with them: piece by piece,
//! whatever their size.

use std::io;

use crate::disk::Disk;
use crate::{Hash, RelPath};

/// Writes what is at `from` over `to`, keeping everything of `to` but its bytes. An error where what
/// was written had another hash; the bytes are there all the same.
pub(super) fn copy_over(
    disk: &dyn Disk,
    from: &RelPath,
    to: &RelPath,
    hash: Hash,
) -> io::Result<()> {
    let mut hasher = blake3::Hasher::new();
    disk.overwrite(to, &mut |take| {
        disk.read_through(from, &mut |piece| {
            hasher.update(piece);
            take(piece)
        })
    })?;
    if Hash::of_all(&hasher) == hash {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "its copy in '.xd' was changed by others"))
}

/// Whether a copy is there and whole.
pub(super) fn is_copy(disk: &dyn Disk, path: &RelPath, hash: Hash) -> io::Result<bool> {
    match disk.hash(path, crate::FileKind::File) {
        Ok(is) => Ok(is == hash),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the bytes at `target` can be what an interrupted write of `new` over `was` leaves, rather
/// than what somebody wrote: at every place a byte of one of the two, or one never filled.
pub(super) fn is_torn(
    disk: &dyn Disk,
    target: &RelPath,
    was: &RelPath,
    new: &RelPath,
) -> io::Result<bool> {
    let (mut at, mut torn) = (0, true);
    let longest = disk.stat(was)?.len.max(disk.stat(new)?.len);
    disk.read_through(target, &mut |piece| {
        // A foreign file may be of any size: what is known needs no more reading.
        if torn {
            let (old, new) =
                (disk.read_part(was, at, piece.len())?, disk.read_part(new, at, piece.len())?);
            at += piece.len() as u64;
            torn = at <= longest
                && piece.iter().enumerate().all(|(nth, byte)| {
                    *byte == 0 || old.get(nth) == Some(byte) || new.get(nth) == Some(byte)
                });
        }
        Ok(())
    })?;
    Ok(torn)
}
