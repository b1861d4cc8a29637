//! Finding the files of a call: ignore files respected, sorted, each once, nothing outside.
//!
//! The walk is on several threads, and each looks into the files that it finds: what cannot hold a
//! match by its bytes alone is counted and not looked at again. For most calls that is nearly
//! everything, so that a search for something absent costs what a search for a text does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use rustix::fs::{Mode, OFlags};
use xd_changeset::{RelPath, Root};

use crate::language::Lang;
use crate::op::{Op, Program};
use crate::request::{Control, Limits, Progress, ProposeError};

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) path: RelPath,
    pub(crate) lang: Lang,
}

/// What the paths of a call name.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The files of a language that can be parsed and that may hold a match, sorted by path.
    pub(crate) jobs: Vec<Job>,
    /// How many files of each language there are, those without a match included.
    pub(crate) langs: BTreeMap<&'static str, (Lang, usize)>,
    /// Files that were named one by one and whose language is not known.
    pub(crate) no_language: Vec<RelPath>,
    /// Files of a language that can be parsed whose names are not UTF-8, as these are shown.
    pub(crate) unnameable: BTreeSet<RelPath>,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    /// Each file with its language and whether it may hold a match; a file may be here twice.
    files: Vec<(RelPath, Lang, bool)>,
    unnameable: BTreeSet<RelPath>,
}

/// How a call searches.
pub(crate) struct Search<'a> {
    pub(crate) root: &'a Root,
    /// The one language that is asked for.
    pub(crate) only: Option<Lang>,
    pub(crate) programs: &'a Programs<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) control: &'a Control<'a>,
}

/// Collects the files that `paths` name below `root`, of `only` where it is given.
///
/// Folders are walked as people expect: what `.gitignore`, `.ignore` and the repository's exclude
/// file name is left out, so are hidden files and links; `.xd` and `.git` always. What is named
/// itself is taken also where it is hidden or ignored: a file, and a folder with all in it that is
/// not ignored for a reason of its own. A glob names nothing itself: what it finds is neither
/// ignored nor in an ignored folder. The user's global git settings are not read: they are of the
/// environment, and a result should not depend on them.
pub(crate) fn collect(search: &Search<'_>, paths: &[String]) -> Result<Files, ProposeError> {
    let Search { root, only, .. } = *search;
    if paths.is_empty() {
        return Err(ProposeError::NoPaths);
    }
    let mut found = Found::default();
    let mut no_language = Vec::new();
    for (index, operand) in paths.iter().enumerate() {
        let relative = root
            .relative_or_root(operand)
            .map_err(|source| ProposeError::Path { index, source })?;
        let Some(relative) = relative else {
            walk(search, root.path(), None, &mut found)?;
            continue;
        };
        if relative.is_protected() {
            return Err(ProposeError::Protected { index, path: operand.clone() });
        }
        let full = root.path().join(relative.as_str());
        // The paths module has checked that links stay inside; here the link's end counts.
        match std::fs::canonicalize(&full) {
            Ok(real) => {
                let real_path = real.strip_prefix(root.path()).ok().and_then(Path::to_str);
                let Some(relative) = real_path.and_then(|path| RelPath::new(path).ok()) else {
                    return Err(ProposeError::Missing { index, path: operand.clone() });
                };
                if relative.is_protected() {
                    return Err(ProposeError::Protected { index, path: operand.clone() });
                }
                if real.is_dir() {
                    walk(search, &real, None, &mut found)?;
                } else {
                    match only.or_else(|| Lang::of_path(&real)) {
                        Some(lang) => found.files.push((relative, lang, true)),
                        None => no_language.push(relative),
                    }
                }
            }
            Err(_) if operand.contains(['*', '?', '[', '{']) => {
                let glob = glob_of(root, &relative).map_err(|reason| ProposeError::Glob {
                    index,
                    path: operand.clone(),
                    reason,
                })?;
                let folder = folder_of(root, &relative);
                if !folder.exists() {
                    return Err(ProposeError::Missing { index, path: operand.clone() });
                }
                if !is_ignored(root, &folder) {
                    walk(search, &folder, Some(&glob), &mut found)?;
                }
            }
            Err(_) => return Err(ProposeError::Missing { index, path: operand.clone() }),
        }
    }
    // Of a file that is there twice, the one that is to be looked at comes first.
    found.files.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.2.cmp(&a.2)));
    found.files.dedup_by(|later, first| later.0 == first.0);
    let mut langs = BTreeMap::new();
    for (_, lang, _) in &found.files {
        langs.entry(lang.name()).or_insert((*lang, 0)).1 += 1;
    }
    let jobs = found.files.into_iter().filter(|(_, _, keep)| *keep);
    let jobs = jobs.map(|(path, lang, _)| Job { path, lang }).collect();
    Ok(Files { jobs, langs, no_language, unnameable: found.unnameable })
}

fn glob_of(root: &Root, glob: &RelPath) -> Result<Override, String> {
    let mut builder = OverrideBuilder::new(root.path());
    builder.add(&format!("/{glob}")).map_err(|error| error.to_string())?;
    builder.build().map_err(|error| error.to_string())
}

/// The deepest folder of a glob that has no glob in its name: all matches are below it.
fn folder_of(root: &Root, glob: &RelPath) -> std::path::PathBuf {
    let plain = glob.parts().take_while(|part| !part.contains(['*', '?', '[', '{']));
    plain.fold(root.path().to_owned(), |folder, part| folder.join(part))
}

fn walker(folder: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(folder);
    walker.follow_links(false).git_global(false).require_git(false);
    walker
}

