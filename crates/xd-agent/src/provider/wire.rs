//! What the wires have in common: a request is bytes, an answer is events that add up to a reply.

use serde::Deserialize;
use serde_json::value::RawValue;
use xd_resolve::ToolResult;

use super::{Settings, anthropic, call::Taken, chat, preset::Dialect, responses, sse::Frame};
use crate::{Delta, Message, ModelError, ProviderError, Reply, Request, Verbatim};

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic's Messages.
    AnthropicMessages,
    /// OpenAI's chat completions, which most others speak.
    ChatCompletions,
    /// OpenAI's Responses.
    OpenaiResponses,
}

/// What a request is encoded for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) model: &'a str,
    pub(crate) settings: &'a Settings,
    pub(crate) dialect: &'a Dialect,
    /// Whether the model thinks in these requests.
    pub(crate) thinks: bool,
}

/// Puts an answer together from its events. No event makes it panic, whatever it holds.
pub(crate) trait Assembler: Send {
    /// Takes an event and appends the pieces that it brings to `out`. True where the answer is
    /// complete.
    fn take(&mut self, frame: &Frame, out: &mut Vec<Delta>) -> Result<bool, ModelError>;

    /// The answer, at the end of the stream.
    fn finish(self: Box<Self>) -> Result<Reply, ModelError>;
}

impl Wire {
    /// The name in [`Verbatim`](crate::Verbatim) and in configurations.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::ChatCompletions => "chat-completions",
            Self::OpenaiResponses => "openai-responses",
        }
    }

    /// Where requests go, below `base`.
    pub(crate) fn url(self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        match self {
            Self::AnthropicMessages if base.ends_with("/v1") => format!("{base}/messages"),
            Self::AnthropicMessages => format!("{base}/v1/messages"),
            Self::ChatCompletions => format!("{base}/chat/completions"),
            Self::OpenaiResponses => format!("{base}/responses"),
        }
    }

    /// The body of a request. The same request gives the same bytes, and the messages of the
    /// request before are a prefix of its own (**Invariant G5**).
    pub(crate) fn body(self, request: &Request, target: Target<'_>) -> Result<Vec<u8>, ModelError> {
        let body = match self {
            Self::AnthropicMessages => anthropic::body(request, target),
            Self::ChatCompletions => chat::body(request, target),
            Self::OpenaiResponses => responses::body(request, target),
        };
        body.map_err(ModelError::failed)
    }

    /// An assembler for the answer to a request with this history.
    pub(crate) fn assembler(self, model: &str, history: &[Message]) -> Box<dyn Assembler> {
        let taken = Taken::by(history);
        match self {
            Self::AnthropicMessages => Box::new(anthropic::Answer::new(model, taken)),
            Self::ChatCompletions => Box::new(chat::Answer::new(model, taken)),
            Self::OpenaiResponses => Box::new(responses::Answer::new(model, taken)),
        }
    }
}

/// Reads the data of an event.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, ModelError> {
    serde_json::from_str(data).map_err(|error| malformed(error.to_string()))
}

/// An answer that is not in the wire's format.
pub(crate) fn malformed(message: impl Into<String>) -> ModelError {
    ProviderError::Malformed { message: message.into() }.into()
}

/// JSON text as a value that is written as it stands.
pub(crate) fn raw(text: String) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(text)
}

/// A message in its provider's own words, where `wire` and `model` are the ones that said it.
pub(crate) fn own_words(
    verbatim: Option<&Verbatim>,
    wire: Wire,
    model: &str,
) -> Option<Box<RawValue>> {
    let own = verbatim.filter(|own| own.wire == wire.as_str() && own.model == model)?;
    raw(own.json.clone()).ok()
}

/// What a failed call's result begins with, on wires that have no word for it.
pub(crate) fn outcome(result: &ToolResult) -> String {
    let mark = if result.is_error { "Error: " } else { "" };
    format!("{mark}{}", said(&result.joined()))
}

/// Whether there is nothing in it that a provider would take for text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A user's message always says something: providers refuse an empty one.
pub(crate) fn said(text: &str) -> &str {
    if is_blank(text) { "(nothing)" } else { text }
}

#[cfg(test)]
mod tests;
