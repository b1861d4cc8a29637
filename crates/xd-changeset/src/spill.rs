//! Large contents on disk instead of in memory, while a change set is staged.
//!
//! They lie one after another in a file without a name: in the workspace's state folder where it
//! can be made there, otherwise in the system's folder for large temporary files. A file without a
//! name is seen by no build and no search, and the system frees it with its last handle, also when
//! the process dies.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, private_scratch};
use crate::edit::{AssembleError, assemble};
use crate::{ByteEdit, Content, FileKind, Hash, RelPath, apply_edits};

/// Below this many bytes a content stays in memory whatever the total.
const SMALL: u64 = 512;
/// How many bytes are read back at a time.
const PIECE: usize = 256 << 10;

/// Decides for the contents of one change set which stay in memory. Clones share the account and
/// the file.
#[derive(Debug, Clone)]
pub(crate) struct Spill(Arc<Mutex<Account>>);

struct Account {
    place: Place,
    file: Option<Arc<Scratch>>,
    /// Bytes that stayed in memory.
    resident: u64,
}

enum Place {
    StateFolder(Arc<dyn Disk>),
    Private,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("resident", &self.resident).finish_non_exhaustive()
    }
}

impl Spill {
    /// For a set made in this workspace.
    pub(crate) fn of(disk: Arc<dyn Disk>) -> Self {
        Self::at(Place::StateFolder(disk))
    }

    /// For a set that is read back, wherever it came from.
    pub(crate) fn private() -> Self {
        Self::at(Place::Private)
    }

    fn at(place: Place) -> Self {
        Self(Arc::new(Mutex::new(Account { place, file: None, resident: 0 })))
    }

    /// Whether a further content of `len` bytes has no room in memory.
    pub(crate) fn is_full_for(&self, len: u64) -> bool {
        len >= SMALL && (len > Content::LARGE || self.account().resident + len > Content::TOTAL)
    }

    /// The same content, on disk where it has no room in memory.
    pub(crate) fn keep(&self, content: Content) -> io::Result<Content> {
        match content.slice() {
            Some(bytes) if self.is_full_for(content.len()) => {
                // Known by now or needed soon: whoever else holds it shares the work.
                content.hash();
                self.fill(|take| take(bytes)).map_err(Unfilled::into_either)
            }
            Some(_) => {
                self.account().resident += content.len();
                Ok(content)
            }
            None => Ok(content),
        }
    }

    /// A content on disk of what `source` hands over.
    pub(crate) fn fill<E>(
        &self,
        source: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<(), E>,
    ) -> Result<Content, Unfilled<E>> {
        let file = self.file().map_err(Unfilled::Scratch)?;
        let mut end = file.end.lock().unwrap_or_else(PoisonError::into_inner);
        let mut extent = Extent { file: file.clone(), start: *end, len: 0 };
        let mut hasher = blake3::Hasher::new();
        let mut failed = None;
        let filled = source(&mut |piece| {
            if let Err(error) = file.file.write_all_at(piece, extent.start + extent.len) {
                // Told apart from what the source itself may fail with.
                failed = Some(error);
                return Err(io::ErrorKind::Other.into());
            }
            hasher.update(piece);
            extent.len += piece.len() as u64;
            Ok(())
        });
        match (failed, filled) {
            (Some(error), _) => Err(Unfilled::Scratch(error)),
            (None, Err(error)) => Err(Unfilled::Source(error)),
            (None, Ok(())) => {
                *end = extent.start + extent.len;
                Ok(Content::on_disk(extent, Hash::of_all(&hasher)))
            }
        }
    }

    /// What the file of `len` bytes at `path` holds: in memory where there is room, and from disk
    /// to disk otherwise.
    pub(crate) fn file_at(
        &self,
        disk: &dyn Disk,
        path: &RelPath,
        kind: FileKind,
        len: u64,
    ) -> Result<Content, Unfilled<io::Error>> {
        if kind == FileKind::File && self.is_full_for(len) {
            return self.fill(|take| disk.read_through(path, take));
        }
        let bytes = disk.contents(path, kind).map_err(Unfilled::Source)?;
        self.keep(Content::new(bytes)).map_err(Unfilled::Scratch)
    }

