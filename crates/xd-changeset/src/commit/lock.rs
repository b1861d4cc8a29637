//! The lock on a workspace: one commit at a time, a bounded wait, and the holder's name.
//!
//! The lock is the system's own on an open file, which goes with the process that holds it, so
//! that a crashed holder leaves no stale lock behind; the number in the file only says who.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{During as _, Locked, RecoverError};
use crate::RelPath;
use crate::disk::{Disk, LockAttempt};
use crate::root::STATE_FOLDER;

const PAUSE: Duration = Duration::from_millis(5);

/// A path in the state folder.
pub(super) fn state_path(name: &str) -> RelPath {
    state_folder()
        .join(name)
        .unwrap_or_else(|_| unreachable!("the names in the state folder are plain"))
}

/// Makes the state folder, which ignores itself in git, and takes the lock in it.
pub(super) fn take(disk: &dyn Disk, wait: Duration) -> Result<Box<dyn Send>, RecoverError> {
    make_state_folder(disk).map_err(RecoverError::State)?;
    let path = state_path("lock");
    let try_lock =
        || disk.try_lock(&path).map_err(|error| whose(disk, error)).during("lock", &path);
    let start = Instant::now();
    loop {
        let holder = match try_lock().map_err(RecoverError::State)? {
            LockAttempt::Taken(guard) => return Ok(guard),
            LockAttempt::Held(holder) => holder,
        };
        let waited = start.elapsed();
        if waited >= wait {
            return Err(Locked { holder, waited }.into());
        }
        sleep(PAUSE.min(wait - waited));
    }
}

pub(super) fn state_folder() -> RelPath {
    RelPath::new(STATE_FOLDER)
        .unwrap_or_else(|_| unreachable!("the name of the state folder is plain"))
}

pub(super) fn has_state_folder(disk: &dyn Disk) -> bool {
    disk.stat_if_any(&state_folder()).is_ok_and(|stat| stat.is_some())
}

/// Makes the state folder where there is none: for its owner alone, because what is kept in it may
/// come from files that nobody else may read.
pub(super) fn make_state_folder(disk: &dyn Disk) -> Result<(), super::Failure> {
    let folder = state_folder();
    match disk.make_folder(&folder, 0o700) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(error).during("create", &folder);
        }
        Ok(()) | Err(_) => {}
    }
    let ignore = state_path(".gitignore");
    match disk.create(&ignore, b"*\n", 0o600) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(whose(disk, error)).during("create", &ignore)
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The same error; where the state folder is another user's, it says so and names the way out.
pub(crate) fn whose(disk: &dyn Disk, error: io::Error) -> io::Error {
    let owner = disk.stat(&state_folder()).map(|stat| stat.owner.0);
    match owner {
        Ok(owner)
            if error.kind() == io::ErrorKind::PermissionDenied
                && owner != rustix::process::geteuid().as_raw() =>
        {
            let why = format!(
                "{error}; '.xd' belongs to user {owner}: work as that user, or have it given to \
                 you or moved away"
            );
            io::Error::new(error.kind(), why)
        }
        Ok(_) | Err(_) => error,
    }
}
