//! The reference model of the protocol: how a fact changes the state.

use xd_protocol::Verdict;

use crate::{
    facts::{Answer, Calls, End, Event, Fact, Judged, MODELS, Pin, Provider, Refusal, Request},
    model::{
        Action, Batch, CALLS, Call, Handler, Hard, HardChoice, InFlight, Ledger, Life, Looked,
        Model, Next, PERSON, PLACES, Phase, Place, RUNS, Refused, Rest, Run, Turn, Which,
    },
    mutation::Mutation,
};

/// What the model goes by: the budget, and a fault where a test wants one found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) turns: u8,
    pub(crate) forced: u8,
    pub(crate) looks: u8,
    pub(crate) mutation: Option<Mutation>,
}

impl Rules {
    /// The budget of `CONTRACT G6` and `G7`.
    pub(crate) const CONTRACT: Self = Self { turns: 8, forced: 3, looks: 5, mutation: None };

    pub(crate) fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }
}

impl<const A: usize> Model<A> {
    /// Whether `fact` can happen now.
    pub(crate) fn allows(&self, fact: Fact) -> bool {
        match fact {
            Fact::Prompt => self.phase == Phase::Idle,
            Fact::Compacted | Fact::Boundary | Fact::Restart { .. } => true,
            Fact::Stage { .. } => self.numbers_left() > 0,
            Fact::Touch(number) => {
                self.action(number).is_some_and(|a| a.life == Life::Pending && !a.stale)
            }
            Fact::Push(_) => self.directives() < self.queue.len(),
            Fact::Open(_) => self.phase == Phase::Ready,
            Fact::Reply { .. } => matches!(self.phase, Phase::Asked(_)),
            Fact::Refuse => {
                matches!(self.phase, Phase::Asked(Turn { pinned: Some(_), .. }))
            }
            Fact::Person { .. } => !self.is_due(PERSON),
            Fact::Poll(place) => match self.places[usize::from(place)] {
                Place::Waiting(Call::Confirm { .. }) => self.runs.contains(&None),
                Place::Waiting(Call::Stage { .. } | Call::StageByLook { .. }) => {
                    usize::from(self.staged) < A
                }
                Place::Waiting(Call::Look | Call::Detour) => true,
                Place::Free | Place::Running | Place::Answered => false,
            },
            Fact::Finish { run, .. } => self.runs[usize::from(run)].is_some(),
            Fact::Drop(place) => self.is_due(usize::from(place)),
            Fact::Abort => self.phase == Phase::Running,
        }
    }

    /// Carries `fact` out and tells `seen` what is seen from outside.
    pub(crate) fn step(&mut self, rules: &Rules, fact: Fact, seen: &mut Vec<Event>) {
        match fact {
            Fact::Prompt => {
                self.phase = Phase::Ready;
                self.actions.iter_mut().for_each(|action| action.ledger = Ledger::default());
            }
            Fact::Compacted => {
                self.actions.iter_mut().for_each(|action| action.reminded = false);
                if rules.has(Mutation::CompactionVoids) {
                    self.void_open();
                }
            }
            Fact::Boundary => self.boundary(rules),
            Fact::Restart { landed } => self.restart(rules, landed, seen),
            Fact::Stage { durable } => {
                let number = self.stage(durable);
                seen.push(Event::Staged(number));
            }
            Fact::Touch(number) => self.actions[usize::from(number) - 1].stale = true,
            Fact::Push(hard) => self.push(hard),
            Fact::Open(request) => self.open(rules, request, seen),
            Fact::Reply { end, calls } => self.reply(rules, end, calls, seen),
            Fact::Refuse => self.refuse(rules, seen),
            Fact::Person { verdict, which } => {
                let confirm = Call::Confirm { verdict, which, blank: false };
                self.places[PERSON] = Place::Waiting(confirm);
                self.batches[1] = self.batch_now();
            }
            Fact::Poll(place) => self.poll(rules, usize::from(place), seen),
            Fact::Finish { run, succeeds } => self.finish(rules, usize::from(run), succeeds, seen),
            Fact::Drop(place) => self.drop_call(rules, usize::from(place), seen),
            Fact::Abort => {
                for place in 0..CALLS {
                    if self.is_due(place) {
                        self.drop_call(rules, place, seen);
                    }
                }
                self.phase = Phase::Idle;
                seen.push(Event::Stopped);
            }
        }
        if self.phase == Phase::Idle {
            // The next turn is another prompt's, which gives the whole budget again.
            self.looked = Looked::default();
        }
        self.runs.sort_unstable();
    }

