//! A session's stack, rebuilt from its log after a restart (`CONTRACT E3`).

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use xd_changeset::{RecoverError, Recovery};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{ActionState, ActionStore, ApplyError, Decider, Outcome, StageRequest};

use super::{
    ActionFile, LogEvent, StateError, StateFolder, StateLock,
    event::{LoggedFile, LoggedPart, files_of},
    logged::Logged,
};
use crate::{CommitEffect, Workspace};

/// How long to wait for a commit of another session, where what became of an action depends on it.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(5);

/// What a restart found beside the actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The interrupted commit that was ended or taken back; only ever with the lock.
    pub recovered: Option<Recovery>,
    /// The actions that now are something else than the log said, by number. With the lock the
    /// log says so too.
    pub settled: Vec<Settled>,
    /// Whether something is left that a restart with the lock would settle.
    pub unsettled: bool,
}

/// An action whose end the log did not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Its number.
    pub number: StageNumber,
    /// What it is now: applied, pending again, or void.
    pub state: ActionState,
    /// How that came.
    pub why: String,
}

/// A line that the log lacks.
struct Ending {
    verdict: Option<Verdict>,
    outcome: Outcome,
    /// Why, in words.
    why: String,
    files: Vec<LoggedFile>,
}

impl Ending {
    fn void(why: impl Into<String>) -> Self {
        Self { verdict: None, outcome: Outcome::Void, why: why.into(), files: Vec::new() }
    }

    fn cut_off(verdict: Verdict) -> Self {
        let why = format!("the process ended before the {} did", word(verdict));
        let outcome = Outcome::Failed { message: why.clone() };
        Self { verdict: Some(verdict), outcome, why, files: Vec::new() }
    }

    fn applied(kept: &ActionFile) -> Self {
        Self {
            verdict: Some(Verdict::Apply),
            outcome: Outcome::Applied,
            why: "the process ended when the files were written".to_owned(),
            files: files_of(&kept.change_set),
        }
    }
}

/// The kept file of an action that is still open, or why there is none to use.
type Kept = Option<Result<ActionFile, StateError>>;

impl StateFolder {
    /// Puts every action of the log back into `store`, which must be empty: pending ones with
    /// their change set, decided ones so that they stay readable. Actions without a change set
    /// cannot be carried over; those still open are void. So is an action whose kept file is
    /// missing, damaged or another than was staged; the others go on.
    ///
    /// With the session's lock in hand nobody else can be applying: an interrupted commit is ended
    /// or taken back, an action whose apply was cut off is settled, and the log says so. It counts
    /// as applied where the files are what it would have made of them, and as pending otherwise; a
    /// confirm then checks every file before it writes. Without the lock it is shown as being
    /// resolved.
    ///
    /// # Errors
    /// [`StateError`]; what was put back so far is of no use.
    pub fn restore(
        &self,
        workspace: &Workspace,
        store: &ActionStore,
        lock: Option<&StateLock>,
    ) -> Result<Restored, StateError> {
        let mut logged = self.logged()?;
        let mut restored = Restored::default();
        match lock {
            // Only when an interrupted commit has an end do the files say for good what became of it.
            Some(_) => restored.recovered = recover(workspace, logged.iter().any(is_taken))?,
            None => restored.unsettled = workspace.root().is_interrupted(),
        }
        if lock.is_some() && logged.iter().any(is_open_part) {
            logged = self.settle_parts(workspace, logged, lock, &mut restored)?;
        }
        for (number, entry) in (1..).filter_map(StageNumber::new).zip(logged) {
            let kept = self.kept_of(number, &entry);
            let state = self.settle(workspace, number, &entry, &kept, lock, &mut restored)?;
            let request = self.request(workspace, number, entry, kept, state);
            store.restore(number, request, state).map_err(|expected| StateError::Damaged {
                what: self.name("log.jsonl"),
                message: format!("action {number} stands where {expected} was expected"),
            })?;
        }
        Ok(restored)
    }

