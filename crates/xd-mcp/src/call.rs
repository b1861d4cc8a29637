//! One tool call: what holds it back, how it runs, what its client is told besides.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use xd_protocol::{
    Address, Confirm, Device, READ_TOOL, Selection, StageNumber, Target, Verdict, Visible,
    classify, notice, split_selector,
};
use xd_resolve::{
    ActionState, Decider, Refusal, Resolution, Tier, ToolCall, ToolResult, Wording,
    confirm_of_call, dispatch_result,
};
use xd_session::Directive;
use xd_write::{CallScope, ProgressSink, Restored};

use crate::{
    answer::{Answer, Before},
    connection::Connection,
    stack::{Arrival, Locked, NotLocked, Opened, Stack},
};

/// How many pending actions a text names.
const NAMED: usize = 8;

/// What a call is run with.
pub(crate) struct Scope {
    pub(crate) decider: Decider,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: ProgressSink,
}

/// Runs a call to its answer.
///
/// # Cancel safety
/// The work goes on in a task of its own: dropped, a call that only stages is cancelled with
/// `scope.cancel`, and a confirm that has begun ends (**Invariant X4**).
pub(crate) async fn run(
    stack: &Arc<Stack>,
    connection: &Arc<Connection>,
    call: ToolCall,
    mut scope: Scope,
) -> Answer {
    let arrival = stack.arrive();
    scope.cancel = scope.cancel.child_token();
    let _nobody_waits = scope.cancel.clone().drop_guard();
    let (stack_, connection) = (Arc::clone(stack), Arc::clone(connection));
    let running = stack.tasks.spawn(async move {
        if call.name == READ_TOOL {
            return look(&stack_, &connection, &call, scope).await;
        }
        let locked = {
            // Waiting in line and for other processes ends with the call; what comes after does not.
            let turn = tokio::select! {
                biased;
                () = scope.cancel.cancelled() => return unavailable(&NotLocked::Cancelled),
                turn = Arc::clone(&stack_.turn).lock_owned() => turn,
            };
            match stack_.lock(&scope.cancel).await {
                Ok(locked) => (locked, turn),
                Err(error) => return unavailable(&error),
            }
        };
        let (locked, _turn) = locked;
        Calling { stack: stack_, connection, locked: &locked, arrival }.run(call, scope).await
    });
    match running.await {
        Ok(answer) => answer,
        Err(error) => Answer::of(ToolResult::error(format!("The call broke off: {error}."))),
    }
}

/// A call of `read`: it takes no lock and waits for nobody.
async fn look(
    stack: &Arc<Stack>,
    connection: &Connection,
    call: &ToolCall,
    scope: Scope,
) -> Answer {
    let opened = match stack.look().await {
        Ok(opened) => opened,
        Err(error) => return unavailable(&error),
    };
    let mut answer = Answer::of(batch(&opened, call, &scope, scope.cancel.clone()).await);
    if let Some(number) = shows(call).filter(|_| !answer.is_error) {
        connection.tell(number);
    }
    answer.content.extend(reminder(&opened, stack, connection));
    answer
}

/// The staged action that a read shows.
fn shows(call: &ToolCall) -> Option<StageNumber> {
    let path = call.str_argument("path")?.trim();
    let number = |path| match classify(path) {
        Address::Xd(Target::Device(
            Device::Resolve(Selection::Numbered(n)) | Device::Reject(Selection::Numbered(n)),
        )) => Some(n),
        Address::Xd(_)
        | Address::Path(_)
        | Address::Malformed(_)
        | Address::NearMiss(_)
        | Address::Foreign(_) => None,
    };
    number(path).or_else(|| number(split_selector(path)?.0))
}

struct Calling<'a> {
    stack: Arc<Stack>,
    connection: Arc<Connection>,
    locked: &'a Locked,
    arrival: Arrival,
}

