//! The sample project that ships with the binary, and scratch copies of it.

use std::{collections::BTreeMap, fs, io, path::Path};

use similar::TextDiff;

/// Every file of the sample: its path and its text.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("sample/README.md")),
    ("core/src/lib.rs", include_str!("sample/core/src/lib.rs")),
    ("tools/report.py", include_str!("sample/tools/report.py")),
    ("web/cart.ts", include_str!("sample/web/cart.ts")),
    ("web/fruit.ts", include_str!("sample/web/fruit.ts")),
];

/// The texts of a project, by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<String, String>);

impl Tree {
    /// The sample as it ships.
    pub(crate) fn sample() -> Self {
        Self(FILES.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect())
    }

    /// Writes every file below `folder`.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in &self.0 {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Reads every file below `folder`, the workspace's own state aside.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next)? {
                let path = entry?.path();
                if path.is_dir() {
                    if !path.ends_with(".xd") {
                        folders.push(path);
                    }
                } else if let Ok(relative) = path.strip_prefix(folder) {
                    files.insert(
                        relative.to_string_lossy().into_owned(),
                        fs::read_to_string(&path)?,
                    );
                }
            }
        }
        Ok(Self(files))
    }

    /// The text of one file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The same with `from` replaced by `to` in every file whose path begins with `folder`.
    pub(crate) fn replaced(mut self, folder: &str, from: &str, to: &str) -> Self {
        for (_, text) in self.0.iter_mut().filter(|(path, _)| path.starts_with(folder)) {
            *text = text.replace(from, to);
        }
        self
    }

    /// The same with `text` in the place of `path`.
    pub(crate) fn with(mut self, path: &str, text: impl Into<String>) -> Self {
        self.0.insert(path.to_owned(), text.into());
        self
    }

    /// What changed from this tree to `after`, as a unified diff.
    pub(crate) fn diff(&self, after: &Self) -> String {
        let paths: std::collections::BTreeSet<&String> =
            self.0.keys().chain(after.0.keys()).collect();
        let mut out = String::new();
        for path in paths {
            let (old, new) = (self.get(path), after.get(path));
            if old == new {
                continue;
            }
            let side = |text: Option<&str>, mark| match text {
                Some(_) => format!("{mark}/{path}"),
                None => "/dev/null".to_owned(),
            };
            let diff = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
            let diff = diff
                .unified_diff()
                .context_radius(1)
                .header(&side(old, 'a'), &side(new, 'b'))
                .to_string();
            out.push_str(&diff);
        }
        out
    }
}
