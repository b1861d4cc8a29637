//! What a session's log looks like from outside: by it a process notices what others have done.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, time::SystemTime};

/// The look of a log. Two that are equal mean that nothing was staged or decided in between: the
/// log is only ever appended to, or moved away with its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    folder: Option<u64>,
    log: Option<(u64, u64, Option<SystemTime>)>,
}

impl Stamp {
    /// How the log of `session` in the workspace at `root` looks now.
    pub(crate) fn of(root: &Path, session: &str) -> Self {
        let folder = root.join(".xd/sessions").join(session);
        let log = fs::symlink_metadata(folder.join("log.jsonl")).ok();
        Self {
            folder: fs::symlink_metadata(&folder).ok().map(|found| found.ino()),
            log: log.map(|found| (found.ino(), found.len(), found.modified().ok())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_line_and_another_folder_are_noticed() {
        let root = tempfile::tempdir().unwrap();
        let at = |root: &Path| Stamp::of(root, "shell");
        let nothing = at(root.path());
        let folder = root.path().join(".xd/sessions/shell");
        fs::create_dir_all(&folder).unwrap();
        let empty = at(root.path());
        assert_ne!(nothing, empty);
        fs::write(folder.join("log.jsonl"), "{}\n").unwrap();
        let one = at(root.path());
        assert_ne!(empty, one);
        assert_eq!(one, at(root.path()));
        fs::write(folder.join("log.jsonl"), "{}\n{}\n").unwrap();
        assert_ne!(one, at(root.path()));
        fs::rename(&folder, root.path().join("aside")).unwrap();
        fs::create_dir_all(&folder).unwrap();
        assert_ne!(empty, at(root.path()));
    }
}