impl Calling<'_> {
    async fn run(&self, call: ToolCall, scope: Scope) -> Answer {
        let opened = &self.locked.opened;
        let confirm = confirm_of_call(&call);
        let before = Before::of(opened);
        let held = match confirm {
            Some(confirm) => self.confused(&call, confirm),
            None => self.held_back(&call),
        };
        if let Some(refusal) = held {
            return Answer::refused(refusal, opened);
        }
        // A confirm that begins ends: its cancellation could only hide what came of it.
        let cancel = match confirm {
            Some(_) if scope.cancel.is_cancelled() => return unavailable(&NotLocked::Cancelled),
            Some(_) => CancellationToken::new(),
            None => scope.cancel.clone(),
        };
        let result = batch(opened, &call, &scope, cancel).await;
        self.stack.lift(opened.session.actions().take_failed_applies());
        let mut answer = Answer::worked(result, opened, &before);
        let bare = confirm.is_some_and(|confirm| confirm.selection == Selection::Head);
        self.stack.ended(&answer.staged, bare);
        for number in &answer.staged {
            self.connection.staged(*number);
        }
        answer.content.extend(settled(self.locked.restored.as_ref()));
        answer.content.extend(reminder(opened, &self.stack, &self.connection));
        answer
    }

    /// The refusal of a call that would change files while something is pending that its client
    /// could know of (**Invariant X2**, `CONTRACT G5`). A stale action may be made anew.
    fn held_back(&self, call: &ToolCall) -> Option<ToolResult> {
        let opened = &self.locked.opened;
        let known: Vec<_> = opened
            .session
            .actions()
            .pending()
            .into_iter()
            .filter(|action| self.stack.was_known(action.number(), self.arrival))
            .collect();
        let head = known.iter().max_by_key(|action| action.number())?;
        let looks = opened.host.tier(call) == Tier::Read || makes_anew(call);
        if looks || self.stack.is_lifted(head.number()) {
            return None;
        }
        let mut listed = String::from("Pending:");
        for action in known.iter().rev().take(NAMED) {
            let n = action.number();
            self.connection.tell(n);
            listed += &format!(
                "\n@{n} {} — xd://resolve@{n} applies it, xd://reject@{n} discards it, read \
                 xd://resolve@{n} shows it.",
                Visible(action.label())
            );
        }
        let mut refusal = ToolResult::error(notice::NOT_EXECUTED);
        refusal.content.push(listed);
        Some(refusal)
    }

    /// The refusal of a confirm that could mean another action than its client thinks
    /// (`CONTRACT D14`, **Invariant X5**).
    fn confused(&self, call: &ToolCall, confirm: Confirm) -> Option<ToolResult> {
        let actions = self.locked.opened.session.actions();
        let number = match confirm.selection {
            Selection::Numbered(number) => number,
            Selection::Head => actions.head()?.number(),
        };
        let refuse = |refusal| {
            let body = call.str_argument("content").unwrap_or_default();
            dispatch_result(
                Resolution::Refused(refusal),
                confirm.verdict,
                body,
                Wording {
                    plan_mode: self.locked.opened.session.plan_mode(),
                    form: xd_resolve::Form::Devices,
                },
            )
        };
        if confirm.selection == Selection::Head && self.stack.bare_since(self.arrival) {
            let (named, total) = actions.pending_numbers(NAMED);
            return Some(refuse(Refusal::SecondBareConfirm { named, total }));
        }
        if !self.stack.was_known(number, self.arrival) {
            return Some(refuse(Refusal::NotYetSeen(number)));
        }
        let pending = actions.pending_count();
        if confirm.selection == Selection::Head && !self.connection.may_mean(number, pending) {
            let device = confirm.verdict.device();
            return Some(ToolResult::error(format!(
                "Not done: staged action @{number}, the newest, was not shown on this connection. \
                 Read xd://resolve@{number} for its preview, then write your reason to \
                 xd://{device}@{number}, or to the number that you mean."
            )));
        }
        None
    }
}

/// Runs one call as a batch of its own.
async fn batch(
    opened: &Opened,
    call: &ToolCall,
    scope: &Scope,
    cancel: CancellationToken,
) -> ToolResult {
    let progress = Arc::clone(&scope.progress);
    let scope = CallScope { cancel, progress, ..CallScope::of(scope.decider) };
    let mut results = opened.host.run_batch(std::slice::from_ref(call), &scope).await;
    results.pop().unwrap_or_else(|| ToolResult::error("The call has no result."))
}

