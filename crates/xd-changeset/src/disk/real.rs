//! The real disk: every path is walked from the root's handle, one part at a time, following no
//! link. Chosen over a sandboxing library because the commit needs the same calls (exchange,
//! no-replace, attributes) on the same handles, and because following no link at all is stricter.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{self, Access, AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use super::attributes::{copy_attributes, first_mode, give_owner, is_bare};
use super::scratch::nameless;
use super::{Disk, EntryKind, Feed, LockAttempt, NewFile, Stat, Take, Unmade, private_scratch};
use crate::root::STATE_FOLDER;
use crate::{FileKind, Hash, RelPath};

/// A folder of the real file system.
#[derive(Debug)]
pub(crate) struct RealDisk {
    root: Arc<OwnedFd>,
    /// Open folders by path, where they are to stay the same.
    pins: Option<RwLock<HashMap<String, Arc<OwnedFd>>>>,
}

/// How many threads wait for the disk at once: more gain little and hold more files open.
const WAITING_HANDS: usize = 8;
/// How many bytes are read at a time.
const PIECE: usize = 256 << 10;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

impl RealDisk {
    pub(crate) fn new(root: OwnedFd) -> Self {
        Self { root: Arc::new(root), pins: None }
    }

    /// Opens the folder, part by part.
    fn folder(&self, path: Option<&RelPath>) -> io::Result<Arc<OwnedFd>> {
        let Some(path) = path else { return Ok(self.root.clone()) };
        if let Some(open) = self.pin(path.as_str()) {
            return Ok(open);
        }
        let above = self.folder(path.parent().as_ref())?;
        let open = retry_on_intr(|| fs::openat(&above, path.file_name(), FOLDER, Mode::empty()))?;
        let open = Arc::new(open);
        match &self.pins {
            // Of two threads that opened it the first one's stays.
            Some(pins) => {
                let mut pins = pins.write().unwrap_or_else(PoisonError::into_inner);
                Ok(pins.entry(path.as_str().to_owned()).or_insert(open).clone())
            }
            None => Ok(open),
        }
    }

    /// The folder, where it is open to stay the same.
    fn pin(&self, path: &str) -> Option<Arc<OwnedFd>> {
        let pins = self.pins.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
        pins.get(path).cloned()
    }

    fn parent(&self, path: &RelPath) -> io::Result<Arc<OwnedFd>> {
        let Some((above, _)) = path.as_str().rsplit_once('/') else { return Ok(self.root.clone()) };
        match self.pin(above) {
            Some(open) => Ok(open),
            None => self.folder(path.parent().as_ref()),
        }
    }

    /// The folders of two files, which often are one.
    fn parents(&self, a: &RelPath, b: &RelPath) -> io::Result<(Arc<OwnedFd>, Arc<OwnedFd>)> {
        let above = |path: &RelPath| path.as_str().rfind('/');
        let first = self.parent(a)?;
        let same = above(a) == above(b)
            && above(a).is_none_or(|end| a.as_str()[..end] == b.as_str()[..end]);
        let second = if same { first.clone() } else { self.parent(b)? };
        Ok((first, second))
    }

    fn look_at(
        &self,
        path: &RelPath,
        kind: FileKind,
        attributes: bool,
    ) -> io::Result<Option<(Stat, Option<Hash>)>> {
        let opened = match kind {
            FileKind::File => self.open(path, OFlags::RDONLY, Mode::empty()),
            FileKind::Symlink => return (self as &dyn Disk).stat_and_hash(path, kind),
        };
        // Something else than a file, or nothing: the other way tells which.
        let Ok(file) = opened else { return (self as &dyn Disk).stat_and_hash(path, kind) };
        let mut stat = as_stat(&fs::fstat(&file)?);
        if stat.kind != EntryKind::File {
            return Ok(Some((stat, None)));
        }
        stat.bare = attributes && is_bare(&file);
        let mut hasher = blake3::Hasher::new();
        read_all(&file, usize::try_from(stat.len).unwrap_or(0), &mut |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        Ok(Some((stat, Some(Hash::of_all(&hasher)))))
    }

    fn open(&self, path: &RelPath, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let folder = self.parent(path)?;
        Ok(retry_on_intr(|| fs::openat(&folder, path.file_name(), FILE | flags, mode))?)
    }

    /// Opens a regular file and nothing else; a fifo would block and a device would act.
    fn open_file(&self, path: &RelPath, flags: OFlags) -> io::Result<OwnedFd> {
        let file = self.open(path, flags, Mode::empty())?;
        match FileType::from_raw_mode(fs::fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file),
            _other => Err(Errno::INVAL.into()),
        }
    }

