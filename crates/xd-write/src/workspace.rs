//! The folder that an agent may touch.

use std::{path::Path, sync::Arc};

use xd_changeset::{Options, Root, RootError};

/// A workspace: one folder and all below it (**Invariant W3**). Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Root>,
    commits: Options,
}

/// The workspace cannot be used.
pub type WorkspaceError = RootError;

impl Workspace {
    /// Opens the folder at `path`, which must exist.
    ///
    /// # Errors
    /// [`WorkspaceError`], naming the folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Ok(Self { root: Arc::new(Root::open(path)?), commits: Options::default() })
    }

    /// Sets how staged changes are committed here; without it they are forced to the disk, so that
    /// they hold across a power cut (`CONTRACT F3`).
    #[must_use]
    pub fn with_commits(mut self, commits: Options) -> Self {
        self.commits = commits;
        self
    }

    /// How staged changes are committed here.
    #[must_use]
    pub fn commits(&self) -> Options {
        self.commits
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
