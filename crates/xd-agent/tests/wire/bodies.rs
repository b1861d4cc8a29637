//! Bodies of requests, compared by their bytes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::{flavour::Flavour, server::Exchange};

/// A body taken apart, each member as it stands.
pub(crate) struct Body<'a> {
    pub(crate) bytes: &'a [u8],
    history: &'a str,
    choice: &'a str,
    rest: BTreeMap<String, &'a str>,
}

impl<'a> Body<'a> {
    pub(crate) fn of(flavour: Flavour, exchange: &'a Exchange) -> Self {
        let members: BTreeMap<String, &'a RawValue> =
            serde_json::from_slice(&exchange.body).expect("a body is JSON");
        let mut rest: BTreeMap<String, &'a str> =
            members.into_iter().map(|(name, value)| (name, value.get())).collect();
        let history = rest.remove(flavour.history()).expect("a history");
        let choice = rest.remove("tool_choice").expect("a tool choice");
        Self { bytes: &exchange.body, history, choice, rest }
    }

    /// Whether the messages of `self` are, byte for byte, the first messages of `next`.
    pub(crate) fn begins(&self, next: &Body<'_>) -> bool {
        let open = self.history.strip_suffix(']').expect("a list");
        next.history.starts_with(open) && matches!(next.history.as_bytes()[open.len()], b',' | b']')
    }

    pub(crate) fn choice(&self) -> &str {
        self.choice
    }

    pub(crate) fn same_rest(&self, other: &Body<'_>) -> bool {
        self.rest == other.rest
    }
}

/// A line of the table.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) sent: usize,
    /// Bytes of each body that the body before began with.
    pub(crate) kept: usize,
    /// Bytes of each body before, as far as its messages go: what could be kept.
    pub(crate) keepable: usize,
    /// The same as `kept`, where a changed choice voids all messages, as Anthropic documents.
    pub(crate) kept_strictly: usize,
    pub(crate) choice_changes: usize,
    pub(crate) setting_changes: usize,
    pub(crate) broken_prefixes: usize,
}

pub(crate) fn measure(flavour: Flavour, exchanges: &[Exchange]) -> Measured {
    let bodies: Vec<Body<'_>> = exchanges.iter().map(|seen| Body::of(flavour, seen)).collect();
    let mut measured = Measured { requests: bodies.len(), ..Measured::default() };
    measured.sent = bodies.iter().map(|body| body.bytes.len()).sum();
    for pair in bodies.windows(2) {
        let [before, next] = pair else { continue };
        let same = before.bytes.iter().zip(next.bytes).take_while(|(a, b)| a == b).count();
        measured.kept += same;
        let voided = before.choice != next.choice;
        let messages = before.history.as_ptr() as usize - before.bytes.as_ptr() as usize;
        measured.kept_strictly += if voided { same.min(messages) } else { same };
        measured.keepable += before.bytes.len() - before.choice.len() - "],\"tool_choice\":}".len();
        measured.choice_changes += usize::from(before.choice != next.choice);
        measured.setting_changes += usize::from(!before.same_rest(next));
        measured.broken_prefixes += usize::from(!before.begins(next));
    }
    measured
}
