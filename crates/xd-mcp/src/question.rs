//! A person is asked in the client, with the change in view.

use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
        RequestStateCodec, SealOptions,
    },
    service::RequestContext,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use xd_protocol::{MAX_REASON_CHARS, Visible};
use xd_resolve::StagedAction;
use xd_write::Bound;

use crate::{Ask, answer::bounded, inert::inert};

/// How much of a change the question shows, in bytes; the rest is listed by file.
const IN_VIEW: Bound = Bound::Bytes(16 * 1024);
/// Under which name the answer comes back.
const KEY: &str = "confirm";
/// The first revision in which a server asks by its result instead of by a request.
const BY_RESULT: &str = "2026-07-28";

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Apply it, for this reason.
    Accept(String),
    /// Discard it, for this reason.
    Decline(String),
    /// Nothing was decided; why.
    Nothing(&'static str),
}

/// What asking led to.
pub(crate) enum Asked {
    /// An answer.
    Said(Said),
    /// The question goes out as the result; the client calls again with the answer.
    Later(Box<InputRequiredResult>),
}

/// How the client can ask a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Not at all.
    None,
    /// By a request of the server.
    Request,
    /// By a result that asks, and another call with the answer.
    Result,
}

impl Way {
    /// The way of the client that made this request.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capability = context.client_capabilities().and_then(|all| all.elicitation);
        // A client that names no mode has the one there was first.
        let form = capability.is_some_and(|can| can.form.is_some() || can.url.is_none());
        let newer =
            context.protocol_version().is_some_and(|v: ProtocolVersion| v.as_str() >= BY_RESULT);
        match (form, newer) {
            (false, _) => Self::None,
            (true, false) => Self::Request,
            (true, true) => Self::Result,
        }
    }
}

/// Whether a person is to be asked, and whether that can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The model decides.
    No,
    /// A person decides, asked this way.
    Yes(Way),
    /// A person decides, and this client cannot ask one.
    Impossible,
}

impl Due {
    pub(crate) fn of(ask: Ask, way: Way) -> Self {
        match (ask, way) {
            (Ask::Model, _) | (Ask::PersonWhereAble, Way::None) => Self::No,
            (Ask::Person, Way::None) => Self::Impossible,
            (Ask::PersonWhereAble | Ask::Person, Way::Request | Way::Result) => Self::Yes(way),
        }
    }
}

/// What a question is about, as it comes back with the answer. It is signed: a client cannot make
/// one up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum About {
    /// A staged action.
    Action {
        number: u64,
        /// The label, so that the number of another stack is noticed.
        label: String,
        /// What the model gave as its reason, where it has confirmed.
        reason: Option<String>,
    },
    /// A plan, and the digest of the text that was shown.
    Plan { slug: String, digest: String },
}

impl About {
    pub(crate) fn action(action: &StagedAction, reason: Option<String>) -> Self {
        Self::Action { number: action.number().get(), label: action.label().to_owned(), reason }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            Self::Action { reason, .. } => reason.as_deref(),
            Self::Plan { .. } => None,
        }
    }
}

/// Asks, and signs what goes out.
pub(crate) struct Questions {
    codec: RequestStateCodec,
    within: Duration,
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Questions").field("within", &self.within).finish_non_exhaustive()
    }
}

impl Questions {
    /// Questions with a key of this process: those of another are not answered here.
    pub(crate) fn new(within: Duration) -> Self {
        let mut key = Vec::with_capacity(32);
        key.extend(uuid::Uuid::new_v4().into_bytes());
        key.extend(uuid::Uuid::new_v4().into_bytes());
        let codec = RequestStateCodec::try_new(key)
            .unwrap_or_else(|error| panic!("32 bytes are a key: {error}"));
        Self { codec, within }
    }

    /// Asks `message`. No lock is held meanwhile.
    ///
    /// # Cancel safety
    /// Dropped, the question is withdrawn and nothing is decided.
    pub(crate) async fn ask(
        &self,
        way: Way,
        message: String,
        about: About,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Asked {
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema: form(),
        };
        match way {
            Way::None => Asked::Said(Said::Nothing("this client cannot ask a person")),
            Way::Result => self.later(params, &about, call),
            Way::Request => {
                let asking =
                    context.peer.create_elicitation_with_timeout(params, Some(self.within));
                let answer = tokio::select! {
                    biased;
                    () = context.ct.cancelled() => {
                        return Asked::Said(Said::Nothing("the call was cancelled"));
                    }
                    answer = asking => answer,
                };
                Asked::Said(match answer {
                    Ok(result) => said(&result, about.reason()),
                    Err(rmcp::ServiceError::Timeout { .. }) => {
                        Said::Nothing("nobody answered within the time limit")
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the client could not ask");
                        Said::Nothing("the client could not ask")
                    }
                })
            }
        }
    }

    fn later(
        &self,
        params: ElicitRequestParams,
        about: &About,
        call: &CallToolRequestParams,
    ) -> Asked {
        let context = bound_to(call);
        let options = SealOptions::new().associated_data(&context).ttl(self.within);
        match self.codec.seal_json_with(about, &options) {
            Ok(state) => {
                let question = InputRequest::Elicitation(ElicitRequest::new(params));
                let questions = BTreeMap::from([(KEY.to_owned(), question)]);
                Asked::Later(Box::new(InputRequiredResult::new(Some(questions), Some(state))))
            }
            Err(error) => {
                tracing::warn!(%error, "the question could not be signed");
                Asked::Said(Said::Nothing("the question could not be asked"))
            }
        }
    }

