//! The operations of the simulated disk.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::super::{Disk, EntryKind, Feed, LockAttempt, NewFile, Stat, Take, Unmade};
use super::{Data, NameChange, Node, SimDisk};
use crate::{FileKind, Hash, RelPath};

impl SimDisk {
    /// Gives `to` the owner and attributes of `from`.
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("copy_attributes", to, true)?.or_nothing()?;
            let label = state.file(from)?.live.label.clone();
            state.file(to)?.live.label = label;
            Ok(())
        })
    }

    /// What somebody else writes, at once.
    pub(crate) fn overwrite_all(&self, path: &RelPath, bytes: &[u8]) -> io::Result<()> {
        self.overwrite(path, &mut |take| take(bytes))
    }

    fn overwrite_part(&self, path: &RelPath, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.with(|state| {
            let effect = state.begin("overwrite", path, true)?;
            let part = effect.part(bytes);
            let live = &mut state.file(path)?.live.bytes;
            if live.len() < at {
                // Somebody else cut it off meanwhile: a hole.
                live.resize(at, 0);
            }
            let covered = part.len().min(live.len() - at);
            live[at..at + covered].copy_from_slice(&part[..covered]);
            live.extend_from_slice(&part[covered..]);
            effect.or_nothing()
        })
    }

    /// A whole file step by step, so that each can fail and be stopped at.
    fn prepare_file(&self, new: &NewFile<'_>) -> Result<(), Unmade> {
        let NewFile { path, content, mode, like, lender: _, durable } = *new;
        match content.slice() {
            Some(bytes) => self.create(path, bytes, mode).map_err(Unmade::of("create"))?,
            None => {
                self.create(path, &[], 0o600).map_err(Unmade::of("create"))?;
                // In little pieces, of which one may be lost.
                let append = &mut |piece: &[u8]| {
                    piece.chunks(7).try_for_each(|little| self.append(path, little))
                };
                content.pieces(append).map_err(Unmade::of("create"))?;
                self.set_mode(path, mode).map_err(Unmade::of("set the mode of"))?;
            }
        }
        if let Some(like) = like {
            self.copy_attributes(like, path).map_err(Unmade::of_like)?;
            if self.stat(path).map_err(Unmade::of("look at"))?.mode != mode {
                self.set_mode(path, mode).map_err(Unmade::of("set the mode of"))?;
            }
        }
        if durable { self.sync(path).map_err(Unmade::of("sync")) } else { Ok(()) }
    }
}

impl Disk for SimDisk {
    fn stat(&self, path: &RelPath) -> io::Result<Stat> {
        self.with(|state| {
            state.begin("stat", path, false)?;
            let ino = state.find(Some(path))?;
            let node = &state.nodes[&ino];
            let mode = if node.kind == EntryKind::Symlink { 0o777 } else { node.live.mode };
            Ok(Stat {
                kind: node.kind,
                len: node.live.bytes.len() as u64,
                mode,
                links: if node.kind == EntryKind::Folder { 1 } else { state.count(ino) as u64 },
                identity: (state.device(path), ino),
                owner: (0, 0),
                bare: false,
            })
        })
    }

    fn read(&self, path: &RelPath) -> io::Result<Vec<u8>> {
        self.with(|state| {
            state.begin("read", path, false)?;
            Ok(state.file(path)?.live.bytes.clone())
        })
    }

    fn read_through(&self, path: &RelPath, take: Take<'_>) -> io::Result<()> {
        // In two pieces, so that nobody counts on one.
        let bytes = self.read(path)?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        take(first)?;
        take(second)
    }

    fn read_link(&self, path: &RelPath) -> io::Result<String> {
        self.with(|state| {
            state.begin("read_link", path, false)?;
            let ino = state.find(Some(path))?;
            String::from_utf8(state.nodes[&ino].live.bytes.clone()).map_err(|_| Errno::INVAL.into())
        })
    }

    fn list(&self, folder: Option<&RelPath>) -> io::Result<Vec<String>> {
        self.with(|state| {
            state.begin("list", &"folder", false)?;
            let ino = state.find(folder)?;
            Ok(state.nodes[&ino].names.keys().cloned().collect())
        })
    }

    fn create(&self, path: &RelPath, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.with(|state| {
            let effect = state.begin("create", path, true)?;
            let stopped = state.stop_at.is_some_and(|at| state.changes > at);
            if !stopped {
                // The real disk removes the half of a file that could not be written.
                effect.or_nothing()?;
            }
            state.spend(bytes.len())?;
            let data = Data { bytes: effect.part(bytes).to_vec(), mode, label: String::new() };
            state.add(path, Node::new(EntryKind::File, data))?;
            effect.or_nothing()
        })
    }

    fn create_link(&self, path: &RelPath, target: &str) -> io::Result<()> {
        self.with(|state| {
            state.begin("create_link", path, true)?.or_nothing()?;
            let data =
                Data { bytes: target.as_bytes().to_vec(), mode: 0o777, label: String::new() };
            state.add(path, Node::new(EntryKind::Symlink, data))
        })
    }

