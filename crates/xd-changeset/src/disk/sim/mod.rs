//! A simulated disk that can stop at any operation, lose, reorder and tear what was not synced,
//! and fail any operation with any error.
//!
//! A file's bytes, mode and attributes are safe once the file is synced; a name is safe once its
//! folder is. At a stop every name change that is not safe is kept or lost by itself, whatever
//! came before or after it, and every content that is not safe becomes the old one, the new one,
//! or a mixture with bytes never written. Harsher than any file system that people use.

mod operations;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::EntryKind;
use crate::RelPath;

/// The disk; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug, Clone)]
pub(crate) struct State {
    nodes: BTreeMap<u64, Node>,
    next: u64,
    /// How many names each file has.
    links: BTreeMap<u64, usize>,
    /// Name changes that are not safe yet, in order. Each is atomic.
    pending: Vec<Vec<NameChange>>,
    pub(crate) quirks: Quirks,
    /// Changing operations so far, and all operations so far.
    pub(crate) changes: usize,
    pub(crate) operations: usize,
    /// The changing operation at which the machine stops.
    pub(crate) stop_at: Option<usize>,
    /// The operation that fails, how, and whether all later ones fail too.
    pub(crate) fault: Option<(usize, Errno, Lasting)>,
    /// Before this operation somebody else writes these bytes into this file, if it is there.
    pub(crate) meddler: Option<(usize, RelPath, Vec<u8>)>,
    pub(crate) log: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Once,
    ForEver,
}

/// What the file system cannot do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quirks {
    pub(crate) no_exchange: bool,
    pub(crate) no_rename_new: bool,
    pub(crate) no_links: bool,
    /// A folder that is a file system of its own.
    pub(crate) mounted: Option<&'static str>,
    /// Nothing can be kept beside the files while a change set is staged.
    pub(crate) no_scratch: bool,
    /// Bytes that may still be written.
    pub(crate) room: Option<usize>,
    /// A folder in which no name can be changed.
    pub(crate) sealed: Option<&'static str>,
}

