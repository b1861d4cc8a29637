//! Whether two folders hold the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::told;

/// The state folder of `xd`, which belongs to no outcome.
const STATE: &str = ".xd";

/// All files below `folder`, by their paths in it, in order, with their sizes.
///
/// # Errors
/// A folder cannot be read.
pub fn files(folder: &Path) -> Result<BTreeMap<PathBuf, u64>, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(inner) = waiting.pop() {
        let full = folder.join(&inner);
        for entry in fs::read_dir(&full).map_err(|error| told(&full, &error))? {
            let entry = entry.map_err(|error| told(&full, &error))?;
            let kind = entry.file_type().map_err(|error| told(&entry.path(), &error))?;
            let path = inner.join(entry.file_name());
            if kind.is_dir() {
                if path != Path::new(STATE) {
                    waiting.push(path);
                }
            } else if kind.is_file() {
                let about = entry.metadata().map_err(|error| told(&entry.path(), &error))?;
                found.insert(path, about.len());
            }
        }
    }
    Ok(found)
}

/// The files that only one of two folders has, or that differ.
///
/// # Errors
/// Something cannot be read.
pub fn differing(one: &Path, other: &Path) -> Result<Vec<PathBuf>, String> {
    let (ours, theirs) = (files(one)?, files(other)?);
    let mut differing = Vec::new();
    for (path, size) in &ours {
        let same = theirs.get(path) == Some(size) && read(one, path)? == read(other, path)?;
        if !same {
            differing.push(path.clone());
        }
    }
    differing.extend(theirs.keys().filter(|path| !ours.contains_key(*path)).cloned());
    Ok(differing)
}

fn read(folder: &Path, path: &Path) -> Result<Vec<u8>, String> {
    let path = folder.join(path);
    fs::read(&path).map_err(|error| told(&path, &error))
}

/// Makes `copy` a fresh copy of `folder`, whatever was there.
///
/// # Errors
/// Something cannot be read or written.
pub fn copy_anew(folder: &Path, copy: &Path) -> Result<(), String> {
    remove(copy)?;
    for path in files(folder)?.keys() {
        let target = copy.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|error| told(parent, &error))?;
        }
        fs::copy(folder.join(path), &target).map_err(|error| told(&target, &error))?;
    }
    Ok(())
}

/// Removes a folder with all in it, where there is one.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(told(folder, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes what `xd` staged in a folder.
///
/// # Errors
/// It cannot be removed.
pub fn forget(folder: &Path) -> Result<(), String> {
    remove(&folder.join(STATE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_the_same_until_a_byte_or_a_name_differs() {
        let place = std::env::temp_dir().join(format!("xtask-same-{}", std::process::id()));
        let (one, other) = (place.join("one"), place.join("other"));
        fs::create_dir_all(one.join("a/b")).unwrap();
        fs::create_dir_all(one.join(STATE)).unwrap();
        fs::write(one.join("a/b/c"), "text").unwrap();
        fs::write(one.join("d"), "more").unwrap();
        fs::write(one.join(STATE).join("log"), "not compared").unwrap();
        copy_anew(&one, &other).unwrap();
        assert!(differing(&one, &other).unwrap().is_empty());
        assert!(!other.join(STATE).exists());
        fs::write(other.join("a/b/c"), "tExt").unwrap();
        fs::write(other.join("new"), "").unwrap();
        let wanted: Vec<PathBuf> = vec!["a/b/c".into(), "new".into()];
        assert_eq!(differing(&one, &other).unwrap(), wanted);
        copy_anew(&one, &other).unwrap();
        assert!(differing(&one, &other).unwrap().is_empty());
        forget(&one).unwrap();
        assert!(!one.join(STATE).exists());
        remove(&place).unwrap();
        remove(&place).unwrap();
    }
}
