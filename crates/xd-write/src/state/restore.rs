//! A session's stack, rebuilt from its log after a restart (`CONTRACT E3`).

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{ActionState, ActionStore, ApplyError, Decider, Outcome, StageRequest};

use super::{
    ActionFile, LogEvent, StateError, StateFolder, StateLock,
    event::{LoggedFile, files_of},
};
use crate::{CommitEffect, Workspace};

/// What the log says of one number.
#[derive(Debug, Default)]
struct Logged {
    label: String,
    source_tool_name: String,
    durable: bool,
    reason: String,
    state: Option<ActionState>,
}

impl Logged {
    fn decided(
        &self,
        number: StageNumber,
        verdict: Option<Verdict>,
        reason: String,
        outcome: Outcome,
        files: Vec<LoggedFile>,
    ) -> LogEvent {
        LogEvent::Decided {
            number: number.get(),
            source_tool_name: self.source_tool_name.clone(),
            label: self.label.clone(),
            action: verdict.map(Into::into),
            reason,
            who: Decider::Host,
            outcome,
            files,
        }
    }
}

/// How long to wait for a commit of another session before an interrupted one is looked at.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(5);

impl StateFolder {
    /// Puts every action of the log back into `store`, which must be empty: pending ones with
    /// their change set, decided ones so that they stay readable. Actions without a change set
    /// cannot be carried over; those still open are void.
    ///
    /// With the session's lock in hand nobody else can be applying: an action whose apply was cut
    /// off is settled, and the log says so. It counts as applied where the files are what it would
    /// have made of them, and as pending otherwise; a confirm then checks every file before it
    /// writes. Without the lock it is shown as being resolved.
    ///
    /// # Errors
    /// [`StateError`]; what was put back so far is of no use.
    pub fn restore(
        &self,
        workspace: &Workspace,
        store: &ActionStore,
        lock: Option<&StateLock>,
    ) -> Result<(), StateError> {
        let mut logged = self.logged()?;
        let last = logged.keys().next_back().copied().unwrap_or(0);
        for number in (1..=last).filter_map(StageNumber::new) {
            let mut entry = logged.remove(&number.get()).unwrap_or_default();
            if lock.is_some() {
                self.settle(workspace, number, &mut entry)?;
            }
            let (request, state) = self.request(workspace, number, entry)?;
            store.restore(number, request, state).map_err(|expected| StateError::Damaged {
                what: self.name("log.jsonl"),
                message: format!("action {number} stands where {expected} was expected"),
            })?;
        }
        Ok(())
    }

    fn logged(&self) -> Result<BTreeMap<u64, Logged>, StateError> {
        let mut logged: BTreeMap<u64, Logged> = BTreeMap::new();
        for line in self.log()? {
            let entry = logged.entry(line.event.number()).or_default();
            match line.event {
                LogEvent::Staged { source_tool_name, label, durable, .. } => {
                    let state = Some(ActionState::Pending);
                    *entry =
                        Logged { label, source_tool_name, durable, reason: String::new(), state };
                }
                LogEvent::Taken { action, reason, .. } => {
                    entry.state = Some(ActionState::Taken(action.into()));
                    entry.reason = reason;
                }
                LogEvent::Decided { outcome, .. } => entry.state = Some(after(&outcome)),
            }
        }
        Ok(logged)
    }

    /// Ends an effect that was cut off, and records how. What cannot be carried over is void from
    /// now on, and that is recorded too: nothing is silently gone.
    fn settle(
        &self,
        workspace: &Workspace,
        number: StageNumber,
        logged: &mut Logged,
    ) -> Result<(), StateError> {
        if let Some(ActionState::Taken(verdict)) = logged.state {
            let (outcome, files) = self.cut_off(workspace, number, verdict, logged.durable)?;
            logged.state = Some(after(&outcome));
            let reason = logged.reason.clone();
            self.append(logged.decided(number, Some(verdict), reason, outcome, files))?;
        }
        if logged.state == Some(ActionState::Pending) && !logged.durable {
            logged.state = Some(ActionState::Void);
            let reason = "the process ended, and it had no change set to go on with".to_owned();
            self.append(logged.decided(number, None, reason, Outcome::Void, Vec::new()))?;
        }
        Ok(())
    }

    /// How an effect that was cut off ended.
    fn cut_off(
        &self,
        workspace: &Workspace,
        number: StageNumber,
        verdict: Verdict,
        durable: bool,
    ) -> Result<(Outcome, Vec<LoggedFile>), StateError> {
        let ended = |what: &str| Outcome::Failed {
            message: format!("the process ended before the {what} did"),
        };
        match verdict {
            Verdict::Apply if durable => {
                // An interrupted commit is ended or taken back first: only then do the files say
                // for good what became of it.
                workspace.root().recover(RECOVERY_PATIENCE).map_err(|error| {
                    StateError::Damaged { what: "commit".to_owned(), message: error.to_string() }
                })?;
                let kept = self.action(number.get())?;
                let files = files_of(&kept.change_set);
                let applied = is_applied(workspace, &kept);
                Ok((if applied { Outcome::Applied } else { ended("apply") }, files))
            }
            Verdict::Apply => Ok((ended("apply"), Vec::new())),
            Verdict::Discard => Ok((ended("discard"), Vec::new())),
        }
    }

    fn request(
        &self,
        workspace: &Workspace,
        number: StageNumber,
        logged: Logged,
    ) -> Result<(StageRequest, ActionState), StateError> {
        let Logged { label, source_tool_name, durable, state, reason: _ } = logged;
        // A number that the log skips was used up by a staging that could not be recorded.
        let state = state.unwrap_or(ActionState::Void);
        if state.is_open() && durable {
            return Ok((open(workspace, self.action(number.get())?), state));
        }
        let state = if state.is_open() { ActionState::Void } else { state };
        let request =
            StageRequest::new(label, |_| async { Err(ApplyError::tool("It is decided.")) })
                .source_tool(source_tool_name);
        if !durable {
            return Ok((request.preview("Its preview was not kept: it had no change set."), state));
        }
        let folder = self.clone();
        let request = request.preview_from(move || match folder.action(number.get()) {
            Ok(kept) => kept.preview,
            Err(error) => error.to_string(),
        });
        Ok((request, state))
    }
}

/// The request that stages a kept action again.
fn open(workspace: &Workspace, kept: ActionFile) -> StageRequest {
    let success = kept.details.as_ref().and_then(|d| d.get("success")).and_then(Value::as_str);
    let success = success.unwrap_or("Applied.").to_owned();
    let effect = CommitEffect::new(workspace.clone(), Arc::clone(&kept.change_set), success);
    let request = StageRequest::with_effect(kept.label, Arc::new(effect))
        .source_tool(kept.source_tool_name)
        .tier(kept.tier)
        .change_set(kept.change_set)
        .preview(kept.preview);
    match kept.details {
        Some(details) => request.details(details),
        None => request,
    }
}

/// Whether every file is what the change set makes of it: its inverse would apply.
fn is_applied(workspace: &Workspace, kept: &ActionFile) -> bool {
    kept.change_set.inverse().check(workspace.root()).is_ok()
}

fn after(outcome: &Outcome) -> ActionState {
    match outcome {
        Outcome::Applied => ActionState::Applied,
        Outcome::Discarded => ActionState::Discarded,
        Outcome::Failed { .. } => ActionState::Pending,
        Outcome::Late { .. } | Outcome::Void => ActionState::Void,
        Outcome::Withdrawn => ActionState::Withdrawn,
    }
}
