//! Breadth-first search over all states that facts of a scope lead to.

use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasherDefault, Hasher},
};

use crate::{
    facts::{Event, Fact},
    model::{Model, Phase},
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
}

/// How far a search came.
#[derive(Debug, Clone, Copy)]
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
    let mut known: HashSet<World<A>, BuildHasherDefault<Mix>> = HashSet::default();
    // How each state was first reached: from which, by what.
    let mut ways: Vec<(u32, Fact)> = vec![(0, Fact::Prompt)];
    let mut waiting = VecDeque::from([(0_u32, 0_u32, World::<A>::new())]);
    known.insert(World::new());
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    let (mut steps, mut depth) = (0, 0);
    while let Some((at, layer, world)) = waiting.pop_front() {
        depth = layer;
        facts.clear();
        scope.facts(&world.model, &mut facts);
        let broken = |property, last: Option<Fact>| {
            let mut trace: Vec<Fact> = last.into_iter().collect();
            let mut way = at;
            while way != 0 {
                let (from, fact) = ways[way as usize];
                trace.push(fact);
                way = from;
            }
            trace.reverse();
            Broken { property, trace }
        };
        if !goes_on(&world.model, &facts) {
            return Err(broken(Property::Progress, None));
        }
        let mut found = Vec::new();
        for &fact in &facts {
            steps += 1;
            let next = world
                .after(rules, fact, &mut seen)
                .map_err(|property| broken(property, Some(fact)))?;
            if known.insert(next) {
                found.push((fact, next));
            }
        }
        assert!(known.len() <= scope.most_states, "{}: too many states, depth {depth}", scope.name);
        for (fact, next) in found {
            let number = u32::try_from(ways.len()).expect("fewer states than 2^32");
            ways.push((at, fact));
            waiting.push_back((number, layer + 1, next));
        }
    }
    Ok(Explored { states: known.len(), steps, depth })
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

/// A quick hash: the states are ours, nobody feeds it on purpose.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
