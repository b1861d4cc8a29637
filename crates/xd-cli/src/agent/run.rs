//! One prompt, from its begin to its end.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use xd_agent::{Agent, AgentError, Stop};

use super::{
    desk::{Notice, Notices},
    front::Front,
    model::AnyModel,
};
use crate::failure::{Failure, Status};

/// How a prompt ended.
pub(crate) enum Ended {
    /// By itself, or cancelled.
    Stopped(Stop),
    /// A person left without waiting for the end.
    Left,
}

/// Hears Ctrl-C from now on, instead of ending the process.
pub(crate) fn interrupts() -> Result<Signal, Failure> {
    signal(SignalKind::interrupt())
        .map_err(|error| Failure::new(error, "The system gave no resources; try again."))
}

/// Runs one prompt and lets `front` show and answer what comes of it. Ctrl-C cancels the run, a
/// second one leaves it.
pub(crate) async fn prompt(
    agent: &mut Agent<AnyModel>,
    text: String,
    notices: &mut Notices,
    interrupts: &mut Signal,
    front: &mut Front<'_>,
) -> Result<Ended, AgentError> {
    let cancel = CancellationToken::new();
    agent.set_cancel(cancel.clone());
    let ended = {
        let run = agent.prompt(text);
        tokio::pin!(run);
        loop {
            tokio::select! {
                biased;
                Some(notice) = notices.recv() => take(notice, front, &cancel),
                _ = interrupts.recv() => {
                    if cancel.is_cancelled() {
                        break Ok(Ended::Left);
                    }
                    front.cancelling();
                    cancel.cancel();
                }
                stop = &mut run => break stop.map(Ended::Stopped),
            }
        }
    };
    while let Ok(notice) = notices.try_recv() {
        take(notice, front, &cancel);
    }
    front.ended();
    ended
}

fn take(notice: Notice, front: &mut Front<'_>, cancel: &CancellationToken) {
    match notice {
        Notice::Event(event) => front.event(&event),
        Notice::Ask(request, answer) => match front.ask(*request) {
            Some(approval) => drop(answer.send(approval)),
            // Ctrl-C at the question cancels the run; the question stays open until it is.
            None => cancel.cancel(),
        },
        Notice::Review(review, answer) => match front.review(review) {
            Some(said) => drop(answer.send(said)),
            None => cancel.cancel(),
        },
    }
}

/// What a run's end means for the exit status.
pub(crate) fn status(stop: Stop) -> Status {
    match stop {
        Stop::Done => Status::Done,
        Stop::Unresolved { .. }
        | Stop::Forbidden { .. }
        | Stop::Truncated
        | Stop::TurnLimit
        | Stop::SessionEnded => Status::Unfinished,
        Stop::Aborted => Status::Aborted,
    }
}

/// What a run's end means, in words; none for the usual one. `session` is its name.
pub(crate) fn ending(stop: Stop, session: &str) -> Option<String> {
    let go_on = format!("`xd agent --resume={session}` goes on");
    match stop {
        Stop::Done => None,
        Stop::Unresolved { number } => Some(format!(
            "Staged action @{number} was not decided within its budget and stays pending; {go_on}."
        )),
        Stop::Forbidden { batches } => Some(format!(
            "The model went on with calls that are refused, in {batches} batches, and was stopped; {go_on}."
        )),
        Stop::Truncated => Some(format!("The answer was cut at the token limit; {go_on}.")),
        Stop::TurnLimit => Some(format!("The run had as many turns as it may; {go_on}.")),
        Stop::SessionEnded => Some(format!("The session ended meanwhile; {go_on}.")),
        Stop::Aborted => Some(format!("Aborted; {go_on}.")),
    }
}

/// An error of a run, with the way out.
pub(crate) fn failure(error: &AgentError, session: &str) -> Failure {
    let hint =
        format!("The session is kept: `xd agent --resume={session}` goes on when this is mended.");
    Failure::new(error, hint)
}
