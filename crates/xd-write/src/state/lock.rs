//! One process at a time changes a session.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    time::{Duration, Instant},
};

use super::StateError;

/// How often a held lock is looked at again.
const PAUSE: Duration = Duration::from_millis(20);

/// The lock on a session's state. Dropping it frees it; so does the end of the process, however
/// it ends.
#[derive(Debug)]
pub struct StateLock(File);

impl StateLock {
    /// Waits up to `patience` for the lock, then says who holds it.
    pub(super) fn acquire(mut file: File, patience: Duration) -> Result<Self, StateError> {
        let begin = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // The number only says who; on a full disk the lock is held all the same, so
                    // that what an earlier process left can be settled there.
                    let _ = file
                        .set_len(0)
                        .and_then(|()| file.rewind())
                        .and_then(|()| write!(file, "process {}", std::process::id()));
                    return Ok(Self(file));
                }
                Err(TryLockError::WouldBlock) if begin.elapsed() < patience => {
                    std::thread::sleep(PAUSE)
                }
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let _ = file.read_to_string(&mut holder);
                    let holder = if holder.trim().is_empty() {
                        "another process".to_owned()
                    } else {
                        holder
                    };
                    return Err(StateError::Locked { holder, waited: patience });
                }
                Err(TryLockError::Error(error)) => return Err(StateError::io("lock")(error)),
            }
        }
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // The holder is named only while it holds; a failure here frees the lock all the same.
        let _ = self.0.set_len(0);
        let _ = self.0.unlock();
    }
}
