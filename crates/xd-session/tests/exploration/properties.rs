//! What must hold of every history, checked from what is seen and from nothing that the model
//! remembers for itself.

use xd_protocol::Verdict;

use crate::{
    facts::{Answer, Calls, End, Event, Fact, Judged, MODELS, Pin, Provider, Request},
    model::{
        CALLS, Call, Forgotten, HardChoice, Life, Looked, Model, PLACES, Phase, Place, Turn, Which,
    },
    steps::Rules,
};

/// A property that does not hold. Named after the statements of the contract that demand it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    /// D11: an action is applied at most once, and its effects never overlap.
    D11OneApply,
    /// D11: never apply and reject of one action.
    D11ApplyOrReject,
    /// D1, S: no effect without a confirm that names its action and verdict.
    D1NoEffectWithoutConfirm,
    /// D14: a bare confirm acts on the head of its batch's begin and on nothing else.
    D14BareNeverCrosses,
    /// D12: what is taken runs, and what runs is taken.
    D12TakenRuns,
    /// D9, D10: a failed effect leaves its action pending.
    D9FailedStaysPending,
    /// F2: nothing is written over what has changed.
    F2StaleWritesNothing,
    /// D13: what is late changes nothing in the new session: no late end of an effect, no call of
    /// a late turn, whatever it would do, and no staging of a batch from before.
    D13LateChangesNothing,
    /// E1: nothing of another session is pending, and what is no boundary voids nothing.
    E1OwnSessionOnly,
    /// E3: a restart offers what is durable, and nothing else, and loses nothing in silence.
    E3RestartLosesNothing,
    /// G1, D6: armed exactly where something is pending whose head is neither lifted nor parked.
    G1ArmedExactly,
    /// G3: one reminder a head.
    G3OneReminder,
    /// G5: force only right after a turn that did not comply.
    G5ForceOnlyAfterDetour,
    /// G5: a turn that does not comply runs nothing; G4, G6: one that complies or looks runs.
    G5OnlyCompliantRuns,
    /// G5, G7, G12: every call gets exactly one result.
    G5OneResultACall,
    /// G6, G7: every run ends within the budget, which a head that came up while a turn looked
    /// shares with the one before it.
    G7WithinBudget,
    /// G12: a void turn, and one that the provider refused, spends nothing.
    G12VoidSpendsNothing,
    /// G9, G11: a turn is pinned exactly where it is to be, its provider is said to allow it, and
    /// has not refused it.
    G9PinnedAsAllowed,
    /// S1: numbers rise by one and are never used again.
    S1NumbersRise,
    /// No state is without a way on.
    Progress,
}

/// What was seen of one action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Seen {
    applied: bool,
    discarded: bool,
    running: u8,
    /// It was staged in a session before this one.
    old: bool,
    /// Since the prompt: an apply failed, the budget was spent.
    rests: bool,
    reminded: bool,
    turns: u8,
    forced: u8,
    looks: u8,
    /// The last turn that was judged on it did not comply.
    strayed: bool,
}

/// What was seen of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Witness<const A: usize> {
    actions: [Seen; A],
    /// The head when each of the two batches began, and whether several were pending.
    heads: [u8; 2],
    several: [bool; 2],
    /// Bare confirms that started an effect, for each batch.
    bare: [u8; 2],
    /// The session of the loop's batch has ended.
    over: bool,
    /// What was spent on a head when a turn looked at it, until the next is asked for.
    looked: Looked,
    /// Results due, by place.
    due: [u8; PLACES],
    /// What each model's provider was seen to refuse: while thinking, and without.
    refused: [[bool; 2]; MODELS],
}

impl<const A: usize> Witness<A> {
    pub(crate) fn new() -> Self {
        Self {
            actions: [Seen::default(); A],
            heads: [0; 2],
            several: [false; 2],
            bare: [0; 2],
            over: false,
            looked: Looked::default(),
            due: [0; PLACES],
            refused: [[false; 2]; MODELS],
        }
    }

