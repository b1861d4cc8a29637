//! Paths inside a workspace: relative, `/`-separated, never climbing out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::shown::Shown;

/// A path below the workspace root: UTF-8, `/`-separated, with no empty part, no `.` or `..`
/// part, and not absolute. What it names need not exist.
///
/// Ordering is by bytes, so a sorted list is the same on every machine. A file name may hold
/// anything, line breaks and terminal escapes too: `Display` shows it escaped, and
/// [`as_str`](RelPath::as_str) is the name itself.
///
/// ```
/// use xd_changeset::RelPath;
///
/// let path = RelPath::new("src/lib.rs").unwrap();
/// assert_eq!(path.parent().unwrap().as_str(), "src");
/// assert!(RelPath::new("../secret").is_err());
/// assert_eq!(RelPath::new("a\nb").unwrap().to_string(), "a\\u{a}b");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(Box<str>);

/// Why a text is not a workspace-relative path. Each variant names the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelPathError {
    /// The text is empty.
    #[error("the path is empty; give the path of a file below the workspace root")]
    Empty,
    /// The text begins with `/`.
    #[error("'{}' is absolute; give it relative to the workspace root", Shown(.0))]
    Absolute(String),
    /// A part is `..`.
    #[error("'{}' climbs with '..'; give the path without it", Shown(.0))]
    Climbs(String),
    /// A part is empty or `.` (`a//b`, `a/`, `./a`).
    #[error("'{}' has an empty or '.' part; give the path without it", Shown(.0))]
    EmptyPart(String),
    /// The text holds a NUL byte, which no file name can.
    #[error("'{}' holds a NUL byte, which no file name can", Shown(.0))]
    Nul(String),
}

impl RelPath {
    /// Checks `path` and takes it as it is; nothing is normalised.
    pub fn new(path: &str) -> Result<Self, RelPathError> {
        if path.is_empty() {
            return Err(RelPathError::Empty);
        }
        if path.starts_with('/') {
            return Err(RelPathError::Absolute(path.to_owned()));
        }
        if path.contains('\0') {
            return Err(RelPathError::Nul(path.to_owned()));
        }
        for part in path.split('/') {
            match part {
                "" | "." => return Err(RelPathError::EmptyPart(path.to_owned())),
                ".." => return Err(RelPathError::Climbs(path.to_owned())),
                _name => {}
            }
        }
        Ok(Self(path.into()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that holds it, or none when that is the workspace root.
    pub fn parent(&self) -> Option<RelPath> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.into()))
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// The parts from the root downwards.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// `self` followed by one more part or several (`join("a/b")`).
    pub fn join(&self, rest: &str) -> Result<RelPath, RelPathError> {
        Self::new(rest)?;
        Ok(Self(format!("{}/{rest}", self.0).into()))
    }

    /// A path with the same folder and another last part.
    pub fn with_file_name(&self, name: &str) -> Result<RelPath, RelPathError> {
        match self.0.rsplit_once('/') {
            Some((folder, _)) => Self::new(&format!("{folder}/{name}")),
            None => Self::new(name),
        }
    }

    /// Whether `self` lies (at any depth) in the folder `folder`.
    pub fn is_inside(&self, folder: &RelPath) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The folders above it from the nearest to the topmost, the root left out.
    pub fn ancestors(&self) -> impl Iterator<Item = RelPath> {
        std::iter::successors(self.parent(), RelPath::parent)
    }

    /// Whether no change set may touch it: the state folder `.xd` at the root, and `.git` at any
    /// depth, in any letter case (some file systems do not tell them apart).
    pub fn is_protected(&self) -> bool {
        let mut parts = self.parts();
        parts.next().is_some_and(|first| first.eq_ignore_ascii_case(".xd"))
            || self.parts().any(|part| part.eq_ignore_ascii_case(".git"))
    }
}

impl fmt::Display for RelPath {
    /// The path for a reader, on one line: control, line-breaking, bidirectional and invisible
    /// characters are escaped. [`as_str`](RelPath::as_str) is the path itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&self.0).fmt(f)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RelPath {
    type Error = RelPathError;

    fn try_from(path: String) -> Result<Self, RelPathError> {
        Self::new(&path)
    }
}

impl TryFrom<&str> for RelPath {
    type Error = RelPathError;

    fn try_from(path: &str) -> Result<Self, RelPathError> {
        Self::new(path)
    }
}

impl std::str::FromStr for RelPath {
    type Err = RelPathError;

    fn from_str(path: &str) -> Result<Self, RelPathError> {
        Self::new(path)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> String {
        path.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_plain_paths_only() {
        for good in ["a", "a/b", "a b/c.d", "...", "..a/b..", "é/ü", "C:\\x", "a:b"] {
            assert_eq!(RelPath::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "..", "a/../b", "../a", "a\0b"]
        {
            assert!(RelPath::new(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn protected_paths_are_the_state_folder_and_git() {
        for path in
            [".xd", ".xd/journal", ".XD/x", ".git", ".git/config", "sub/.git/hooks/x", "a/.Git"]
        {
            assert!(RelPath::new(path).unwrap().is_protected(), "{path}");
        }
        for path in [".gitignore", "git", "a/.xd/x", ".github/x", ".xdrc"] {
            assert!(!RelPath::new(path).unwrap().is_protected(), "{path}");
        }
    }

    #[test]
    fn folders_above() {
        let path = RelPath::new("a/b/c").unwrap();
        let above: Vec<_> = path.ancestors().map(String::from).collect();
        assert_eq!(above, ["a/b", "a"]);
        assert!(path.is_inside(&RelPath::new("a").unwrap()));
        assert!(!RelPath::new("ab/c").unwrap().is_inside(&RelPath::new("a").unwrap()));
    }
}
