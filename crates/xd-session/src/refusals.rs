//! A model that repeats what is forbidden (case 93), as a pure counter.

use std::collections::{BTreeMap, BTreeSet};

/// How often a model may be refused within one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RefusalLimits {
    /// From this refusal of the same call on it is told to stop.
    pub told: u32,
    /// At this refusal of the same call the run ends.
    pub same: u32,
    /// After this many batches with refusals, of whatever calls, the run ends: two calls in turn,
    /// or ever other ones, are no way past.
    pub batches: u32,
}

impl Default for RefusalLimits {
    fn default() -> Self {
        Self { told: 3, same: 6, batches: 12 }
    }
}

/// What a refusal is among the others of its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    /// How often this same call was refused, this time included. Within one batch the model has
    /// not heard yet, so that it counts once.
    pub times: u32,
    /// Whether the model is to be told to stop.
    pub tell: bool,
}

/// Counts the refusals of one prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Refusals {
    limits: RefusalLimits,
    calls: BTreeMap<u64, u32>,
    batch: BTreeSet<u64>,
    batches: u32,
}

impl Refusals {
    /// A counter with these limits.
    #[must_use]
    pub fn with_limits(limits: RefusalLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A prompt began, or the session is another one: nothing was refused yet.
    pub fn prompt_began(&mut self) {
        *self = Self::with_limits(self.limits);
    }

    /// A batch of calls began.
    pub fn batch_began(&mut self) {
        self.batch.clear();
    }

    /// The call that `key` stands for was refused.
    pub fn refused(&mut self, key: u64) -> Repeat {
        if self.batch.is_empty() {
            self.batches = self.batches.saturating_add(1);
        }
        let times = self.calls.entry(key).or_default();
        if self.batch.insert(key) {
            *times = times.saturating_add(1);
        }
        Repeat { times: *times, tell: *times >= self.limits.told }
    }

    /// Whether the limit is reached: then how many batches brought refusals, and the run is to end.
    #[must_use]
    pub fn spent(&self) -> Option<u32> {
        let same = self.calls.values().any(|&times| times >= self.limits.same);
        (same || self.batches >= self.limits.batches).then_some(self.batches)
    }
}
