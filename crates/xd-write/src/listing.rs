//! What a folder holds, for `read`.

use xd_changeset::RelPath;

use crate::Workspace;

/// How many names a listing shows.
const MOST: usize = 1_000;

/// One name a line, folders with a slash; a cut is stated.
pub(crate) fn folder(workspace: &Workspace, folder: Option<&RelPath>) -> Result<String, String> {
    let entries = workspace.root().list(folder).map_err(|error| format!("read: {error}"))?;
    let mut out = String::new();
    for entry in entries.iter().take(MOST) {
        let mark = if entry.kind == xd_changeset::EntryKind::Folder { "/" } else { "" };
        out.push_str(entry.path.file_name());
        out.push_str(mark);
        out.push('\n');
    }
    if entries.len() > MOST {
        out.push_str(&format!("[cut: {MOST} of {} names]\n", entries.len()));
    }
    if out.is_empty() {
        out.push_str("The folder is empty.\n");
    }
    Ok(out)
}
