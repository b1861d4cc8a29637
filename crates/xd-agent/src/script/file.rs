//! The file of a scripted model, as text.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xd_resolve::ToolCall;
use xd_session::Forcing;

use crate::{ModelError, ProviderError, Reply, StopReason, Usage, Verbatim};

/// The version of the format.
const VERSION: u32 = 1;

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{}` cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is none of a script.
    #[error(
        "line {line} of the script is not understood: {message}. A line is {{\"reply\": …}} or {{\"error\": …}}"
    )]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The script is of another version.
    #[error("the script has version {found}; this program reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) script: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forcing: Option<Forcing>,
    #[serde(default)]
    pub(crate) thinking: bool,
}

impl Header {
    pub(crate) fn new(model: &str, forcing: Forcing, thinking: bool) -> Self {
        Self { script: VERSION, model: Some(model.to_owned()), forcing: Some(forcing), thinking }
    }
}

/// A line as it is written: what was asked, for whoever reads along, and what was answered.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) exchange: u64,
    pub(crate) messages: usize,
    pub(crate) tool_choice: &'a xd_session::ToolChoice,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<&'a Reply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failure>,
}

/// A failure as a script holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    kind: Kind,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    ChoiceRefused,
    Failed,
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        match error {
            ModelError::ChoiceRefused { message } => {
                Self { kind: Kind::ChoiceRefused, message: message.clone() }
            }
            ModelError::Provider(_) | ModelError::Failed(_) => {
                Self { kind: Kind::Failed, message: error.to_string() }
            }
        }
    }
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> Self {
        let Failure { kind, message } = failure;
        match kind {
            Kind::ChoiceRefused => Self::ChoiceRefused { message },
            Kind::Failed => ProviderError::Broken { status: 500, after: None, message }.into(),
        }
    }
}

/// A line as it is read.
#[derive(Deserialize)]
struct Read {
    reply: Option<ReadReply>,
    error: Option<Failure>,
}

/// A reply with everything left out that people need not write.
#[derive(Deserialize)]
struct ReadReply {
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<ReadCall>,
    #[serde(default)]
    stop: StopReason,
    #[serde(default)]
    usage: Usage,
    verbatim: Option<Verbatim>,
}

#[derive(Deserialize)]
struct ReadCall {
    #[serde(default)]
    id: String,
    name: String,
    #[serde(default = "nothing")]
    arguments: Value,
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

impl From<ReadReply> for Reply {
    fn from(read: ReadReply) -> Self {
        let ReadReply { text, calls, stop, usage, verbatim } = read;
        let call = |call: ReadCall| ToolCall::new(call.id, call.name, call.arguments);
        Self { text, calls: calls.into_iter().map(call).collect(), stop, usage, verbatim }
    }
}

/// The header, where there is one, and the answers in order.
#[expect(clippy::type_complexity, reason = "it is taken apart at its one call")]
pub(super) fn read(
    text: &str,
) -> Result<(Option<Header>, Vec<Result<Reply, Failure>>), ScriptError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        let replies: Vec<ReadReply> = serde_json::from_str(text).map_err(|error| {
            ScriptError::Line { line: error.line(), message: error.to_string() }
        })?;
        return Ok((None, replies.into_iter().map(|reply| Ok(reply.into())).collect()));
    }
    let (mut header, mut answers) = (None, Vec::new());
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, (index, line)) in lines.enumerate() {
        let wrong = |message: String| ScriptError::Line { line: index + 1, message };
        let value: Value = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if at == 0 && value.get("script").is_some() {
            let read: Header =
                serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            if read.script != VERSION {
                return Err(ScriptError::Version { found: read.script });
            }
            header = Some(read);
            continue;
        }
        let read: Read = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        answers.push(match (read.reply, read.error) {
            (Some(reply), None) => Ok(reply.into()),
            (None, Some(error)) => Err(error),
            (None, None) => return Err(wrong("it holds neither a reply nor an error".to_owned())),
            (Some(_), Some(_)) => {
                return Err(wrong("it holds both a reply and an error".to_owned()));
            }
        });
    }
    Ok((header, answers))
}
