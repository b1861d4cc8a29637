//! A person edits what a file would become.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use xd_changeset::RelPath;

/// What an editor left; none where nothing is to change.
pub(super) type Edited = Result<Option<Vec<u8>>, String>;

/// Opens `text` in the editor that the environment names, in a file of the same name in a folder
/// that nobody else can read, and answers what it was saved as.
pub(super) fn edit(path: &RelPath, text: Vec<u8>) -> Edited {
    let failed = |error: std::io::Error| format!("The text cannot be edited: {error}.");
    let folder = tempfile::Builder::new()
        .prefix("xd-review-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()
        .map_err(failed)?;
    let name = path.to_string();
    let name = name.rsplit('/').next().unwrap_or("text");
    let file = folder.path().join(name);
    fs::write(&file, &text).map_err(failed)?;
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // As every program does: the variable is a command of the shell, with arguments of its own.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&file)
        .status()
        .map_err(failed)?;
    if !status.success() {
        return Err(format!("'{editor}' ended with {status}; nothing was changed."));
    }
    let saved = fs::read(&file).map_err(failed)?;
    Ok((saved != text).then_some(saved))
}
