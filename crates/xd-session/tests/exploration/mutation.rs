//! Faults that the model can be given, so that the properties show that they find them.

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A confirm takes an action that another has taken.
    TakesWhatIsTaken,
    /// A reject takes an action whose apply runs.
    RejectsWhatIsTaken,
    /// An applied action can be applied again.
    AppliesAgain,
    /// An action whose confirm was dropped is pending while its effect goes on.
    DroppedGoBack,
    /// The effect ends where its caller goes away, and the action stays taken.
    DroppedAreCut,
    /// A bare confirm means the head of the moment at which it runs.
    BareMeansTheNewest,
    /// A second bare confirm of a batch walks down the stack.
    SecondBareRuns,
    /// A session boundary passes over what is being resolved.
    BoundaryKeepsWhatIsTaken,
    /// A late failure makes its action pending again.
    LateFailuresReturn,
    /// The answer to a turn of the session before is carried out.
    LateRepliesRun,
    /// The answer to a turn of the session before is carried out where it decides nothing.
    LateDetoursRun,
    /// A call of a batch from the session before stages in the one after it.
    OldBatchesStage,
    /// A failed apply ends its action.
    FailuresConsume,
    /// An apply writes over what has changed since the preview.
    StaleAppliesWrite,
    /// A failed apply does not lift the gate.
    FailuresDoNotLift,
    /// A turn without a call costs nothing.
    SilentTurnsAreFree,
    /// An aborted turn costs as much as any.
    AbortedTurnsSpend,
    /// A batch of a confirm and a detour is carried out.
    MixedBatchesRun,
    /// A call that is not executed has no result.
    SkippedGetNoResult,
    /// Looking never ends.
    LooksAreEndless,
    /// What a tool of the read tier stages has a budget of its own.
    LooksStageForFree,
    /// A forced turn that complies is followed by another.
    ForceSticks,
    /// Every turn reminds.
    RemindsAgain,
    /// A restart offers what has no change set.
    RestartOffersAll,
    /// A restart loses what it does not offer.
    RestartForgets,
    /// A compaction voids.
    CompactionVoids,
    /// Text that reads like a confirm is carried out.
    ProseIsParsed,
    /// What a provider has refused is asked of it again.
    RefusalsAreIgnored,
    /// A refused turn gives its head the whole budget again.
    RefusalsForgetTheBudget,
    /// A refused turn costs as much as any.
    RefusedTurnsSpend,
    /// A session boundary forgets what was refused.
    RefusalsEndWithTheSession,
    /// What one model's provider refuses is asked of no other.
    RefusalsAreOfAll,
    /// A provider that allows no forcing is asked to force.
    PinsWhoeverIsAsked,
}