    fn stage(&mut self, durable: bool) -> u8 {
        self.actions[usize::from(self.staged)] =
            Action { life: Life::Pending, durable, ..Action::default() };
        self.staged += 1;
        self.staged
    }

    /// Ends `number` for good. What was spent on it is of no use any more.
    fn close(&mut self, number: u8, life: Life) {
        self.actions[usize::from(number) - 1] = Action { life, ..Action::default() };
    }

    fn void_open(&mut self) {
        for number in 1..=self.staged {
            let Action { life, stale, .. } = self.actions[usize::from(number) - 1];
            if life.is_open() {
                self.close(number, Life::Void);
                // A late apply must still not write over what has changed.
                let runs = matches!(life, Life::Taken(_));
                self.actions[usize::from(number) - 1].stale = stale && runs;
            }
        }
    }

    fn boundary(&mut self, rules: &Rules) {
        if rules.has(Mutation::BoundaryKeepsWhatIsTaken) {
            let taken = |life| matches!(life, Life::Taken(_));
            let kept = self.actions.map(|action| taken(action.life).then_some(action));
            self.void_open();
            for (action, kept) in self.actions.iter_mut().zip(kept) {
                *action = kept.unwrap_or(*action);
            }
        } else {
            self.void_open();
        }
        for action in &mut self.actions {
            action.ledger = Ledger::default();
            action.reminded = false;
        }
        self.queue = Default::default();
        self.in_flight = None;
        self.looked = Looked::default();
        self.batches[0].over = self.phase == Phase::Running;
        if let Phase::Asked(turn) = &mut self.phase {
            *turn = Turn { head: 0, forced: false, hard: false, orphan: true, ..*turn };
        }
        if rules.has(Mutation::RefusalsEndWithTheSession) {
            self.refused = Default::default();
        }
    }

    /// The process ends with all that ran in it; what is durable is offered again (`CONTRACT E3`),
    /// and calls left without a result get one (`CONTRACT E4`).
    fn restart(&mut self, rules: &Rules, landed: bool, seen: &mut Vec<Event>) {
        for place in 0..PLACES {
            if self.is_due(place) {
                seen.push(Event::Answered { place: place as u8, answer: Answer::Gone });
            }
        }
        for number in 1..=self.staged {
            let Action { life, durable, stale, .. } = self.actions[usize::from(number) - 1];
            let offered = durable || rules.has(Mutation::RestartOffersAll);
            let becomes = match life {
                Life::Taken(Verdict::Apply) if durable && landed && !stale => Life::Applied,
                Life::Pending | Life::Taken(_) if offered => Life::Pending,
                Life::Pending | Life::Taken(_) if rules.has(Mutation::RestartForgets) => {
                    Life::Absent
                }
                Life::Pending | Life::Taken(_) => Life::Void,
                Life::Absent | Life::Applied | Life::Discarded | Life::Void => life,
            };
            self.close(number, becomes);
            if becomes == Life::Pending {
                let action = &mut self.actions[usize::from(number) - 1];
                (action.durable, action.stale) = (durable, stale);
            }
        }
        *self = Self { actions: self.actions, staged: self.staged, ..Self::new() };
    }

    fn push(&mut self, hard: Hard) {
        if let Some(free) = self.queue.iter_mut().find(|place| place.is_none()) {
            *free = Some(hard);
        }
    }

    fn next_hard(&mut self) -> Option<Hard> {
        let first = self.queue[0].take();
        self.queue.rotate_left(1);
        first
    }

    /// The directive in flight did not take effect (`CONTRACT Q4`).
    fn reject_hard(&mut self, hard: Hard) {
        if hard.requeues {
            self.queue.rotate_right(1);
            self.queue[0] = Some(hard);
        }
    }

