//! Whether the changes can be written at all, asked before anything is staged (`CONTRACT S7`).

use std::fmt;
use std::io;

use super::BuildError;
use crate::commit::whose;
use crate::disk::Disk;
use crate::root::STATE_FOLDER;
use crate::{Change, RelPath};

/// What a user may not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The file itself, which has to be written in place.
    File,
    /// A folder in which a name would change.
    Folder(RelPath),
    /// The workspace root, in which a name would change.
    Root,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => f.write_str("the file itself"),
            Place::Folder(folder) => write!(f, "the folder '{folder}'"),
            Place::Root => f.write_str("the workspace root"),
        }
    }
}

/// Refuses what the user may not write. Only a plain "no" of the system counts; where it cannot
/// tell, the apply finds out, which writes all files or none.
///
/// A change of mode alone is left to the apply: it is a question of owner, not of permission.
pub(super) fn check(
    disk: &dyn Disk,
    changes: &[Change],
    in_place: impl Fn(&RelPath) -> bool,
) -> Result<(), BuildError> {
    for change in changes {
        let path = change.path();
        match change {
            Change::SetMode { .. } => continue,
            Change::Edit { .. } | Change::Replace { .. } if in_place(path) => {
                refuse(path, Place::File, disk.may_write(path))?;
            }
            Change::Edit { .. } | Change::Replace { .. } | Change::Delete { .. } => {
                names_in(disk, path, path.parent())?;
            }
            Change::Create { .. } => names_in(disk, path, nearest(disk, path))?,
            Change::Move { source, .. } => {
                names_in(disk, source, source.parent())?;
                names_in(disk, path, nearest(disk, path))?;
            }
        }
        // Every commit keeps its journal in the state folder.
        let state = RelPath::new(STATE_FOLDER).ok().filter(|state| disk.stat(state).is_ok());
        if let Some(state) = state {
            let answer = disk.may_rename_in(Some(&state)).map_err(|error| whose(disk, error));
            refuse(path, Place::Folder(state), answer)?;
        }
    }
    Ok(())
}

fn names_in(disk: &dyn Disk, path: &RelPath, folder: Option<RelPath>) -> Result<(), BuildError> {
    let answer = disk.may_rename_in(folder.as_ref());
    refuse(path, folder.map_or(Place::Root, Place::Folder), answer)
}

fn refuse(path: &RelPath, place: Place, answer: io::Result<()>) -> Result<(), BuildError> {
    match answer {
        Err(source)
            if matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Err(BuildError::NotWritable { path: path.clone(), place, source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The nearest folder above that exists; none for the root.
fn nearest(disk: &dyn Disk, path: &RelPath) -> Option<RelPath> {
    path.ancestors().find(|folder| disk.stat(folder).is_ok())
}
