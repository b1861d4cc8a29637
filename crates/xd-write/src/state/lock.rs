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
    /// Waits up to `patience` for the lock on the file that is called `name` from `.xd/`, then says
    /// who holds it.
    pub(super) fn acquire(
        mut file: File,
        name: &str,
        patience: Duration,
    ) -> Result<Self, StateError> {
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
                Err(TryLockError::Error(error)) => return Err(StateError::io(name)(error)),
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    use super::*;

    /// A file of which every write answers that the disk is full: the lock is had all the same.
    #[test]
    fn a_full_disk_keeps_nobody_from_the_lock() {
        let full = || File::options().read(true).write(true).open("/dev/full").unwrap();
        assert!(writeln!(full(), "1").is_err());
        drop(StateLock::acquire(full(), "sessions/s/lock", Duration::ZERO).unwrap());
    }

    /// What cannot be locked is named as it is called.
    #[test]
    fn what_cannot_be_locked_is_named() {
        let flags = i32::try_from(OFlags::PATH.bits()).unwrap();
        let file = File::options().read(true).custom_flags(flags).open(".").unwrap();
        let error = StateLock::acquire(file, "sessions/s/lock", Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("(.xd/sessions/s/lock)"), "{error}");
    }
}
