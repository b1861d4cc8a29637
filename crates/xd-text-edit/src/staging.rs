//! What both tools do with a call: try it off the runtime, stage the proposal, answer.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use xd_protocol::notice;
use xd_resolve::{StageError, ToolResult};
use xd_write::{Bound, Progress, ToolContext, ToolFailure, stage_change_set};

use crate::limits::Control;
use crate::proposal::Proposal;

/// The most that an error says to a model, in bytes.
const MOST_SAID: usize = 16 * 1024;

/// What trying a call came to.
pub(crate) enum Tried {
    Proposal(Box<Proposal>),
    Refused(String),
    Cancelled,
}

/// Runs `work` on a thread that may block and stages what it proposes.
///
/// # Cancel safety
/// Dropped while it works, the work ends at the next edit and nothing is staged.
pub(crate) async fn run(
    context: Arc<ToolContext>,
    name: &'static str,
    work: impl FnOnce(&ToolContext, &Control<'_>) -> Tried + Send + 'static,
) -> Result<ToolResult, ToolFailure> {
    let abandoned = Abandoned::default();
    let flag = Arc::clone(&abandoned.0);
    let working = Arc::clone(&context);
    let work = move || {
        let span = tracing::debug_span!("text_edit", tool = name);
        let _entered = span.enter();
        let cancelled = || flag.load(Ordering::Relaxed) || working.cancel().is_cancelled();
        let progress = |done: usize| {
            // One report for every edit would be more than any reader wants.
            if done.is_multiple_of(16) {
                working.report(Progress::Files { seen: done, matched: done });
            }
        };
        work(&working, &Control { cancelled: &cancelled, progress: &progress })
    };
    let tried = match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await?,
        Err(_) => work(),
    };
    match tried {
        Tried::Proposal(proposal) => stage(&context, *proposal).await,
        Tried::Refused(error) => Ok(refused(name, &error)),
        Tried::Cancelled => Err(ToolFailure::Aborted),
    }
}

/// A refusal as a result, cut where it is too long.
pub(crate) fn refused(name: &str, error: &impl Display) -> ToolResult {
    let mut text = format!("{name}: {error}");
    if text.len() > MOST_SAID {
        let end = (0..=MOST_SAID).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("…\n[Cut here. Mend these first.]");
    }
    ToolResult::error(text)
}

/// A fault of the arguments as a result, with a call that would do.
pub(crate) fn misread(name: &str, fault: &str, example: &Value) -> ToolResult {
    refused(name, &format!("{fault}. Example: {example}"))
}

async fn stage(context: &ToolContext, proposal: Proposal) -> Result<ToolResult, ToolFailure> {
    let summary = json!(proposal.summary);
    let proposed = proposal.clone().into_proposed();
    let staged = match stage_change_set(context, context.workspace(), proposed).await {
        Ok(staged) => staged,
        // The files became what the edits would make of them, all by themselves (`CONTRACT S6`).
        Err(StageError::NothingToStage) => {
            let details = json!({ "summary": summary });
            return Ok(ToolResult::text(notice::NO_REPLACEMENTS).with_details(details));
        }
        Err(error) => return Ok(ToolResult::error(error.to_string())),
    };
    let mut result = staged.result(&proposal.preview(Bound::MODEL, Some(staged.number().get())));
    if let Some(Value::Object(details)) = &mut result.details {
        details.insert("summary".to_owned(), summary);
    }
    Ok(result)
}

/// Ends the work when the call's future is dropped.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
