//! Breadth-first search over all states that facts of a scope lead to.
//!
//! Of a state that was seen a fingerprint of 64 bits is kept, and the way to it: from which, by
//! which of its facts. With ten million states the odds that two share a fingerprint, and one goes
//! unseen, are one in 400,000.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use crate::{
    facts::{Event, Fact},
    model::{Action, Life, Model, Phase},
    properties::{Property, Witness},
    scopes::Scope,
    steps::Rules,
};

/// The model with what was seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct World<const A: usize> {
    pub(crate) model: Model<A>,
    witness: Witness<A>,
}

impl<const A: usize> World<A> {
    pub(crate) fn new() -> Self {
        Self { model: Model::new(), witness: Witness::new() }
    }

    /// The world after `fact`; `seen` holds what was seen of it.
    ///
    /// # Errors
    /// The property that `fact` breaks.
    pub(crate) fn after(
        &self,
        rules: &Rules,
        fact: Fact,
        seen: &mut Vec<Event>,
    ) -> Result<Self, Property> {
        let Self { mut model, mut witness } = *self;
        seen.clear();
        model.step(rules, fact, seen);
        witness.watch(rules, &self.model, fact, seen, &model)?;
        Ok(Self { model, witness })
    }

    /// The one that stands for all worlds from which the same can be seen as from this. The places
    /// of a batch's calls have no order; what was so when it began matters while a confirm of it
    /// waits; how a budget was spent of which nothing is left, and what became of an action that no
    /// confirm can reach, matters no more.
    fn plain(mut self, scope: &Scope) -> Self {
        if scope.plain {
            let rules = &scope.rules;
            let spent = self.model.forget_spent(rules);
            for (number, spent) in (1..).zip(spent) {
                self.witness.forget_what_was_spent(rules, number, spent);
            }
            for number in scope.named + 1..=self.model.staged {
                if self.model.is_done_with(number) {
                    self.model.actions[usize::from(number) - 1] =
                        Action { life: Life::Void, ..Action::default() };
                    self.witness.forget_action(number);
                }
            }
        }
        let order = self.model.sort_places();
        self.witness.sort_places(order);
        self.witness.forget(self.model.forget());
        self
    }

    fn fingerprint(&self) -> u64 {
        let mut mix = Mix::default();
        self.hash(&mut mix);
        mix.finish()
    }
}

/// How far a search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) depth: u32,
}

/// A broken property and the shortest way to it.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) property: Property,
    pub(crate) trace: Vec<Fact>,
}

/// Explores `scope` for at most `A` actions.
///
/// # Errors
/// The first property that breaks, with the shortest trace.
pub(crate) fn explore<const A: usize>(scope: &Scope) -> Result<Explored, Broken> {
    let rules = &scope.rules;
    let first = World::<A>::new().plain(scope);
    let mut known: HashSet<u64, BuildHasherDefault<AsItIs>> = HashSet::default();
    known.insert(first.fingerprint());
    // How each state was first reached: from which, by which of its facts.
    let mut ways: Vec<(u32, u16)> = vec![(0, 0)];
    let (mut layer, mut next) = (vec![first], Vec::new());
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    let (mut steps, mut depth, mut at) = (0, 0, 0_u32);
    loop {
        for world in &layer {
            facts.clear();
            scope.facts(&world.model, &mut facts);
            let broken = |property, last: Option<Fact>, ways: &[(u32, u16)]| {
                let mut trace = retrace::<A>(scope, ways, at);
                trace.extend(last);
                Broken { property, trace }
            };
            if !goes_on(&world.model, &facts) {
                return Err(broken(Property::Progress, None, &ways));
            }
            for (which, &fact) in facts.iter().enumerate() {
                steps += 1;
                let after = world
                    .after(rules, fact, &mut seen)
                    .map_err(|property| broken(property, Some(fact), &ways))?
                    .plain(scope);
                if known.insert(after.fingerprint()) {
                    ways.push((at, u16::try_from(which).expect("fewer facts than 2^16")));
                    next.push(after);
                }
            }
            let states = known.len();
            assert!(states <= scope.most_states, "{}: too many states, depth {depth}", scope.name);
            at += 1;
        }
        if next.is_empty() {
            return Ok(Explored { states: known.len(), steps, depth });
        }
        depth += 1;
        layer.clear();
        std::mem::swap(&mut layer, &mut next);
    }
}

/// The facts that led to the state of this number.
fn retrace<const A: usize>(scope: &Scope, ways: &[(u32, u16)], state: u32) -> Vec<Fact> {
    let mut path = Vec::new();
    let mut at = state;
    while at != 0 {
        let (from, which) = ways[at as usize];
        path.push(which);
        at = from;
    }
    let mut world = World::<A>::new().plain(scope);
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    let again = |which: u16| {
        facts.clear();
        scope.facts(&world.model, &mut facts);
        let fact = facts[usize::from(which)];
        world = world.after(&scope.rules, fact, &mut seen).expect("it held before").plain(scope);
        fact
    };
    path.into_iter().rev().map(again).collect()
}

/// Whether the loop itself can go on, with nobody's help: a run that waits for a turn, an answer or
/// its calls gets it.
fn goes_on<const A: usize>(model: &Model<A>, facts: &[Fact]) -> bool {
    let any = |wanted: fn(&Fact) -> bool| facts.iter().any(wanted);
    match model.phase {
        Phase::Idle => any(|fact| matches!(fact, Fact::Prompt)),
        Phase::Ready => any(|fact| matches!(fact, Fact::Open(_))),
        Phase::Asked(_) => any(|fact| matches!(fact, Fact::Reply { .. })),
        Phase::Running => any(|fact| matches!(fact, Fact::Poll(_) | Fact::Finish { .. })),
    }
}

/// A quick hash of many small numbers: the states are ours, nobody feeds it on purpose. Eight bytes
/// at a time are multiplied to 128 bits and folded.
#[derive(Default)]
pub(crate) struct Mix {
    state: u64,
    word: u64,
    bits: u32,
}

impl Mix {
    fn fold(&mut self, word: u64) {
        let wide = u128::from(self.state ^ word ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(0xd6e8_feb8_6659_fd93_u64);
        self.state = (wide as u64) ^ ((wide >> 64) as u64).rotate_left(23);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, n: u8) {
        self.word |= u64::from(n) << self.bits;
        self.bits += 8;
        if self.bits == 64 {
            self.fold(self.word);
            (self.word, self.bits) = (0, 0);
        }
    }
    // Discriminants and lengths: all of them are small.
    fn write_usize(&mut self, n: usize) {
        self.write_u8(n as u8);
    }
    fn write_isize(&mut self, n: isize) {
        self.write_u8(n as u8);
    }
    fn finish(&self) -> u64 {
        let mut last = Self { ..*self };
        last.fold(self.word);
        last.fold(u64::from(self.bits) + 1);
        last.state
    }
}

/// A fingerprint is its own hash.
#[derive(Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a fingerprint is one number");
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