    fn open(&mut self, rules: &Rules, request: Request, seen: &mut Vec<Event>) {
        let mut unavailable = false;
        if let Some(hard) = self.next_hard() {
            if hard.choice == HardChoice::Inactive {
                self.reject_hard(hard);
                unavailable = true;
            } else {
                self.in_flight = Some(InFlight { hard, invoked: false });
                let pin = match hard.choice {
                    HardChoice::Active => self.pin(rules, request),
                    HardChoice::None | HardChoice::Inactive => Pin::Own,
                };
                self.phase = Phase::Asked(Turn {
                    head: 0,
                    forced: false,
                    hard: true,
                    orphan: false,
                    pinned: None,
                });
                let hard = Some(hard.choice);
                seen.push(Event::Opened {
                    head: 0,
                    remind: false,
                    force: false,
                    hard,
                    unavailable,
                    pin,
                });
                return;
            }
        }
        let asks = request.write && !request.none;
        if asks {
            self.take_over(rules);
        }
        let head = if asks { self.asked_for() } else { 0 };
        let (mut remind, mut force) = (false, false);
        if head != 0 {
            let action = &mut self.actions[usize::from(head) - 1];
            let Ledger { turns, forced, next, .. } = action.ledger;
            force = next == Next::Force;
            let spent = turns >= rules.turns || (force && forced >= rules.forced);
            if spent || next == Next::Stop {
                action.ledger = Ledger { rest: Rest::Parked, ..Ledger::default() };
                self.phase = Phase::Idle;
                seen.push(Event::Parked(head));
                return;
            }
            remind = !action.reminded || rules.has(Mutation::RemindsAgain);
            action.reminded = true;
        }
        let pin = if force { self.pin(rules, request) } else { Pin::Own };
        let pinned = match pin {
            Pin::Named | Pin::SomeTool => Some((request.provider, request.thinks)),
            Pin::Own | Pin::Unavailable => None,
        };
        self.phase = Phase::Asked(Turn { head, forced: force, hard: false, orphan: false, pinned });
        seen.push(Event::Opened { head, remind, force, hard: None, unavailable, pin });
    }

    /// A head that is newer than the one that the last turn looked at came up while it did. Looking
    /// stages nothing, so it has no budget of its own (`CONTRACT G6, G7`).
    fn take_over(&mut self, rules: &Rules) {
        let Looked { number, turns, forced, looks } = std::mem::take(&mut self.looked);
        let head = self.head();
        if number == 0 || head <= number || rules.has(Mutation::LooksStageForFree) {
            return;
        }
        let ledger = &mut self.actions[usize::from(head) - 1].ledger;
        if *ledger == Ledger::default() {
            *ledger = Ledger { turns, forced, looks, ..Ledger::default() };
        }
    }

    /// How a choice of one tool is asked for: as the provider is said to allow, and never as it has
    /// refused (`CONTRACT G9`).
    fn pin(&self, rules: &Rules, request: Request) -> Pin {
        let refused = match self.refused[request.provider as usize] {
            _ if rules.has(Mutation::RefusalsAreIgnored) => Refused::No,
            refused => refused,
        };
        match (request.provider, refused, request.thinks) {
            (Provider::Named, Refused::No, _)
            | (Provider::Named, Refused::WhileThinking, false)
            | (Provider::NamedUnlessThinking, Refused::No, false) => Pin::Named,
            (Provider::SomeTool, Refused::No, _)
            | (Provider::SomeTool, Refused::WhileThinking, false) => Pin::SomeTool,
            (Provider::AutoOnly, ..) if rules.has(Mutation::PinsWhoeverIsAsked) => Pin::Named,
            (
                Provider::Named
                | Provider::NamedUnlessThinking
                | Provider::SomeTool
                | Provider::AutoOnly
                | Provider::Unknown,
                ..,
            ) => Pin::Unavailable,
        }
    }

    /// The provider refuses the forced choice. The turn was none: it is planned anew, nothing is
    /// spent, and what was refused is learned of this model alone (`CONTRACT G9, G12`).
    fn refuse(&mut self, rules: &Rules, seen: &mut Vec<Event>) {
        let Phase::Asked(turn) = self.phase else { return };
        let Some((provider, thinks)) = turn.pinned else { return };
        let learned = &mut self.refused[provider as usize];
        *learned = match (*learned, thinks) {
            (Refused::No, true) => Refused::WhileThinking,
            (Refused::WhileThinking | Refused::Always, true) | (_, false) => Refused::Always,
        };
        if rules.has(Mutation::RefusalsAreOfAll) {
            self.refused = [*learned; MODELS];
        }
        if let Some(head) = usize::from(turn.head).checked_sub(1) {
            let ledger = &mut self.actions[head].ledger;
            if rules.has(Mutation::RefusalsForgetTheBudget) {
                *ledger = Ledger::default();
            }
            if rules.has(Mutation::RefusedTurnsSpend) {
                ledger.turns += 1;
            }
        }
        seen.push(Event::ChoiceRefused);
        self.next_turn();
    }