type NameChange = (u64, String, Option<u64>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Data {
    bytes: Vec<u8>,
    mode: u32,
    label: String,
}

#[derive(Debug, Clone)]
struct Node {
    kind: EntryKind,
    live: Data,
    /// What a stop certainly leaves; none where it was never synced.
    safe: Option<Data>,
    names: BTreeMap<String, u64>,
    safe_names: BTreeMap<String, u64>,
}

impl Node {
    fn new(kind: EntryKind, live: Data) -> Self {
        Self { kind, live, safe: None, names: BTreeMap::new(), safe_names: BTreeMap::new() }
    }
}

const ROOT: u64 = 0;

impl Default for State {
    fn default() -> Self {
        let root = Node::new(EntryKind::Folder, Data::default());
        Self {
            nodes: [(ROOT, root)].into(),
            next: 1,
            links: BTreeMap::new(),
            pending: Vec::new(),
            quirks: Quirks::default(),
            changes: 0,
            operations: 0,
            stop_at: None,
            fault: None,
            meddler: None,
            log: Vec::new(),
        }
    }
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// Path → kind, bytes, mode, attributes, number of names.
pub(crate) type Picture = BTreeMap<String, (EntryKind, Vec<u8>, u32, String, usize)>;

impl SimDisk {
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An independent copy, as it is now.
    pub(crate) fn fork(&self) -> SimDisk {
        SimDisk(Arc::new(Mutex::new(self.with(|state| state.clone()))))
    }

    /// Everything reaches the disk, as by waiting a minute.
    pub(crate) fn settle(&self) {
        self.with(|state| {
            state.pending.clear();
            for node in state.nodes.values_mut() {
                node.safe = Some(node.live.clone());
                node.safe_names = node.names.clone();
            }
            (state.changes, state.operations, state.log) = (0, 0, Vec::new());
        });
    }

    /// The disk after a power cut: seed 0 loses everything that is not safe, seed 1 keeps all of
    /// it (as when only the process dies), every other seed decides one by one.
    pub(crate) fn after_stop(&self, seed: u64) -> SimDisk {
        let mut state = self.with(|state| state.clone());
        let mut dice = Dice(seed);
        let mut keep = |_: &()| match seed {
            0 => false,
            1 => true,
            _ => dice.roll(2) == 0,
        };
        for change in std::mem::take(&mut state.pending) {
            if keep(&()) {
                state.make_safe(change);
            }
        }
        for node in state.nodes.values_mut() {
            node.names = node.safe_names.clone();
            if node.safe.as_ref() == Some(&node.live) || node.kind == EntryKind::Symlink {
                continue;
            }
            let safe = node.safe.clone().unwrap_or_default();
            node.live = match seed {
                0 => safe,
                1 => node.live.clone(),
                _ => damaged(&safe, &node.live, &mut dice),
            };
            node.safe = Some(node.live.clone());
        }
        let mut links: BTreeMap<u64, usize> = BTreeMap::new();
        for ino in state.nodes.values().flat_map(|node| node.names.values()) {
            *links.entry(*ino).or_default() += 1;
        }
        let fresh = State {
            links,
            nodes: state.nodes,
            next: state.next,
            quirks: state.quirks,
            ..State::default()
        };
        SimDisk(Arc::new(Mutex::new(fresh)))
    }

    /// Everything outside the state folder.
    pub(crate) fn picture(&self) -> Picture {
        self.with(|state| {
            let mut picture = Picture::new();
            state.draw(ROOT, "", &mut picture);
            picture.retain(|path, _| path != ".xd" && !path.starts_with(".xd/"));
            picture
        })
    }
}

/// What a stop may leave of a content that was changed from `safe` to `live`.
fn damaged(safe: &Data, live: &Data, dice: &mut Dice) -> Data {
    const BLOCK: usize = 4;
    let len = match dice.roll(3) {
        0 => safe.bytes.len(),
        1 => live.bytes.len(),
        _ => safe.bytes.len().max(live.bytes.len()),
    };
    let mut bytes = vec![0; len];
    for (block, chunk) in bytes.chunks_mut(BLOCK).enumerate() {
        let source = match dice.roll(3) {
            0 => Some(&safe.bytes),
            1 => Some(&live.bytes),
            _ => None,
        };
        for (at, byte) in chunk.iter_mut().enumerate() {
            let at = block * BLOCK + at;
            let (old, new) = (safe.bytes.get(at), live.bytes.get(at));
            // What the write did not change is not at risk.
            let source =
                source.map_or(if old == new { old } else { None }, |source| source.get(at));
            *byte = source.copied().unwrap_or(0);
        }
    }
    let mode = if dice.roll(2) == 0 { safe.mode } else { live.mode };
    let label = if dice.roll(2) == 0 { safe.label.clone() } else { live.label.clone() };
    Data { bytes, mode, label }
}

impl State {
    fn draw(&self, folder: u64, prefix: &str, picture: &mut Picture) {
        for (name, ino) in &self.nodes[&folder].names {
            let path = format!("{prefix}{name}");
            let node = &self.nodes[ino];
            let names = if node.kind == EntryKind::Folder { 1 } else { self.count(*ino) };
            let data = node.live.clone();
            picture.insert(path.clone(), (node.kind, data.bytes, data.mode, data.label, names));
            if node.kind == EntryKind::Folder {
                self.draw(*ino, &format!("{path}/"), picture);
            }
        }
    }

    fn count(&self, ino: u64) -> usize {
        self.links.get(&ino).copied().unwrap_or(0)
    }

    fn make_safe(&mut self, change: Vec<NameChange>) {
        for (folder, name, value) in change {
            let Some(node) = self.nodes.get_mut(&folder) else { continue };
            match value {
                Some(ino) => node.safe_names.insert(name, ino),
                None => node.safe_names.remove(&name),
            };
        }
    }

    /// Counts an operation and lets it fail where it is to. `true` for one that changes
    /// something: at such a one the machine may stop, and its effect is cut short by then.
    fn begin(
        &mut self,
        what: &str,
        path: &dyn std::fmt::Display,
        changes: bool,
    ) -> io::Result<Effect> {
        let operation = self.operations;
        self.operations += 1;
        if let Some((_, path, bytes)) = self.meddler.take_if(|(at, ..)| *at == operation)
            && let Ok(node) = self.file(&path)
        {
            node.live.bytes = bytes;
        }
        if let Some((at, errno, lasting)) = self.fault {
            let hit = match lasting {
                Lasting::Once => operation == at,
                Lasting::ForEver => operation >= at,
            };
            if hit {
                return if changes { Ok(Effect::CutShort(errno)) } else { Err(errno.into()) };
            }
        }
        if changes {
            self.log.push(format!("{what} {path}"));
            self.changes += 1;
        }
        match self.stop_at {
            Some(at) if self.changes > at + 1 => Err(Errno::IO.into()),
            Some(at) if self.changes == at + 1 => {
                if changes {
                    return Ok(Effect::CutShort(Errno::IO));
                }
                Err(Errno::IO.into())
            }
            Some(_) | None => Ok(Effect::Whole),
        }
    }

    fn find(&self, path: Option<&RelPath>) -> io::Result<u64> {
        let mut at = ROOT;
        for part in path.into_iter().flat_map(RelPath::parts) {
            let node = &self.nodes[&at];
            if node.kind != EntryKind::Folder {
                return Err(Errno::NOTDIR.into());
            }
            at = *node.names.get(part).ok_or(Errno::NOENT)?;
        }
        Ok(at)
    }

    fn folder_of(&self, path: &RelPath) -> io::Result<u64> {
        let folder = self.find(path.parent().as_ref())?;
        match self.nodes[&folder].kind {
            EntryKind::Folder => Ok(folder),
            EntryKind::File | EntryKind::Symlink | EntryKind::Other => Err(Errno::NOTDIR.into()),
        }
    }

    fn file(&mut self, path: &RelPath) -> io::Result<&mut Node> {
        let ino = self.find(Some(path))?;
        match self.nodes.get_mut(&ino) {
            Some(node) if node.kind == EntryKind::File => Ok(node),
            _other => Err(Errno::INVAL.into()),
        }
    }

    /// The file system that a path lies on.
    fn device(&self, path: &RelPath) -> u64 {
        let mounted = self.quirks.mounted.is_some_and(|mounted| {
            path.as_str() == mounted || path.ancestors().any(|above| above.as_str() == mounted)
        });
        1 + u64::from(mounted)
    }

    fn same_device(&self, a: &RelPath, b: &RelPath) -> io::Result<()> {
        if self.device(a) == self.device(b) { Ok(()) } else { Err(Errno::XDEV.into()) }
    }

    fn there(&self, path: &RelPath) -> io::Result<Option<u64>> {
        Ok(self.nodes[&self.folder_of(path)?].names.get(path.file_name()).copied())
    }

    fn rename_to(&mut self, parts: Vec<(&RelPath, Option<u64>)>) -> io::Result<()> {
        let mut change = Vec::new();
        for (path, value) in parts {
            let folder = self.folder_of(path)?;
            if self
                .quirks
                .sealed
                .is_some_and(|sealed| path.parent().is_some_and(|parent| parent.as_str() == sealed))
            {
                return Err(Errno::ACCESS.into());
            }
            change.push((folder, path.file_name().to_owned(), value));
        }
        for (folder, name, value) in &change {
            let names = &mut self.nodes.get_mut(folder).ok_or(Errno::NOENT)?.names;
            let former = match value {
                Some(ino) => names.insert(name.clone(), *ino),
                None => names.remove(name),
            };
            if let Some(count) = former.and_then(|ino| self.links.get_mut(&ino)) {
                *count -= 1;
            }
            if let Some(ino) = value {
                *self.links.entry(*ino).or_default() += 1;
            }
        }
        self.pending.push(change);
        Ok(())
    }

    fn add(&mut self, path: &RelPath, node: Node) -> io::Result<()> {
        if self.there(path)?.is_some() {
            return Err(Errno::EXIST.into());
        }
        let ino = self.next;
        self.next += 1;
        self.nodes.insert(ino, node);
        self.rename_to(vec![(path, Some(ino))])
    }

    fn spend(&mut self, bytes: usize) -> io::Result<()> {
        match &mut self.quirks.room {
            Some(room) if *room < bytes => Err(Errno::NOSPC.into()),
            Some(room) => {
                *room -= bytes;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// How much of a changing operation happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Whole,
    /// Half of the bytes, if it writes any, and then this error.
    CutShort(Errno),
}

impl Effect {
    /// For operations that happen whole or not at all.
    fn or_nothing(self) -> io::Result<()> {
        match self {
            Effect::Whole => Ok(()),
            Effect::CutShort(errno) => Err(errno.into()),
        }
    }

    fn part(self, bytes: &[u8]) -> &[u8] {
        match self {
            Effect::Whole => bytes,
            Effect::CutShort(_) => &bytes[..bytes.len() / 2],
        }
    }
}