    /// Follows the places of a batch into another order.
    pub(crate) fn sort_places(&mut self, order: [u8; CALLS]) {
        let due = self.due;
        for (to, from) in order.into_iter().enumerate() {
            self.due[to] = due[usize::from(from)];
        }
    }

    /// Forgets how a head's budget was spent. Where nothing is left of it, the most has been spent:
    /// one more turn on it is one too many.
    pub(crate) fn forget_what_was_spent(&mut self, rules: &Rules, number: u8, what: Forgotten) {
        let Some(seen) = self.actions.get_mut(usize::from(number) - 1) else { return };
        let Rules { turns, forced, looks, .. } = *rules;
        let (turns, forced, looks, rests) = match what {
            Forgotten::Nothing => return,
            Forgotten::How => (turns, forced, looks, seen.rests),
            Forgotten::All => (0, 0, 0, false),
        };
        *seen = Seen { turns, forced, looks, rests, strayed: false, ..*seen };
    }

    /// Forgets what was seen of an action that nothing can reach any more.
    pub(crate) fn forget_action(&mut self, number: u8) {
        *self.of(number) = Seen::default();
    }

    /// Forgets what was so when a batch began of which no bare confirm waits.
    pub(crate) fn forget(&mut self, waits: [bool; 2]) {
        for (batch, waits) in waits.into_iter().enumerate() {
            if !waits {
                (self.heads[batch], self.several[batch], self.bare[batch]) = (0, false, 0);
            }
        }
    }

    fn of(&mut self, number: u8) -> &mut Seen {
        &mut self.actions[usize::from(number) - 1]
    }

    /// Watches one step.
    ///
    /// # Errors
    /// The property that does not hold.
    pub(crate) fn watch(
        &mut self,
        rules: &Rules,
        before: &Model<A>,
        fact: Fact,
        events: &[Event],
        after: &Model<A>,
    ) -> Result<(), Property> {
        self.watch_fact(before, fact, events, after)?;
        let mut staged = before.staged;
        for &event in events {
            match event {
                Event::Staged(number) => {
                    let late = self.over && matches!(fact, Fact::Poll(_));
                    check(!late, Property::D13LateChangesNothing)?;
                    check(number == staged + 1, Property::S1NumbersRise)?;
                    staged = number;
                }
                Event::Started { number, verdict, place } => {
                    self.started(before, number, verdict, usize::from(place))?;
                }
                Event::Ended { number, verdict, succeeded, late, wrote } => {
                    let stale = before.actions[usize::from(number) - 1].stale;
                    check(!(wrote && stale), Property::F2StaleWritesNothing)?;
                    self.ended(number, verdict, succeeded, late, after)?;
                }
                Event::Answered { place, answer } => {
                    // Who reads it is told that the session has ended, not that somebody aborted.
                    let late = match before.phase {
                        Phase::Asked(turn) => turn.orphan,
                        Phase::Idle | Phase::Ready | Phase::Running => false,
                    };
                    let said = answer != Answer::TurnVoid || !late;
                    check(said, Property::D13LateChangesNothing)?;
                    let due = &mut self.due[usize::from(place)];
                    check(*due == 1, Property::G5OneResultACall)?;
                    *due = 0;
                }
                Event::Opened { head, remind, force, hard, pin, .. } => {
                    let Fact::Open(request) = fact else { continue };
                    self.pinned(request, force || hard == Some(HardChoice::Active), pin)?;
                    let asks = hard.is_none() && request.write && !request.none;
                    self.armed(before, head, asks)?;
                    if asks {
                        self.take_over(head);
                    }
                    if head != 0 {
                        let seen = self.of(head);
                        check(remind != seen.reminded, Property::G3OneReminder)?;
                        check(!force || seen.strayed, Property::G5ForceOnlyAfterDetour)?;
                        seen.reminded = true;
                    }
                }
                Event::Parked(number) => {
                    self.armed(before, number, true)?;
                    self.of(number).rests = true;
                }
                Event::Judged(judged) => {
                    let (Fact::Reply { end, calls }, Phase::Asked(turn)) = (fact, before.phase)
                    else {
                        continue;
                    };
                    self.judged(rules, before, after, turn, end, calls, judged)?;
                }
                Event::Stopped => {}
                Event::ChoiceRefused => {
                    // The turn costs nothing, and the run goes on to another.
                    let free = before.actions == after.actions && after.phase == Phase::Ready;
                    check(free, Property::G12VoidSpendsNothing)?;
                }
            }
        }
        check(after.staged == staged, Property::S1NumbersRise)?;
        self.whole(after)
    }

