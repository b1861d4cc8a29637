//! The soft-requirement gate as a pure state machine: facts in, decisions out.
//!
//! The gate never says what is pending; it is told the head before every turn and keeps, for each
//! head, what was spent on it, and for each model, what its provider can be asked for. One turn
//! goes `open` → `judge` → (`apply_failed`, `forcing_refused`).
//!
//! A head that came up while a turn looked was staged by what passed for looking, or might have
//! been: it goes on within the budget of the head before it (`CONTRACT G6, G7`).

use std::collections::{BTreeMap, BTreeSet};

use xd_protocol::StageNumber;

use crate::{Capabilities, Forcing, Refusals, Repeat, Thinking, ToolChoice};

mod facts;

pub use facts::{Asking, Budget, CallKind, Decision, Judgement, Opening, TurnEnd};

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

/// The gate of one session (**Invariant S1**, **Invariant S2**, **Invariant S5**).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    budget: Budget,
    capabilities: Capabilities,
    ledgers: BTreeMap<StageNumber, Ledger>,
    reminded: BTreeSet<StageNumber>,
    refusals: Refusals,
    turn: Turn,
    late: bool,
    /// The head that the last turn looked at, until it is known what came up meanwhile.
    looked: Option<StageNumber>,
}

/// The turn that was asked for and has not been judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Turn {
    #[default]
    None,
    /// Nothing was asked of it.
    Free,
    /// It was asked to resolve `head`.
    Asked { head: StageNumber, forced: bool },
    /// A boundary came since: whatever it answers was meant for the session before.
    Late,
}

