//! Files without a name, for what has no room in memory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// Where the system keeps large temporary files, the one that is on a disk first. Fixed paths,
/// because a library does not look at the environment.
const PRIVATE: [&str; 2] = ["/var/tmp", "/tmp"];

/// A file for its owner alone, without a name from its first moment on; or, where the file system
/// cannot do that, with one that is taken away at once.
pub(crate) fn private_scratch() -> io::Result<File> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in PRIVATE {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let made = retry_on_intr(|| fs::open(folder, flags, Mode::empty()))
            .map_err(io::Error::from)
            .and_then(|folder| nameless(&folder)?.map_or_else(|| unnamed(&folder), Ok));
        match made {
            Ok(file) => return Ok(file),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A file that never has a name; none where the file system has no such thing.
#[cfg(target_os = "linux")]
pub(super) fn nameless(folder: impl AsFd) -> io::Result<Option<File>> {
    // With EXCL it cannot be given a name later either.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    match retry_on_intr(|| fs::openat(&folder, ".", flags, Mode::RUSR | Mode::WUSR)) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A file that never has a name: this system has no such thing.
#[cfg(not(target_os = "linux"))]
pub(super) fn nameless(_folder: impl AsFd) -> io::Result<Option<File>> {
    Ok(None)
}

/// A file that has a name for a moment only.
fn unnamed(folder: &OwnedFd) -> io::Result<File> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let name = format!(".xd-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = retry_on_intr(|| fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR))?;
    fs::unlinkat(folder, &name, AtFlags::empty())?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn a_scratch_file_has_no_name_and_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let handle = OwnedFd::from(File::open(folder.path()).unwrap());
        let files = [
            private_scratch().unwrap(),
            unnamed(&handle).unwrap(),
            nameless(&handle).unwrap().unwrap_or_else(|| unnamed(&handle).unwrap()),
        ];
        for file in files {
            let seen = file.metadata().unwrap();
            assert_eq!((seen.nlink(), seen.mode() & 0o777), (0, 0o600));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