    fn unlink(&self, path: &RelPath, flags: AtFlags) -> io::Result<()> {
        let folder = self.parent(path)?;
        Ok(fs::unlinkat(&folder, path.file_name(), flags)?)
    }
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| rustix::io::write(file, bytes))?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Reads to the end. A read that stops short where the file ends spares the one that finds nothing.
fn read_all(file: &OwnedFd, len: usize, take: Take<'_>) -> io::Result<()> {
    let mut buffer = vec![0; len.saturating_add(1).min(PIECE)];
    let mut total = 0;
    loop {
        match retry_on_intr(|| rustix::io::read(file, &mut buffer[..]))? {
            0 => return Ok(()),
            read => {
                take(&buffer[..read])?;
                total += read;
                if total == len && read < buffer.len() {
                    return Ok(());
                }
            }
        }
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the widths differ between systems"
)]
pub(super) fn as_stat(stat: &fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Symlink,
        FileType::Directory => EntryKind::Folder,
        _other => EntryKind::Other,
    };
    let mode = match kind {
        EntryKind::Symlink => 0o777,
        EntryKind::File | EntryKind::Folder | EntryKind::Other => {
            u32::from(Mode::from_raw_mode(stat.st_mode).bits()) & 0o7777
        }
    };
    Stat {
        kind,
        len: stat.st_size as u64,
        mode,
        links: u64::from(stat.st_nlink),
        identity: (stat.st_dev as u64, u64::from(stat.st_ino)),
        owner: (stat.st_uid, stat.st_gid),
        bare: false,
    }
}

