//! The stack as a pure state machine: what is pending, what was taken, what became of it.
//!
//! Every operation is constant in the number of actions: slots stand in a vector by number, and
//! the open ones are linked from newest to oldest.

use xd_protocol::{Selection, StageNumber, Verdict};

/// What a staged action is at the moment.
///
/// ```text
///            take                finish(Applied)
///  Pending ───────▶ Taken(v) ───────────────────▶ Applied
///     ▲               │ │        finish(Discarded)
///     └───────────────┘ └───────────────────────▶ Discarded
///       finish(Kept)
///  Pending, Taken ── void ──▶ Void      Pending ── withdraw ──▶ Withdrawn
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActionState {
    /// It waits for a decision.
    Pending,
    /// Somebody decided and the effect is running.
    Taken(Verdict),
    /// It was carried out.
    Applied,
    /// It was dropped by decision.
    Discarded,
    /// A session boundary took it away (`CONTRACT E1`).
    Void,
    /// The host took it out of the store to deal with it itself.
    Withdrawn,
}

impl ActionState {
    /// The state in a word, as people and models read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Taken(_) => "being resolved",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
            Self::Void => "void",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Whether it still stands in the stack.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Taken(_) => true,
            Self::Applied | Self::Discarded | Self::Void | Self::Withdrawn => false,
        }
    }
}

/// How a taken action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It was carried out.
    Applied,
    /// It was dropped.
    Discarded,
    /// The effect failed: the action is pending again, in its old place.
    Kept,
}

/// Why an action could not be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotTaken {
    /// No action has this number.
    Unknown,
    /// Another confirm has it.
    Taken,
    /// It is no longer open; this is what it became.
    Closed(ActionState),
}

#[derive(Debug, Clone)]
struct Slot<T> {
    value: T,
    state: ActionState,
    newer: Option<usize>,
    older: Option<usize>,
}

/// Staged actions by number, the open ones linked from the newest down.
#[derive(Debug, Clone)]
pub struct Stack<T> {
    slots: Vec<Slot<T>>,
    newest_open: Option<usize>,
    pending: usize,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), newest_open: None, pending: 0 }
    }
}

impl<T> Stack<T> {
    /// An empty stack.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number that the next [`push`](Self::push) answers.
    #[must_use]
    pub fn next_number(&self) -> StageNumber {
        number_of(self.slots.len())
    }

    /// Puts `value` on top, pending. Its number is [`next_number`](Self::next_number) as it was.
    pub fn push(&mut self, value: T) -> StageNumber {
        self.push_as(value, ActionState::Pending)
    }

    /// Puts `value` on top in a given state: for a stack that is rebuilt from its record.
    pub fn push_as(&mut self, value: T, state: ActionState) -> StageNumber {
        let at = self.slots.len();
        let older = if state.is_open() { self.newest_open } else { None };
        self.slots.push(Slot { value, state, newer: None, older });
        if state.is_open() {
            if let Some(older) = older {
                self.slots[older].newer = Some(at);
            }
            self.newest_open = Some(at);
        }
        self.pending += usize::from(state == ActionState::Pending);
        number_of(at)
    }

    /// What `number` is, or none where no action has it.
    #[must_use]
    pub fn state(&self, number: StageNumber) -> Option<ActionState> {
        self.slot(number).map(|slot| slot.state)
    }

    /// The value under `number`, whatever became of it.
    #[must_use]
    pub fn get(&self, number: StageNumber) -> Option<&T> {
        self.slot(number).map(|slot| &slot.value)
    }

    /// The number that `selection` means: for the head, the newest open action, pending or taken.
    ///
    /// A taken head is still the head: a bare confirm that comes meanwhile must hear that it is
    /// being resolved, and not reach the action below.
    #[must_use]
    pub fn select(&self, selection: Selection) -> Option<StageNumber> {
        match selection {
            Selection::Head => self.newest_open.map(number_of),
            Selection::Numbered(number) => Some(number),
        }
    }

    /// The newest pending action: the head (`CONTRACT S3`).
    #[must_use]
    pub fn head(&self) -> Option<StageNumber> {
        self.pending().next()
    }