/// Whether ignore files name `folder` or one that it is in. A walk that begins in a folder does
/// not ask this of the folder itself. That it is hidden does not count: the glob spells its name.
fn is_ignored(root: &Root, folder: &Path) -> bool {
    let end = folder.to_owned();
    let reached = walker(root.path())
        .hidden(false)
        .filter_entry(move |entry| end.starts_with(entry.path()))
        .build()
        .flatten()
        .any(|entry| entry.path() == folder);
    !reached
}

/// The language of a file, also of one whose name is not UTF-8 throughout.
fn lang_of(path: &Path) -> Option<Lang> {
    Lang::of_path(Path::new(path.file_name()?.to_string_lossy().as_ref()))
}

/// A name that is not UTF-8, with the bytes that are not written as `\xNN`.
fn shown(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn walk(
    search: &Search<'_>,
    folder: &Path,
    glob: Option<&Override>,
    found: &mut Found,
) -> Result<(), ProposeError> {
    let walker = walker(folder)
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some(".git" | ".xd")))
        .threads(search.limits.threads_used())
        .build_parallel();
    let all = Mutex::new(found);
    let progress = AtomicUsize::new(0);
    let passed = AtomicUsize::new(0);
    walker.visit(&mut Visitors { search, glob, all: &all, seen: &progress, passed: &passed });
    if (search.control.cancelled)() {
        return Err(ProposeError::Cancelled);
    }
    Ok(())
}

/// Makes a visitor for each thread of a walk.
struct Visitors<'w, 'f> {
    search: &'w Search<'w>,
    glob: Option<&'w Override>,
    all: &'w Mutex<&'f mut Found>,
    /// Files found.
    seen: &'w AtomicUsize,
    /// Files found that cannot hold a match.
    passed: &'w AtomicUsize,
}

impl<'w, 'f: 'w> ParallelVisitorBuilder<'w> for Visitors<'w, 'f> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'w> {
        Box::new(Visitor {
            search: self.search,
            glob: self.glob,
            all: self.all,
            seen: self.seen,
            passed: self.passed,
            found: Found::default(),
            bytes: Vec::new(),
        })
    }
}

struct Visitor<'w, 'f> {
    search: &'w Search<'w>,
    glob: Option<&'w Override>,
    all: &'w Mutex<&'f mut Found>,
    seen: &'w AtomicUsize,
    passed: &'w AtomicUsize,
    found: Found,
    /// The bytes of the file at hand.
    bytes: Vec<u8>,
}

impl ParallelVisitor for Visitor<'_, '_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if (self.search.control.cancelled)() {
            return WalkState::Quit;
        }
        // A folder that cannot be read, or goes meanwhile, holds nothing that could be changed.
        if let Ok(entry) = entry
            && entry.file_type().is_some_and(|kind| kind.is_file())
        {
            self.file(entry.path());
        }
        WalkState::Continue
    }
}

impl Visitor<'_, '_> {
    fn file(&mut self, path: &Path) {
        let Search { root, only, programs, limits, control } = *self.search;
        let Some(lang) = lang_of(path).filter(|lang| only.is_none_or(|only| only == *lang)) else {
            return;
        };
        if self.glob.is_some_and(|glob| !glob.matched(path, false).is_whitelist()) {
            return;
        }
        let Ok(relative) = path.strip_prefix(root.path()) else { return };
        let Some(name) = relative.to_str() else {
            self.found.unnameable.extend(RelPath::new(&shown(relative.as_os_str())).ok());
            return;
        };
        let Some(relative) = RelPath::new(name).ok().filter(|path| !path.is_protected()) else {
            return;
        };
        let keep =
            programs.get(lang).may_match_file(path, name, limits.file_bytes, &mut self.bytes);
        self.found.files.push((relative, lang, keep));
        let files = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        let seen =
            self.passed.fetch_add(usize::from(!keep), Ordering::Relaxed) + usize::from(!keep);
        (control.progress)(Progress { files, seen: seen.min(files), matched: 0 });
    }
}

impl Drop for Visitor<'_, '_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.found.files);
        all.unnameable.append(&mut self.found.unnameable);
    }
}

/// The operations of a call, compiled for each language when its first file is found.
#[derive(Debug)]
pub(crate) struct Programs<'o> {
    ops: &'o [Op],
    compiled: Vec<OnceLock<Program>>,
}

impl<'o> Programs<'o> {
    /// None compiled yet.
    pub(crate) fn new(ops: &'o [Op]) -> Self {
        Self { ops, compiled: (0..Lang::SLOTS).map(|_| OnceLock::new()).collect() }
    }

    /// The program of a language.
    pub(crate) fn get(&self, lang: Lang) -> &Program {
        self.compiled[lang.slot()].get_or_init(|| Program::compile(lang, self.ops))
    }
}

impl Program {
    /// Whether the file at `path`, called `name` below the root, may hold a match. A file that
    /// cannot be read, or is too large, may: it is to be told.
    fn may_match_file(&self, path: &Path, name: &str, limit: u64, bytes: &mut Vec<u8>) -> bool {
        let mut ops = self.ops.iter().filter(|op| op.is_for(name)).peekable();
        if ops.peek().is_none() {
            return false;
        }
        // A path that has become a pipe meanwhile must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(handle) = rustix::fs::open(path, flags, Mode::empty()) else { return true };
        let file = File::from(handle);
        bytes.clear();
        match file.take(limit.saturating_add(1)).read_to_end(bytes) {
            Ok(read) if read as u64 <= limit => ops.any(|op| op.may_match(bytes)),
            Ok(_) | Err(_) => true,
        }
    }
}
