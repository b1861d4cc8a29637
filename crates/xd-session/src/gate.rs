//! The soft-requirement gate as a pure state machine: facts in, decisions out.
//!
//! The gate never says what is pending; it is told the head before every turn and keeps, for each
//! head, what was spent on it. One turn goes `open` → `judge` → (`apply_failed`).

use std::collections::{BTreeMap, BTreeSet};

use xd_protocol::StageNumber;

/// What may be spent on one head within one prompt (`CONTRACT G6, G7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Turns of every kind.
    pub turns: u8,
    /// Turns that force the finalizing tool.
    pub forced: u8,
    /// Turns of read-only calls that neither satisfy nor escalate.
    pub reads: u8,
}

impl Default for Budget {
    fn default() -> Self {
        Self { turns: 8, forced: 3, reads: 5 }
    }
}

/// What the gate asks of the coming turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opening {
    /// Nothing.
    Off,
    /// The head is to be resolved.
    Armed {
        /// The head.
        head: StageNumber,
        /// Append the reminder: this head has had none yet.
        remind: bool,
        /// Force the finalizing tool for this turn alone.
        force: bool,
    },
    /// The budget is spent: the action is parked and the run ends (`CONTRACT G7`).
    Parked(StageNumber),
}

/// How a provider turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// The model was done.
    Complete,
    /// It was cut at the token limit; what it said may be half a call.
    Truncated,
    /// Somebody aborted it.
    Aborted,
    /// The provider failed.
    Failed,
}

/// What a call is to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// It decides on a staged action.
    Confirm,
    /// It only looks (`CONTRACT G6`).
    Look,
    /// Anything else.
    Detour,
}

/// What to do with the calls of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// The gate was off: run them.
    Free,
    /// They comply, or only look: run them.
    Run,
    /// They do not comply: run none, answer each with the paired text.
    Skip,
    /// There was no call. Go on to the next turn; what is pending is still to be resolved.
    NoCall,
    /// The turn is void: run none, answer each, nothing is spent (`CONTRACT G12`).
    Void,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Ledger {
    turns: u8,
    forced: u8,
    reads: u8,
    next: Next,
    rest: Option<Rest>,
}

/// How the next turn on a head is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Next {
    #[default]
    Ask,
    Force,
    /// A forced turn brought no call at all. Some models print a call as prose when pinned, so
    /// one turn goes without the pin; if that brings none either, asking on is no use.
    LastAsk,
    Give,
}

/// Why a head is left alone until the next prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rest {
    /// An apply failed (`CONTRACT G8`).
    Lifted,
    /// The budget is spent (`CONTRACT G7`).
    Parked,
}

/// The gate of one session (**Invariant S1**, **Invariant S2**).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    budget: Budget,
    ledgers: BTreeMap<StageNumber, Ledger>,
    reminded: BTreeSet<StageNumber>,
    turn: Option<Turn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Turn {
    head: StageNumber,
    forced: bool,
}

impl Gate {
    /// A gate with the usual budget.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A gate with another budget.
    #[must_use]
    pub fn with_budget(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// A prompt began: every head has its whole budget again, and what was lifted or parked is
    /// asked for anew. A head that was reminded of is not reminded of again.
    pub fn prompt_began(&mut self) {
        self.ledgers.clear();
        self.turn = None;
    }

    /// A session boundary: nothing of the old session is remembered.
    pub fn boundary(&mut self) {
        *self = Self::with_budget(self.budget);
    }

    /// These heads were reminded of in a history that is resumed.
    pub fn was_reminded(&mut self, heads: impl IntoIterator<Item = StageNumber>) {
        self.reminded.extend(heads);
    }

    /// The history was compacted: reminders may be gone from it and are due again.
    pub fn history_compacted(&mut self) {
        self.reminded.clear();
    }

    /// Whether `head` is asked for: it is neither lifted nor parked. A peek; nothing advances
    /// (`CONTRACT G1`).
    #[must_use]
    pub fn asks_for(&self, head: StageNumber) -> bool {
        self.ledgers.get(&head).is_none_or(|ledger| ledger.rest.is_none())
    }

    /// Whether `head` is parked.
    #[must_use]
    pub fn is_parked(&self, head: StageNumber) -> bool {
        self.ledgers.get(&head).is_some_and(|ledger| ledger.rest == Some(Rest::Parked))
    }

    /// A turn is about to be asked for while `head` is the head. The caller passes none where the
    /// requirement is off for this turn (`CONTRACT G10`).
    pub fn open(&mut self, head: Option<StageNumber>) -> Opening {
        self.turn = None;
        let Some(head) = head.filter(|&head| self.asks_for(head)) else { return Opening::Off };
        let budget = self.budget;
        let ledger = self.ledgers.entry(head).or_default();
        let force = match ledger.next {
            Next::Ask | Next::LastAsk => false,
            Next::Force => true,
            Next::Give => return Self::park(ledger, head),
        };
        let spent = ledger.turns >= budget.turns || (force && ledger.forced >= budget.forced);
        if spent {
            return Self::park(ledger, head);
        }
        self.turn = Some(Turn { head, forced: force });
        Opening::Armed { head, remind: self.reminded.insert(head), force }
    }

    /// The head that the turn under way was asked to resolve.
    #[must_use]
    pub fn asked(&self) -> Option<StageNumber> {
        self.turn.map(|turn| turn.head)
    }

    /// The turn ended with these calls.
    pub fn judge(&mut self, end: TurnEnd, calls: &[CallKind]) -> Judgement {
        let Some(Turn { head, forced }) = self.turn.take() else {
            return match end {
                TurnEnd::Complete | TurnEnd::Truncated => Judgement::Free,
                TurnEnd::Aborted | TurnEnd::Failed => Judgement::Void,
            };
        };
        match end {
            TurnEnd::Aborted | TurnEnd::Failed => return Judgement::Void,
            TurnEnd::Complete | TurnEnd::Truncated => {}
        }
        let most_reads = self.budget.reads;
        let ledger = self.ledgers.entry(head).or_default();
        let was_last = ledger.next == Next::LastAsk;
        ledger.turns += 1;
        ledger.forced += u8::from(forced);
        if calls.is_empty() {
            ledger.next = match (was_last, forced) {
                (true, _) => Next::Give,
                (false, true) => Next::LastAsk,
                (false, false) => Next::Force,
            };
            return Judgement::NoCall;
        }
        let looks = calls.contains(&CallKind::Look);
        let complies = end == TurnEnd::Complete
            && !calls.contains(&CallKind::Detour)
            && (!looks || ledger.reads < most_reads);
        ledger.reads += u8::from(complies && looks);
        ledger.next = if complies { Next::Ask } else { Next::Force };
        if complies { Judgement::Run } else { Judgement::Skip }
    }

    /// An apply of `head` failed: it is not asked for again in this prompt, so that the model can
    /// repair and retry (`CONTRACT G8`).
    pub fn apply_failed(&mut self, head: StageNumber) {
        self.ledgers.entry(head).or_default().rest = Some(Rest::Lifted);
    }

    fn park(ledger: &mut Ledger, head: StageNumber) -> Opening {
        ledger.rest = Some(Rest::Parked);
        Opening::Parked(head)
    }
}
