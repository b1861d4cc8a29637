//! From what a caller writes to a path below the root, or a refusal that names it.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use super::Root;
use crate::RelPath;
use crate::disk::EntryKind;
use crate::shown::Shown;

/// How many links are followed for one path, as the system itself does.
const MAX_LINKS: usize = 40;
/// How long a path may be, in bytes, as the systems themselves have it.
const MAX_PATH_BYTES: usize = 4096;
/// How many characters of a longer one are quoted.
const BEGIN: usize = 64;

/// Why a path is not one inside the workspace (`CONTRACT W3`). Each variant names the operand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty.
    #[error("the path is empty; give the path of a file in the workspace")]
    Empty,
    /// It holds a NUL byte.
    #[error("'{}' holds a NUL byte, which no file name can", Shown(path))]
    Nul {
        /// The path as given.
        path: String,
    },
    /// It is longer than any path can be.
    #[error(
        "'{}…' is {bytes} bytes long, and a path has {MAX_PATH_BYTES} at the most",
        Shown(begin)
    )]
    TooLong {
        /// How it begins.
        begin: String,
        /// Its length in bytes.
        bytes: usize,
    },
    /// It names the workspace root itself.
    #[error("'{}' is the workspace root itself; give the path of a file in it", Shown(path))]
    IsRoot {
        /// The path as given.
        path: String,
    },
    /// It lies outside, by `..` or as an absolute path.
    #[error("'{}' is outside the workspace '{}'; give a path inside it", Shown(path), Shown(root))]
    Outside {
        /// The path as given.
        path: String,
        /// The workspace root.
        root: String,
    },
    /// A symbolic link on the way leads outside.
    #[error(
        "'{}' leads outside the workspace: '{}' is a symbolic link to '{}'",
        Shown(path),
        Shown(link),
        Shown(target)
    )]
    OutsideByLink {
        /// The path as given.
        path: String,
        /// The link.
        link: String,
        /// Where it leads.
        target: String,
    },
    /// Links lead in a circle, or too many follow each other.
    #[error("'{}' cannot be resolved: more than 40 symbolic links", Shown(path))]
    TooManyLinks {
        /// The path as given.
        path: String,
    },
    /// A part on the way cannot be looked at.
    #[error("'{}' cannot be resolved: {source}", Shown(path))]
    Unreadable {
        /// The path as given.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl Root {
    /// The path below the root that `user_path` names: relative to the root, or absolute and
    /// inside it. Links among its folders are resolved; a link at its end is checked to stay
    /// inside and returned as itself. Nothing need exist.
    ///
    /// Refused, naming the operand: what climbs out, lies outside, leads outside through a link
    /// (`CONTRACT W3`, cases 143 and 145).
    pub fn relative(&self, user_path: &str) -> Result<RelPath, PathError> {
        match self.relative_or_root(user_path)? {
            Some(path) => Ok(path),
            None => Err(PathError::IsRoot { path: user_path.to_owned() }),
        }
    }

    /// As [`relative`](Self::relative), with none for the root itself (`.`, its absolute path).
    pub fn relative_or_root(&self, user_path: &str) -> Result<Option<RelPath>, PathError> {
        if user_path.is_empty() {
            return Err(PathError::Empty);
        }
        if user_path.len() > MAX_PATH_BYTES {
            let begin = user_path.chars().take(BEGIN).collect();
            return Err(PathError::TooLong { begin, bytes: user_path.len() });
        }
        if user_path.contains('\0') {
            return Err(PathError::Nul { path: user_path.to_owned() });
        }
        let parts = match Path::new(user_path).is_absolute() {
            true => self.below_root(Path::new(user_path)).ok_or_else(|| self.outside(user_path))?,
            false => split(user_path),
        };
        // The end is followed for the check alone.
        self.walk(user_path, parts.clone(), Leaf::Follow)?;
        Ok(joined(&self.walk(user_path, parts, Leaf::Keep)?))
    }

    /// `path` with every link resolved, the last part included.
    pub(crate) fn follow(&self, path: &RelPath) -> Result<RelPath, PathError> {
        let parts = self.walk(path.as_str(), split(path.as_str()), Leaf::Follow)?;
        joined(&parts).ok_or_else(|| PathError::IsRoot { path: path.as_str().to_owned() })
    }

    /// `path` with the links among its folders resolved, the last part as it is.
    pub(crate) fn follow_folders(&self, path: &RelPath) -> Result<RelPath, PathError> {
        let parts = self.walk(path.as_str(), split(path.as_str()), Leaf::Keep)?;
        joined(&parts).ok_or_else(|| PathError::IsRoot { path: path.as_str().to_owned() })
    }

    fn outside(&self, operand: &str) -> PathError {
        PathError::Outside { path: operand.to_owned(), root: self.path.display().to_string() }
    }

    /// The parts of an absolute path below the root, by the root's own names or, where the path
    /// reaches it by other links, by the system's answer for the part that exists.
    fn below_root(&self, path: &Path) -> Option<VecDeque<String>> {
        for root in [&self.path, &self.given] {
            if let Ok(rest) = path.strip_prefix(root) {
                return rest.to_str().map(split);
            }
        }
        path.ancestors().skip(1).find_map(|above| {
            let real = std::fs::canonicalize(above).ok()?;
            let inner = real.strip_prefix(&self.path).ok()?.to_str()?.to_owned();
            let rest = path.strip_prefix(above).ok()?.to_str()?;
            Some(split(&inner).into_iter().chain(split(rest)).collect())
        })
    }

    /// Walks the parts, resolving links against the root. Parts that do not exist are kept.
    fn walk(
        &self,
        operand: &str,
        mut parts: VecDeque<String>,
        leaf: Leaf,
    ) -> Result<Vec<String>, PathError> {
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = parts.pop_front() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    done.pop().ok_or_else(|| self.outside(operand))?;
                    continue;
                }
                _name => done.push(part),
            }
            let last = parts.iter().all(|part| matches!(part.as_str(), "" | "."));
            if last && leaf == Leaf::Keep {
                continue;
            }
            let Some(here) = joined(&done) else { continue };
            let unreadable = |source| PathError::Unreadable { path: operand.to_owned(), source };
            let stat = match self.disk.stat_if_any(&here) {
                // Below a file nothing exists either.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
                other => other.map_err(unreadable)?,
            };
            if stat.is_none_or(|stat| stat.kind != EntryKind::Symlink) {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(PathError::TooManyLinks { path: operand.to_owned() });
            }
            let target = self.disk.read_link(&here).map_err(unreadable)?;
            let by_link = || PathError::OutsideByLink {
                path: operand.to_owned(),
                link: here.as_str().to_owned(),
                target: target.clone(),
            };
            done.pop();
            if target.starts_with('/') {
                let inside = self.below_root(Path::new(&target)).ok_or_else(by_link)?;
                done.clear();
                prepend(&mut parts, inside);
            } else {
                let target = split(&target);
                if climbs_out(done.len(), &target) {
                    return Err(by_link());
                }
                prepend(&mut parts, target);
            }
        }
        Ok(done)
    }
}

/// What to do with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Follow,
    Keep,
}

fn split(path: &str) -> VecDeque<String> {
    path.split('/').map(str::to_owned).collect()
}

fn joined(parts: &[String]) -> Option<RelPath> {
    RelPath::new(&parts.join("/")).ok()
}

fn prepend(parts: &mut VecDeque<String>, front: VecDeque<String>) {
    front.into_iter().rev().for_each(|part| parts.push_front(part));
}

/// Whether the parts, begun at a folder `depth` below the root, leave the root at some point.
fn climbs_out(mut depth: usize, parts: &VecDeque<String>) -> bool {
    for part in parts {
        match part.as_str() {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _name => depth += 1,
        }
    }
    false
}