    /// Ends the parts that a process left open, before anything else is: what became of a part says
    /// what stands under the number of its whole, which comes earlier. Answers what the log says
    /// then.
    fn settle_parts(
        &self,
        workspace: &Workspace,
        logged: Vec<Logged>,
        lock: Option<&StateLock>,
        restored: &mut Restored,
    ) -> Result<Vec<Logged>, StateError> {
        let mut parts = Restored::default();
        for (number, entry) in (1..).filter_map(StageNumber::new).zip(&logged) {
            if is_open_part(entry) {
                let kept = self.kept_of(number, entry);
                self.settle(workspace, number, entry, &kept, lock, &mut parts)?;
            }
        }
        let logged = self.logged()?;
        // One that the disk refused to show is met again with the others.
        let is_settled = |number: StageNumber| {
            let at = usize::try_from(number.get() - 1).ok();
            at.and_then(|at| logged.get(at)).is_some_and(|entry| !is_open_part(entry))
        };
        restored.settled.extend(parts.settled.into_iter().filter(|one| is_settled(one.number)));
        Ok(logged)
    }

    fn kept_of(&self, number: StageNumber, logged: &Logged) -> Kept {
        let open = logged.durable && logged.state.is_some_and(ActionState::is_open);
        open.then(|| self.kept(number.get(), logged.revision, logged.digest))
    }

    /// What the action is now. With the lock every line that the log lacks is written: nothing is
    /// silently gone.
    fn settle(
        &self,
        workspace: &Workspace,
        number: StageNumber,
        logged: &Logged,
        kept: &Kept,
        lock: Option<&StateLock>,
        restored: &mut Restored,
    ) -> Result<ActionState, StateError> {
        // A number that the log skips was used up by a staging that could not be recorded.
        let mut state = logged.state.unwrap_or(ActionState::Void);
        // What the disk refuses to show now may be well when it is asked again.
        let for_good = !matches!(kept, Some(Err(StateError::Io { .. })));
        let in_flight = lock.is_none() && is_taken(logged);
        for ending in endings(workspace, logged, kept) {
            restored.unsettled |= lock.is_none();
            if in_flight {
                break;
            }
            state = after(&ending.outcome);
            restored.settled.push(Settled { number, state, why: ending.why.clone() });
            if lock.is_some() && for_good {
                self.append(line(number, logged, ending))?;
            }
        }
        Ok(state)
    }

    fn request(
        &self,
        workspace: &Workspace,
        number: StageNumber,
        logged: Logged,
        kept: Kept,
        state: ActionState,
    ) -> StageRequest {
        let Logged { label, source_tool_name, durable, digest, revision, lineage, .. } = logged;
        let of = |request: StageRequest| match lineage {
            Some(lineage) => request.lineage(lineage),
            None => request,
        };
        if let (true, Some(Ok(kept))) = (state.is_open(), kept) {
            return of(open(workspace, kept));
        }
        let request =
            StageRequest::new(label, |_| async { Err(ApplyError::tool("It is decided.")) })
                .source_tool(source_tool_name);
        let request = of(request);
        if !durable {
            return request.preview("Its preview was not kept: it had no change set.");
        }
        let folder = self.clone();
        request.preview_from(move || match folder.kept(number.get(), revision, digest) {
            Ok(kept) => kept.preview,
            Err(error) => error.to_string(),
        })
    }
}

