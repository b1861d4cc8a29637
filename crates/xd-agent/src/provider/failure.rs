//! What a provider's refusal means: documented shapes of errors, made facts.

use std::time::Duration;

use serde_json::Value;

use crate::{ModelError, ProviderError};

/// How much of a provider's words goes into an error, in characters.
const MOST_WORDS: usize = 600;

/// What is known of a failure.
struct Facts {
    /// None within a stream, whose status was 200.
    status: Option<u16>,
    /// The provider's own words for the kind, in lower case: `overloaded_error`.
    kind: String,
    message: String,
    after: Option<Duration>,
}

/// The failure that a response of this status is.
pub(crate) fn of_response(status: u16, body: &[u8], after: Option<Duration>) -> ModelError {
    let body: Value = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(_) => Value::String(String::from_utf8_lossy(body).into_owned()),
    };
    let (kind, message) = words(&body);
    judge(Facts { status: Some(status), kind, message, after })
}

/// The failure that an error within a stream is.
pub(crate) fn in_stream(error: &Value) -> ModelError {
    let (kind, message) = words(error);
    let code = ["code", "status"].iter().find_map(|key| error.get(key)?.as_u64());
    let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    judge(Facts { status, kind, message, after: None })
}

/// The kind and the message, in whichever of the shapes that are about.
fn words(body: &Value) -> (String, String) {
    let error = match body.get("error") {
        Some(error @ (Value::Object(_) | Value::String(_))) => error,
        // Gemini wraps its error into a list.
        _ => body.get(0).and_then(|first| first.get("error")).unwrap_or(body),
    };
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let kinds = ["type", "code", "param", "status"].iter().filter_map(|key| text(key));
    let kind = kinds.collect::<Vec<_>>().join(" ").to_lowercase();
    let mut message = text("message").or(error.as_str()).map(str::to_owned);
    if let (Some(message), Some(raw)) =
        (&mut message, error.pointer("/metadata/raw").and_then(Value::as_str))
    {
        // A gateway's own words say only that somebody behind it refused.
        message.push_str(": ");
        message.push_str(raw);
    }
    let message = message.unwrap_or_else(|| match error {
        Value::Null => "no reason given".to_owned(),
        error => error.to_string(),
    });
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    // The sentence that it goes into ends by itself.
    let message = message.trim_end().trim_end_matches('.');
    (kind, message.chars().take(MOST_WORDS).map(printable).collect())
}

fn judge(facts: Facts) -> ModelError {
    let Facts { status, kind, message, after } = facts;
    let lower = message.to_lowercase();
    let kind_has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let error = match status {
        Some(402) => ProviderError::OutOfCredit { message },
        _ if kind_has(&["insufficient_quota", "billing"]) || says(&["credit balance"]) => {
            ProviderError::OutOfCredit { message }
        }
        Some(status @ (401 | 403)) => ProviderError::Unauthorized { status, message },
        None if kind_has(&["authentication_error", "permission_error"]) => {
            ProviderError::Unauthorized { status: 401, message }
        }
        Some(429) => ProviderError::RateLimited { after, message },
        _ if kind_has(&["rate_limit", "too_many_requests"]) => {
            ProviderError::RateLimited { after, message }
        }
        Some(503 | 529) => ProviderError::Overloaded { after, message },
        _ if kind_has(&["overloaded", "server_overload", "unavailable"]) => {
            ProviderError::Overloaded { after, message }
        }
        // The choice was accepted; what the model made of it was not.
        _ if kind_has(&["tool_use_failed"]) => {
            ProviderError::Broken { status: status.unwrap_or(500), after, message }
        }
        _ if speaks_of_choice(&kind, &lower) => return ModelError::ChoiceRefused { message },
        Some(413) => ProviderError::ContextTooLong { message },
        _ if kind_has(&["context_length_exceeded", "exceed_context_size", "request_too_large"])
            || says(&TOO_LONG) =>
        {
            ProviderError::ContextTooLong { message }
        }
        _ if kind_has(&["content_filter", "content_policy", "data_inspection_failed"]) => {
            ProviderError::Filtered { message }
        }
        Some(404) => ProviderError::NotFound { message },
        None if kind_has(&["not_found"]) => ProviderError::NotFound { message },
        Some(status @ (408 | 409 | 425 | 500..)) => {
            ProviderError::Broken { status, after, message }
        }
        Some(status) => ProviderError::Invalid { status, message },
        None if kind_has(&["invalid_request"]) => ProviderError::Invalid { status: 400, message },
        None => ProviderError::Broken { status: 500, after, message },
    };
    error.into()
}

