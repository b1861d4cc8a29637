//! What the wires have in common: a request is bytes, an answer is events that add up to a reply.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Settings, anthropic, chat, preset::Dialect, responses, sse::Frame};
use crate::{Delta, ModelError, ProviderError, Reply, Request};

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

    /// An assembler for the answer to a request of `place` messages.
    pub(crate) fn assembler(self, model: &str, place: usize) -> Box<dyn Assembler> {
        match self {
            Self::AnthropicMessages => Box::new(anthropic::Answer::new(model, place)),
            Self::ChatCompletions => Box::new(chat::Answer::new(model, place)),
            Self::OpenaiResponses => Box::new(responses::Answer::new(model, place)),
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

/// Whether there is nothing in it that a provider would take for text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A user's message always says something: providers refuse an empty one.
pub(crate) fn said(text: &str) -> &str {
    if is_blank(text) { "(nothing)" } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::provider::{Preset, sse::Frames};

    const WIRES: [Wire; 3] =
        [Wire::AnthropicMessages, Wire::ChatCompletions, Wire::OpenaiResponses];

    /// Feeds bytes through decoder and assembler, as the edge does.
    fn feed(wire: Wire, pieces: &[&[u8]]) -> (Result<Reply, ModelError>, Vec<Delta>) {
        let mut answer = wire.assembler("m", 3);
        let (mut frames, mut out, mut deltas) = (Frames::default(), Vec::new(), Vec::new());
        for piece in pieces.iter().map(|piece| Some(*piece)).chain([None]) {
            let pushed = match piece {
                Some(piece) => frames.push(piece, &mut out),
                None => frames.end(&mut out),
            };
            if let Err(error) = pushed {
                return (Err(malformed(error.to_string())), deltas);
            }
            for frame in out.drain(..) {
                match answer.take(&frame, &mut deltas) {
                    Ok(false) => {}
                    Ok(true) => return (answer.finish(), deltas),
                    Err(error) => return (Err(error), deltas),
                }
            }
        }
        (answer.finish(), deltas)
    }

    /// Words that events are made of, so that the noise reaches deep.
    fn event() -> impl Strategy<Value = String> {
        let field = prop_oneof![
            Just("type"),
            Just("index"),
            Just("output_index"),
            Just("delta"),
            Just("content_block"),
            Just("item"),
            Just("choices"),
            Just("tool_calls"),
            Just("function"),
            Just("arguments"),
            Just("partial_json"),
            Just("text"),
            Just("id"),
            Just("name"),
            Just("usage"),
            Just("reasoning_details"),
            Just("content"),
            Just("error"),
            Just("response"),
            Just("finish_reason"),
            Just("stop_reason"),
        ];
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("0".to_owned()),
            Just("18446744073709551615".to_owned()),
            Just("-1".to_owned()),
            Just("1e999".to_owned()),
            Just("\"\"".to_owned()),
            Just("\"tool_use\"".to_owned()),
            Just("\"thinking\"".to_owned()),
            Just("\"text\"".to_owned()),
            Just("\"{\"".to_owned()),
            Just("\"\\ud800\"".to_owned()),
            Just("\"content_block_start\"".to_owned()),
            Just("\"content_block_delta\"".to_owned()),
            Just("\"message_delta\"".to_owned()),
            Just("\"message_stop\"".to_owned()),
            Just("\"response.output_item.added\"".to_owned()),
            Just("\"function_call\"".to_owned()),
            Just("\"response.function_call_arguments.delta\"".to_owned()),
            Just("\"response.output_item.done\"".to_owned()),
            Just("\"message\"".to_owned()),
            Just("\"response.completed\"".to_owned()),
            Just("\"tool_calls\"".to_owned()),
        ];
        let value = leaf.prop_recursive(5, 40, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3)
                    .prop_map(|list| format!("[{}]", list.join(","))),
                proptest::collection::vec((field.clone(), inner), 0..6).prop_map(|fields| {
                    let fields: Vec<_> =
                        fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        });
        prop_oneof![4 => value, 1 => Just("[DONE]".to_owned()), 1 => ".*"]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_events_in_any_pieces_never_panic_and_mean_the_same(
            events in proptest::collection::vec(event(), 0..6),
            size in 1_usize..20,
        ) {
            let text: String =
                events.iter().map(|event| format!("data: {}\r\n\r\n", event.replace(['\r', '\n'], " "))).collect();
            for wire in WIRES {
                let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                let (cut, cut_deltas) = feed(wire, &pieces);
                let (whole, whole_deltas) = feed(wire, &[text.as_bytes()]);
                prop_assert_eq!(cut_deltas, whole_deltas);
                prop_assert_eq!(format!("{cut:?}"), format!("{whole:?}"));
                if let Ok(reply) = whole {
                    sends_back(wire, reply);
                }
            }
        }

        #[test]
        fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            for wire in WIRES {
                drop(feed(wire, &[&bytes]));
            }
        }
    }

    /// Whatever a model answered, the next request is JSON and holds each call once.
    fn sends_back(wire: Wire, reply: Reply) {
        let calls = reply.calls.len();
        let ids: std::collections::BTreeSet<_> = reply.calls.iter().map(|call| &call.id).collect();
        assert_eq!(ids.len(), calls, "ids are told apart");
        let request = Request {
            system: String::new(),
            tools: Vec::new(),
            messages: vec![crate::Message::Assistant {
                text: reply.text,
                calls: reply.calls,
                verbatim: reply.verbatim,
            }],
            tool_choice: xd_session::ToolChoice::Auto,
        };
        let (settings, preset) = (Settings::default(), Preset::custom(wire));
        let target =
            Target { model: "m", settings: &settings, dialect: &preset.dialect, thinks: true };
        let body = wire.body(&request, target).expect("it is written");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("it is JSON");
        let held = match wire {
            Wire::AnthropicMessages => {
                body.pointer("/messages/0/content").map_or(0, |c| count(c, "tool_use"))
            }
            Wire::ChatCompletions => {
                body.pointer("/messages/0/tool_calls").map_or(0, |c| count(c, "function"))
            }
            Wire::OpenaiResponses => count(&body["input"], "function_call"),
        };
        assert_eq!(held, calls, "{body}");
    }

    fn count(list: &serde_json::Value, kind: &str) -> usize {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter(|block| block["type"] == kind).count()
    }
}
