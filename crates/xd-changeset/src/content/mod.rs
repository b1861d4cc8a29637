//! File contents and their hashes.

mod text;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub(crate) use text::bytes_as_text;

/// A BLAKE3 hash of a file's whole contents; shown and stored as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// What a hasher has come to.
    pub(crate) fn of_all(hasher: &blake3::Hasher) -> Self {
        Self(*hasher.finalize().as_bytes())
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight digits, for messages to people.
    pub fn short(&self) -> String {
        self.to_string()[..8].to_owned()
    }
}

/// Comes to the [`struct@Hash`] of bytes that are given piece by piece.
///
/// ```
/// use xd_changeset::{Hash, Hasher};
///
/// let mut hasher = Hasher::new();
/// hasher.update(b"in ");
/// hasher.update(b"pieces");
/// assert_eq!(hasher.hash(), Hash::of(b"in pieces"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// One that was given nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives it the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes given so far.
    #[must_use]
    pub fn hash(&self) -> Hash {
        Hash::of_all(&self.0)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({})", self.short())
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text.as_bytes())
            .map_err(|_| de::Error::custom("a content hash is 64 hexadecimal digits"))?;
        Ok(Self(*hash.as_bytes()))
    }
}

/// The whole contents of a file. Cloning shares the bytes; they never change.
///
/// One that is made from bytes is held in memory. A change set puts its large ones on disk instead
/// ([`LARGE`](Self::LARGE), [`TOTAL`](Self::TOTAL)), into a file without a name that goes with
/// the last content in it, or with the process.
///
/// **Invariant C6:** what is read back from there has the hash of what was put there; anything
/// else is an error and is never written anywhere.
///
/// Stored as a string where the bytes are UTF-8, and as `{"base64": "…"}` where they are not; one
/// on disk is stored piece by piece.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    kept: Kept,
    hash: OnceLock<Hash>,
}

/// Where the bytes are.
enum Kept {
    Memory(Box<[u8]>),
    #[cfg(feature = "commit")]
    Disk(crate::spill::Extent),
}

impl Content {
    /// A change set holds no content of more bytes than this in memory: 8 MiB.
    pub const LARGE: u64 = 8 << 20;
    /// A change set holds no more bytes than this in memory, all its contents together: 64 MiB.
    /// Those of less than 512 bytes are not counted and stay, since their names cost as much.
    pub const TOTAL: u64 = 64 << 20;

    /// Takes `bytes` as they are, and holds them in memory.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let kept = Kept::Memory(bytes.into().into_boxed_slice());
        Self(Arc::new(Inner { kept, hash: OnceLock::new() }))
    }

    /// What lies at a place on disk and has this hash.
    #[cfg(feature = "commit")]
    pub(crate) fn on_disk(extent: crate::spill::Extent, hash: Hash) -> Self {
        Self(Arc::new(Inner { kept: Kept::Disk(extent), hash: OnceLock::from(hash) }))
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match &self.0.kept {
            Kept::Memory(bytes) => bytes.len() as u64,
            #[cfg(feature = "commit")]
            Kept::Disk(extent) => extent.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bytes are held in memory rather than on disk.
    pub fn is_in_memory(&self) -> bool {
        self.slice().is_some()
    }

    /// The hash of the bytes, computed at the first call and kept.
    pub fn hash(&self) -> Hash {
        *self.0.hash.get_or_init(|| match &self.0.kept {
            Kept::Memory(bytes) => Hash::of(bytes),
            #[cfg(feature = "commit")]
            Kept::Disk(_) => unreachable!("a content on disk is made with its hash"),
        })
    }

    /// The bytes, all of them: those on disk are read into memory for as long as the answer lives.
    ///
    /// # Errors
    /// The system's, or [`InvalidData`](io::ErrorKind::InvalidData) where the bytes read back are
    /// not those that were kept. A content in memory has none.
    pub fn bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.0.kept {
            Kept::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            #[cfg(feature = "commit")]
            Kept::Disk(extent) => {
                let mut whole = Vec::with_capacity(usize::try_from(extent.len()).unwrap_or(0));
                self.pieces(&mut |piece| {
                    whole.extend_from_slice(piece);
                    Ok(())
                })?;
                Ok(Cow::Owned(whole))
            }
        }
    }

    /// Hands the bytes over in order, those on disk piece by piece. What was handed over is only
    /// certain to be the content once this has answered without an error.
    ///
    /// # Errors
    /// Those of [`bytes`](Self::bytes) and of `take`.
    pub fn pieces(&self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match &self.0.kept {
            Kept::Memory(bytes) => take(bytes),
            #[cfg(feature = "commit")]
            Kept::Disk(extent) => extent.pieces(self.hash(), take),
        }
    }

    /// The bytes where they are in memory.
    pub(crate) fn slice(&self) -> Option<&[u8]> {
        match &self.0.kept {
            Kept::Memory(bytes) => Some(bytes),
            #[cfg(feature = "commit")]
            Kept::Disk(_) => None,
        }
    }

    /// The bytes as text where they are UTF-8 and in memory; of one on disk see
    /// [`bytes`](Self::bytes).
    pub fn as_utf8(&self) -> Option<&str> {
        std::str::from_utf8(self.slice()?).ok()
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.len() == other.len()
                && match (self.slice(), other.slice()) {
                    (Some(mine), Some(theirs)) => mine == theirs,
                    (Some(_) | None, Some(_) | None) => self.hash() == other.hash(),
                }
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.len())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> String {
        let content = Content::new(bytes);
        let stored = serde_json::to_string(&content).unwrap();
        let back: Content = serde_json::from_str(&stored).unwrap();
        assert_eq!(back, content);
        stored
    }

    #[test]
    fn f4_every_byte_string_survives_storing() {
        assert_eq!(round_trip(b"caf\xc3\xa9\r\n"), "\"café\\r\\n\"");
        assert_eq!(round_trip(b"caf\xe9"), r#"{"base64":"Y2Fm6Q=="}"#);
        round_trip(b"");
        round_trip(&(0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn a_hash_is_hex_and_a_bad_one_is_refused() {
        let hash = Hash::of(b"x");
        let stored = serde_json::to_string(&hash).unwrap();
        assert_eq!(stored, format!("\"{hash}\""));
        assert_eq!(serde_json::from_str::<Hash>(&stored).unwrap(), hash);
        assert!(serde_json::from_str::<Hash>("\"12\"").is_err());
    }
}
