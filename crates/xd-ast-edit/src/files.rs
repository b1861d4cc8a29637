//! Finding the files of a call: ignore files respected, sorted, each once, nothing outside.

use std::collections::BTreeMap;
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
}

/// Collects the files that `paths` name below `root`, of `only` where it is given.
///
/// Folders are walked as people expect: what `.gitignore`, `.ignore` and the repository's exclude
/// file name is left out, so are hidden files and links; `.xd` and `.git` always. A file that is
/// named itself is taken also where it is hidden or ignored. The user's global git settings are
/// not read: they are of the environment, and a result should not depend on them.
pub(crate) fn collect(
    root: &Root,
    paths: &[String],
    only: Option<Lang>,
    control: &Control<'_>,
) -> Result<Files, ProposeError> {
    if paths.is_empty() {
        return Err(ProposeError::NoPaths);
    }
    let mut found: BTreeMap<RelPath, Lang> = BTreeMap::new();
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
                        Some(lang) => drop(found.insert(relative, lang)),
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
                let before = found.len();
                walk(root, &folder_of(root, &relative), Some(&glob), only, control, &mut found)?;
                if found.len() == before && !folder_of(root, &relative).exists() {
                    return Err(ProposeError::Missing { index, path: operand.clone() });
                }
            }
            Err(_) => return Err(ProposeError::Missing { index, path: operand.clone() }),
        }
    }
    let jobs = found.into_iter().map(|(path, lang)| Job { path, lang }).collect();
    Ok(Files { jobs, no_language })
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

fn walk(
    root: &Root,
    folder: &Path,
    glob: Option<&Override>,
    only: Option<Lang>,
    control: &Control<'_>,
    found: &mut BTreeMap<RelPath, Lang>,
) -> Result<(), ProposeError> {
    let walker = WalkBuilder::new(folder)
        .follow_links(false)
        .git_global(false)
        .require_git(false)
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
        let Some(lang) = Lang::of_path(path).filter(|lang| only.is_none_or(|only| only == *lang))
        else {
            continue;
        };
        if glob.is_some_and(|glob| !glob.matched(path, false).is_whitelist()) {
            continue;
        }
        let relative = path.strip_prefix(root.path()).ok().and_then(Path::to_str);
        if let Some(relative) = relative.and_then(|path| RelPath::new(path).ok())
            && !relative.is_protected()
        {
            found.entry(relative).or_insert(lang);
        }
    }
    Ok(())
}