    /// What `edits` make of `before`: put together in memory where there is room, and on disk
    /// otherwise.
    pub(crate) fn edited(
        &self,
        before: &Content,
        edits: &[ByteEdit],
    ) -> Result<Content, Unfilled<AssembleError>> {
        // Not exact, since the edits may overlap; those are refused below.
        let inserted: usize = edits.iter().map(|edit| edit.text.len()).sum();
        match before.slice() {
            Some(bytes) if !self.is_full_for(before.len() + inserted as u64) => {
                let after = apply_edits(bytes, edits)
                    .map_err(|error| Unfilled::Source(AssembleError::Edit(error)))?;
                if after == bytes {
                    return Ok(before.clone());
                }
                self.keep(Content::new(after)).map_err(Unfilled::Scratch)
            }
            Some(_) | None => {
                let after = self.fill(|take| assemble(before, edits, take))?;
                Ok(if after == *before { before.clone() } else { after })
            }
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> io::Result<Arc<Scratch>> {
        let mut account = self.account();
        if let Some(file) = &account.file {
            return Ok(file.clone());
        }
        let file = match &account.place {
            Place::StateFolder(disk) => disk.scratch()?,
            Place::Private => private_scratch()?,
        };
        let file = Arc::new(Scratch { file, end: Mutex::new(0) });
        account.file = Some(file.clone());
        Ok(file)
    }
}

/// Why nothing was put on disk.
#[derive(Debug)]
pub(crate) enum Unfilled<E> {
    /// The bytes could not be had.
    Source(E),
    /// They could not be kept.
    Scratch(io::Error),
}

impl Unfilled<io::Error> {
    fn into_either(self) -> io::Error {
        match self {
            Unfilled::Source(error) | Unfilled::Scratch(error) => error,
        }
    }
}

/// A file without a name, and how far it is filled.
#[derive(Debug)]
struct Scratch {
    file: File,
    end: Mutex<u64>,
}

/// Where a content lies on disk. Its room is given back when it goes.
#[derive(Debug)]
pub(crate) struct Extent {
    file: Arc<Scratch>,
    start: u64,
    len: u64,
}

impl Extent {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Hands the bytes over, and answers an error where they have not the hash `kept`.
    pub(crate) fn pieces(
        &self,
        kept: Hash,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; PIECE.min(usize::try_from(self.len).unwrap_or(PIECE))];
        let mut hasher = blake3::Hasher::new();
        let (mut at, end) = (self.start, self.start + self.len);
        while at < end {
            let want = buffer.len().min(usize::try_from(end - at).unwrap_or(PIECE));
            let piece = &mut buffer[..want];
            self.file.file.read_exact_at(piece, at)?;
            hasher.update(piece);
            take(piece)?;
            at += want as u64;
        }
        if Hash::of_all(&hasher) == kept {
            return Ok(());
        }
        let damaged = "the content kept on disk is not what was put there; stage the change again";
        Err(io::Error::new(io::ErrorKind::InvalidData, damaged))
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        // Only for the room: where the system cannot do it the whole file goes later.
        #[cfg(target_os = "linux")]
        if self.len > 0 {
            use rustix::fs::FallocateFlags;
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = rustix::fs::fallocate(&self.file.file, hole, self.start, self.len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: u8, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at as u8).wrapping_mul(31) ^ n).collect()
    }

    /// **Invariant C6:** damage to the file is found whatever byte it hits, and at every read.
    #[test]
    fn c6_what_is_read_back_is_what_was_kept_or_an_error() {
        let spill = Spill::private();
        let first = spill.fill::<io::Error>(|take| take(&bytes(1, 700_000))).unwrap();
        let second = spill.fill::<io::Error>(|take| take(&bytes(2, 300_001))).unwrap();
        assert_eq!(first.bytes().unwrap(), bytes(1, 700_000));
        assert_eq!(second.hash(), Hash::of(&bytes(2, 300_001)));
        let file = spill.file().unwrap();
        for at in [0, PIECE as u64, 699_999] {
            file.file.write_all_at(&[bytes(1, 700_000)[at as usize] ^ 1], at).unwrap();
            let error = first.bytes().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert!(serde_json::to_string(&first).is_err(), "nor is it stored");
            file.file.write_all_at(&[bytes(1, 700_000)[at as usize]], at).unwrap();
        }
        assert_eq!(first.bytes().unwrap(), bytes(1, 700_000));
        file.file.set_len(800_000).unwrap();
        assert!(second.bytes().is_err(), "a part is gone");
    }

    #[test]
    fn large_ones_go_to_disk_and_small_ones_by_the_total() {
        let spill = Spill::private();
        let keep = |len: u64| spill.keep(Content::new(bytes(0, len as usize))).unwrap();
        assert!(!keep(Content::LARGE + 1).is_in_memory());
        for _ in 0..Content::TOTAL / Content::LARGE {
            assert!(keep(Content::LARGE).is_in_memory());
        }
        assert!(!keep(SMALL).is_in_memory());
        assert!(keep(SMALL - 1).is_in_memory());
    }

    /// The stored form does not depend on where the bytes are, nor on where its pieces end.
    #[test]
    fn f1_stored_alike_from_memory_and_from_disk() {
        let spill = Spill::private();
        let text = "aé😀\u{7}\"\\\r\n".repeat(80_000);
        let mut cut = text.clone().into_bytes();
        cut.truncate(cut.len() - 9);
        let latin = b"caf\xe9 ".repeat(90_001);
        for whole in [text.clone().into_bytes(), cut, latin, b"x".repeat(PIECE), Vec::new()] {
            let memory = Content::new(whole.clone());
            let disk = spill.fill::<io::Error>(|take| take(&whole)).unwrap();
            let stored = serde_json::to_string(&disk).unwrap();
            assert!(stored == serde_json::to_string(&memory).unwrap());
            assert_eq!(serde_json::from_str::<Content>(&stored).unwrap(), disk);
            assert_eq!((disk == memory, disk.as_utf8()), (true, None));
        }
    }

    /// Edits that begin, end and meet where one piece ends and the next begins.
    #[test]
    fn f4_edits_of_what_is_on_disk_equal_those_in_memory() {
        let spill = Spill::private();
        let source = bytes(4, 3 * PIECE + 11);
        let before = spill.fill::<io::Error>(|take| take(&source)).unwrap();
        let long = vec![b'L'; 2 * PIECE];
        let (end, all) = (PIECE, source.len());
        for edits in [
            vec![ByteEdit::new(0..0, "<"), ByteEdit::new(all..all, ">")],
            vec![ByteEdit::new(end - 1..end + 1, "x"), ByteEdit::new(end + 1..end + 1, "y")],
            vec![ByteEdit::new(end..end, "1"), ByteEdit::new(end..end, "2")],
            vec![ByteEdit::new(end..end, "1"), ByteEdit::new(end..2 * end, long.clone())],
            vec![ByteEdit::new(1..all - 1, "")],
            vec![ByteEdit::new(0..all, "all")],
            vec![ByteEdit::new(end - 3..3 * end, "a"), ByteEdit::new(3 * end..3 * end, "b")],
        ] {
            let after = spill.edited(&before, &edits).unwrap();
            assert!(!after.is_in_memory());
            assert!(after.bytes().unwrap() == apply_edits(&source, &edits).unwrap(), "{edits:?}");
        }
        let beyond = [ByteEdit::new(all..all + 1, "")];
        assert!(matches!(
            spill.edited(&before, &beyond),
            Err(Unfilled::Source(AssembleError::Edit(_)))
        ));
        let none = [ByteEdit::new(0..1, vec![source[0]])];
        assert!(spill.edited(&before, &none).unwrap() == before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_room_of_what_goes_is_given_back() {
        use std::os::unix::fs::MetadataExt as _;
        let spill = Spill::private();
        let fill = || spill.fill::<io::Error>(|take| take(&bytes(3, 1 << 20))).unwrap();
        let (first, second) = (fill(), fill());
        let file = spill.file().unwrap();
        file.file.sync_all().unwrap();
        let used = || file.file.metadata().unwrap().blocks() * 512;
        let both = used();
        drop(first);
        assert!(used() <= both - (1 << 20), "{} of {both}", used());
        assert_eq!(second.bytes().unwrap(), bytes(3, 1 << 20));
    }
}
