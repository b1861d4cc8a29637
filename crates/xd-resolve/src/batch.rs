//! What a confirm without a number means (**Invariant R6**).

use xd_protocol::{Confirm, Selection, StageNumber};

use crate::{
    ActionStore, Refusal,
    sync::atomic::{AtomicBool, Ordering},
};

/// The view of the stack at the moment a batch of tool calls began.
///
/// Bare confirms are bound to the head of that moment, and only the first of them is answered
/// while several actions were pending (`CONTRACT D14`).
#[derive(Debug)]
pub struct Batch {
    head: Option<StageNumber>,
    pending: usize,
    next: StageNumber,
    epoch: Epoch,
    bare_confirm_seen: AtomicBool,
}

/// Which session of a store: every one that [ends](ActionStore::end_session) is followed by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(pub(crate) u64);

/// How many numbered addresses a refusal names.
pub(crate) const NAMED: usize = 8;

impl Batch {
    pub(crate) fn new(
        head: Option<StageNumber>,
        pending: usize,
        next: StageNumber,
        epoch: Epoch,
    ) -> Self {
        Self { head, pending, next, epoch, bare_confirm_seen: AtomicBool::new(false) }
    }

    /// The session of the store that the batch began in.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The action that bare confirms of this batch mean, if there was one.
    #[must_use]
    pub fn head(&self) -> Option<StageNumber> {
        self.head
    }

    /// The action that `confirm` means in this batch.
    ///
    /// # Errors
    /// [`Refusal::SecondBareConfirm`], [`Refusal::NothingPending`] or [`Refusal::NotYetSeen`].
    pub fn select(&self, confirm: Confirm, store: &ActionStore) -> Result<StageNumber, Refusal> {
        match confirm.selection {
            Selection::Numbered(number) if number < self.next => Ok(number),
            Selection::Numbered(number) => Err(match store.get(number) {
                Some(_) => Refusal::NotYetSeen(number),
                None => Refusal::Unknown(number),
            }),
            Selection::Head => {
                let second = self.bare_confirm_seen.swap(true, Ordering::Relaxed);
                if second && self.pending > 1 {
                    let (named, total) = store.pending_numbers(NAMED);
                    return Err(Refusal::SecondBareConfirm { named, total });
                }
                self.head.ok_or_else(|| match store.head() {
                    Some(staged_meanwhile) => Refusal::NotYetSeen(staged_meanwhile.number()),
                    None => Refusal::NothingPending,
                })
            }
        }
    }
}
