//! A request as chat completions want it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue, value::to_raw_value};
use xd_resolve::ToolCall;
use xd_session::ToolChoice;
use xd_write::ToolDefinition;

use crate::{
    Message, Request,
    provider::{
        Settings, ThinkingSetting, Wire,
        call::{foreign_arguments, name_on_wire, plain_id, strict_id},
        preset::ThinkingDialect,
        wire::{Target, is_blank, outcome, own_words, said},
    },
};

/// What goes between a tool's message and a user's, where the one may not follow the other.
const BRIDGE: &str = "Understood.";
/// What stands for thinking that another model did, where there has to be some.
const THOUGHT: &str = "…";

/// The fields in the order of their bytes: what may change comes last.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(flatten)]
    settings: Map<String, Value>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

pub(crate) fn body(request: &Request, target: Target<'_>) -> serde_json::Result<Vec<u8>> {
    let settings = target.settings;
    let mut fields = thinking(settings, target.dialect.thinking);
    if let Some(most) = settings.max_tokens {
        fields.insert(target.dialect.limit.to_owned(), json!(most));
    }
    if target.dialect.asks_for_usage && !settings.no_stream_options {
        fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let body = Body {
        model: target.model,
        stream: true,
        settings: fields,
        extra: &settings.extra,
        tool_choice: (!tools.is_empty()).then(|| choice(&request.tool_choice)),
        tools,
        messages: messages(request, target)?,
    };
    serde_json::to_vec(&body)
}

fn thinking(settings: &Settings, dialect: ThinkingDialect) -> Map<String, Value> {
    let fields = match (dialect, settings.thinking) {
        (_, ThinkingSetting::Default) => json!({}),
        (ThinkingDialect::Effort, ThinkingSetting::Off) => json!({ "reasoning_effort": "none" }),
        (ThinkingDialect::Effort, ThinkingSetting::Effort(effort)) => {
            json!({ "reasoning_effort": effort.as_str() })
        }
        // A budget is no effort; the nearest is said.
        (ThinkingDialect::Effort, ThinkingSetting::Budget(tokens)) => {
            let effort = match tokens {
                0..=2048 => "low",
                2049..=16_384 => "medium",
                16_385.. => "high",
            };
            json!({ "reasoning_effort": effort })
        }
        (ThinkingDialect::Reasoning, ThinkingSetting::Off) => {
            json!({ "reasoning": { "enabled": false } })
        }
        (ThinkingDialect::Reasoning, ThinkingSetting::Effort(effort)) => {
            json!({ "reasoning": { "effort": effort.as_str() } })
        }
        (ThinkingDialect::Reasoning, ThinkingSetting::Budget(tokens)) => {
            json!({ "reasoning": { "max_tokens": tokens } })
        }
        (ThinkingDialect::Switch, ThinkingSetting::Off) => {
            json!({ "thinking": { "type": "disabled" } })
        }
        (ThinkingDialect::Switch, ThinkingSetting::Effort(_) | ThinkingSetting::Budget(_)) => {
            json!({ "thinking": { "type": "enabled" } })
        }
        (ThinkingDialect::Enable, ThinkingSetting::Off) => json!({ "enable_thinking": false }),
        (ThinkingDialect::Enable, ThinkingSetting::Effort(_)) => json!({ "enable_thinking": true }),
        (ThinkingDialect::Enable, ThinkingSetting::Budget(tokens)) => {
            json!({ "enable_thinking": true, "thinking_budget": tokens })
        }
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    let (name, description) = (&tool.name, &tool.description);
    json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": tool.input_schema },
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

/// The history, one message each: nothing is joined, so that what was sent stays.
fn messages(request: &Request, target: Target<'_>) -> serde_json::Result<Vec<Box<RawValue>>> {
    let mut messages = Vec::new();
    if !is_blank(&request.system) {
        let mut content = json!(request.system);
        let marked = target.dialect.marks && target.model.starts_with("anthropic/");
        if marked && !target.settings.no_cache_marks {
            // At the one place that never moves; it covers tools and system.
            content = json!([{
                "type": "text", "text": content, "cache_control": { "type": "ephemeral" }
            }]);
        }
        messages.push(to_raw_value(&json!({ "role": "system", "content": content }))?);
    }
    let mut after_tool = false;
    // Whether the calls that results answer stand there in the provider's own words.
    let mut own_calls = false;
    for message in &request.messages {
        let was_after_tool = std::mem::take(&mut after_tool);
        match message {
            Message::User { text } | Message::Custom { text, .. } => {
                if was_after_tool && target.dialect.strict {
                    let bridge = json!({ "role": "assistant", "content": BRIDGE });
                    messages.push(to_raw_value(&bridge)?);
                }
                messages.push(to_raw_value(&json!({ "role": "user", "content": said(text) }))?);
            }
            Message::Assistant { text, calls, verbatim } => {
                let own = own_words(verbatim.as_ref(), Wire::ChatCompletions, target.model);
                own_calls = own.is_some();
                messages.extend(match own {
                    Some(own) => Some(own),
                    None => assistant(text, calls, target)?,
                });
            }
            Message::ToolResult { call_id, result } => {
                after_tool = true;
                let call_id = if own_calls { call_id.into() } else { id_on_wire(call_id, target) };
                let message = json!({
                    "role": "tool", "tool_call_id": call_id, "content": outcome(result)
                });
                messages.push(to_raw_value(&message)?);
            }
        }
    }
    Ok(messages)
}

/// The id as the provider takes it.
fn id_on_wire<'a>(id: &'a str, target: Target<'_>) -> Cow<'a, str> {
    if target.dialect.strict { strict_id(id) } else { plain_id(id) }
}

fn assistant(
    text: &str,
    calls: &[ToolCall],
    target: Target<'_>,
) -> serde_json::Result<Option<Box<RawValue>>> {
    if is_blank(text) && calls.is_empty() {
        return Ok(None);
    }
    let calls = calls.iter().map(|call| {
        let id = id_on_wire(&call.id, target);
        call_on_wire(&id, &call.name, &foreign_arguments(&call.arguments), Map::new())
    });
    let calls: Vec<Value> = calls.collect();
    let mut beside = Map::new();
    if target.thinks && target.dialect.wants_thinking && !calls.is_empty() {
        beside.insert("reasoning_content".to_owned(), json!(THOUGHT));
    }
    to_raw_value(&assistant_on_wire(text, beside, calls)).map(Some)
}

/// A call as a message holds it, with what its server put beside it.
pub(super) fn call_on_wire(
    id: &str,
    name: &str,
    arguments: &str,
    beside: Map<String, Value>,
) -> Value {
    let mut call = json!({
        "id": id,
        "type": "function",
        "function": { "name": name_on_wire(name), "arguments": arguments },
    });
    if let Value::Object(call) = &mut call {
        call.extend(beside);
    }
    call
}

/// What the model said as a message, with what its server put beside it.
pub(super) fn assistant_on_wire(
    text: &str,
    beside: Map<String, Value>,
    calls: Vec<Value>,
) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".to_owned(), content);
    message.extend(beside);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}