    /// All pending actions, newest first.
    pub fn pending(&self) -> impl Iterator<Item = StageNumber> + '_ {
        self.open().filter(|&at| self.slots[at].state == ActionState::Pending).map(number_of)
    }

    /// How many are pending.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending
    }

    /// Every action ever staged with its state, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (StageNumber, ActionState, &T)> {
        self.slots.iter().enumerate().map(|(at, slot)| (number_of(at), slot.state, &slot.value))
    }

    /// Takes a pending action for `verdict`. Of any number of takers one succeeds
    /// (**Invariant R3**).
    ///
    /// # Errors
    /// [`NotTaken`]; nothing has changed.
    pub fn take(&mut self, number: StageNumber, verdict: Verdict) -> Result<&T, NotTaken> {
        let at = self.index(number).ok_or(NotTaken::Unknown)?;
        match self.slots[at].state {
            ActionState::Pending => {}
            ActionState::Taken(_) => return Err(NotTaken::Taken),
            closed @ (ActionState::Applied
            | ActionState::Discarded
            | ActionState::Void
            | ActionState::Withdrawn) => return Err(NotTaken::Closed(closed)),
        }
        self.slots[at].state = ActionState::Taken(verdict);
        self.pending -= 1;
        Ok(&self.slots[at].value)
    }

    /// Ends what [`take`](Self::take) began. Answers false for a late end: the action was voided
    /// meanwhile, or was never taken, and nothing changes (`CONTRACT D13`).
    pub fn finish(&mut self, number: StageNumber, ending: Ending) -> bool {
        let Some(at) = self.index(number) else { return false };
        if !matches!(self.slots[at].state, ActionState::Taken(_)) {
            return false;
        }
        match ending {
            Ending::Applied => self.close(at, ActionState::Applied),
            Ending::Discarded => self.close(at, ActionState::Discarded),
            Ending::Kept => {
                self.slots[at].state = ActionState::Pending;
                self.pending += 1;
            }
        }
        true
    }

    /// Puts another value in the place of an open action's: under its number, and with its state.
    /// Answers false where it is not open, and nothing changes.
    pub fn replace(&mut self, number: StageNumber, value: T) -> bool {
        let slot = self.index(number).map(|at| &mut self.slots[at]);
        match slot.filter(|slot| slot.state.is_open()) {
            Some(slot) => {
                slot.value = value;
                true
            }
            None => false,
        }
    }

    /// Takes a pending action out for good, for a host that deals with it itself.
    ///
    /// # Errors
    /// [`NotTaken`]; nothing has changed.
    pub fn withdraw(&mut self, number: StageNumber) -> Result<&T, NotTaken> {
        self.take(number, Verdict::Discard)?;
        let at = index_of(number);
        self.close(at, ActionState::Withdrawn);
        Ok(&self.slots[at].value)
    }

    /// Voids everything open and answers the numbers, newest first (`CONTRACT E1`). What is taken
    /// goes on running; its end will be late.
    pub fn void_all(&mut self) -> Vec<StageNumber> {
        let open: Vec<usize> = self.open().collect();
        for &at in &open {
            self.pending -= usize::from(self.slots[at].state == ActionState::Pending);
            self.close(at, ActionState::Void);
        }
        open.into_iter().map(number_of).collect()
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.newest_open, |&at| self.slots[at].older)
    }

    fn close(&mut self, at: usize, state: ActionState) {
        let Slot { newer, older, .. } = self.slots[at];
        match newer {
            Some(newer) => self.slots[newer].older = older,
            None => self.newest_open = older,
        }
        if let Some(older) = older {
            self.slots[older].newer = newer;
        }
        let slot = &mut self.slots[at];
        (slot.state, slot.newer, slot.older) = (state, None, None);
    }

    fn slot(&self, number: StageNumber) -> Option<&Slot<T>> {
        self.slots.get(index_of(number))
    }

    fn index(&self, number: StageNumber) -> Option<usize> {
        Some(index_of(number)).filter(|&at| at < self.slots.len())
    }
}

fn number_of(at: usize) -> StageNumber {
    StageNumber::new(at as u64 + 1).expect("an index plus one is not zero")
}

fn index_of(number: StageNumber) -> usize {
    usize::try_from(number.get() - 1).unwrap_or(usize::MAX)
}