    /// What a call that comes back with an answer is about, and the answer.
    ///
    /// # Errors
    /// Why it decides nothing.
    pub(crate) fn answered(
        &self,
        call: &CallToolRequestParams,
    ) -> Result<(About, Said), &'static str> {
        let state = call.request_state.as_deref().unwrap_or_default();
        let about: About = self
            .codec
            .open_json_with(state, &bound_to(call))
            .map_err(|_| "that question was not asked by this server, or its time is over")?;
        let answer =
            call.input_responses.as_ref().and_then(|answers: &InputResponses| answers.get(KEY));
        let answer =
            answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer.clone()).ok());
        let said = match answer {
            Some(result) => said(&result, about.reason()),
            None => Said::Nothing("no answer came back"),
        };
        Ok((about, said))
    }
}

/// A question belongs to the call that it came from.
fn bound_to(call: &CallToolRequestParams) -> Vec<u8> {
    let arguments =
        call.arguments.as_ref().map(|arguments| json!(arguments)).unwrap_or(Value::Null);
    format!("{}\n{arguments}", call.name).into_bytes()
}

/// The question: what would happen, with the differences. Foreign text cannot draw anything.
pub(crate) fn message(action: &StagedAction, reason: Option<&str>) -> String {
    let number = action.number();
    let mut text = format!("Apply staged action @{number} of `{}`?\n", action.source_tool_name());
    if let Some(reason) = reason {
        text += &format!("The model's reason: {}\n", Visible(reason));
    }
    text += "Accept applies it, decline discards it; otherwise it stays pending.\n\n";
    text += &inert(&bounded(action, IN_VIEW));
    text.push('\n');
    text
}

fn form() -> ElicitationSchema {
    let schema = json!({
        "type": "object",
        "properties": { "reason": {
            "type": "string",
            "title": "Reason",
            "description": "One sentence for the record; may be left empty.",
            "maxLength": MAX_REASON_CHARS
        } }
    });
    match schema {
        Value::Object(schema) => ElicitationSchema::from_json_schema(schema)
            .unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new())),
        _ => ElicitationSchema::new(BTreeMap::new()),
    }
}

/// What an answer says. What is no acceptance never applies, and a cancellation is no refusal
/// (case 160).
fn said(result: &ElicitResult, model: Option<&str>) -> Said {
    let given = result.content.as_ref().and_then(|content| content.get("reason")?.as_str());
    let given = given.map(str::trim).filter(|reason| !reason.is_empty());
    let cut = |reason: &str| reason.chars().take(MAX_REASON_CHARS).collect::<String>();
    match result.action {
        ElicitationAction::Accept => {
            Said::Accept(cut(given.or(model).unwrap_or("A person looked at it and applied it.")))
        }
        ElicitationAction::Decline => {
            Said::Decline(cut(given.unwrap_or("A person looked at it and declined it.")))
        }
        ElicitationAction::Cancel => Said::Nothing("the person did not decide"),
        _ => Said::Nothing("the client's answer is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(action: ElicitationAction, content: Value) -> ElicitResult {
        ElicitResult::new(action).with_content(content)
    }

    #[test]
    fn case_160_each_answer_means_what_it_is() {
        let why = json!({ "reason": " Clearer. " });
        assert_eq!(
            said(&result(ElicitationAction::Accept, why.clone()), None),
            Said::Accept("Clearer.".into())
        );
        assert_eq!(
            said(&result(ElicitationAction::Decline, why.clone()), None),
            Said::Decline("Clearer.".into())
        );
        assert!(matches!(said(&result(ElicitationAction::Cancel, why), None), Said::Nothing(_)));
        let model = said(&result(ElicitationAction::Accept, json!({})), Some("Model's."));
        assert_eq!(model, Said::Accept("Model's.".into()));
        let silent = said(&ElicitResult::new(ElicitationAction::Decline), Some("Model's."));
        assert!(matches!(silent, Said::Decline(reason) if !reason.contains("Model's")));
    }

    #[test]
    fn case_154_who_is_asked_follows_the_policy() {
        assert_eq!(Due::of(Ask::Model, Way::Request), Due::No);
        assert_eq!(Due::of(Ask::PersonWhereAble, Way::None), Due::No);
        assert_eq!(Due::of(Ask::PersonWhereAble, Way::Result), Due::Yes(Way::Result));
        assert_eq!(Due::of(Ask::Person, Way::None), Due::Impossible);
        assert_eq!(Due::of(Ask::Person, Way::Request), Due::Yes(Way::Request));
    }

    // Invariant X3
    #[test]
    fn a_made_up_answer_decides_nothing() {
        let questions = Questions::new(Duration::from_secs(60));
        let about = About::Action { number: 1, label: "Edit: 1 file".into(), reason: None };
        let call = CallToolRequestParams::new("edit");
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: String::new(),
            requested_schema: form(),
        };
        let Asked::Later(result) = questions.later(params, &about, &call) else { panic!() };
        let mut back = call.clone();
        back.request_state = result.request_state.clone();
        back.input_responses =
            Some(InputResponses::from([(KEY.to_owned(), json!({ "action": "accept" }))]));
        let (told, answer) = questions.answered(&back).unwrap();
        assert_eq!(told, about);
        assert!(matches!(answer, Said::Accept(_)));

        let mut without = back.clone();
        without.input_responses = None;
        assert!(matches!(questions.answered(&without).unwrap().1, Said::Nothing(_)));

        let mut other = back.clone();
        other.name = "write".into();
        assert!(questions.answered(&other).is_err(), "it belongs to another call");
        let elsewhere = Questions::new(Duration::from_secs(60));
        assert!(elsewhere.answered(&back).is_err(), "another process asked");
        back.request_state = Some("rs1.made.up".into());
        assert!(questions.answered(&back).is_err());
    }
}
