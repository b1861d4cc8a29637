//! What was applied, undone and redone, as the log tells it (`CONTRACT F6`).

use std::collections::BTreeMap;

use xd_protocol::StageNumber;
use xd_resolve::Outcome;

use super::{LogEvent, LogLine};

/// The applied changes of a session and whether each still stands. Pure: made from the log's lines.
///
/// To undo is to apply the inverse of what was applied last about a change, and to redo is to undo
/// the undo. So each change has a chain of applied actions, and stands after an odd number of them
/// (**Invariant W10**).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Every number that was staged, with the one that it undoes.
    staged: BTreeMap<StageNumber, Option<StageNumber>>,
    /// By the number that was applied first.
    changes: BTreeMap<StageNumber, Chain>,
}

/// What was applied about one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chain {
    /// Whether its files were last written, and not put back.
    stands: bool,
    /// The action that was applied last.
    last: StageNumber,
    /// When that was, in the order of the log.
    at: usize,
}

/// What an undo or redo is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoTarget {
    /// The change, by the number under which it was applied first.
    pub change: StageNumber,
    /// The action whose inverse does it: the last one applied about that change.
    pub invert: StageNumber,
}

/// To put back, or to write again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Puts back what an apply wrote.
    Undo,
    /// Writes again what an undo put back.
    Redo,
}

impl Direction {
    /// `Undo` or `Redo`, as labels begin.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Undo => "Undo",
            Self::Redo => "Redo",
        }
    }

    /// `undone` or `redone`.
    #[must_use]
    pub fn past(self) -> &'static str {
        match self {
            Self::Undo => "undone",
            Self::Redo => "redone",
        }
    }
}

/// Why there is nothing to undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    /// Nothing at all.
    #[error("nothing is there to be {}", .0.past())]
    Nothing(Direction),
    /// No action has this number.
    #[error("no staged action has number {0}")]
    Unknown(StageNumber),
    /// It was never applied.
    #[error("staged action @{0} was never applied")]
    NotApplied(StageNumber),
    /// It was put back already.
    #[error("staged action @{number} is undone already, by @{by}")]
    AlreadyUndone {
        /// Which.
        number: StageNumber,
        /// By which action.
        by: StageNumber,
    },
    /// It was not put back, or written again already.
    #[error("staged action @{0} is not undone")]
    NotUndone(StageNumber),
}

impl History {
    /// What the lines of a log tell, oldest first.
    #[must_use]
    pub fn of(log: &[LogLine]) -> Self {
        let mut history = Self::default();
        for (at, line) in log.iter().enumerate() {
            let number = line.event.number().and_then(StageNumber::new);
            let Some(number) = number else { continue };
            match &line.event {
                LogEvent::Staged { undoes, .. } => {
                    history.staged.insert(number, undoes.and_then(StageNumber::new));
                }
                LogEvent::Decided { outcome: Outcome::Applied, .. } => history.applied(number, at),
                LogEvent::Taken { .. }
                | LogEvent::Decided { .. }
                | LogEvent::Declined { .. }
                | LogEvent::Approved { .. }
                | LogEvent::Plan { .. } => {}
            }
        }
        history
    }

    fn applied(&mut self, number: StageNumber, at: usize) {
        let change = self.change_of(number);
        let stood = self.changes.get(&change).is_some_and(|chain| chain.stands);
        self.changes.insert(change, Chain { stands: !stood, last: number, at });
    }

    /// The change that `number` is about. An undo names an earlier action, so this ends.
    fn change_of(&self, number: StageNumber) -> StageNumber {
        match self.staged.get(&number).copied().flatten().filter(|undone| *undone < number) {
            Some(undone) => self.change_of(undone),
            None => number,
        }
    }

    /// What to undo or redo: the change of `number`, or without one the change that was written, or
    /// put back, last.
    ///
    /// # Errors
    /// [`NoTarget`].
    pub fn target(
        &self,
        direction: Direction,
        number: Option<StageNumber>,
    ) -> Result<UndoTarget, NoTarget> {
        let fits = |chain: &Chain| chain.stands == (direction == Direction::Undo);
        let Some(number) = number else {
            let last = self.changes.iter().filter(|(_, chain)| fits(chain));
            let last = last.max_by_key(|(_, chain)| chain.at);
            let (change, chain) = last.ok_or(NoTarget::Nothing(direction))?;
            return Ok(UndoTarget { change: *change, invert: chain.last });
        };
        if !self.staged.contains_key(&number) {
            return Err(NoTarget::Unknown(number));
        }
        let change = self.change_of(number);
        match (self.changes.get(&change), direction) {
            (None, _) => Err(NoTarget::NotApplied(number)),
            (Some(chain), _) if fits(chain) => Ok(UndoTarget { change, invert: chain.last }),
            (Some(chain), Direction::Undo) => {
                Err(NoTarget::AlreadyUndone { number: change, by: chain.last })
            }
            (Some(_), Direction::Redo) => Err(NoTarget::NotUndone(change)),
        }
    }
}