/// Whether the call makes a stale action anew.
fn makes_anew(call: &ToolCall) -> bool {
    let named = |path| match classify(path) {
        Address::Xd(Target::Device(Device::Tool(name))) => name.as_str() == "restage",
        Address::Xd(_)
        | Address::Path(_)
        | Address::Malformed(_)
        | Address::NearMiss(_)
        | Address::Foreign(_) => false,
    };
    match call.name.as_str() {
        "write" => call.str_argument("path").is_some_and(named),
        name => name == "restage" || named(name),
    }
}

/// What a client is told of the head, once: a server can append no message of its own, so it rides
/// in a result (`CONTRACT G3`).
fn reminder(opened: &Opened, stack: &Stack, connection: &Connection) -> Option<String> {
    let head = opened.session.actions().head()?;
    let number = head.number();
    if stack.is_lifted(number) || !connection.remind(number) {
        return None;
    }
    if connection.is_own(number) {
        return match opened.session.next_tool_choice_directive() {
            Directive::Soft(requirement) => Some(requirement.reminder().text.to_string()),
            Directive::Hard(_) | Directive::None => None,
        };
    }
    Some(format!(
        "<system-reminder>\nStaged action @{number} is pending, from elsewhere: {}. No files \
         changed. Read xd://resolve@{number} for its preview, then finalize it with `write`: a \
         one-sentence plain-text reason to xd://resolve@{number} to APPLY, or to \
         xd://reject@{number} to DISCARD.\n</system-reminder>",
        Visible(head.label())
    ))
}

/// What a restart had to settle (`CONTRACT E3`: nothing is silently gone).
fn settled(restored: Option<&Restored>) -> Option<String> {
    let restored = restored.filter(|restored| !restored.settled.is_empty())?;
    let mut text = String::from("Settled, since a process ended before it did:");
    for settled in &restored.settled {
        let state = settled.state.as_str();
        text += &format!("\n@{} is {state}: {}.", settled.number, Visible(&settled.why));
    }
    Some(text)
}

/// The answer where the state cannot be had.
pub(crate) fn unavailable(error: &NotLocked) -> Answer {
    let details = match error {
        NotLocked::Cancelled => json!({ "aborted": true }),
        NotLocked::State(_) | NotLocked::Mount(_) | NotLocked::Broken(_) => json!({}),
    };
    Answer::of(ToolResult::error(error.to_string()).with_details(details))
}

/// What is pending now, by number.
pub(crate) fn states(opened: &Opened) -> BTreeMap<StageNumber, ActionState> {
    opened.session.actions().states().into_iter().collect()
}

/// The call of a person who decides about `number`.
pub(crate) fn decision(id: &str, number: StageNumber, verdict: Verdict, reason: &str) -> ToolCall {
    let path = format!("xd://{}@{number}", verdict.device());
    ToolCall::new(id, "write", json!({ "path": path, "content": reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_start_is_an_error_with_its_data() {
        let result = unavailable(&NotLocked::Cancelled).into_result(true);
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content.unwrap()["outcome"], "failed");
    }

    #[test]
    fn a_read_shows_the_action_that_it_names() {
        let shown = |path: &str| {
            shows(&ToolCall::new("1", "read", json!({ "path": path }))).map(StageNumber::get)
        };
        assert_eq!(shown("xd://resolve@3"), Some(3));
        assert_eq!(shown(" XD://reject@4:10-20"), Some(4));
        assert_eq!(shown("xd://resolve"), None);
        assert_eq!(shown("src/a.rs:3"), None);
    }

    #[test]
    fn only_restage_makes_anew() {
        let write = |path: &str| ToolCall::new("1", "write", json!({ "path": path }));
        assert!(makes_anew(&write("xd://restage")));
        assert!(makes_anew(&ToolCall::new("1", "restage", json!({}))));
        assert!(makes_anew(&ToolCall::new("1", "xd://restage", json!({}))));
        assert!(!makes_anew(&write("restage")) && !makes_anew(&write("xd://edit")));
    }
}
