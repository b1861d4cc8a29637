//! A proposal that is carried out where it came from: one call applies it, another discards it.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{MetaObject, RequestMetaObject};
use serde_json::{Value, json};
use xd_resolve::{ApplyError, BoxFuture, Effect, StageRequest, Tier, ToolResult};

use super::{OneCall, Producer};
use crate::{
    devices::{
        calling::{Called, Caller},
        foreign::shown,
    },
    inert::inert,
};

/// Under which key of a call's metadata the reason of the decision goes along.
const REASON: &str = "xd/reason";

/// The request that stages it, and its preview.
pub(super) fn request(
    producer: &Producer<'_>,
    label: &str,
    preview: &str,
    apply: OneCall,
    discard: Option<OneCall>,
) -> (StageRequest, String) {
    let caller = producer.caller;
    let told = |what: &str, call: &OneCall| {
        let arguments = Value::Object(call.arguments.clone()).to_string();
        inert(&format!(
            "{what} calls `{}` of the server `{}`, once, with {arguments}\n",
            call.tool, caller.server
        ))
        .into_owned()
    };
    let mut calls = told("Applying it", &apply);
    match &discard {
        Some(discard) => calls += &told("Discarding it", discard),
        None => calls += "Discarding it calls nothing.\n",
    }
    let calls = caller.bounded(&calls);
    let preview = format!(
        "{label}\n{calls}What applying it does is the server's word:\n\n{}",
        caller.bounded(&inert(preview))
    );
    let details = json!({ "server": &*caller.server, "apply": apply.tool });
    let effect = OutOfProcess {
        caller: caller.clone(),
        label: label.to_owned(),
        apply,
        discard,
        made: Arc::default(),
    };
    let request = StageRequest::with_effect(label, Arc::new(effect))
        .source_tool(producer.device)
        .details(details)
        .preview(preview.as_str())
        // What it reaches is known to nobody here.
        .tier(Tier::Exec);
    (request, preview)
}

/// The effect. Each of its two calls is made at most once, whatever comes of it (**Invariant X8**).
struct OutOfProcess {
    caller: Caller,
    label: String,
    apply: OneCall,
    discard: Option<OneCall>,
    made: Arc<Mutex<Made>>,
}

/// What became of the two calls.
#[derive(Debug, Clone, Copy, Default)]
struct Made {
    apply: Fate,
    discard: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fate {
    /// It was not made, or the server never heard of it.
    #[default]
    NotMade,
    /// It was made, and the server answered that it failed.
    Failed,
    /// It was made, and what came of it is not known here, or not yet.
    Unknown,
}

const NOT_AGAIN: &str = "The apply call was made once and is not made again. Write to xd://reject to \
    close this action; for another try have it proposed anew.";

impl Effect for OutOfProcess {
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let (caller, call, made) =
            (self.caller.clone(), self.apply.clone(), Arc::clone(&self.made));
        Box::pin(async move {
            match locked(&made).apply {
                Fate::NotMade => {}
                Fate::Failed => return Err(ApplyError::tool(format!("Not applied. {NOT_AGAIN}"))),
                Fate::Unknown => {
                    return Err(ApplyError::tool(format!(
                        "Whether this took effect is not known. {NOT_AGAIN}"
                    )));
                }
            }
            // Before it is sent: where this process ends meanwhile, it may have been.
            locked(&made).apply = Fate::Unknown;
            let called = caller.call(&call.tool, Some(call.arguments), Some(meta(&reason))).await;
            let (fate, text) = match called {
                Called::Answered(result) => {
                    let result = shown(&result, &caller);
                    if !result.is_error {
                        return Ok(result);
                    }
                    let text = result.joined();
                    (
                        Fate::Failed,
                        format!("The server answered that it failed: {text}\n{NOT_AGAIN}"),
                    )
                }
                Called::Refused(text) => (Fate::Failed, format!("{text}\n{NOT_AGAIN}")),
                Called::NotSent(text) => (
                    Fate::NotMade,
                    format!("Nothing was applied. {text} This action stays pending."),
                ),
                Called::Unknown(text) => (
                    Fate::Unknown,
                    format!("Whether this took effect is not known. {text}\n{NOT_AGAIN}"),
                ),
            };
            locked(&made).apply = fate;
            Err(ApplyError::tool(text))
        })
    }

    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        let (caller, made) = (self.caller.clone(), Arc::clone(&self.made));
        let (label, call) = (self.label.clone(), self.discard.clone());
        Box::pin(async move {
            let discarded = format!("Discarded: {label}. Reason: {reason}");
            let now = *locked(&made);
            if now.apply == Fate::Unknown {
                return Ok(Some(ToolResult::text(format!(
                    "Closed: {label}. Its apply call was made, and whether it took effect is not \
                     known; its discard call is not made after that. Look before you go on."
                ))));
            }
            let Some(call) = call else { return Ok(None) };
            if now.discard != Fate::NotMade {
                return Ok(Some(ToolResult::text(format!(
                    "{discarded}\nIts discard call was made before and is not made again."
                ))));
            }
            locked(&made).discard = Fate::Unknown;
            match caller.call(&call.tool, Some(call.arguments), Some(meta(&reason))).await {
                Called::Answered(result) => {
                    let result = shown(&result, &caller);
                    let text = result.joined();
                    match result.is_error {
                        false => Ok(Some(ToolResult::text(format!(
                            "{discarded}\n`{}` says: {text}",
                            caller.server
                        )))),
                        true => {
                            locked(&made).discard = Fate::Failed;
                            Err(ApplyError::tool(format!(
                                "The server answered its discard call with an error: {text}\nIt is \
                                 not made again; rejecting this action once more closes it."
                            )))
                        }
                    }
                }
                // Not applying needs nobody else: it is discarded here, and the rest is said.
                Called::Refused(text) | Called::NotSent(text) | Called::Unknown(text) => {
                    Ok(Some(ToolResult::text(format!("{discarded}\nIts discard call: {text}"))))
                }
            }
        })
    }
}

fn meta(reason: &str) -> RequestMetaObject {
    let mut meta = MetaObject::default();
    meta.0.insert(REASON.to_owned(), reason.into());
    RequestMetaObject(meta)
}

fn locked(made: &Mutex<Made>) -> MutexGuard<'_, Made> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for OutOfProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutOfProcess").field("label", &self.label).finish_non_exhaustive()
    }
}