    /// What a fact itself brings about.
    fn watch_fact(
        &mut self,
        before: &Model<A>,
        fact: Fact,
        events: &[Event],
        after: &Model<A>,
    ) -> Result<(), Property> {
        let lives = |model: &Model<A>| model.actions.map(|action| action.life);
        match fact {
            Fact::Prompt => self.forget_spent(),
            Fact::Compacted => {
                self.actions.iter_mut().for_each(|seen| seen.reminded = false);
                check(lives(before) == lives(after), Property::E1OwnSessionOnly)?;
            }
            Fact::Boundary => {
                self.forget_spent();
                self.over = before.phase == Phase::Running;
                for seen in &mut self.actions[..usize::from(before.staged)] {
                    (seen.old, seen.reminded) = (true, false);
                }
            }
            Fact::Restart { .. } => {
                self.forget_spent();
                self.refused = Default::default();
                for (seen, (was, is)) in
                    self.actions.iter_mut().zip(before.actions.iter().zip(after.actions))
                {
                    check(
                        restarted(was.life, was.durable, is.life),
                        Property::E3RestartLosesNothing,
                    )?;
                    // An apply that had landed when the process died was an apply.
                    seen.applied |= is.life == Life::Applied;
                    (seen.running, seen.reminded, seen.old) = (0, false, false);
                }
            }
            Fact::Reply { calls, .. } => {
                for (due, call) in self.due.iter_mut().zip(calls) {
                    *due = u8::from(call.is_some());
                }
                self.batch_begins(0, before);
                self.over = false;
            }
            Fact::Person { .. } => {
                self.due[CALLS] = 1;
                self.batch_begins(1, before);
            }
            Fact::Refuse => {
                let Phase::Asked(Turn { pinned: Some((provider, thinks)), .. }) = before.phase
                else {
                    return Err(Property::G9PinnedAsAllowed);
                };
                self.refused[provider as usize][usize::from(!thinks)] = true;
            }
            Fact::Finish { run, .. } => {
                // D13: of a late end nothing but the record hears.
                let late = events.iter().any(|e| matches!(e, Event::Ended { late: true, .. }));
                let number = before.runs[usize::from(run)].map_or(0, |run| run.action + 1);
                if late || (number != 0 && self.of(number).old) {
                    check(lives(before) == lives(after), Property::D13LateChangesNothing)?;
                }
            }
            Fact::Stage { .. }
            | Fact::Touch(_)
            | Fact::Push(_)
            | Fact::Open(_)
            | Fact::Poll(_)
            | Fact::Drop(_)
            | Fact::Abort => {}
        }
        Ok(())
    }

    fn batch_begins(&mut self, batch: usize, before: &Model<A>) {
        let open = (1..=before.staged).rev().find(|&number| before.life(number).is_open());
        self.heads[batch] = open.unwrap_or(0);
        self.several[batch] = before.pending().count() > 1;
        self.bare[batch] = 0;
    }

    /// A head that came up while a turn looked goes on within the budget of that turn's head.
    fn take_over(&mut self, head: u8) {
        let Looked { number, turns, forced, looks } = std::mem::take(&mut self.looked);
        if number == 0 || head <= number {
            return;
        }
        let seen = self.of(head);
        if (seen.turns, seen.forced, seen.looks) == (0, 0, 0) {
            (seen.turns, seen.forced, seen.looks) = (turns, forced, looks);
        }
    }

    fn forget_spent(&mut self) {
        self.looked = Looked::default();
        for seen in &mut self.actions {
            (seen.rests, seen.strayed) = (false, false);
            (seen.turns, seen.forced, seen.looks) = (0, 0, 0);
        }
    }

