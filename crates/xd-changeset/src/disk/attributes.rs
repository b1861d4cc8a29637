//! The owner, mode and extended attributes of new files.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, Mode};
use rustix::io::Errno;

use super::real::as_stat;
use super::{NewFile, Stat};

/// Gives `dest` the owner and the extended attributes of `source`.
pub(super) fn copy_attributes(source: &OwnedFd, dest: &OwnedFd) -> io::Result<()> {
    let was = fs::fstat(source)?;
    give_owner(dest, (was.st_uid, was.st_gid))?;
    copy_extended(source, dest)
}

/// Gives the file its owner; answers its mode, unless it may be another now.
pub(super) fn give_owner(file: &OwnedFd, owner: (u32, u32)) -> io::Result<Option<u32>> {
    let is = as_stat(&fs::fstat(file)?);
    if owner == is.owner {
        return Ok(Some(is.mode));
    }
    let (uid, gid) = (fs::Uid::from_raw(owner.0), fs::Gid::from_raw(owner.1));
    fs::fchown(file, Some(uid), Some(gid))?;
    Ok(None)
}

/// The permission bits with which a new file begins. Nobody else may read it before it has the
/// owner and mode that it is to have; where it has them from the start, they need not be set.
pub(super) fn first_mode(new: &NewFile<'_>, bare: Option<&Stat>) -> Mode {
    let keeps_its_owner = match (new.like, bare) {
        (None, _) => true,
        // Its group may be another at first, which is the same where a group may what all may.
        (Some(_), Some(lender)) => {
            rustix::process::geteuid().as_raw() == lender.owner.0
                && (new.mode >> 3) & 7 == new.mode & 7
        }
        (Some(_), None) => false,
    };
    match keeps_its_owner {
        true => Mode::from_raw_mode((new.mode & 0o777) as _),
        false => Mode::RUSR | Mode::WUSR,
    }
}

/// Whether the file certainly has no extended attributes.
pub(super) fn is_bare(file: &OwnedFd) -> bool {
    // Names that have no room here are an error, like whatever else leaves it uncertain.
    matches!(fs::flistxattr(file, &mut [0_u8; 64]), Ok(0) | Err(Errno::OPNOTSUPP))
}

/// Copies the extended attributes, access control lists among them. Those that only the system
/// may set are left to it; any other that cannot be copied is an error rather than a loss.
fn copy_extended(source: impl AsFd, dest: impl AsFd) -> io::Result<()> {
    let mut space = Space::new();
    let names = match space.fill(|buffer| fs::flistxattr(&source, buffer)) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        names => names?,
    };
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let value = space.fill(|buffer| fs::fgetxattr(&source, name, buffer))?;
        match fs::fsetxattr(&dest, name, &value, fs::XattrFlags::empty()) {
            Ok(()) => {}
            Err(Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP)
                if name.starts_with(b"security.") || name.starts_with(b"trusted.") => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Room for attribute names and values: little at first, and the most the system allows when
/// that does not do.
struct Space(Vec<u8>);

const FEW: usize = 512;
const MOST: usize = 1 << 16;

impl Space {
    fn new() -> Self {
        Self(vec![0; FEW])
    }

    fn fill(
        &mut self,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<Vec<u8>, Errno> {
        let len = match read(&mut self.0) {
            Err(Errno::RANGE) => {
                self.0.resize(MOST, 0);
                read(&mut self.0)?
            }
            len => len?,
        };
        Ok(self.0[..len].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, RelPath};

    /// Whoever may not read the file that is replaced may not read the new one either, not even
    /// before it has its owner and mode.
    #[test]
    fn w2_nobody_reads_a_new_file_before_it_has_its_owner_and_mode() {
        let (path, content) = (RelPath::new("f").unwrap(), Content::from("text"));
        let me = rustix::process::geteuid().as_raw();
        let lender = |owner| Stat {
            kind: crate::EntryKind::File,
            len: 0,
            mode: 0,
            links: 1,
            identity: (1, 1),
            owner,
            bare: true,
        };
        let (mine, anothers) = (lender((me, 7)), lender((me + 1, 7)));
        for (mode, from, first) in [
            (0o644, Some(&mine), 0o644),
            (0o4755, Some(&mine), 0o755),
            // Its group is yet to come.
            (0o640, Some(&mine), 0o600),
            (0o604, Some(&mine), 0o600),
            (0o644, Some(&anothers), 0o600),
            // Its attributes are yet to come.
            (0o644, None, 0o600),
        ] {
            let (like, content) = (Some(&path), &content);
            let new = NewFile { path: &path, content, mode, like, lender: from, durable: false };
            assert_eq!(first_mode(&new, from).bits(), first, "{mode:o}");
            let own = NewFile { like: None, ..new };
            assert_eq!(first_mode(&own, None).bits(), mode & 0o777, "{mode:o}");
        }
    }

    #[test]
    fn w2_a_file_with_an_attribute_is_not_bare() {
        let file = OwnedFd::from(tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap());
        // Where there are no user attributes no file has one.
        if fs::fsetxattr(&file, "user.mark", b"", fs::XattrFlags::empty()).is_ok() {
            assert!(!is_bare(&file));
            let long = format!("user.{}", "n".repeat(200));
            fs::fsetxattr(&file, long.as_str(), b"", fs::XattrFlags::empty()).unwrap();
            assert!(!is_bare(&file));
        }
    }
}