    fn reply(&mut self, rules: &Rules, end: End, calls: Calls, seen: &mut Vec<Event>) {
        let Phase::Asked(turn) = self.phase else { return };
        let decides = calls.iter().flatten().any(|call| matches!(call, Call::Confirm { .. }));
        // An answer to the session before does nothing in this one (`CONTRACT D13`).
        let late = turn.orphan
            && !rules.has(Mutation::LateRepliesRun)
            && (decides || !rules.has(Mutation::LateDetoursRun));
        let void = late || matches!(end, End::Aborted | End::Failed);
        if void {
            if turn.head != 0 && rules.has(Mutation::AbortedTurnsSpend) {
                self.actions[usize::from(turn.head) - 1].ledger.turns += 1;
            }
            if let Some(in_flight) = self.in_flight.take() {
                self.reject_hard(in_flight.hard);
            }
            seen.push(Event::Judged(Judged::Void));
            let answer = if turn.orphan { Answer::TurnLate } else { Answer::TurnVoid };
            self.answer_all(calls, answer, seen);
            return self.stop(seen);
        }
        let none = calls.iter().flatten().count() == 0;
        // A requirement that has been met, or lifted, while the provider answered is none.
        let asked = self.action(turn.head).copied().unwrap_or_default();
        let stands = asked.life == Life::Pending && asked.ledger.rest == Rest::No;
        let judged = if stands { self.judge(rules, turn, end, calls) } else { Judged::Free };
        seen.push(Event::Judged(judged));
        match judged {
            Judged::Free if none => {
                self.turn_ended();
                self.stop(seen);
            }
            Judged::Free if end == End::Truncated => {
                self.answer_all(calls, Answer::Cut, seen);
                self.next_turn();
            }
            Judged::Free | Judged::Run => self.begin(calls),
            Judged::Skip => {
                if !rules.has(Mutation::SkippedGetNoResult) {
                    self.answer_all(calls, Answer::Skipped, seen);
                }
                self.next_turn();
            }
            Judged::NoCall if rules.has(Mutation::ProseIsParsed) => {
                let said = Call::Confirm {
                    verdict: Verdict::Apply,
                    which: Which::Number(turn.head),
                    blank: false,
                };
                self.begin([Some(said), None, None]);
            }
            Judged::NoCall => self.next_turn(),
            Judged::Void => unreachable!("judged above"),
        }
    }

    /// A turn on `turn.head` that ended well: what it costs and whether it complies
    /// (`CONTRACT G4–G7`).
    fn judge(&mut self, rules: &Rules, turn: Turn, end: End, calls: Calls) -> Judged {
        let calls = || calls.iter().flatten();
        let is_detour = |call: &Call| call.strays();
        let (none, looks) = (calls().next().is_none(), calls().any(|call| call.looks()));
        let confirms = calls().any(|call| matches!(call, Call::Confirm { .. }));
        let ledger = &mut self.actions[usize::from(turn.head) - 1].ledger;
        let before = *ledger;
        if !(none && rules.has(Mutation::SilentTurnsAreFree)) {
            ledger.turns += 1;
            ledger.forced += u8::from(turn.forced);
        }
        if none {
            ledger.next = match (before.next, turn.forced) {
                (Next::OnceUnforced, _) => Next::Stop,
                (_, true) => Next::OnceUnforced,
                (_, false) => Next::Force,
            };
            return Judged::NoCall;
        }
        let may_look = before.looks < rules.looks || rules.has(Mutation::LooksAreEndless);
        let detours = calls().any(is_detour) && !(confirms && rules.has(Mutation::MixedBatchesRun));
        let complies = end == End::Complete && !detours && (!looks || may_look);
        self.looked = Looked::default();
        if complies && looks {
            ledger.looks += 1;
            let Ledger { turns, forced, looks, .. } = *ledger;
            self.looked = Looked { number: turn.head, turns, forced, looks };
        }
        ledger.next = if complies && !(turn.forced && rules.has(Mutation::ForceSticks)) {
            Next::Remind
        } else {
            Next::Force
        };
        if complies { Judged::Run } else { Judged::Skip }
    }

