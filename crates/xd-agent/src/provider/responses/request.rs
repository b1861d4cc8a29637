//! A request as OpenAI's Responses want it.

use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue, value::to_raw_value};
use xd_resolve::ToolCall;
use xd_session::ToolChoice;
use xd_write::ToolDefinition;

use crate::{
    Message, Request,
    provider::{
        ThinkingSetting, Wire,
        call::{foreign_arguments, name_on_wire, plain_id},
        wire::{Target, is_blank, outcome, own_words, said},
    },
};

/// The fields in the order of their bytes: what may change comes last.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "is_blank")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    input: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

pub(crate) fn body(request: &Request, target: Target<'_>) -> serde_json::Result<Vec<u8>> {
    let settings = target.settings;
    let effort = match settings.thinking {
        ThinkingSetting::Default => None,
        ThinkingSetting::Off => Some("none"),
        ThinkingSetting::Effort(effort) => Some(effort.as_str()),
        // A budget is no effort; the nearest is said.
        ThinkingSetting::Budget(0..=2048) => Some("low"),
        ThinkingSetting::Budget(2049..=16_384) => Some("medium"),
        ThinkingSetting::Budget(16_385..) => Some("high"),
    };
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let body = Body {
        model: target.model,
        stream: true,
        store: false,
        // Models that do not reason refuse to be asked for it.
        include: target.thinks.then(|| json!(["reasoning.encrypted_content"])),
        reasoning: match effort {
            Some("none") => Some(json!({ "effort": "none" })),
            Some(effort) => Some(json!({ "effort": effort, "summary": "auto" })),
            None => None,
        },
        max_output_tokens: settings.max_tokens,
        extra: &settings.extra,
        instructions: &request.system,
        tool_choice: (!tools.is_empty()).then(|| choice(&request.tool_choice)),
        tools,
        input: input(&request.messages, target.model)?,
    };
    serde_json::to_vec(&body)
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": false,
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}

fn input(history: &[Message], model: &str) -> serde_json::Result<Vec<Box<RawValue>>> {
    let mut items = Vec::new();
    // Whether the calls that results answer stand there in the provider's own words.
    let mut own_calls = false;
    for message in history {
        match message {
            Message::User { text } | Message::Custom { text, .. } => {
                items.push(to_raw_value(&json!({ "role": "user", "content": said(text) }))?);
            }
            Message::ToolResult { call_id, result } => {
                let call_id = if own_calls { call_id.into() } else { plain_id(call_id) };
                let item = json!({
                    "type": "function_call_output", "call_id": call_id, "output": outcome(result)
                });
                items.push(to_raw_value(&item)?);
            }
            Message::Assistant { text, calls, verbatim } => {
                let own = own_words(verbatim.as_ref(), Wire::OpenaiResponses, model)
                    .and_then(|own| serde_json::from_str::<Vec<Box<RawValue>>>(own.get()).ok());
                own_calls = own.is_some();
                match own {
                    Some(own) => items.extend(own),
                    None => assistant(text, calls, &mut items)?,
                }
            }
        }
    }
    Ok(items)
}

/// What another model said: its text and calls.
fn assistant(
    text: &str,
    calls: &[ToolCall],
    items: &mut Vec<Box<RawValue>>,
) -> serde_json::Result<()> {
    if !is_blank(text) {
        items.push(to_raw_value(&json!({ "role": "assistant", "content": text }))?);
    }
    for call in calls {
        let arguments = foreign_arguments(&call.arguments);
        items.push(function_call(&plain_id(&call.id), &call.name, &arguments)?);
    }
    Ok(())
}

/// A call as an item.
pub(super) fn function_call(
    call_id: &str,
    name: &str,
    arguments: &str,
) -> serde_json::Result<Box<RawValue>> {
    let name = name_on_wire(name);
    to_raw_value(&json!({
        "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments
    }))
}
