//! Bytes in a text format: a string where they are UTF-8, otherwise `{"base64": "…"}`. Contents on
//! disk are written piece by piece, so that storing a large change set takes little memory.

use std::cell::Cell;
use std::fmt;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Content;

/// The field that holds bytes which are not UTF-8.
const BASE64: &str = "base64";

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(bytes) = self.slice() {
            return bytes_as_text::serialize(bytes, serializer);
        }
        let mut utf8 = Utf8::default();
        let mut is_text = true;
        self.pieces(&mut |piece| {
            is_text = is_text && utf8.take(piece, &mut |_| Ok(())).is_ok();
            Ok(())
        })
        .map_err(S::Error::custom)?;
        if is_text && utf8.is_whole() {
            return Streamed::text(self).serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(BASE64, &Streamed::base64(self))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bytes_as_text::deserialize(deserializer).map(Self::new)
    }
}

/// A content shown piece by piece. What goes wrong while reading it is kept beside, because a
/// `Display` must only fail where its writer does.
struct Streamed<'a> {
    content: &'a Content,
    base64: bool,
    failed: Cell<Option<io::Error>>,
}

impl<'a> Streamed<'a> {
    fn text(content: &'a Content) -> Self {
        Self { content, base64: false, failed: Cell::new(None) }
    }

    fn base64(content: &'a Content) -> Self {
        Self { content, base64: true, failed: Cell::new(None) }
    }

    fn write(&self, write: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        if !self.base64 {
            let mut utf8 = Utf8::default();
            return self.content.pieces(&mut |piece| utf8.take(piece, write));
        }
        // Three bytes become four characters; what is left over waits for the next piece.
        let mut waiting: Vec<u8> = Vec::new();
        self.content.pieces(&mut |piece| {
            waiting.extend_from_slice(piece);
            let whole = waiting.len() - waiting.len() % 3;
            let text = STANDARD.encode(&waiting[..whole]);
            waiting.drain(..whole);
            write(&text)
        })?;
        write(&STANDARD.encode(&waiting))
    }
}

impl fmt::Display for Streamed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut refused = false;
        let written = self.write(&mut |text| {
            f.write_str(text).map_err(|_| {
                refused = true;
                io::ErrorKind::Other.into()
            })
        });
        match written {
            Err(_) if refused => Err(fmt::Error),
            Err(error) => {
                self.failed.set(Some(error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let done = serializer.collect_str(self)?;
        match self.failed.take() {
            Some(error) => Err(S::Error::custom(error)),
            None => Ok(done),
        }
    }
}

/// Text that comes in pieces which may end in the middle of a character.
#[derive(Default)]
struct Utf8 {
    begun: Vec<u8>,
}

impl Utf8 {
    fn take(
        &mut self,
        mut piece: &[u8],
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        // At most four bytes make a character.
        while let (false, [byte, rest @ ..]) = (self.begun.is_empty(), piece) {
            self.begun.push(*byte);
            piece = rest;
            match std::str::from_utf8(&self.begun) {
                Ok(text) => {
                    write(text)?;
                    self.begun.clear();
                }
                Err(error) if error.error_len().is_some() => return Err(not_utf8()),
                Err(_) => {}
            }
        }
        let (text, rest) = match std::str::from_utf8(piece) {
            Ok(text) => (text, &[][..]),
            Err(error) if error.error_len().is_some() => return Err(not_utf8()),
            Err(error) => {
                let (valid, rest) = piece.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).map_err(|_| not_utf8())?, rest)
            }
        };
        self.begun.extend_from_slice(rest);
        write(text)
    }

    fn is_whole(&self) -> bool {
        self.begun.is_empty()
    }
}

fn not_utf8() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the content is not UTF-8")
}

/// For bytes in memory.
pub(crate) mod bytes_as_text {
    use super::*;

    #[derive(Serialize)]
    struct Base64Text {
        base64: String,
    }

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Base64Text { base64: STANDARD.encode(bytes) }.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_any(AsText)
    }

    /// Takes either form without a copy in between.
    struct AsText;

    impl<'de> de::Visitor<'de> for AsText {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string, or an object with the one field 'base64'")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
            Ok(text.as_bytes().to_vec())
        }

        fn visit_string<E: de::Error>(self, text: String) -> Result<Vec<u8>, E> {
            Ok(text.into_bytes())
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Vec<u8>, A::Error> {
            match map.next_key::<String>()? {
                Some(key) if key == BASE64 => {}
                Some(key) => return Err(de::Error::unknown_field(&key, &[BASE64])),
                None => return Err(de::Error::missing_field(BASE64)),
            }
            let bytes = map.next_value::<Base64>()?.0;
            match map.next_key::<String>()? {
                None => Ok(bytes),
                Some(key) => Err(de::Error::unknown_field(&key, &[])),
            }
        }
    }

    struct Base64(Vec<u8>);

    impl<'de> Deserialize<'de> for Base64 {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Decoded;
            impl de::Visitor<'_> for Decoded {
                type Value = Base64;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("text in base64")
                }

                fn visit_str<E: de::Error>(self, text: &str) -> Result<Base64, E> {
                    STANDARD.decode(text).map(Base64).map_err(E::custom)
                }
            }
            deserializer.deserialize_str(Decoded)
        }
    }
}