    fn answer_all(&mut self, calls: Calls, answer: Answer, seen: &mut Vec<Event>) {
        for place in (0..CALLS).filter(|&place| calls[place].is_some()) {
            seen.push(Event::Answered { place: place as u8, answer });
        }
    }

    fn begin(&mut self, calls: Calls) {
        self.batches[0] = self.batch_now();
        for (place, call) in self.places.iter_mut().zip(calls) {
            *place = call.map_or(Place::Free, Place::Waiting);
        }
        self.phase = Phase::Running;
    }

    /// A bare confirm means the newest open action of this moment: also one that is taken, so that
    /// it hears that this one is being resolved and never reaches another (`CONTRACT D11`).
    fn batch_now(&self) -> Batch {
        let open = (1..=self.staged).rev().find(|&number| self.life(number).is_open());
        Batch {
            head: open.unwrap_or(0),
            pending: self.pending().count() as u8,
            staged: self.staged,
            bare_seen: false,
            over: false,
        }
    }

    fn next_turn(&mut self) {
        self.turn_ended();
        self.phase = Phase::Ready;
    }

    fn stop(&mut self, seen: &mut Vec<Event>) {
        self.phase = Phase::Idle;
        seen.push(Event::Stopped);
    }

    /// A directive in flight has taken effect, or its handler was not called (`CONTRACT Q3`).
    fn turn_ended(&mut self) {
        let Some(InFlight { hard, invoked }) = self.in_flight.take() else { return };
        match hard.handler {
            Handler::None => {}
            Handler::Answers | Handler::Passes if invoked => {}
            Handler::Answers | Handler::Passes => self.reject_hard(hard),
        }
    }

    fn answer(&mut self, place: usize, answer: Answer, seen: &mut Vec<Event>) {
        self.places[place] = Place::Answered;
        seen.push(Event::Answered { place: place as u8, answer });
        if place == PERSON {
            self.places[PERSON] = Place::Free;
            self.batches[1] = Batch::default();
        } else if self.phase == Phase::Running && !(0..CALLS).any(|place| self.is_due(place)) {
            self.places[..CALLS].fill(Place::Free);
            self.batches[0] = Batch::default();
            self.next_turn();
        }
    }

    fn poll(&mut self, rules: &Rules, place: usize, seen: &mut Vec<Event>) {
        let Place::Waiting(call) = self.places[place] else { return };
        let (verdict, which) = match call {
            Call::Look | Call::Detour => return self.answer(place, Answer::Executed, seen),
            Call::Stage { .. } | Call::StageByLook { .. }
                if self.batches[0].over && !rules.has(Mutation::OldBatchesStage) =>
            {
                return self.answer(place, Answer::Refused(Refusal::SessionEnded), seen);
            }
            Call::Stage { durable } | Call::StageByLook { durable } => {
                let number = self.stage(durable);
                seen.push(Event::Staged(number));
                return self.answer(place, Answer::Staged(number), seen);
            }
            Call::Confirm { blank: true, .. } => {
                return self.answer(place, Answer::Refused(Refusal::Blank), seen);
            }
            Call::Confirm { verdict, which, blank: false } => (verdict, which),
        };
        if let (Which::Head, Some(in_flight)) = (which, &mut self.in_flight)
            && in_flight.hard.handler == Handler::Answers
        {
            in_flight.invoked = true;
            return self.answer(place, Answer::Handled, seen);
        }
        let taken = self.select(rules, place, which).and_then(|n| self.take(rules, n, verdict));
        match taken {
            Ok(number) => {
                self.places[place] = Place::Running;
                self.start(number, verdict, place);
                seen.push(Event::Started { number, verdict, place: place as u8 });
            }
            Err(refusal) => self.answer(place, Answer::Refused(refusal), seen),
        }
    }

    fn start(&mut self, number: u8, verdict: Verdict, place: usize) {
        let (applies, owner) = (verdict == Verdict::Apply, Some(place as u8));
        let run = Run { action: number - 1, applies, owner };
        if let Some(free) = self.runs.iter_mut().find(|run| run.is_none()) {
            *free = Some(run);
        }
    }

