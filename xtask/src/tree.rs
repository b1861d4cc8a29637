//! The tracked files of the repository, as paths and texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io};

/// Folders whose files are data of tests or samples: they may look as they
/// like, since what they look like is often the point.
const DATA_FOLDERS: [&str; 9] = [
    "corpus",
    "data",
    "expected",
    "fixtures",
    "input",
    "sample",
    "samples",
    "scenarios",
    "testdata",
];

/// The files of a repository. Paths are relative to its root and use `/`.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, Option<String>>,
}

/// Why the files could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TreeError {
    /// A file or folder that is listed cannot be read.
    Unreadable {
        /// The path as it was tried.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, source } => {
                write!(f, "cannot read {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for TreeError {}

impl Tree {
    /// Reads what `git` tracks under `root`, in its present state on disk. A
    /// folder that is no git checkout (an unpacked archive) is walked instead,
    /// without `target`, `.git` and `.xd`.
    ///
    /// # Errors
    /// [`TreeError::Unreadable`] where a listed file exists and cannot be read.
    pub fn read(root: &Path) -> Result<Self, TreeError> {
        let paths = match tracked(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            if full.is_dir() || !full.exists() {
                continue;
            }
            let bytes = fs::read(&full)
                .map_err(|source| TreeError::Unreadable { path: full.clone(), source })?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
        Ok(Self { files })
    }

    /// A tree made of the given paths and texts.
    pub fn from_files<P: Into<String>, T: Into<String>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.into(), Some(text.into())));
        Self { files: files.collect() }
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of a file; nothing where it is missing or not UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// All files that are text, as path and text, sorted by path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The Rust sources of the workspace; those in data folders are left out.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs") && !is_data(path))
    }
}

/// True for files in a folder of test data or samples.
pub fn is_data(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| DATA_FOLDERS.contains(&folder))
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    // An archive unpacked inside some other checkout would list that one's
    // files, so the root has to be the top of the checkout.
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walked(root: &Path) -> Result<Vec<String>, TreeError> {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        let unreadable = |source| TreeError::Unreadable { path: full.clone(), source };
        for entry in fs::read_dir(&full).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            let path = folder.join(&name);
            if entry.file_type().map_err(unreadable)?.is_dir() {
                if name != "target" && name != ".git" && name != ".xd" {
                    folders.push(path);
                }
            } else if let Some(path) = path.to_str() {
                paths.push(path.replace('\\', "/"));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_folders_hold_data_and_files_of_that_name_do_not() {
        assert!(is_data("tests/scenarios/one/input/a.rs"));
        assert!(is_data("crates/xd-cli/sample/src/lib.rs"));
        assert!(!is_data("crates/xd-cli/src/sample.rs"));
        assert!(!is_data("data"));
    }

    #[test]
    fn a_folder_without_git_is_walked_without_its_build_output() {
        let root = std::env::temp_dir().join(format!("xtask-walk-{}", std::process::id()));
        for (path, text) in [("src/lib.rs", "//! A.\n"), ("target/x.rs", ""), ("top.md", "t\n")] {
            let full = root.join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
        let tree = Tree::read(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(tree.paths().collect::<Vec<_>>(), ["src/lib.rs", "top.md"]);
        assert_eq!(tree.text("src/lib.rs"), Some("//! A.\n"));
    }
}
