//! What "for the session" covers (`CONTRACT W6`).

use xd_resolve::{StagedAction, Tier};
use xd_session::Session;

/// A grant is bound to what was shown: a tool or device, or the applying of what one tool stages,
/// and how far it reached. It covers that tier and those below, never one beyond (**Invariant
/// W12**).
pub(crate) struct Grant<'a> {
    kind: &'static str,
    name: &'a str,
    tier: Tier,
}

impl<'a> Grant<'a> {
    /// What the call of `name` needs that reaches as far as `tier`, `applies` being the action that
    /// it would apply.
    pub(crate) fn of(name: &'a str, tier: Tier, applies: Option<&'a StagedAction>) -> Self {
        match applies {
            Some(action) => Self { kind: "apply", name: action.source_tool_name(), tier },
            None => Self { kind: "run", name, tier },
        }
    }

    /// Whether a person has given it, or the host has by the name alone, which says nothing of what
    /// is staged.
    pub(crate) fn is_given(&self, session: &Session) -> bool {
        let covering =
            [Tier::Read, Tier::Write, Tier::Exec].into_iter().filter(|it| *it >= self.tier);
        let by_person = covering.map(|tier| self.key(tier)).any(|key| session.is_granted(&key));
        by_person || (self.kind == "run" && session.is_granted(self.name))
    }

    /// Keeps it until the session is another one (case 119).
    pub(crate) fn give(&self, session: &Session) {
        session.grant(self.key(self.tier));
    }

    /// No tool's name begins so: a line break stands in none.
    fn key(&self, tier: Tier) -> String {
        let tier = match tier {
            Tier::Read => "read",
            Tier::Write => "write",
            Tier::Exec => "exec",
        };
        format!("{}\n{tier}\n{}", self.kind, self.name)
    }
}
