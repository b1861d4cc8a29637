//! What a host allows and denies by name (`CONTRACT W7`).

use std::collections::BTreeSet;

use xd_protocol::Verdict;
use xd_resolve::{Decider, Guard, StagedAction, ToolResult};

/// Lists of names: what is denied never runs, what is allowed runs unasked. A name that is on
/// both lists is denied (cases 95 and 168).
///
/// A call goes by the name of what it reaches, whichever way it was called: a tool by its own
/// name; a device by its name, through `write xd://<name>` and through a call of that name alike;
/// `resolve`, `reject` and `propose` likewise; `read`; a file written by `write`, at once or staged,
/// which does not stand for the devices behind it; a draft by `local`. What a denied tool had staged is not
/// applied either, by whatever route.
///
/// An allow rule is the host's word that a tool changes nothing of the working tree that plan mode
/// protects. It opens neither file writes nor applies while plan mode is on.
///
/// ```
/// use xd_write::{Rule, Rules};
///
/// let rules = Rules::new().allow("browser").deny("shell").deny("browser");
/// assert_eq!(rules.rule("browser"), Rule::Denied);
/// assert_eq!(rules.rule("grep"), Rule::None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    allow: BTreeSet<String>,
    deny: BTreeSet<String>,
}

/// What the lists say of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It never runs.
    Denied,
    /// It runs unasked.
    Allowed,
    /// Nothing.
    None,
}

impl Rules {
    /// No rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows `name`.
    #[must_use]
    pub fn allow(mut self, name: impl Into<String>) -> Self {
        self.allow.insert(name.into());
        self
    }

    /// Denies `name`.
    #[must_use]
    pub fn deny(mut self, name: impl Into<String>) -> Self {
        self.deny.insert(name.into());
        self
    }

    /// What the lists say of `name`.
    #[must_use]
    pub fn rule(&self, name: &str) -> Rule {
        match (self.deny.contains(name), self.allow.contains(name)) {
            (true, _) => Rule::Denied,
            (false, true) => Rule::Allowed,
            (false, false) => Rule::None,
        }
    }

    /// Whether nothing is denied.
    #[must_use]
    pub(crate) fn denies_nothing(&self) -> bool {
        self.deny.is_empty()
    }
}

impl Guard for Rules {
    fn check(&self, action: &StagedAction, verdict: Verdict, _: Decider) -> Result<(), ToolResult> {
        match (verdict, self.rule(action.source_tool_name())) {
            (Verdict::Apply, Rule::Denied) => Err(ToolResult::error(format!(
                "Not applied: a rule of this host denies `{}`, which staged action @{}. It stays \
                 pending; write to xd://reject@{} to discard it.",
                action.source_tool_name(),
                action.number(),
                action.number()
            ))),
            (Verdict::Apply, Rule::Allowed | Rule::None) | (Verdict::Discard, _) => Ok(()),
        }
    }
}
