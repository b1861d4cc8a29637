//! Who may do what without being asked (`CONTRACT W6, W7`).

use std::{fmt, sync::Arc};

use xd_resolve::{BoxFuture, StagedAction, Tier, ToolCall};

use crate::Rules;

/// What a person is asked before a call runs.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The call.
    pub call: ToolCall,
    /// How far it reaches.
    pub tier: Tier,
    /// For a confirm: the staged action that it would apply, with its change in view.
    pub action: Option<Arc<StagedAction>>,
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Go on.
    Granted,
    /// Go on, and in this session do not ask again about the same tool or device where it reaches no
    /// farther than now. For a confirm: about applying what the same tool stages, up to that tier.
    GrantedForSession,
    /// Go on, but for this reason: a confirm runs in the person's name and for it. The record and the
    /// model's result say both reasons. What is no confirm has no reason, and just runs.
    GrantedBecause {
        /// Why, as [`Reason`](xd_protocol::Reason) wants it (`CONTRACT D2`); what is none runs
        /// nothing.
        reason: String,
    },
    /// Do not; these are their words, which the model reads.
    Refused {
        /// What they said; may be empty.
        words: String,
    },
}

/// Asks a person.
pub trait Approver: Send + Sync {
    /// Asks and waits for the answer.
    ///
    /// # Cancel safety
    /// Dropped, the question is withdrawn and the call does not run.
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval>;
}

/// What a `write` of a file does. Drafts and devices are not concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FileWrites {
    /// It writes the file.
    #[default]
    AtOnce,
    /// It stages a change set that creates or replaces the file, with its preview; the file is
    /// changed when that is applied.
    Staged,
}

/// Up to which tier calls run by themselves, whom to ask beyond, what never runs, and whether a
/// `write` of a file is staged.
#[derive(Clone)]
pub struct Policy {
    automatic: Tier,
    rules: Rules,
    approver: Option<Arc<dyn Approver>>,
    file_writes: FileWrites,
}

impl Policy {
    /// Calls of `tier` and below run by themselves; nobody is there to ask about others, so they
    /// are refused.
    #[must_use]
    pub fn automatic(tier: Tier) -> Self {
        Self {
            automatic: tier,
            rules: Rules::new(),
            approver: None,
            file_writes: FileWrites::default(),
        }
    }

    /// Asks `approver` about calls beyond the automatic tier.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Adds rules by name. They come before tiers and before a person: what is denied is not
    /// asked about, what is allowed need not be.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Puts every file write behind the confirm: together with producers, which stage anyway, no
    /// change of a file is then made that nobody has decided on.
    ///
    /// A staged write reaches as far as other staging does, [`Tier::Write`]: while something is
    /// pending it is a detour (`CONTRACT G5`), and where writing needs a person she is asked when
    /// it is staged and again, with the change in view, when it is applied (`CONTRACT W6`). In plan
    /// mode it is held back as it is without (`CONTRACT W7, P4`).
    #[must_use]
    pub fn stage_writes(mut self) -> Self {
        self.file_writes = FileWrites::Staged;
        self
    }

    /// What a `write` of a file does.
    #[must_use]
    pub fn file_writes(&self) -> FileWrites {
        self.file_writes
    }

    /// Whether somebody is there to ask.
    pub(crate) fn asks(&self) -> bool {
        self.approver.is_some()
    }

    /// Whether a call of `tier` may run, after asking where it must.
    pub(crate) async fn decide(&self, request: ApprovalRequest) -> Approval {
        if request.tier <= self.automatic {
            return Approval::Granted;
        }
        match &self.approver {
            Some(approver) => approver.ask(request).await,
            None => Approval::Refused { words: "nobody is there to approve it".to_owned() },
        }
    }
}

impl Default for Policy {
    /// Reading and writing run by themselves: what is staged is confirmed anyway.
    fn default() -> Self {
        Self::automatic(Tier::Write)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("automatic", &self.automatic)
            .field("rules", &self.rules)
            .field("asks", &self.approver.is_some())
            .field("file_writes", &self.file_writes)
            .finish()
    }
}
