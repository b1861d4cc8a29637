//! The providers of these tests: who they are, how they stream an answer.

use serde_json::{Value, json};
use xd_agent::provider::{
    Effort, HttpModel, ModelConfig, Preset, Retry, Secret, Settings, ThinkingSetting,
};

use crate::server::Server;

/// The key of every test. No output may hold it.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// A provider with its habits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    Anthropic,
    AnthropicThinking,
    OpenAiChat,
    DeepSeekThinking,
    Mistral,
    Responses,
}

pub(crate) const ALL: [Flavour; 6] = [
    Flavour::Anthropic,
    Flavour::AnthropicThinking,
    Flavour::OpenAiChat,
    Flavour::DeepSeekThinking,
    Flavour::Mistral,
    Flavour::Responses,
];

/// What a model says in one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Say {
    pub(crate) text: String,
    /// Name and arguments, byte for byte.
    pub(crate) calls: Vec<(String, String)>,
}

impl Say {
    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    pub(crate) fn call(name: &str, arguments: &str) -> Self {
        Self::default().and(name, arguments)
    }

    pub(crate) fn and(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push((name.into(), arguments.into()));
        self
    }
}

impl Flavour {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::AnthropicThinking => "anthropic, thinking",
            Self::OpenAiChat => "chat, openai",
            Self::DeepSeekThinking => "chat, deepseek thinking",
            Self::Mistral => "chat, mistral",
            Self::Responses => "responses",
        }
    }

    pub(crate) fn thinks(self) -> bool {
        match self {
            Self::AnthropicThinking | Self::DeepSeekThinking | Self::Responses => true,
            Self::Anthropic | Self::OpenAiChat | Self::Mistral => false,
        }
    }

    /// Whether the provider refuses a forced choice.
    pub(crate) fn refuses_forcing(self) -> bool {
        matches!(self, Self::AnthropicThinking | Self::DeepSeekThinking)
    }

    /// The member of a body that holds the history.
    pub(crate) fn history(self) -> &'static str {
        if self == Self::Responses { "input" } else { "messages" }
    }

    pub(crate) fn config(self, server: &Server) -> ModelConfig {
        let (preset, model, thinking) = match self {
            Self::Anthropic => ("anthropic", "claude-sonnet-4-5", ThinkingSetting::Default),
            Self::AnthropicThinking => {
                ("anthropic", "claude-sonnet-4-5", ThinkingSetting::Budget(4096))
            }
            Self::OpenAiChat => ("openai-chat", "gpt-4.1", ThinkingSetting::Default),
            Self::DeepSeekThinking => ("deepseek", "deepseek-v4-pro", ThinkingSetting::Default),
            Self::Mistral => ("mistral", "devstral-medium-latest", ThinkingSetting::Default),
            Self::Responses => ("openai", "gpt-5.1", ThinkingSetting::Effort(Effort::Medium)),
        };
        let preset = Preset::find(preset).expect("a preset");
        let mut config = ModelConfig::new(*preset, model)
            .with_base_url(&server.base)
            .with_key(Secret::new(KEY))
            .with_settings(Settings { thinking, ..Settings::default() });
        config.retry = Retry { first_pause_ms: 1, ..Retry::default() };
        config
    }

    pub(crate) fn model(self, server: &Server) -> HttpModel {
        HttpModel::new(self.config(server)).expect("a model")
    }

    /// The answer as the provider streams it, and what it wants back unchanged. `serial` tells
    /// answers apart.
    pub(crate) fn stream(self, say: &Say, serial: usize) -> String {
        match self {
            Self::Anthropic | Self::AnthropicThinking => self.anthropic(say, serial),
            Self::OpenAiChat | Self::DeepSeekThinking | Self::Mistral => self.chat(say, serial),
            Self::Responses => responses(say, serial),
        }
    }

    /// The id of a call, in the provider's form.
    pub(crate) fn id(self, serial: usize, at: usize) -> String {
        match self {
            Self::Anthropic | Self::AnthropicThinking => format!("toolu_{serial}_{at}"),
            Self::Responses => format!("call_{serial}_{at}"),
            Self::OpenAiChat | Self::DeepSeekThinking | Self::Mistral => {
                format!("t{serial:05}{at:03}")
            }
        }
    }

    fn anthropic(self, say: &Say, serial: usize) -> String {
        let mut events = vec![
            json!({ "type": "message_start", "message": { "id": format!("msg_{serial}"), "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-4-5", "stop_reason": null, "usage": { "input_tokens": 12, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 500, "output_tokens": 1 } } }),
            json!({ "type": "ping" }),
        ];
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.push(
                json!({ "type": "content_block_start", "index": index, "content_block": start }),
            );
            for delta in deltas {
                events
                    .push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            }
            events.push(json!({ "type": "content_block_stop", "index": index }));
            index += 1;
        };
        if self.thinks() {
            let mut deltas: Vec<Value> = pieces(&thought(serial))
                .map(|text| json!({ "type": "thinking_delta", "thinking": text }))
                .collect();
            deltas.push(json!({ "type": "signature_delta", "signature": signature(serial) }));
            block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas);
            block(
                json!({ "type": "redacted_thinking", "data": format!("red{serial}+/=") }),
                Vec::new(),
            );
        }
        if !say.text.is_empty() {
            let deltas =
                pieces(&say.text).map(|text| json!({ "type": "text_delta", "text": text }));
            block(json!({ "type": "text", "text": "" }), deltas.collect());
        }
        for (at, (name, arguments)) in say.calls.iter().enumerate() {
            let mut deltas = vec![json!({ "type": "input_json_delta", "partial_json": "" })];
            deltas.extend(
                pieces(arguments)
                    .map(|text| json!({ "type": "input_json_delta", "partial_json": text })),
            );
            block(
                json!({ "type": "tool_use", "id": self.id(serial, at), "name": name, "input": {} }),
                deltas,
            );
        }
        let reason = if say.calls.is_empty() { "end_turn" } else { "tool_use" };
        events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 40 } }));
        events.push(json!({ "type": "message_stop" }));
        named(&events)
    }

    fn chat(self, say: &Say, serial: usize) -> String {
        let chunk = |delta: Value, reason: Option<&str>| json!({ "id": format!("chatcmpl-{serial}"), "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }] });
        let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        if self.thinks() {
            events
                .extend(pieces(&thought(serial)).map(|text| {
                    chunk(json!({ "content": null, "reasoning_content": text }), None)
                }));
        }
        events.extend(pieces(&say.text).map(|text| chunk(json!({ "content": text }), None)));
        for (at, (name, arguments)) in say.calls.iter().enumerate() {
            let start = json!({ "tool_calls": [{ "index": at, "id": self.id(serial, at), "type": "function", "function": { "name": name, "arguments": "" } }] });
            events.push(chunk(start, None));
            events.extend(pieces(arguments).map(|text| {
                chunk(
                    json!({ "tool_calls": [{ "index": at, "function": { "arguments": text } }] }),
                    None,
                )
            }));
        }
        let reason = if say.calls.is_empty() { "stop" } else { "tool_calls" };
        events.push(chunk(json!({}), Some(reason)));
        events.push(json!({ "id": "x", "object": "chat.completion.chunk", "choices": [], "usage": { "prompt_tokens": 542, "completion_tokens": 40, "total_tokens": 582, "prompt_tokens_details": { "cached_tokens": 500 } } }));
        let lines: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        format!(": keep-alive\n\n{lines}data: [DONE]\n\n")
    }
}

fn responses(say: &Say, serial: usize) -> String {
    let mut events = vec![
        json!({ "type": "response.created", "response": { "id": format!("resp_{serial}"), "status": "in_progress", "output": [] } }),
    ];
    let mut output = Vec::new();
    let mut item = |start: Value, deltas: Vec<Value>, done: Value| {
        let at = output.len();
        events.push(
            json!({ "type": "response.output_item.added", "output_index": at, "item": start }),
        );
        for mut delta in deltas {
            delta["output_index"] = json!(at);
            events.push(delta);
        }
        events
            .push(json!({ "type": "response.output_item.done", "output_index": at, "item": done }));
        output.push(done);
    };
    let reasoning = format!("rs_{serial}");
    item(
        json!({ "id": reasoning, "type": "reasoning", "summary": [] }),
        pieces(&thought(serial)).map(|text| json!({ "type": "response.reasoning_summary_text.delta", "item_id": reasoning, "summary_index": 0, "delta": text })).collect(),
        json!({ "id": reasoning, "type": "reasoning", "summary": [{ "type": "summary_text", "text": thought(serial) }], "encrypted_content": signature(serial) }),
    );
    if !say.text.is_empty() {
        let message = |text: &str, status: &str| json!({ "id": format!("msg_{serial}"), "type": "message", "status": status, "role": "assistant", "content": [{ "type": "output_text", "text": text, "annotations": [] }] });
        item(
            message("", "in_progress"),
            pieces(&say.text).map(|text| json!({ "type": "response.output_text.delta", "content_index": 0, "delta": text })).collect(),
            message(&say.text, "completed"),
        );
    }
    for (at, (name, arguments)) in say.calls.iter().enumerate() {
        let call = |arguments: &str, status: &str| json!({ "id": format!("fc_{serial}_{at}"), "type": "function_call", "status": status, "call_id": Flavour::Responses.id(serial, at), "name": name, "arguments": arguments });
        item(
            call("", "in_progress"),
            pieces(arguments).map(|text| json!({ "type": "response.function_call_arguments.delta", "item_id": format!("fc_{serial}_{at}"), "delta": text })).collect(),
            call(arguments, "completed"),
        );
    }
    events.push(json!({ "type": "response.completed", "response": { "id": format!("resp_{serial}"), "status": "completed", "output": output, "usage": { "input_tokens": 542, "input_tokens_details": { "cached_tokens": 500 }, "output_tokens": 40, "output_tokens_details": { "reasoning_tokens": 9 }, "total_tokens": 582 } } }));
    named(&events)
}

/// Events with their names, as two of the wires write them.
fn named(events: &[Value]) -> String {
    let line = |event: &Value| {
        format!("event: {}\r\ndata: {event}\r\n\r\n", event["type"].as_str().unwrap_or_default())
    };
    events.iter().map(line).collect()
}

/// A text in pieces of three letters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(3).map(|piece| piece.iter().collect()).collect::<Vec<_>>().into_iter()
}

pub(crate) fn thought(serial: usize) -> String {
    format!("I weigh \"{serial}\" — naïve\\simple 🦀\n\u{2028}and go on.")
}

pub(crate) fn signature(serial: usize) -> String {
    format!("EqQB/{serial}+c2lnbmF0dXJl==")
}