    /// The number that a confirm means in its batch (`CONTRACT D14`).
    fn select(&mut self, rules: &Rules, place: usize, which: Which) -> Result<u8, Refusal> {
        let now = self.batch_now();
        let batch = &mut self.batches[Self::batch_of(place)];
        match which {
            Which::Number(number) if number <= batch.staged => Ok(number),
            Which::Number(number) if number <= now.staged => Err(Refusal::NotYetSeen(number)),
            Which::Number(number) => Err(Refusal::Unknown(number)),
            Which::Head => {
                let second = std::mem::replace(&mut batch.bare_seen, true);
                if second && batch.pending > 1 && !rules.has(Mutation::SecondBareRuns) {
                    return Err(Refusal::SecondBare);
                }
                let current = second && rules.has(Mutation::SecondBareRuns)
                    || rules.has(Mutation::BareMeansTheNewest);
                let bound = if current { now.head } else { batch.head };
                match (bound, self.head()) {
                    (0, 0) => Err(Refusal::NothingPending),
                    (0, head) => Err(Refusal::NotYetSeen(head)),
                    (bound, _) => Ok(bound),
                }
            }
        }
    }

    fn take(&mut self, rules: &Rules, number: u8, verdict: Verdict) -> Result<u8, Refusal> {
        let life = self.life(number);
        match life {
            Life::Absent => return Err(Refusal::Unknown(number)),
            Life::Pending => {}
            Life::Taken(_) if rules.has(Mutation::TakesWhatIsTaken) => {}
            Life::Taken(_)
                if rules.has(Mutation::RejectsWhatIsTaken) && verdict == Verdict::Discard => {}
            Life::Taken(_) => return Err(Refusal::BeingResolved(number)),
            Life::Applied if rules.has(Mutation::AppliesAgain) && verdict == Verdict::Apply => {}
            Life::Applied | Life::Discarded | Life::Void => {
                return Err(Refusal::Decided(number, life));
            }
        }
        self.actions[usize::from(number) - 1].life = Life::Taken(verdict);
        Ok(number)
    }

    fn finish(&mut self, rules: &Rules, at: usize, succeeds: bool, seen: &mut Vec<Event>) {
        let Some(run) = self.runs[at].take() else { return };
        let (number, verdict) = (run.action + 1, run.verdict());
        let Action { life, stale, .. } = self.actions[usize::from(run.action)];
        let refuses = run.applies && stale && !rules.has(Mutation::StaleAppliesWrite);
        let succeeded = succeeds && !refuses;
        let on_time = matches!(life, Life::Taken(_));
        if on_time || (rules.has(Mutation::LateFailuresReturn) && !succeeded) {
            match (succeeded || rules.has(Mutation::FailuresConsume), verdict) {
                (true, Verdict::Apply) => self.close(number, Life::Applied),
                (true, Verdict::Discard) => self.close(number, Life::Discarded),
                (false, _) => {
                    let action = &mut self.actions[usize::from(run.action)];
                    action.life = Life::Pending;
                    if run.applies && !rules.has(Mutation::FailuresDoNotLift) {
                        action.ledger = Ledger { rest: Rest::Lifted, ..Ledger::default() };
                    }
                }
            }
        } else if !self.runs.iter().flatten().any(|other| other.action == run.action) {
            self.actions[usize::from(run.action)].stale = false;
        }
        let wrote = succeeded && run.applies;
        let late = !on_time;
        seen.push(Event::Ended { number, verdict, succeeded, late, wrote });
        if let Some(place) = run.owner {
            self.answer(usize::from(place), Answer::Ran { number, verdict, succeeded, late }, seen);
        }
    }

    /// The caller goes away: before the first poll nothing has happened, afterwards the effect
    /// goes on without it (`CONTRACT D12`).
    fn drop_call(&mut self, rules: &Rules, place: usize, seen: &mut Vec<Event>) {
        for at in 0..RUNS {
            let Some(run) = &mut self.runs[at] else { continue };
            if run.owner == Some(place as u8) {
                run.owner = None;
                let action = usize::from(run.action);
                if rules.has(Mutation::DroppedGoBack) {
                    self.actions[action].life = Life::Pending;
                }
                if rules.has(Mutation::DroppedAreCut) {
                    self.runs[at] = None;
                }
            }
        }
        self.answer(place, Answer::Gone, seen);
    }
}
