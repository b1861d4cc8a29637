//! Drafts in the session's state folder: `.xd/sessions/<name>/local/<draft>`.

use std::{
    io::{self, Write as _},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use cap_std::fs::Dir;

use super::{
    StateFolder,
    folder::{make_private, private_file},
};
use crate::drafts::{DraftError, DraftName, DraftStore, Expected, Put};

/// The folder of the drafts, in the session's.
const FOLDER: &str = "local";

/// Drafts as files, all reached through a handle on the session's folder, so that no link leads
/// out of it. Clones are the same store.
#[derive(Debug, Clone)]
pub struct FileDrafts {
    session: Arc<Dir>,
    shown: Arc<str>,
    writing: Arc<Mutex<()>>,
}

impl StateFolder {
    /// The session's drafts. Their folder is made by the first that is written (case 38).
    #[must_use]
    pub fn drafts(&self) -> FileDrafts {
        FileDrafts {
            session: Arc::clone(self.dir()),
            shown: format!(".xd/{}", self.name(FOLDER)).into(),
            writing: Arc::default(),
        }
    }
}

impl FileDrafts {
    /// The folder; none where no draft was ever written.
    fn folder(&self) -> Result<Option<Dir>, DraftError> {
        match self.session.open_dir(FOLDER) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error("")(error)),
        }
    }

    fn made_folder(&self) -> Result<Dir, DraftError> {
        if let Some(folder) = self.folder()? {
            return Ok(folder);
        }
        match make_private(&self.session, FOLDER) {
            // Another process may have been quicker.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(self.error("")(error));
            }
            Ok(()) | Err(_) => {}
        }
        self.session.open(".").and_then(|session| session.sync_all()).map_err(self.error(""))?;
        self.session.open_dir(FOLDER).map_err(self.error(""))
    }

    fn read_in(&self, folder: &Dir, name: &DraftName) -> Result<Option<String>, DraftError> {
        match folder.read(name.as_str()) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(DraftError::NotText { what: format!("{}/{name}", self.shown) }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error(name.as_str())(error)),
        }
    }

    fn error(&self, name: &str) -> impl FnOnce(io::Error) -> DraftError + use<> {
        let what = format!("{}/{name}", self.shown);
        move |source| DraftError::Io { what, source }
    }
}

impl DraftStore for FileDrafts {
    fn read(&self, name: &DraftName) -> Result<Option<String>, DraftError> {
        match self.folder()? {
            Some(folder) => self.read_in(&folder, name),
            None => Ok(None),
        }
    }

    fn put(&self, name: &DraftName, text: &str, expected: Expected) -> Result<Put, DraftError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.made_folder()?;
        let exists = folder.symlink_metadata(name.as_str()).is_ok();
        let as_expected = match expected {
            Expected::Anything => true,
            // Whatever it is, a link to nowhere included.
            Expected::Nothing => !exists,
            Expected::Text(_) => expected.is(self.read_in(&folder, name)?.as_deref()),
        };
        if !as_expected {
            return Ok(Put::Differs);
        }
        let written = write_beside(&folder, text).and_then(|beside| {
            let put = publish(&folder, &beside, name.as_str(), expected);
            // Renamed it is gone already; otherwise nothing may be left of it.
            let _ = folder.remove_file(&beside);
            put
        });
        match written {
            Ok(()) => {}
            Err(error)
                if expected == Expected::Nothing
                    && error.kind() == io::ErrorKind::AlreadyExists =>
            {
                return Ok(Put::Differs);
            }
            Err(error) => return Err(self.error(name.as_str())(error)),
        }
        folder.open(".").and_then(|folder| folder.sync_all()).map_err(self.error(""))?;
        Ok(if exists { Put::Replaced } else { Put::Created })
    }

    fn names(&self) -> Result<Vec<DraftName>, DraftError> {
        let Some(folder) = self.folder()? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in folder.entries().map_err(self.error(""))? {
            let entry = entry.map_err(self.error(""))?;
            // What is no draft's name was put there by others, or is a file half written.
            let name = entry.file_name().to_str().and_then(|name| DraftName::new(name).ok());
            names.extend(name);
        }
        names.sort();
        Ok(names)
    }
}

/// Writes `text` whole under a name of its own.
fn write_beside(folder: &Dir, text: &str) -> io::Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".{}-{count}.writing", std::process::id());
    // Only a process that ended half-way can have left one.
    let _ = folder.remove_file(&name);
    let mut options = private_file();
    let mut file = folder.open_with(&name, options.write(true).create_new(true))?.into_std();
    match file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(name),
        Err(error) => {
            let _ = folder.remove_file(&name);
            Err(error)
        }
    }
}

/// Gives what was written its name, in one step; where nothing may be there, never over something.
fn publish(folder: &Dir, beside: &str, name: &str, expected: Expected) -> io::Result<()> {
    match expected {
        Expected::Anything | Expected::Text(_) => folder.rename(beside, folder, name),
        Expected::Nothing => match folder.hard_link(beside, folder, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // A file system without hard links; that nothing is there was just asked.
                folder.rename(beside, folder, name)
            }
            linked => linked,
        },
    }
}
