//! The preview of a proposal as text: whole for a person, bounded for a model (`CONTRACT A3`).

use xd_write::{Bound, PreviewText};

use crate::propose::Proposal;

impl Proposal {
    /// The label of the staged action: `AST Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> String {
        self.summary.counts.label()
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.`
    #[must_use]
    pub fn applied(&self) -> String {
        self.summary.counts.applied()
    }

    /// The preview: the label, what there is to remark, then each file with its count and its
    /// differences. `number` is the staged action's, where it is known; it tells a reader of a cut
    /// preview where the rest is.
    #[must_use]
    pub fn preview(&self, bound: Bound, number: Option<u64>) -> String {
        let changes = self.change_set.changes().iter();
        let counts: Vec<usize> =
            changes.map(|change| self.replacements_in(change.path().as_str())).collect();
        let text = PreviewText {
            title: &self.label(),
            notes: &self.summary.notes(),
            change_set: &self.change_set,
            counts: Some(("replacement", &counts)),
        };
        text.text(bound, number)
    }

    fn replacements_in(&self, path: &str) -> usize {
        let files = &self.summary.files;
        let found = files.binary_search_by(|file| file.path.as_str().cmp(path)).ok();
        let found = found.or_else(|| files.iter().position(|file| file.path.as_str() == path));
        found.map_or(0, |at| files[at].replacements)
    }
}
