//! Overrides from a folder: the one place of this crate that does I/O.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::LoadError;
use crate::prompts::{Prompts, accept};

impl Prompts {
    /// The built-in templates with those replaced that `folder` holds a file for.
    ///
    /// Files are called `<prompt>.md.j2` or `<prompt>.md`, both are templates. Names that begin with
    /// a dot are left alone. Everything else in the folder is an error: a misspelt name would
    /// otherwise leave the built-in text in use without a word.
    ///
    /// # Errors
    /// As [`with_overrides`](Self::with_overrides), naming the file and the line; and a folder or
    /// file that cannot be read, which includes one that is not UTF-8.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, LoadError> {
        let folder = folder.as_ref();
        let unreadable = |path: &Path, source| LoadError::Unreadable { path: path.into(), source };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
            paths.push(entry.map_err(|error| unreadable(folder, error))?.path());
        }
        // The order of a folder is the file system's; the first error should not depend on it.
        paths.sort();
        let mut overrides = BTreeMap::new();
        for path in paths {
            let file = path.display().to_string();
            let Some(file_name) = path.file_name().and_then(|name| name.to_str()) else {
                return Err(LoadError::UnknownFile { file });
            };
            if file_name.starts_with('.') {
                continue;
            }
            let stem = file_name.strip_suffix(".j2").unwrap_or(file_name).strip_suffix(".md");
            let Some(stem) = stem else {
                return Err(LoadError::UnknownFile { file });
            };
            let source =
                std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
            accept(&mut overrides, file, stem, source)?;
        }
        Self::build(overrides)
    }
}
