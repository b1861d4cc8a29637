//! A scratch workspace for tests, and a picture of everything in it.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) mod proofs;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use xd_changeset::Root;

pub(crate) struct Tree(tempfile::TempDir);

/// Path → what is there: kind, permission bits, number of names, bytes or link text.
pub(crate) type Snapshot = BTreeMap<String, (char, u32, u64, Vec<u8>)>;

#[allow(dead_code, reason = "each test binary uses a part")]
impl Tree {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        Self::new_in(&std::env::temp_dir(), files)
    }

    pub(crate) fn new_in(place: &Path, files: &[(&str, &[u8])]) -> Self {
        let tree = Self(tempfile::tempdir_in(place).unwrap());
        for (path, bytes) in files {
            fs::create_dir_all(tree.at(path).parent().unwrap()).unwrap();
            tree.write(path, bytes);
        }
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn root(&self) -> Root {
        Root::open(self.path()).unwrap()
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        fs::write(self.at(path), bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    /// The names at the top, the state folder left out.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != ".xd");
        names.sort();
        names
    }

    /// Everything but the state folder.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut seen = Snapshot::new();
        look(self.path(), "", &mut seen);
        seen
    }
}

fn look(folder: &Path, prefix: &str, seen: &mut Snapshot) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if name == ".xd" && entry.path().join("lock").exists() {
            continue;
        }
        let metadata = entry.path().symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            seen.insert(name.clone(), ('d', 0, 0, Vec::new()));
            look(&entry.path(), &format!("{name}/"), seen);
        } else if metadata.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap().to_str().unwrap().as_bytes().to_vec();
            seen.insert(name, ('l', 0, 0, target));
        } else {
            seen.insert(name, ('f', mode, metadata.nlink(), fs::read(entry.path()).unwrap()));
        }
    }
}
