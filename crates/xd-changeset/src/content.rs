//! File contents and their hashes.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A BLAKE3 hash of a file's whole contents; shown and stored as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
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
/// Stored as a string where the bytes are UTF-8, and as `{"base64": "…"}` where they are not.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    bytes: Box<[u8]>,
    hash: OnceLock<Hash>,
}

impl Content {
    /// Takes `bytes` as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Inner { bytes: bytes.into().into_boxed_slice(), hash: OnceLock::new() }))
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.0.bytes.len() as u64
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.bytes.is_empty()
    }

    /// The hash of the bytes, computed at the first call and kept.
    pub fn hash(&self) -> Hash {
        *self.0.hash.get_or_init(|| Hash::of(&self.0.bytes))
    }

    /// The bytes. Fallible, because contents may be kept on disk rather than in memory.
    pub fn bytes(&self) -> std::io::Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&self.0.bytes))
    }

    /// The bytes, for the crate's own pure code.
    pub(crate) fn slice(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The bytes as text where they are UTF-8.
    pub fn as_utf8(&self) -> Option<&str> {
        std::str::from_utf8(&self.0.bytes).ok()
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.bytes == other.0.bytes
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

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        bytes_as_text::serialize(&self.0.bytes, serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bytes_as_text::deserialize(deserializer).map(Self::new)
    }
}

/// Bytes in a text format: a string where they are UTF-8, otherwise `{"base64": "…"}`.
pub(crate) mod bytes_as_text {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Stored<'a> {
        Text(Cow<'a, str>),
        Bytes(Base64Text),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Base64Text {
        base64: String,
    }

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Stored::Text(Cow::Borrowed(text)),
            Err(_) => Stored::Bytes(Base64Text { base64: STANDARD.encode(bytes) }),
        }
        .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        match Stored::deserialize(deserializer)? {
            Stored::Text(text) => Ok(text.into_owned().into_bytes()),
            Stored::Bytes(stored) => STANDARD.decode(stored.base64).map_err(de::Error::custom),
        }
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