const TOO_LONG: [&str; 6] = [
    "prompt is too long",
    "context length",
    "context window",
    "maximum context",
    "available context size",
    "input is too long",
];

/// Whether the provider refuses the tool choice: it names the parameter, or its kinds do.
fn speaks_of_choice(kind: &str, message: &str) -> bool {
    let named = |text: &str| text.contains("tool_choice") || text.contains("toolchoice");
    named(kind) || named(message) || message.contains("tool choice")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(error: &ModelError) -> &'static str {
        match error {
            ModelError::ChoiceRefused { .. } => "choice",
            ModelError::Failed(_) => "failed",
            ModelError::Provider(error) => match error {
                ProviderError::Unauthorized { .. } => "key",
                ProviderError::OutOfCredit { .. } => "credit",
                ProviderError::RateLimited { .. } => "rate",
                ProviderError::Overloaded { .. } => "overloaded",
                ProviderError::Broken { .. } => "broken",
                ProviderError::ContextTooLong { .. } => "long",
                ProviderError::Filtered { .. } => "filtered",
                ProviderError::NotFound { .. } => "not found",
                ProviderError::Invalid { .. } => "invalid",
                ProviderError::Network { .. } => "network",
                ProviderError::TimedOut { .. } => "time",
                ProviderError::Cut => "cut",
                ProviderError::Malformed { .. } => "malformed",
            },
        }
    }

    // CONTRACT G9
    #[test]
    fn g9_documented_errors_are_told_apart() {
        for (status, body, what) in [
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Thinking may not be enabled when tool_choice forces tool use."}}"#,
                "choice",
            ),
            (
                400,
                r#"{"error":{"message":"Thinking mode does not support this tool_choice","type":"invalid_request_error"}}"#,
                "choice",
            ),
            (
                400,
                r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode","code":"invalid_parameter_error"}}"#,
                "choice",
            ),
            (
                400,
                r#"{"error":{"message":"tool_choice 'specified' is incompatible with thinking enabled","type":"invalid_request_error"}}"#,
                "choice",
            ),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support the provided 'tool_choice' value.","code":404}}"#,
                "choice",
            ),
            (
                400,
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"this model does not take tool_choice\"}"}}}"#,
                "choice",
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"Invalid tool_choice: some","type":"server_error"}}"#,
                "choice",
            ),
            (
                400,
                r#"{"error":{"message":"Tool choice is required, but model did not call a tool","code":"tool_use_failed"}}"#,
                "broken",
            ),
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#,
                "key",
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "credit",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}"#,
                "credit",
            ),
            (
                429,
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
                "rate",
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "overloaded",
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
                "long",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                "long",
            ),
            (
                400,
                r#"{"error":{"message":"The response was filtered","code":"content_filter"}}"#,
                "filtered",
            ),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                "not found",
            ),
            (
                422,
                r#"{"detail":[{"loc":["body"],"msg":"Extra inputs are not permitted"}]}"#,
                "invalid",
            ),
            (502, "<html>bad gateway</html>", "broken"),
            (
                400,
                r#"[{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT"}}]"#,
                "invalid",
            ),
            (400, "", "invalid"),
        ] {
            let error = of_response(status, body.as_bytes(), None);
            assert_eq!(named(&error), what, "{status} {body}: {error}");
        }
        let error: Value =
            serde_json::json!({ "type": "overloaded_error", "message": "Overloaded" });
        assert_eq!(named(&in_stream(&error)), "overloaded");
        assert_eq!(named(&in_stream(&Value::Null)), "broken");
    }

    #[test]
    fn a_providers_words_are_bounded_and_printable() {
        let body = format!("\u{1b}[2J{}", "x".repeat(5000));
        let text = of_response(400, body.as_bytes(), None).to_string();
        assert!(!text.contains('\u{1b}') && text.len() < 900, "{}", text.len());
    }
}
