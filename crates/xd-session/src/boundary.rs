//! The transitions of a session, and what does not survive them (`CONTRACT E1`).

/// A transition of the session (`CONTRACT E1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// A new session in the place of this one.
    New,
    /// Another session was switched to.
    Switch,
    /// The conversation branched.
    Branch,
    /// The session was forked.
    Fork,
    /// Another place in the tree of the conversation was gone to.
    Navigate,
    /// The conversation was wound back.
    Rewind,
    /// The conversation was cleared.
    Clear,
    /// The session's folder moved.
    Move,
    /// The history was compacted.
    Compaction,
    /// Another model took over.
    ModelChange,
    /// A transition was begun and cancelled.
    Cancelled,
}

impl Boundary {
    /// Whether what is pending does not survive it.
    #[must_use]
    pub const fn voids(self) -> bool {
        match self {
            Self::New
            | Self::Switch
            | Self::Branch
            | Self::Fork
            | Self::Navigate
            | Self::Rewind
            | Self::Clear => true,
            Self::Move | Self::Compaction | Self::ModelChange | Self::Cancelled => false,
        }
    }

    /// Whether plan mode ends with it: it belongs to the session that is gone. Otherwise it goes on,
    /// and only the review of a plan from another conversation does not.
    #[must_use]
    pub const fn ends_plan_mode(self) -> bool {
        match self {
            Self::New | Self::Switch => true,
            Self::Branch
            | Self::Fork
            | Self::Navigate
            | Self::Rewind
            | Self::Clear
            | Self::Move
            | Self::Compaction
            | Self::ModelChange
            | Self::Cancelled => false,
        }
    }

    /// The transition in words: `the conversation branched`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "a new session began",
            Self::Switch => "another session was switched to",
            Self::Branch => "the conversation branched",
            Self::Fork => "the session was forked",
            Self::Navigate => "another place of the conversation was gone to",
            Self::Rewind => "the conversation was wound back",
            Self::Clear => "the conversation was cleared",
            Self::Move => "the session moved",
            Self::Compaction => "the history was compacted",
            Self::ModelChange => "the model changed",
            Self::Cancelled => "a transition was cancelled",
        }
    }
}