    fn started(
        &mut self,
        before: &Model<A>,
        number: u8,
        verdict: Verdict,
        place: usize,
    ) -> Result<(), Property> {
        let Place::Waiting(Call::Confirm { verdict: said, which, blank }) = before.places[place]
        else {
            return Err(Property::D1NoEffectWithoutConfirm);
        };
        // The place holds a confirm only if a turn made one: text alone makes none due.
        let confirmed = said == verdict && !blank && self.due[place] == 1;
        check(confirmed, Property::D1NoEffectWithoutConfirm)?;
        match which {
            Which::Number(named) => check(named == number, Property::D1NoEffectWithoutConfirm)?,
            Which::Head => {
                let batch = Model::<A>::batch_of(place);
                self.bare[batch] += 1;
                let one = self.bare[batch] == 1 || !self.several[batch];
                check(number == self.heads[batch] && one, Property::D14BareNeverCrosses)?;
            }
        }
        let seen = self.of(number);
        check(!seen.old, Property::D13LateChangesNothing)?;
        let apply = verdict == Verdict::Apply;
        let other = if apply { seen.discarded } else { seen.applied };
        let overlap =
            before.runs.iter().flatten().any(|r| r.action + 1 == number && r.applies != apply);
        check(!(other || overlap), Property::D11ApplyOrReject)?;
        check(!(seen.applied || seen.running > 0), Property::D11OneApply)?;
        seen.running += 1;
        Ok(())
    }

    fn ended(
        &mut self,
        number: u8,
        verdict: Verdict,
        succeeded: bool,
        late: bool,
        after: &Model<A>,
    ) -> Result<(), Property> {
        let seen = self.of(number);
        check(seen.running > 0, Property::D1NoEffectWithoutConfirm)?;
        seen.running -= 1;
        match (succeeded, verdict) {
            (true, Verdict::Apply) => {
                check(!seen.applied, Property::D11OneApply)?;
                check(!seen.discarded, Property::D11ApplyOrReject)?;
                seen.applied = true;
            }
            (true, Verdict::Discard) => {
                check(!seen.applied, Property::D11ApplyOrReject)?;
                seen.discarded = true;
            }
            (false, _) => {
                let old = seen.old;
                check(
                    old || late || after.life(number) == Life::Pending,
                    Property::D9FailedStaysPending,
                )?;
                seen.rests |= verdict == Verdict::Apply && !late;
            }
        }
        Ok(())
    }

    /// Whether a turn that is to be pinned, or not, is pinned so.
    fn pinned(&self, request: Request, wanted: bool, pin: Pin) -> Result<(), Property> {
        let [thinking, without] = self.refused[request.provider as usize];
        let (may, how) = match request.provider {
            // Who can be asked for a tool by name may yet be asked so without thinking.
            Provider::Named => (!(thinking && request.thinks), Pin::Named),
            Provider::NamedUnlessThinking => (!request.thinks && !thinking, Pin::Named),
            Provider::SomeTool => (!(thinking && request.thinks), Pin::SomeTool),
            Provider::AutoOnly | Provider::Unknown => (false, Pin::Unavailable),
        };
        let expect = match (wanted, may && !without) {
            (false, _) => Pin::Own,
            (true, false) => Pin::Unavailable,
            (true, true) => how,
        };
        check(pin == expect, Property::G9PinnedAsAllowed)
    }

    fn armed(&self, before: &Model<A>, head: u8, asks: bool) -> Result<(), Property> {
        let newest = (1..=before.staged).rev().find(|&n| before.life(n) == Life::Pending);
        let expect = newest.filter(|&n| asks && !self.actions[usize::from(n) - 1].rests);
        check(expect.unwrap_or(0) == head, Property::G1ArmedExactly)
    }