impl Disk for RealDisk {
    fn stat(&self, path: &RelPath) -> io::Result<Stat> {
        let folder = self.parent(path)?;
        Ok(as_stat(&fs::statat(&folder, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read(&self, path: &RelPath) -> io::Result<Vec<u8>> {
        use std::io::Read as _;
        let mut file = std::fs::File::from(self.open_file(path, OFlags::RDONLY)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_through(&self, path: &RelPath, take: Take<'_>) -> io::Result<()> {
        let file = self.open_file(path, OFlags::RDONLY)?;
        let len = fs::fstat(&file)?.st_size;
        read_all(&file, usize::try_from(len).unwrap_or(0), take)
    }

    fn read_link(&self, path: &RelPath) -> io::Result<String> {
        let folder = self.parent(path)?;
        let target = fs::readlinkat(&folder, path.file_name(), Vec::new())?;
        target.into_string().map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidData, "the link's target is not UTF-8")
        })
    }

    fn list(&self, folder: Option<&RelPath>) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.folder(folder)?)? {
            if let Ok(name) = entry?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &RelPath, bytes: &[u8], mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as _);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        // Nobody else may read it before it has the owner and mode that it is to have.
        let file = self.open(path, flags, mode & Mode::RWXU)?;
        let filled = write_all(&file, bytes).and_then(|()| Ok(fs::fchmod(&file, mode)?));
        if filled.is_err() {
            // Half a file is worse than none; the error that matters is the one before.
            let _ = self.unlink(path, AtFlags::empty());
        }
        filled
    }

    fn create_link(&self, path: &RelPath, target: &str) -> io::Result<()> {
        let folder = self.parent(path)?;
        Ok(fs::symlinkat(target, &folder, path.file_name())?)
    }

    fn read_part(&self, path: &RelPath, at: u64, len: usize) -> io::Result<Vec<u8>> {
        use std::io::{Read as _, Seek as _};
        let mut file = std::fs::File::from(self.open_file(path, OFlags::RDONLY)?);
        file.seek(io::SeekFrom::Start(at))?;
        let mut part = Vec::with_capacity(len);
        file.take(len as u64).read_to_end(&mut part)?;
        Ok(part)
    }

    fn overwrite(&self, path: &RelPath, feed: Feed<'_>) -> io::Result<()> {
        let file = self.open_file(path, OFlags::WRONLY)?;
        let stat = fs::fstat(&file)?;
        let mut len = 0;
        feed(&mut |piece| {
            len += piece.len() as u64;
            write_all(&file, piece)
        })?;
        fs::ftruncate(&file, len)?;
        // Writing clears the set-id bits.
        if fs::fstat(&file)?.st_mode != stat.st_mode {
            fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode))?;
        }
        Ok(())
    }

    fn append(&self, path: &RelPath, bytes: &[u8]) -> io::Result<()> {
        write_all(&self.open_file(path, OFlags::WRONLY | OFlags::APPEND)?, bytes)
    }

    fn may_write(&self, path: &RelPath) -> io::Result<()> {
        let folder = self.parent(path)?;
        Ok(fs::accessat(&folder, path.file_name(), Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    fn may_rename_in(&self, folder: Option<&RelPath>) -> io::Result<()> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        Ok(fs::accessat(self.folder(folder)?, ".", access, AtFlags::EACCESS)?)
    }

    fn can_own(&self, owner: (u32, u32)) -> bool {
        let user = rustix::process::geteuid();
        user.is_root()
            || (user.as_raw() == owner.0
                && (rustix::process::getegid().as_raw() == owner.1
                    || rustix::process::getgroups()
                        .is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == owner.1))))
    }

    fn reads_anything(&self) -> bool {
        rustix::process::geteuid().is_root()
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let file = self
            .open_file(path, OFlags::RDONLY)
            .or_else(|_| self.open_file(path, OFlags::WRONLY))?;
        Ok(fs::fchmod(&file, Mode::from_raw_mode(mode as _))?)
    }

    fn sync(&self, path: &RelPath) -> io::Result<()> {
        let file = self
            .open_file(path, OFlags::RDONLY)
            .or_else(|_| self.open_file(path, OFlags::WRONLY))?;
        Ok(retry_on_intr(|| fs::fsync(&file))?)
    }

    fn sync_folder(&self, folder: Option<&RelPath>) -> io::Result<()> {
        let folder = self.folder(folder)?;
        Ok(retry_on_intr(|| fs::fsync(&folder))?)
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let (old, new) = self.parents(from, to)?;
        Ok(fs::renameat(&old, from.file_name(), &new, to.file_name())?)
    }

    fn rename_new(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let (old, new) = self.parents(from, to)?;
        Ok(fs::renameat_with(&old, from.file_name(), &new, to.file_name(), RenameFlags::NOREPLACE)?)
    }

    fn exchange(&self, a: &RelPath, b: &RelPath) -> io::Result<()> {
        let (old, new) = self.parents(a, b)?;
        Ok(fs::renameat_with(&old, a.file_name(), &new, b.file_name(), RenameFlags::EXCHANGE)?)
    }

    fn link(&self, existing: &RelPath, new: &RelPath) -> io::Result<()> {
        let (old, dest) = (self.parent(existing)?, self.parent(new)?);
        Ok(fs::linkat(&old, existing.file_name(), &dest, new.file_name(), AtFlags::empty())?)
    }

    fn remove(&self, path: &RelPath) -> io::Result<()> {
        self.unlink(path, AtFlags::empty())
    }

    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let folder = self.parent(path)?;
        Ok(fs::mkdirat(&folder, path.file_name(), Mode::from_raw_mode(mode as _))?)
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.unlink(path, AtFlags::REMOVEDIR)?;
        if let Some(pins) = &self.pins {
            pins.write().unwrap_or_else(PoisonError::into_inner).remove(path.as_str());
        }
        Ok(())
    }

    fn try_lock(&self, path: &RelPath) -> io::Result<LockAttempt> {
        use std::io::{Read as _, Seek as _, Write as _};
        let flags = OFlags::RDWR | OFlags::CREATE;
        let mut file = std::fs::File::from(self.open(path, flags, Mode::RUSR | Mode::WUSR)?);
        match file.try_lock() {
            Ok(()) => {
                // The number only says who; on a full disk the lock is held all the same, so that
                // an interrupted commit can be taken back there.
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| writeln!(file, "{}", std::process::id()));
                Ok(LockAttempt::Taken(Box::new(file)))
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                let holder =
                    file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Ok(LockAttempt::Held(holder))
            }
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn look(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>> {
        self.look_at(path, kind, false)
    }

    fn examine(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>> {
        self.look_at(path, kind, true)
    }

    fn prepare(&self, new: &NewFile<'_>) -> Result<(), Unmade> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let bare = new.lender.filter(|lender| lender.bare);
        let first = first_mode(new, bare);
        let file = self.open(new.path, flags, first).map_err(Unmade::of("create"))?;
        new.content.pieces(&mut |piece| write_all(&file, piece)).map_err(Unmade::of("create"))?;
        // The mode as it is now, where nothing after this can change it but the last step.
        let is = match (new.like, bare) {
            (Some(_), Some(lender)) => give_owner(&file, lender.owner).map_err(Unmade::of_like)?,
            (Some(like), None) => {
                let copied = self
                    .open_file(like, OFlags::RDONLY)
                    .and_then(|source| copy_attributes(&source, &file));
                copied.map_err(Unmade::of_like)?;
                None
            }
            (None, _) => fs::fstat(&file).ok().map(|is| as_stat(&is).mode),
        };
        // Last, because a change of owner clears the set-id bits and an access list brings its own
        // idea of the mode.
        if is != Some(new.mode) {
            fs::fchmod(&file, Mode::from_raw_mode(new.mode as _))
                .map_err(|errno| Unmade::of("set the mode of")(errno.into()))?;
        }
        if new.durable {
            retry_on_intr(|| fs::fsync(&file)).map_err(|errno| Unmade::of("sync")(errno.into()))?;
        }
        Ok(())
    }

    fn hands(&self, waits: bool) -> usize {
        if waits {
            return WAITING_HANDS;
        }
        std::thread::available_parallelism().map_or(1, usize::from).min(WAITING_HANDS)
    }

    fn scratch(&self) -> io::Result<std::fs::File> {
        let state = RelPath::new(STATE_FOLDER)
            .unwrap_or_else(|_| unreachable!("the name of the state folder is plain"));
        let made = match self.folder(Some(&state)) {
            Ok(folder) => nameless(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        made.map_or_else(private_scratch, Ok)
    }

    fn pinned(&self) -> Arc<dyn Disk> {
        Arc::new(RealDisk { root: self.root.clone(), pins: Some(RwLock::default()) })
    }
}
