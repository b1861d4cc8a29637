//! Finding the files of a call: ignore files respected, sorted, each once, nothing outside.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use xd_changeset::{RelPath, Root};

use crate::language::Lang;
use crate::request::{Control, ProposeError};

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) path: RelPath,
    pub(crate) lang: Lang,
}

/// What the paths of a call name.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The files of a language that can be parsed, sorted by path.
    pub(crate) jobs: Vec<Job>,
    /// Files that were named one by one and whose language is not known.
    pub(crate) no_language: Vec<RelPath>,
    /// Files of a language that can be parsed whose names are not UTF-8, as these are shown.
    pub(crate) unnameable: BTreeSet<RelPath>,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    files: BTreeMap<RelPath, Lang>,
    unnameable: BTreeSet<RelPath>,
}

/// Collects the files that `paths` name below `root`, of `only` where it is given.
///
/// Folders are walked as people expect: what `.gitignore`, `.ignore` and the repository's exclude
/// file name is left out, so are hidden files and links; `.xd` and `.git` always. What is named
/// itself is taken also where it is hidden or ignored: a file, and a folder with all in it that is
/// not ignored for a reason of its own. A glob names nothing itself: what it finds is neither
/// ignored nor in an ignored folder. The user's global git settings are not read: they are of the
/// environment, and a result should not depend on them.
pub(crate) fn collect(
    root: &Root,
    paths: &[String],
    only: Option<Lang>,
    control: &Control<'_>,
) -> Result<Files, ProposeError> {
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
            walk(root, root.path(), None, only, control, &mut found)?;
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
                    walk(root, &real, None, only, control, &mut found)?;
                } else {
                    match only.or_else(|| Lang::of_path(&real)) {
                        Some(lang) => drop(found.files.insert(relative, lang)),
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
                    walk(root, &folder, Some(&glob), only, control, &mut found)?;
                }
            }
            Err(_) => return Err(ProposeError::Missing { index, path: operand.clone() }),
        }
    }
    let jobs = found.files.into_iter().map(|(path, lang)| Job { path, lang }).collect();
    Ok(Files { jobs, no_language, unnameable: found.unnameable })
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
    root: &Root,
    folder: &Path,
    glob: Option<&Override>,
    only: Option<Lang>,
    control: &Control<'_>,
    found: &mut Found,
) -> Result<(), ProposeError> {
    let walker = walker(folder)
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some(".git" | ".xd")))
        .build();
    for (number, entry) in walker.enumerate() {
        if number % 256 == 0 && (control.cancelled)() {
            return Err(ProposeError::Cancelled);
        }
        // A folder that cannot be read, or goes meanwhile, holds nothing that could be changed.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Some(lang) = lang_of(path).filter(|lang| only.is_none_or(|only| only == *lang)) else {
            continue;
        };
        if glob.is_some_and(|glob| !glob.matched(path, false).is_whitelist()) {
            continue;
        }
        let Ok(relative) = path.strip_prefix(root.path()) else { continue };
        match relative.to_str() {
            Some(name) => {
                if let Some(relative) = RelPath::new(name).ok().filter(|path| !path.is_protected())
                {
                    found.files.entry(relative).or_insert(lang);
                }
            }
            None => found.unnameable.extend(RelPath::new(&shown(relative.as_os_str())).ok()),
        }
    }
    Ok(())
}