impl Gate {
    /// A gate with the usual budget, which knows no model.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A gate with another budget.
    #[must_use]
    pub fn with_budget(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// The same gate with another budget.
    pub(crate) fn budgeted(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The same gate, told what models can be asked for.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self { capabilities, ..self }
    }

    /// A prompt began: every head has its whole budget again, and what was lifted or parked is
    /// asked for anew. A head that was reminded of is not reminded of again.
    pub fn prompt_began(&mut self) {
        self.forget_spent();
        self.turn = match self.turn {
            Turn::None => Turn::None,
            Turn::Free | Turn::Asked { .. } => Turn::Free,
            Turn::Late => Turn::Late,
        };
    }

    /// A session boundary: nothing of the old session is remembered, and what is still answered to
    /// it does nothing in the new one (`CONTRACT D13`). What providers refuse is no matter of a
    /// session and stays known (`CONTRACT G9`).
    pub fn boundary(&mut self) {
        self.forget_spent();
        self.reminded.clear();
        self.turn = match self.turn {
            Turn::None => Turn::None,
            Turn::Free | Turn::Asked { .. } | Turn::Late => Turn::Late,
        };
    }

    fn forget_spent(&mut self) {
        self.ledgers.clear();
        self.looked = None;
        self.refusals.prompt_began();
    }

    /// These heads were reminded of in a history that is resumed.
    pub fn was_reminded(&mut self, heads: impl IntoIterator<Item = StageNumber>) {
        self.reminded.extend(heads);
    }

    /// The history was compacted: reminders may be gone from it and are due again.
    pub fn history_compacted(&mut self) {
        self.reminded.clear();
    }

    /// The provider of `model` is said to allow `forcing`. What it has refused stays refused.
    pub fn declare(&mut self, model: &str, forcing: Forcing) {
        self.capabilities.declare(model, forcing);
    }

    /// The provider of `model` refused a forced choice in a request of this kind: from the next
    /// turn on it is not asked so again. The refused turn was none, and nothing is spent on it
    /// (`CONTRACT G9, G12`).
    pub fn forcing_refused(&mut self, model: &str, thinking: Thinking) {
        self.capabilities.refused(model, thinking);
        self.turn = Turn::None;
    }

    /// How far the provider of `model` lets a request force: what is said of it, less what it has
    /// refused.
    #[must_use]
    pub fn forcing_of(&self, model: &str) -> Forcing {
        self.capabilities.of(model)
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

    /// A turn is about to be asked for. The requirement is off where the turn serves a hard
    /// choice, cannot finalize, or carries a `none` of its own (`CONTRACT G10`). Also the request's
    /// own choice goes as far as the provider allows, and as `auto` where it allows none of it.
    pub fn open(&mut self, asking: &Asking<'_>) -> Decision {
        self.turn = Turn::Free;
        let forcing = self.forcing_of(asking.model);
        let allowed = |wanted: &ToolChoice| forcing.allowed(wanted.clone(), asking.thinking);
        let own = || {
            let own = allowed(&asking.own);
            Decision {
                opening: Opening::Off,
                forcing_unavailable: own.is_none().then(|| asking.own.clone()),
                tool_choice: own.unwrap_or(ToolChoice::Auto),
            }
        };
        let choose = |wanted| match allowed(&wanted) {
            Some(tool_choice) => {
                Decision { opening: Opening::Off, tool_choice, forcing_unavailable: None }
            }
            None => Decision { forcing_unavailable: Some(wanted), ..own() },
        };
        if let Some(hard) = &asking.hard {
            return choose(hard.clone());
        }
        let Some(tool) = asking.finalizer.filter(|_| asking.own != ToolChoice::None) else {
            return own();
        };
        self.take_over(asking.head);
        match self.ask_for(asking.head) {
            opening @ (Opening::Off | Opening::Parked(_) | Opening::Armed { force: false, .. }) => {
                Decision { opening, ..own() }
            }
            opening @ Opening::Armed { force: true, .. } => {
                Decision { opening, ..choose(ToolChoice::Named(tool.to_owned())) }
            }
        }
    }

    /// A newer head than the one that was looked at: it has no budget of its own, but goes on
    /// within that one's.
    fn take_over(&mut self, head: Option<StageNumber>) {
        let looked = self.looked.take();
        let (Some(before), Some(head)) = (looked, head) else { return };
        if head <= before {
            return;
        }
        let Some(&Ledger { turns, forced, reads, next, rest: _ }) = self.ledgers.get(&before)
        else {
            return;
        };
        let ledger = self.ledgers.entry(head).or_default();
        if *ledger == Ledger::default() {
            *ledger = Ledger { turns, forced, reads, next, rest: None };
        }
    }

    /// What is asked for while `head` is the head.
    fn ask_for(&mut self, head: Option<StageNumber>) -> Opening {
        let Some(head) = head.filter(|&head| self.asks_for(head)) else { return Opening::Off };
        let budget = self.budget;
        let ledger = self.ledgers.entry(head).or_default();
        let force = ledger.next == Next::Force;
        let spent = ledger.turns >= budget.turns || (force && ledger.forced >= budget.forced);
        if spent || ledger.next == Next::Give {
            ledger.rest = Some(Rest::Parked);
            return Opening::Parked(head);
        }
        self.turn = Turn::Asked { head, forced: force };
        Opening::Armed { head, remind: self.reminded.insert(head), force }
    }

    /// The head that the turn under way was asked to resolve.
    #[must_use]
    pub fn asked(&self) -> Option<StageNumber> {
        match self.turn {
            Turn::Asked { head, forced: _ } => Some(head),
            Turn::None | Turn::Free | Turn::Late => None,
        }
    }

    /// What the turn under way was asked to resolve is pending no more: whatever it answers, it
    /// owes nothing.
    pub fn requirement_met(&mut self) {
        if self.asked().is_some() {
            self.turn = Turn::Free;
        }
    }

    /// The turn ended with these calls.
    pub fn judge(&mut self, end: TurnEnd, calls: &[CallKind]) -> Judgement {
        let turn = std::mem::take(&mut self.turn);
        self.late = turn == Turn::Late;
        match end {
            TurnEnd::Aborted | TurnEnd::Failed => return Judgement::Void,
            TurnEnd::Complete | TurnEnd::Truncated => {}
        }
        let (head, forced) = match turn {
            Turn::Late => return Judgement::Void,
            Turn::None | Turn::Free => return Judgement::Free,
            // Lifted while the provider answered.
            Turn::Asked { head, .. } if !self.asks_for(head) => return Judgement::Free,
            Turn::Asked { head, forced } => (head, forced),
        };
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
        self.looked = (complies && looks).then_some(head);
        ledger.next = if complies { Next::Ask } else { Next::Force };
        if complies { Judgement::Run } else { Judgement::Skip }
    }

    /// Whether the turn that was judged last was asked for by a session that has ended since: it is
    /// void, whatever it brought (`CONTRACT D13`).
    #[must_use]
    pub fn was_late(&self) -> bool {
        self.late
    }

    /// An apply of `head` failed: it is not asked for again in this prompt, so that the model can
    /// repair and retry (`CONTRACT G8`).
    pub fn apply_failed(&mut self, head: StageNumber) {
        self.ledgers.entry(head).or_default().rest = Some(Rest::Lifted);
    }

    /// A batch of calls began: what a policy refuses in it counts once a call (case 93).
    pub fn batch_began(&mut self) {
        self.refusals.batch_began();
    }

    /// A policy refused the call that `key` stands for.
    pub fn call_refused(&mut self, key: u64) -> Repeat {
        self.refusals.refused(key)
    }

    /// Whether policies have refused as much as one prompt allows: then how many batches brought
    /// refusals, and the run is to end.
    #[must_use]
    pub fn refusals_spent(&self) -> Option<u32> {
        self.refusals.spent()
    }
}
