//! What the real providers refuse, each with the words in which it does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    flavour::{Flavour, KEY, signature, thought},
    server::{Answer, Exchange},
};

/// Refuses a request as its provider would, or lets it pass.
pub(crate) fn check(flavour: Flavour, exchange: &Exchange) -> Result<(), Answer> {
    let body = exchange.json();
    let judged = match flavour {
        Flavour::Anthropic | Flavour::AnthropicThinking => anthropic(exchange, &body),
        Flavour::OpenAiChat | Flavour::DeepSeekThinking | Flavour::Mistral => {
            chat(flavour, exchange, &body)
        }
        Flavour::Responses => responses(exchange, &body),
    };
    judged.map_err(|(status, message)| {
        let error = json!({ "type": "invalid_request_error", "message": message });
        Answer::error(status, &json!({ "type": "error", "error": error }))
    })
}

type Judged = Result<(), (u16, String)>;

fn refuse(message: impl Into<String>) -> Judged {
    Err((400, message.into()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn texts<'a>(values: &'a [Value], pointer: &'a str) -> impl Iterator<Item = &'a str> {
    values.iter().filter_map(move |value| value.pointer(pointer)?.as_str())
}

fn authorized(exchange: &Exchange, header: &str, value: &str) -> Judged {
    if exchange.header(header) == Some(value) {
        return Ok(());
    }
    Err((401, format!("invalid key: {}", exchange.header(header).unwrap_or_default())))
}

fn anthropic(exchange: &Exchange, body: &Value) -> Judged {
    authorized(exchange, "x-api-key", KEY)?;
    if exchange.path != "/v1/messages" {
        return Err((404, "Not Found".into()));
    }
    if exchange.header("anthropic-version").is_none() {
        return refuse("anthropic-version: header is required");
    }
    let forced = matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    if forced && body["thinking"]["type"].as_str().is_some_and(|kind| kind != "disabled") {
        return refuse("Thinking may not be enabled when tool_choice forces tool use.");
    }
    if let Some(name) = body["tool_choice"]["name"].as_str()
        && !texts(list(&body["tools"]), "/name").any(|tool| tool == name)
    {
        return refuse(format!("Tool '{name}' not found in provided tools"));
    }
    let Some(most) = body["max_tokens"].as_u64() else {
        return refuse("max_tokens: Field required");
    };
    if body["thinking"]["budget_tokens"].as_u64().is_some_and(|budget| budget >= most) {
        return refuse("`max_tokens` must be greater than `thinking.budget_tokens`");
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    if marks > 4 {
        return refuse(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        ));
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut before = "";
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if at == 0 && role != "user" {
            return refuse("messages: first message must use the \"user\" role");
        }
        for block in list(&message["content"]) {
            match (role, block["type"].as_str().unwrap_or_default()) {
                (_, "text") if block["text"].as_str().unwrap_or_default().trim().is_empty() => {
                    return refuse(
                        "messages: text content blocks must contain non-whitespace text",
                    );
                }
                ("assistant", "tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    if !block["input"].is_object() {
                        return refuse(format!(
                            "messages.{at}: tool_use.input: Input should be a valid dictionary"
                        ));
                    }
                    if !well_formed(id) || !well_formed(block["name"].as_str().unwrap_or_default())
                    {
                        return refuse(
                            "tool_use: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
                        );
                    }
                    if !used.insert(id) {
                        return refuse("messages: `tool_use` ids must be unique");
                    }
                    open.insert(id);
                }
                ("assistant", "thinking") => unchanged_thinking(at, block)?,
                ("user", "tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    if !open.remove(id) {
                        return refuse(format!(
                            "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}"
                        ));
                    }
                    for text in list(&block["content"]) {
                        if text["text"].as_str().unwrap_or_default().trim().is_empty() {
                            return refuse("messages: text content blocks must be non-empty");
                        }
                    }
                }
                ("user", "text") | ("assistant", "text" | "redacted_thinking") => {}
                (role, kind) => return refuse(format!("messages.{at}: {kind} in {role}")),
            }
        }
        let answered = role == "user" && before == "assistant";
        if answered && let Some(id) = open.first() {
            return refuse(format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}"
            ));
        }
        before = role;
    }
    Ok(())
}

