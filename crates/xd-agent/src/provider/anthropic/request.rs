//! A request as Anthropic's Messages want it.

use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue, value::to_raw_value};
use xd_resolve::{ToolCall, ToolResult};
use xd_session::ToolChoice;
use xd_write::ToolDefinition;

use crate::{
    Message, Request,
    provider::{
        ThinkingSetting, Wire,
        call::{foreign_arguments, name_on_wire, plain_id},
        wire::{Target, is_blank, own_words, raw, said},
    },
};

/// The limit where the settings name none. The wire has no default.
const MAX_TOKENS: u32 = 32_000;

/// The fields in the order of their bytes: what may change comes last, so that a body is a prefix
/// of the next up to the end of its messages.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

pub(crate) fn body(request: &Request, target: Target<'_>) -> serde_json::Result<Vec<u8>> {
    let settings = target.settings;
    let mark = || (!settings.no_cache_marks).then(|| json!({ "type": "ephemeral" }));
    let (thinking, output_config) = match settings.thinking {
        ThinkingSetting::Default => (None, None),
        ThinkingSetting::Off => (Some(json!({ "type": "disabled" })), None),
        ThinkingSetting::Effort(effort) => {
            (Some(json!({ "type": "adaptive" })), Some(json!({ "effort": effort.as_str() })))
        }
        ThinkingSetting::Budget(tokens) => {
            (Some(json!({ "type": "enabled", "budget_tokens": tokens })), None)
        }
    };
    let least = match settings.thinking {
        ThinkingSetting::Budget(tokens) => tokens.saturating_add(4096),
        ThinkingSetting::Default | ThinkingSetting::Off | ThinkingSetting::Effort(_) => 0,
    };
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut system = Vec::new();
    if !is_blank(&request.system) {
        system.push(json!({ "type": "text", "text": request.system }));
    }
    if let (Some(Value::Object(last)), Some(mark)) =
        (system.last_mut().or(tools.last_mut()), mark())
    {
        last.insert("cache_control".to_owned(), mark);
    }
    let body = Body {
        model: target.model,
        max_tokens: settings.max_tokens.unwrap_or(MAX_TOKENS.max(least)),
        stream: true,
        cache_control: mark(),
        thinking,
        output_config,
        extra: &settings.extra,
        tool_choice: (!tools.is_empty()).then(|| choice(&request.tool_choice)),
        tools,
        system,
        messages: messages(&request.messages, target.model)?,
    };
    serde_json::to_vec(&body)
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Named(name) => json!({ "type": "tool", "name": name }),
    }
}

/// The history. The results of one batch go into one message, as the provider wants them; every
/// other message stands alone, because joining it to the one before would change bytes that were
/// sent. The provider joins neighbours of one role itself.
fn messages(history: &[Message], model: &str) -> serde_json::Result<Vec<Box<RawValue>>> {
    let mut messages = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    // Whether the calls that results answer stand there in the provider's own words.
    let mut own_calls = false;
    for message in history {
        if !matches!(message, Message::ToolResult { .. }) {
            flush(&mut results, &mut messages)?;
        }
        match message {
            Message::ToolResult { call_id, result: answer } => {
                let call_id = if own_calls { call_id.into() } else { plain_id(call_id) };
                results.push(result(&call_id, answer));
            }
            Message::User { text } | Message::Custom { text, .. } => {
                let block = json!({ "type": "text", "text": said(text) });
                messages.push(to_raw_value(&json!({ "role": "user", "content": [block] }))?);
            }
            Message::Assistant { text, calls, verbatim } => {
                let own = own_words(verbatim.as_ref(), Wire::AnthropicMessages, model);
                own_calls = own.is_some();
                messages.extend(assistant(text, calls, own)?);
            }
        }
    }
    flush(&mut results, &mut messages)?;
    Ok(messages)
}

fn flush(results: &mut Vec<Value>, into: &mut Vec<Box<RawValue>>) -> serde_json::Result<()> {
    if !results.is_empty() {
        let content = std::mem::take(results);
        into.push(to_raw_value(&json!({ "role": "user", "content": content }))?);
    }
    Ok(())
}

/// The provider refuses text blocks without text.
fn result(call_id: &str, result: &ToolResult) -> Value {
    let blocks = result.content.iter().filter(|text| !is_blank(text));
    let blocks: Vec<Value> = blocks.map(|text| json!({ "type": "text", "text": text })).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": call_id });
    if !blocks.is_empty() {
        block["content"] = Value::Array(blocks);
    }
    if result.is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

#[derive(Serialize)]
struct Assistant {
    role: &'static str,
    content: Box<RawValue>,
}

/// What the model said: in the provider's own words where they are known, or its text and calls.
/// None where that is nothing.
fn assistant(
    text: &str,
    calls: &[ToolCall],
    own: Option<Box<RawValue>>,
) -> serde_json::Result<Option<Box<RawValue>>> {
    let content = match own {
        Some(content) => content,
        None => {
            let mut blocks = Vec::new();
            if !is_blank(text) {
                blocks.push(to_raw_value(&json!({ "type": "text", "text": text }))?);
            }
            for call in calls {
                let input = raw(foreign_arguments(&call.arguments))?;
                blocks.push(tool_use(&plain_id(&call.id), &call.name, input)?);
            }
            if blocks.is_empty() {
                return Ok(None);
            }
            to_raw_value(&blocks)?
        }
    };
    to_raw_value(&Assistant { role: "assistant", content }).map(Some)
}

#[derive(Serialize)]
struct ToolUse<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: Box<RawValue>,
}

/// A call as a block of content, its arguments as they stand.
pub(super) fn tool_use(
    id: &str,
    name: &str,
    input: Box<RawValue>,
) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&ToolUse { r#type: "tool_use", id, name: &name_on_wire(name), input })
}