/// The lines that the log lacks about one number, were nobody at it.
fn endings(workspace: &Workspace, logged: &Logged, kept: &Kept) -> Vec<Ending> {
    match (logged.state, kept) {
        (None, _) if logged.kept => {
            vec![Ending::void("it is kept, but the log does not say that it was staged")]
        }
        (Some(ActionState::Pending), None) => {
            vec![Ending::void("the process ended, and it had no change set to go on with")]
        }
        (Some(ActionState::Pending), Some(Err(error))) => vec![Ending::void(error.to_string())],
        (Some(ActionState::Taken(verdict)), None) => vec![
            Ending::cut_off(verdict),
            Ending::void("the process ended, and it had no change set to go on with"),
        ],
        (Some(ActionState::Taken(verdict)), Some(Err(error))) => {
            let what = match verdict {
                Verdict::Apply => "whether it wrote its files cannot be told",
                Verdict::Discard => "it cannot be offered again",
            };
            let verdict = word(verdict);
            vec![Ending::void(format!("the process ended in the {verdict}; {what}: {error}"))]
        }
        (Some(ActionState::Taken(verdict)), Some(Ok(kept))) => match (verdict, &logged.part) {
            (Verdict::Apply, _) if is_applied(workspace, kept) => vec![Ending::applied(kept)],
            (Verdict::Apply | Verdict::Discard, None) => vec![Ending::cut_off(verdict)],
            // Nobody goes on with a part: it is in the whole, which is pending as before.
            (Verdict::Apply | Verdict::Discard, Some(part)) => {
                vec![Ending::cut_off(verdict), Ending::void(still_in(part))]
            }
        },
        (Some(ActionState::Pending), Some(Ok(_))) => {
            logged.part.iter().map(|part| Ending::void(still_in(part))).collect()
        }
        (
            None
            | Some(
                ActionState::Applied
                | ActionState::Discarded
                | ActionState::Void
                | ActionState::Withdrawn,
            ),
            _,
        ) => Vec::new(),
    }
}

/// The line for an ending. What was decided was decided by who took it, for their reason
/// (`CONTRACT L1`), whoever finds out what came of it; what is void is so by the host.
fn line(number: StageNumber, logged: &Logged, ending: Ending) -> LogEvent {
    let (reason, who) = match ending.verdict {
        Some(_) => (logged.reason.clone(), logged.who.unwrap_or(Decider::Host)),
        None => (ending.why, Decider::Host),
    };
    LogEvent::Decided {
        number: number.get(),
        source_tool_name: logged.source_tool_name.clone(),
        label: logged.label.clone(),
        action: ending.verdict.map(Into::into),
        reason,
        who,
        outcome: ending.outcome,
        files: ending.files,
    }
}

/// Ends or takes back an interrupted commit of this workspace, whoever's it was.
fn recover(workspace: &Workspace, matters: bool) -> Result<Option<Recovery>, StateError> {
    let patience = if matters { RECOVERY_PATIENCE } else { Duration::ZERO };
    match workspace.root().recover(patience) {
        Ok(recovered) => Ok(recovered),
        // It is not interrupted: another session is at it.
        Err(RecoverError::Locked(_)) if !matters => Ok(None),
        Err(RecoverError::Locked(locked)) => {
            let holder =
                locked.holder.map_or("another process".to_owned(), |id| format!("process {id}"));
            Err(StateError::Locked { holder, waited: locked.waited })
        }
        Err(error) => Err(StateError::Interrupted(error)),
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

fn is_open_part(logged: &Logged) -> bool {
    logged.part.is_some() && logged.state.is_some_and(ActionState::is_open)
}

fn still_in(part: &LoggedPart) -> String {
    format!("the process ended before this part was decided; it is in @{} as before", part.of)
}

fn is_taken(logged: &Logged) -> bool {
    matches!(logged.state, Some(ActionState::Taken(_)))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Apply => "apply",
        Verdict::Discard => "discard",
    }
}

pub(super) fn after(outcome: &Outcome) -> ActionState {
    match outcome {
        Outcome::Applied => ActionState::Applied,
        Outcome::Discarded => ActionState::Discarded,
        Outcome::Failed { .. } => ActionState::Pending,
        Outcome::Late { .. } | Outcome::Void => ActionState::Void,
        Outcome::Withdrawn => ActionState::Withdrawn,
    }
}