fn well_formed(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

fn unchanged_thinking(at: usize, block: &Value) -> Judged {
    let signed = block["signature"].as_str().unwrap_or_default();
    let serial = signed.strip_prefix("EqQB/").and_then(|rest| rest.split('+').next()?.parse().ok());
    match serial {
        Some(serial) if signature(serial) == signed && block["thinking"] == thought(serial) => {
            Ok(())
        }
        _ => refuse(format!(
            "messages.{at}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
        )),
    }
}

fn chat(flavour: Flavour, exchange: &Exchange, body: &Value) -> Judged {
    authorized(exchange, "authorization", &format!("Bearer {KEY}"))?;
    if exchange.path != "/chat/completions" {
        return Err((404, "Not Found".into()));
    }
    let forced = body["tool_choice"].is_object() || body["tool_choice"] == "required";
    if forced && flavour == Flavour::DeepSeekThinking {
        return refuse("Thinking mode does not support this tool_choice");
    }
    if flavour == Flavour::Mistral && body.get("stream_options").is_some() {
        return Err((422, "stream_options: Extra inputs are not permitted".into()));
    }
    if let Some(name) = body.pointer("/tool_choice/function/name").and_then(Value::as_str)
        && !texts(list(&body["tools"]), "/function/name").any(|tool| tool == name)
    {
        return refuse(format!("Tool choice '{name}' not found in 'tools' parameter."));
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut before = "";
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return refuse(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
            );
        }
        match role {
            "tool" if !open.remove(message["tool_call_id"].as_str().unwrap_or_default()) => {
                return refuse(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
                );
            }
            "user" if before == "tool" && flavour == Flavour::Mistral => {
                return refuse("Unexpected role 'user' after role 'tool'");
            }
            _ => {}
        }
        let calls = list(&message["tool_calls"]);
        open.extend(texts(calls, "/id"));
        for arguments in texts(calls, "/function/arguments") {
            if serde_json::from_str::<Value>(arguments).is_err() {
                return refuse("invalid function arguments json string");
            }
        }
        if flavour == Flavour::DeepSeekThinking && !calls.is_empty() {
            let own = |id: &str| id.get(1..6).and_then(|serial| serial.parse().ok()).map(thought);
            let own = texts(calls, "/id").next().and_then(own);
            let sent = message["reasoning_content"].as_str().filter(|sent| !sent.is_empty());
            // What this server never said it cannot compare.
            if sent.is_none() || (own.is_some() && sent != own.as_deref()) {
                return refuse(
                    "The `reasoning_content` in the thinking mode must be passed back to the API.",
                );
            }
        }
        let ids = texts(calls, "/id").chain(message["tool_call_id"].as_str());
        let nine = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if flavour == Flavour::Mistral
            && let Some(id) = ids.into_iter().find(|id| !nine(id))
        {
            return refuse(format!(
                "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
            ));
        }
        before = role;
    }
    if open.is_empty() {
        Ok(())
    } else {
        refuse(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        )
    }
}

fn responses(exchange: &Exchange, body: &Value) -> Judged {
    authorized(exchange, "authorization", &format!("Bearer {KEY}"))?;
    if exchange.path != "/responses" {
        return Err((404, "Not Found".into()));
    }
    if let Some(name) = body["tool_choice"]["name"].as_str()
        && !texts(list(&body["tools"]), "/name").any(|tool| tool == name)
    {
        return refuse(format!("Tool choice 'function' not found in 'tools' parameter: {name}"));
    }
    if body["store"] != false || body["include"] != json!(["reasoning.encrypted_content"]) {
        return refuse("this test stores nothing");
    }
    let items = list(&body["input"]);
    let mut calls: BTreeSet<&str> = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let call_id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") => drop(calls.insert(call_id)),
            Some("function_call_output") if !calls.remove(call_id) => {
                return refuse(format!(
                    "No tool call found for function call output with call_id {call_id}."
                ));
            }
            Some("reasoning") => {
                let serial =
                    item["id"].as_str().and_then(|id| id.strip_prefix("rs_")?.parse().ok());
                if serial.is_none_or(|serial| item["encrypted_content"] != signature(serial)) {
                    return refuse(format!(
                        "The encrypted content for item {} could not be verified.",
                        item["id"]
                    ));
                }
                let next = items.get(at + 1).and_then(|item| item["type"].as_str());
                if !matches!(next, Some("message" | "function_call")) {
                    return refuse(format!(
                        "Item {} of type 'reasoning' was provided without its required following item.",
                        item["id"]
                    ));
                }
            }
            _ => {}
        }
    }
    match calls.first() {
        Some(call_id) => refuse(format!("No tool output found for function call {call_id}.")),
        None => Ok(()),
    }
}
