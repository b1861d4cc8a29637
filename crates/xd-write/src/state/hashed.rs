//! Kept actions are written and read piece by piece: their contents may be larger than what one
//! would hold in memory twice.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek as _, Write},
};

use xd_changeset::{Hash, Hasher};

use super::ActionFile;

/// Why a kept action cannot be had.
#[derive(Debug)]
pub(super) enum Unkept {
    /// Its bytes are not those of the digest.
    Another,
    /// It cannot be read.
    Io(io::Error),
    /// Its bytes are those of the digest, but no action.
    Json(serde_json::Error),
}

/// Why an action cannot be kept.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// The file cannot be written.
    Io(io::Error),
    /// A part of the action cannot be had.
    Json(serde_json::Error),
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { Unwritten::Io(error.into()) } else { Unwritten::Json(error) }
    }
}

/// How many bytes are read or written at a time.
const PIECE: usize = 64 << 10;

/// Writes an action and makes it durable; answers the hash of the bytes.
pub(super) fn write_hashed(file: File, action: &ActionFile) -> Result<Hash, Unwritten> {
    let mut through = BufWriter::with_capacity(PIECE, Through::new(file));
    serde_json::to_writer(&mut through, action)?;
    let through = through.into_inner().map_err(|error| Unwritten::Io(error.into_error()))?;
    through.inner.sync_all().map_err(Unwritten::Io)?;
    Ok(through.hash())
}

/// Reads an action whose bytes are those of `digest`. They are compared before any of them is
/// looked at, and once more with what was looked at, should they change meanwhile.
pub(super) fn read_hashed(mut file: File, digest: Option<Hash>) -> Result<ActionFile, Unkept> {
    let mut through = Through::new(&file);
    io::copy(&mut BufReader::with_capacity(PIECE, &mut through), &mut io::sink())
        .map_err(Unkept::Io)?;
    if digest != Some(through.hash()) {
        return Err(Unkept::Another);
    }
    file.rewind().map_err(Unkept::Io)?;
    let mut through = Through::new(&file);
    let read = serde_json::from_reader(BufReader::with_capacity(PIECE, &mut through));
    match read {
        Ok(action) if digest == Some(through.hash()) => Ok(action),
        Ok(_) => Err(Unkept::Another),
        Err(error) if error.is_io() => Err(Unkept::Io(error.into())),
        Err(error) => Err(Unkept::Json(error)),
    }
}

/// Hashes what passes through.
struct Through<T> {
    inner: T,
    hasher: Hasher,
}

impl<T> Through<T> {
    fn new(inner: T) -> Self {
        Self { inner, hasher: Hasher::new() }
    }

    fn hash(&self) -> Hash {
        self.hasher.hash()
    }
}

impl<T: Read> Read for Through<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}

impl<T: Write> Write for Through<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;
    use xd_changeset::ChangeSet;
    use xd_resolve::Tier;

    use super::*;

    fn action(preview: &str) -> ActionFile {
        ActionFile {
            label: "a label".to_owned(),
            source_tool_name: "edit".to_owned(),
            tier: Tier::Write,
            details: Some(Value::from(1)),
            change_set: Arc::new(ChangeSet::default()),
            preview: preview.to_owned(),
        }
    }

    /// The digest is that of the bytes as they lie in the file, however many pieces they were.
    #[test]
    fn the_digest_is_that_of_the_bytes_of_the_file() {
        for len in [0, 1, PIECE - 1, PIECE, 3 * PIECE + 7] {
            let action = action(&"é".repeat(len));
            let mut file = tempfile::tempfile().unwrap();
            let hash = write_hashed(file.try_clone().unwrap(), &action).unwrap();
            let bytes = serde_json::to_vec(&action).unwrap();
            assert_eq!(hash, Hash::of(&bytes));
            let mut kept = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut kept).unwrap();
            assert_eq!(kept, bytes);
            file.rewind().unwrap();
            assert_eq!(read_hashed(file, Some(hash)).unwrap(), action);
        }
    }

    #[test]
    fn bytes_of_another_digest_are_not_believed() {
        let mut file = tempfile::tempfile().unwrap();
        let hash = write_hashed(file.try_clone().unwrap(), &action("a preview")).unwrap();
        file.write_all(b" ").unwrap();
        for digest in [Some(hash), None] {
            let mut again = file.try_clone().unwrap();
            again.rewind().unwrap();
            assert!(matches!(read_hashed(again, digest), Err(Unkept::Another)));
        }
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(b"{}").unwrap();
        other.rewind().unwrap();
        assert!(matches!(read_hashed(other, Some(Hash::of(b"{}"))), Err(Unkept::Json(_))));
    }
}
