//! What both tools do with a call: try it off the runtime, stage the proposal, answer.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::{Value, json};
use xd_resolve::ToolResult;
use xd_write::{Bound, Progress, ToolContext, ToolFailure};

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
    let tried = context.away(move |context, cancelled| {
        let span = tracing::debug_span!("text_edit", tool = name);
        let _entered = span.enter();
        let progress = |done: usize| {
            // One report for every edit would be more than any reader wants.
            if done.is_multiple_of(16) {
                context.report(Progress::Files { seen: done, matched: done });
            }
        };
        work(context, &Control { cancelled, progress: &progress })
    });
    let tried = tried.await?;
    match tried {
        Tried::Proposal(proposal) => {
            let proposed = proposal.clone().into_proposed();
            let summary = json!(proposal.summary);
            let shown = |number| proposal.preview(Bound::MODEL, Some(number));
            Ok(context.stage_proposed(proposed, summary, shown).await)
        }
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
