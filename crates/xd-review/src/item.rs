//! One pending action, as the reviewer knows it.

use std::sync::Arc;

use xd_changeset::{Change, ChangeSet, FileDiff};
use xd_protocol::StageNumber;

/// The lines of context around a change. Hunks are told apart by it when a part is decided, too.
const CONTEXT: usize = 3;

/// A pending action.
#[derive(Debug, Clone)]
pub struct Item {
    pub(crate) number: StageNumber,
    pub(crate) label: String,
    pub(crate) source: String,
    pub(crate) stale: Option<String>,
    pub(crate) change_set: Option<Arc<ChangeSet>>,
    pub(crate) text: Vec<String>,
    pub(crate) files: Vec<File>,
}

/// One file of it.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) diff: FileDiff,
    /// Whether its hunks can be decided one by one.
    pub(crate) divides: bool,
    /// Whether what it becomes is text that can be edited.
    pub(crate) edits: bool,
}

impl Item {
    /// Action `number`, called `label`, staged by the tool `source`.
    #[must_use]
    pub fn new(number: StageNumber, label: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            number,
            label: label.into(),
            source: source.into(),
            stale: None,
            change_set: None,
            text: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The same with its change, which is shown file by file.
    #[must_use]
    pub fn with_change_set(mut self, change_set: Arc<ChangeSet>) -> Self {
        self.files = change_set.changes().iter().map(File::of).collect();
        self.change_set = Some(change_set);
        self
    }

    /// The same with text above its files: remarks, or the preview of what has no change set.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.text = text.lines().map(ToOwned::to_owned).collect();
        self
    }

    /// The same, marked stale where `why` says so.
    #[must_use]
    pub fn with_stale(mut self, why: Option<String>) -> Self {
        self.stale = why;
        self
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> StageNumber {
        self.number
    }

    /// Whether it would do the same as `other`: then a look at one is a look at the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_change = match (&self.change_set, &other.change_set) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another) || one == another,
            (None, None) => self.text == other.text,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.number == other.number && self.label == other.label && same_change
    }

    pub(crate) fn counts(&self) -> (usize, usize) {
        self.files.iter().fold((0, 0), |(added, removed), file| {
            (added + file.diff.added, removed + file.diff.removed)
        })
    }
}

impl File {
    fn of(change: &Change) -> Self {
        let diff = change.diff(CONTEXT);
        let is_text = |change: &Change| {
            let text = change.after().and_then(|after| after.bytes().ok());
            !diff.binary && text.is_some_and(|text| std::str::from_utf8(&text).is_ok())
        };
        let (divides, edits) = match change {
            Change::Edit { .. } | Change::Replace { .. } => (!diff.binary, is_text(change)),
            Change::Create { .. } => (false, is_text(change)),
            Change::Delete { .. } | Change::Move { .. } | Change::SetMode { .. } => (false, false),
        };
        Self { diff, divides, edits }
    }
}
