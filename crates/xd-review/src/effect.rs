//! What comes into the reviewer, and what it asks to be done.

use std::{collections::BTreeMap, sync::Arc};

use xd_changeset::{ChangeSet, Pick, RelPath};
use xd_protocol::{StageNumber, Verdict};

use crate::{Item, Key};

/// Something happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted. It is text only where text is typed; otherwise it is nothing.
    Paste(String),
    /// The screen has so many columns and rows now.
    Resize(u16, u16),
    /// This is pending now, newest first, and this could be undone.
    Pending {
        /// The actions.
        items: Vec<Item>,
        /// The change that was written last, where one stands.
        undoable: Option<Undoable>,
    },
    /// Go to this action and unfold it: it takes the place of one that was edited.
    Show(StageNumber),
    /// An effect went well; what there is to say of it.
    Done(String),
    /// An effect was refused or failed: why.
    Failed(String),
}

/// An applied change that can be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoable {
    /// Its number.
    pub number: StageNumber,
    /// What it is called.
    pub label: String,
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Apply or discard.
    Decide(Decision),
    /// Let a person edit what a file would become, and stage what comes of it in place of the
    /// action.
    Edit {
        /// The action.
        number: StageNumber,
        /// The file, by its name afterwards.
        path: RelPath,
        /// The change that was shown.
        shown: Arc<ChangeSet>,
    },
    /// Put back an applied change.
    Undo(StageNumber),
    /// Look again at what is pending.
    Refresh,
    /// Draw the whole screen anew, whatever others wrote on it.
    Redraw,
    /// Stop until the shell goes on with it.
    Suspend,
    /// End.
    Quit,
}

/// One decision, for a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The action.
    pub number: StageNumber,
    /// What of it; none for the whole.
    pub picks: Option<BTreeMap<RelPath, Pick>>,
    /// Apply or discard.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// The change that was shown; none where it has none.
    pub shown: Option<Arc<ChangeSet>>,
}
