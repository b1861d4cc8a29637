//! The folder that an agent may touch.

use std::{path::Path, sync::Arc};

use xd_changeset::{Root, RootError};

/// A workspace: one folder and all below it (**Invariant W3**). Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Root>,
}

/// The workspace cannot be used.
pub type WorkspaceError = RootError;

impl Workspace {
    /// Opens the folder at `path`, which must exist.
    ///
    /// # Errors
    /// [`WorkspaceError`], naming the folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Ok(Self { root: Arc::new(Root::open(path)?) })
    }

    /// The handle that all file access goes through.
    #[must_use]
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Where the folder is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }
}
