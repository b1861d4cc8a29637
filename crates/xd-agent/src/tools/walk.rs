//! The files below a folder: ignore files respected, sorted, nothing outside.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;
use xd_changeset::{RelPath, Root};

/// Where to look.
#[derive(Debug)]
pub(super) struct Walk {
    folder: Option<RelPath>,
    /// The one file, where the path names one.
    file: Option<RelPath>,
    globs: Globs,
    hidden: bool,
}

/// Which files are wanted, by patterns on their paths below the folder.
#[derive(Debug)]
struct Globs {
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl Walk {
    /// Looks at `path`, a folder or a file; at the whole workspace where it is none or `.`.
    /// `globs` count from the folder; one without a slash fits at any depth, and one behind `!`
    /// takes files out.
    ///
    /// # Errors
    /// A sentence that names the operand.
    pub(super) fn new(
        root: &Root,
        path: Option<&str>,
        globs: &[String],
        hidden: bool,
    ) -> Result<Self, String> {
        let globs = Globs::new(globs)?;
        let given = path.map(str::trim).filter(|path| !path.is_empty()).unwrap_or(".");
        let relative = root.relative_or_root(given).map_err(|error| error.to_string())?;
        let Some(relative) = relative else {
            return Ok(Self { folder: None, file: None, globs, hidden });
        };
        if relative.is_protected() {
            return Err(format!("'{relative}' belongs to git or xd and is not looked into"));
        }
        // A link is followed where it stays inside; its end is what is walked.
        let full = std::fs::canonicalize(root.path().join(relative.as_str()))
            .map_err(|_| format!("there is no '{relative}'; glob lists what there is"))?;
        let inside = full.strip_prefix(root.path()).ok().and_then(Path::to_str);
        let real = match inside {
            Some("") => return Ok(Self { folder: None, file: None, globs, hidden }),
            Some(inside) => RelPath::new(inside).map_err(|error| error.to_string())?,
            None => return Err(format!("'{relative}' leads out of the workspace")),
        };
        if real.is_protected() {
            return Err(format!("'{relative}' belongs to git or xd and is not looked into"));
        }
        Ok(match full.is_dir() {
            true => Self { folder: Some(real), file: None, globs, hidden },
            false => Self { folder: None, file: Some(real), globs, hidden },
        })
    }

    /// Calls `visit` with each file, in the order of their paths, until it answers false.
    ///
    /// What `.gitignore`, `.ignore` and the repository's exclude file name is left out, so are
    /// links and, unless asked for, hidden files. The user's global git settings are not read: they
    /// are of the environment, and a result should not depend on them.
    pub(super) fn files(&self, root: &Root, mut visit: impl FnMut(&RelPath) -> bool) {
        if let Some(file) = &self.file {
            let name = file.as_str().rsplit('/').next().unwrap_or(file.as_str());
            if self.globs.fit(name) {
                visit(file);
            }
            return;
        }
        let folder = match &self.folder {
            Some(folder) => root.path().join(folder.as_str()),
            None => root.path().to_owned(),
        };
        let entries = WalkBuilder::new(&folder)
            .follow_links(false)
            .git_global(false)
            .require_git(false)
            .hidden(!self.hidden)
            .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some(".git" | ".xd")))
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        // A folder that cannot be read, or goes meanwhile, holds nothing that could be told.
        for entry in entries.flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let below = |base: &Path| entry.path().strip_prefix(base).ok().and_then(Path::to_str);
            let (Some(below_folder), Some(below_root)) = (below(&folder), below(root.path()))
            else {
                continue;
            };
            let Ok(path) = RelPath::new(below_root) else { continue };
            if !path.is_protected() && self.globs.fit(below_folder) && !visit(&path) {
                return;
            }
        }
    }
}

impl Globs {
    fn new(globs: &[String]) -> Result<Self, String> {
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut any = false;
        for given in globs {
            let (into, glob) = match given.strip_prefix('!') {
                Some(glob) => (&mut unwanted, glob),
                None => {
                    any = true;
                    (&mut wanted, given.as_str())
                }
            };
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            // As in ignore files: a name alone fits at any depth, a folder stands for all in it.
            let deep = match glob.trim_end_matches('/').contains('/') {
                true => glob.trim_start_matches('/').to_owned(),
                false => format!("**/{glob}"),
            };
            let deep = if deep.ends_with('/') { format!("{deep}**") } else { deep };
            let built = GlobBuilder::new(&deep).literal_separator(true).build();
            into.add(
                built.map_err(|error| format!("the glob '{given}' is none: {}", error.kind()))?,
            );
        }
        let build = |builder: GlobSetBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Self {
            wanted: if any { Some(build(wanted)?) } else { None },
            unwanted: build(unwanted)?,
        })
    }

    fn fit(&self, path: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(path))
            && !self.unwanted.is_match(path)
    }
}
