//! What a folder holds, for `read`.

use std::fmt::Write as _;

use xd_changeset::RelPath;
use xd_protocol::Visible;

use crate::Workspace;

/// How many names a listing shows.
const MOST: usize = 1_000;

/// One name a line, folders with a slash; a cut is stated.
pub(crate) fn folder(workspace: &Workspace, folder: Option<&RelPath>) -> Result<String, String> {
    let entries = workspace.root().list(folder).map_err(|error| format!("read: {error}"))?;
    let mut out = String::new();
    for entry in entries.iter().take(MOST) {
        let mark = if entry.kind == xd_changeset::EntryKind::Folder { "/" } else { "" };
        // A name may hold a line break; it is one line here all the same.
        let _ = writeln!(out, "{}{mark}", Visible(entry.path.file_name()));
    }
    if entries.len() > MOST {
        out.push_str(&format!("[cut: {MOST} of {} names]\n", entries.len()));
    }
    if out.is_empty() {
        out.push_str("The folder is empty.\n");
    }
    Ok(out)
}
