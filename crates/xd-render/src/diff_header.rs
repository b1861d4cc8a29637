//! The headers of one file in a unified diff: the plain pair, and Git's extended ones.

use crate::diff::{FileChange, FileDiff};

/// What the lines in front of a file's hunks say.
#[derive(Default)]
struct Header {
    old: Option<String>,
    new: Option<String>,
    old_mode: Option<String>,
    new_mode: Option<String>,
    created: bool,
    deleted: bool,
    moved: bool,
    binary: bool,
}

/// The file whose headers begin at the start of `source`, and how many lines they take.
///
/// Files without hunks have headers too (a move, a mode, a binary or an empty file), and each is a
/// file of its own: a diff that changes four files lists four.
pub(crate) fn header_at(source: &[&str]) -> Option<(FileDiff, usize)> {
    let mut header = Header::default();
    let mut taken = 0;
    if let Some(paths) = source.first()?.strip_prefix("diff --git ") {
        taken = 1;
        if let Some((old, new)) = git_paths(paths) {
            header.old = Some(side(&old, "a/"));
            header.new = Some(side(&new, "b/"));
        }
    }
    while source.get(taken).is_some_and(|line| header.extended(line)) {
        taken += 1;
    }
    match source.get(taken..) {
        Some([old, new, ..]) if old.starts_with("--- ") && new.starts_with("+++ ") => {
            if header.sides(&old[4..], &new[4..]) {
                taken += 2;
            }
        }
        Some([line, ..]) => {
            if let Some((old, new)) = binary_paths(line)
                && header.sides(old, new)
            {
                header.binary = true;
                taken += 1;
            }
        }
        Some([]) | None => {}
    }
    Some((header.file()?, taken))
}

impl Header {
    /// Takes one of Git's extended lines. False for any other.
    fn extended(&mut self, line: &str) -> bool {
        let line = line.trim_end_matches('\r');
        let Some((key, value)) = EXTENDED
            .iter()
            .find_map(|key| Some((*key, line.strip_prefix(key)?.strip_prefix(' ')?)))
        else {
            return false;
        };
        let value = value.to_owned();
        match key {
            "old mode" => self.old_mode = Some(value),
            "new mode" => self.new_mode = Some(value),
            "new file mode" => (self.created, self.new_mode) = (true, Some(value)),
            "deleted file mode" => (self.deleted, self.old_mode) = (true, Some(value)),
            "rename from" => (self.moved, self.old) = (true, Some(unquoted(&value))),
            "rename to" => (self.moved, self.new) = (true, Some(unquoted(&value))),
            "copy from" => self.old = Some(unquoted(&value)),
            "copy to" => (self.created, self.new) = (true, Some(unquoted(&value))),
            // `index` and the two likeness lines say nothing to a reader.
            _ => {}
        }
        true
    }

    /// Takes the paths of the two plain headers; `/dev/null` stands for no file. False where they
    /// belong to another file than the extended lines before them.
    fn sides(&mut self, old: &str, new: &str) -> bool {
        let path = |text: &str, prefix: &str| {
            let path = header_path(text);
            (path != "/dev/null").then(|| side(&path, prefix))
        };
        let (old, new) = (path(old, "a/"), path(new, "b/"));
        let agrees = |said: &Option<String>, known: &Option<String>| {
            said.is_none() || known.is_none() || said == known
        };
        if !agrees(&old, &self.old) || !agrees(&new, &self.new) {
            return false;
        }
        self.created |= old.is_none();
        self.deleted |= new.is_none();
        self.old = old.or(self.old.take());
        self.new = new.or(self.new.take());
        true
    }

    fn file(self) -> Option<FileDiff> {
        let path = self.new.clone().filter(|_| !self.deleted).or_else(|| self.old.clone())?;
        let change = match (self.created, self.deleted, self.old) {
            (true, _, _) => FileChange::Created,
            (false, true, _) => FileChange::Deleted,
            (false, false, Some(from)) if from != path => FileChange::Moved { from },
            (false, false, _) => FileChange::Edited,
        };
        let mut facts = Vec::new();
        let bits = |mode: &str| mode.get(mode.len().saturating_sub(3)..).unwrap_or(mode).to_owned();
        match (&self.old_mode, &self.new_mode) {
            (Some(old), Some(new)) if old != new => {
                facts.push(format!("mode {} -> {}", bits(old), bits(new)));
            }
            (None, Some(new)) if new.starts_with("100") && new.ends_with("755") => {
                facts.push("executable".to_owned());
            }
            (Some(_) | None, Some(_) | None) => {}
        }
        if [&self.old_mode, &self.new_mode].into_iter().flatten().any(|m| m.starts_with("120")) {
            facts.push("symbolic link".to_owned());
        }
        if self.binary {
            facts.push("binary".to_owned());
        }
        Some(FileDiff { facts, ..FileDiff::new(path, change) })
    }
}

/// The keys of Git's extended lines.
const EXTENDED: [&str; 11] = [
    "old mode",
    "new mode",
    "new file mode",
    "deleted file mode",
    "rename from",
    "rename to",
    "copy from",
    "copy to",
    "similarity index",
    "dissimilarity index",
    "index",
];

/// The two paths behind `diff --git`. Without quotes a blank may belong to a path, so only the split
/// that makes both sides the same file is certain; none where there is no such split.
fn git_paths(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches('\r');
    let splits = text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let mut same = splits.filter(|(old, new)| {
        side(&unquoted(old), "a/") == side(&unquoted(new), "b/") && !old.is_empty()
    });
    same.next().map(|(old, new)| (unquoted(old), unquoted(new)))
}

/// The two paths of `Binary files … and … differ`.
fn binary_paths(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end_matches('\r');
    let paths = line.strip_prefix("Binary files ")?.strip_suffix(" differ")?;
    paths.split_once(" and ")
}

/// A plain header's path without the time that some tools put behind a tab.
fn header_path(header: &str) -> String {
    unquoted(header.split('\t').next().unwrap_or(header).trim_end_matches('\r'))
}

fn side(path: &str, prefix: &str) -> String {
    path.strip_prefix(prefix).unwrap_or(path).to_owned()
}

/// A path out of its quotes, where it has any: backslash escapes as in C, bytes in octal.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let Some(inner) = inner.filter(|_| text.len() > 1) else { return text.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = rest.next_if(|b| (b'0'..=b'7').contains(b)) else { break };
                    value = value * 8 + u32::from(next - b'0');
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