    #[allow(clippy::too_many_arguments, reason = "all that is known of a judgement")]
    fn judged(
        &mut self,
        rules: &Rules,
        before: &Model<A>,
        after: &Model<A>,
        turn: Turn,
        end: End,
        calls: Calls,
        judged: Judged,
    ) -> Result<(), Property> {
        let runs = matches!(judged, Judged::Free | Judged::Run);
        if matches!(end, End::Aborted | End::Failed) {
            check(!runs, Property::G12VoidSpendsNothing)?;
            let ledgers = |model: &Model<A>| model.actions.map(|action| action.ledger);
            return check(ledgers(before) == ledgers(after), Property::G12VoidSpendsNothing);
        }
        if turn.orphan {
            return check(judged == Judged::Void, Property::D13LateChangesNothing);
        }
        let stands = turn.head != 0 && before.life(turn.head) == Life::Pending;
        if !stands || self.of(turn.head).rests {
            return check(judged == Judged::Free, Property::G1ArmedExactly);
        }
        let calls = || calls.iter().flatten();
        let seen = self.of(turn.head);
        seen.turns += 1;
        seen.forced += u8::from(turn.forced);
        let looks = calls().any(|call| call.looks());
        let detours = calls().any(|call| call.strays());
        let some = calls().next().is_some();
        // The whole budget of looks is the model's to spend, and not more.
        let complies =
            some && end == End::Complete && !detours && (!looks || judged == Judged::Run);
        seen.looks += u8::from(looks && judged == Judged::Run);
        seen.strayed = !complies;
        let looked =
            Looked { number: turn.head, turns: seen.turns, forced: seen.forced, looks: seen.looks };
        let within =
            seen.turns <= rules.turns && seen.forced <= rules.forced && seen.looks <= rules.looks;
        check(within, Property::G7WithinBudget)?;
        let refused_look = looks && judged == Judged::Skip && !detours && end == End::Complete;
        check(!refused_look || seen.looks == rules.looks, Property::G5OnlyCompliantRuns)?;
        self.looked = if complies && looks { looked } else { Looked::default() };
        check((judged == Judged::Run) == complies, Property::G5OnlyCompliantRuns)?;
        check(after.phase == Phase::Running || !complies, Property::G5OnlyCompliantRuns)
    }

    /// What holds of every state. Forgets what can no longer matter, so that histories which
    /// differ in it alone are one.
    fn whole(&mut self, after: &Model<A>) -> Result<(), Property> {
        for (at, (seen, action)) in self.actions.iter_mut().zip(after.actions).enumerate() {
            let runs = after.runs.iter().flatten().filter(|run| usize::from(run.action) == at);
            check(runs.count() == usize::from(seen.running), Property::D12TakenRuns)?;
            let taken = matches!(action.life, Life::Taken(_));
            let void = action.life == Life::Void;
            check(!action.life.is_open() || !seen.old, Property::E1OwnSessionOnly)?;
            check(taken == (seen.running == 1 && !void), Property::D12TakenRuns)?;
            check(action.life != Life::Applied || seen.applied, Property::D9FailedStaysPending)?;
            if !action.life.is_open() {
                let Seen { applied, discarded, running, .. } = *seen;
                let old = seen.old && running > 0;
                *seen = Seen { applied, discarded, running, old, ..Seen::default() };
            }
        }
        if !after.is_due(CALLS) {
            (self.heads[1], self.several[1], self.bare[1]) = (0, false, 0);
            check(self.due[CALLS] == 0, Property::G5OneResultACall)?;
        }
        if after.phase == Phase::Idle {
            self.looked = Looked::default();
        }
        if after.phase != Phase::Running {
            self.over = false;
            (self.heads[0], self.several[0], self.bare[0]) = (0, false, 0);
            let none_due = self.due[..CALLS].iter().all(|&due| due == 0);
            check(none_due, Property::G5OneResultACall)?;
        }
        Ok(())
    }
}

/// Whether a restart may make `is` of `was`.
fn restarted(was: Life, durable: bool, is: Life) -> bool {
    match (was, durable) {
        (Life::Taken(Verdict::Apply), true) => matches!(is, Life::Pending | Life::Applied),
        (Life::Pending | Life::Taken(_), true) => is == Life::Pending,
        (Life::Pending | Life::Taken(_), false) => is == Life::Void,
        (Life::Absent | Life::Applied | Life::Discarded | Life::Void, _) => is == was,
    }
}

fn check(holds: bool, property: Property) -> Result<(), Property> {
    if holds { Ok(()) } else { Err(property) }
}
