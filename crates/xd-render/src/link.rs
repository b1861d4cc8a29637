//! Targets of terminal hyperlinks.

use std::path::Path;

/// The target of a hyperlink: printable ASCII only, so that it cannot end its own escape sequence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link(String);

impl Link {
    /// The `file://` link to an absolute path; none for a relative one. Bytes outside the
    /// unreserved set of URIs are percent-encoded.
    #[must_use]
    pub fn file(path: &Path) -> Option<Self> {
        if !path.is_absolute() {
            return None;
        }
        let mut uri = String::from("file://");
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
                other if other.is_ascii_alphanumeric() => uri.push(char::from(*other)),
                other => uri.push_str(&format!("%{other:02X}")),
            }
        }
        Some(Self(uri))
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.0
    }
}
