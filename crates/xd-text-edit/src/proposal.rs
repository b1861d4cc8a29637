//! What a call proposes, and its preview: whole for a person, bounded for a model (`CONTRACT A3`).

use xd_changeset::ChangeSet;
use xd_write::{Bound, PreviewText, Proposed};

use crate::summary::{Summary, Unit};

/// Changes to stage, with what there is to say about them.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The changes; never empty.
    pub change_set: ChangeSet,
    /// Counts and remarks.
    pub summary: Summary,
}

impl Proposal {
    /// The label of the staged action: `Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> String {
        self.summary.counts.label()
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.`
    #[must_use]
    pub fn applied(&self) -> String {
        self.summary.counts.applied()
    }

    /// What is staged of it: the change set, its label and the whole preview.
    #[must_use]
    pub fn into_proposed(self) -> Proposed {
        let tool = match self.summary.counts.unit {
            Unit::Replacement => crate::edit_tool::NAME,
            Unit::Hunk => crate::patch_tool::NAME,
        };
        Proposed {
            label: self.label(),
            source_tool_name: tool.to_owned(),
            success: self.applied(),
            notes: self.summary.notes.clone(),
            preview: self.preview(Bound::Whole, None),
            change_set: self.change_set,
        }
    }

    /// The preview: the label, what there is to remark, then each file with its count and its
    /// differences. `number` is the staged action's, where it is known; it tells a reader of a cut
    /// preview where the rest is.
    #[must_use]
    pub fn preview(&self, bound: Bound, number: Option<u64>) -> String {
        let notes: Vec<String> =
            self.summary.notes.iter().map(|note| format!("Note: {note}")).collect();
        let counts: Vec<usize> = self.summary.files.iter().map(|file| file.changes).collect();
        let text = PreviewText {
            title: &self.label(),
            notes: &notes,
            change_set: &self.change_set,
            counts: Some((self.summary.counts.unit.noun(), &counts)),
        };
        text.text(bound, number)
    }
}