    fn read_part(&self, path: &RelPath, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes[at..(at + len).min(bytes.len())].to_vec())
    }

    fn overwrite(&self, path: &RelPath, feed: Feed<'_>) -> io::Result<()> {
        let mut at = 0;
        feed(&mut |piece| {
            self.overwrite_part(path, at, piece)?;
            at += piece.len();
            Ok(())
        })?;
        self.with(|state| {
            state.begin("cut", path, true)?.or_nothing()?;
            state.file(path)?.live.bytes.truncate(at);
            Ok(())
        })
    }

    fn append(&self, path: &RelPath, bytes: &[u8]) -> io::Result<()> {
        self.with(|state| {
            let effect = state.begin("append", path, true)?;
            state.spend(bytes.len())?;
            state.file(path)?.live.bytes.extend_from_slice(effect.part(bytes));
            effect.or_nothing()
        })
    }

    fn may_write(&self, _path: &RelPath) -> io::Result<()> {
        Ok(())
    }

    fn may_rename_in(&self, _folder: Option<&RelPath>) -> io::Result<()> {
        Ok(())
    }

    fn can_own(&self, _owner: (u32, u32)) -> bool {
        true
    }

    fn reads_anything(&self) -> bool {
        true
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.with(|state| {
            state.begin("set_mode", path, true)?.or_nothing()?;
            state.file(path)?.live.mode = mode;
            Ok(())
        })
    }

    fn sync(&self, path: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("sync", path, true)?.or_nothing()?;
            let node = state.file(path)?;
            node.safe = Some(node.live.clone());
            Ok(())
        })
    }

    fn sync_folder(&self, folder: Option<&RelPath>) -> io::Result<()> {
        self.with(|state| {
            let name = folder.map_or(".", RelPath::as_str).to_owned();
            state.begin("sync_folder", &name, true)?.or_nothing()?;
            let ino = state.find(folder)?;
            let mut waiting: Vec<Vec<NameChange>> = Vec::new();
            for change in std::mem::take(&mut state.pending) {
                if !change.iter().any(|(folder, _, _)| *folder == ino) {
                    waiting.push(change);
                    continue;
                }
                // What is safe of a name now must not be overtaken by what it was before.
                let settled: BTreeSet<_> =
                    change.iter().map(|(folder, name, _)| (*folder, name.clone())).collect();
                for earlier in &mut waiting {
                    earlier.retain(|(folder, name, _)| !settled.contains(&(*folder, name.clone())));
                }
                state.make_safe(change);
            }
            state.pending = waiting;
            Ok(())
        })
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("rename", to, true)?.or_nothing()?;
            state.same_device(from, to)?;
            let ino = state.find(Some(from))?;
            if state.there(to)? == Some(ino) {
                return Ok(());
            }
            state.rename_to(vec![(from, None), (to, Some(ino))])
        })
    }

    fn rename_new(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("rename_new", to, true)?.or_nothing()?;
            if state.quirks.no_rename_new {
                return Err(Errno::INVAL.into());
            }
            state.same_device(from, to)?;
            let ino = state.find(Some(from))?;
            if state.there(to)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            state.rename_to(vec![(from, None), (to, Some(ino))])
        })
    }

    fn exchange(&self, a: &RelPath, b: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("exchange", b, true)?.or_nothing()?;
            if state.quirks.no_exchange {
                return Err(Errno::INVAL.into());
            }
            state.same_device(a, b)?;
            let (left, right) = (state.find(Some(a))?, state.find(Some(b))?);
            state.rename_to(vec![(a, Some(right)), (b, Some(left))])
        })
    }

    fn link(&self, existing: &RelPath, new: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("link", new, true)?.or_nothing()?;
            if state.quirks.no_links {
                return Err(Errno::PERM.into());
            }
            state.same_device(existing, new)?;
            let ino = state.find(Some(existing))?;
            if state.there(new)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            state.rename_to(vec![(new, Some(ino))])
        })
    }

    fn remove(&self, path: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("remove", path, true)?.or_nothing()?;
            let ino = state.find(Some(path))?;
            if state.nodes[&ino].kind == EntryKind::Folder {
                return Err(Errno::ISDIR.into());
            }
            state.rename_to(vec![(path, None)])
        })
    }

    fn make_folder(&self, path: &RelPath, _mode: u32) -> io::Result<()> {
        self.with(|state| {
            state.begin("make_folder", path, true)?.or_nothing()?;
            state.add(path, Node::new(EntryKind::Folder, Data::default()))
        })
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.with(|state| {
            state.begin("remove_folder", path, true)?.or_nothing()?;
            let ino = state.find(Some(path))?;
            match &state.nodes[&ino] {
                node if node.kind != EntryKind::Folder => Err(Errno::NOTDIR.into()),
                node if !node.names.is_empty() => Err(Errno::NOTEMPTY.into()),
                _empty => state.rename_to(vec![(path, None)]),
            }
        })
    }

    fn try_lock(&self, _path: &RelPath) -> io::Result<LockAttempt> {
        Ok(LockAttempt::Taken(Box::new(())))
    }

    fn look(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>> {
        (self as &dyn Disk).stat_and_hash(path, kind)
    }

    fn examine(&self, path: &RelPath, kind: FileKind) -> io::Result<Option<(Stat, Option<Hash>)>> {
        self.look(path, kind)
    }

    fn prepare(&self, new: &NewFile<'_>) -> Result<(), Unmade> {
        self.prepare_file(new)
    }

    fn hands(&self, _waits: bool) -> usize {
        1
    }

    fn scratch(&self) -> io::Result<std::fs::File> {
        match self.with(|state| state.quirks.no_scratch) {
            // A disk on which every write answers that it is full.
            true => std::fs::File::options().read(true).write(true).open("/dev/full"),
            false => tempfile::tempfile(),
        }
    }

    fn pinned(&self) -> Arc<dyn Disk> {
        Arc::new(self.clone())
    }
}
