//! One request as every provider gets it, pinned; and how thinking is asked for.

use serde_json::{Value, json};
use xd_agent::{
    Message, Model, Request,
    provider::{Effort, HttpModel, ModelConfig, Preset, Settings, ThinkingSetting, Wire},
};
use xd_resolve::{ToolCall, ToolResult};
use xd_session::{Forcing, Thinking, ToolChoice};
use xd_write::ToolDefinition;

fn model(provider: &str, model: &str, thinking: ThinkingSetting) -> HttpModel {
    let settings = Settings { thinking, ..Settings::default() };
    let preset = Preset::find(provider).expect("a preset");
    HttpModel::new(ModelConfig::new(*preset, model).with_settings(settings)).unwrap()
}

/// A history with everything in it that other tests do not have: calls of another model, one with
/// broken arguments and one with an odd name, an empty result, a blank message.
fn request() -> Request {
    let calls = vec![
        ToolCall::new("call/1", "append", json!({ "path": "a.txt" })),
        ToolCall::new("call/2", "xd://resolve", json!("{\"content\":")),
    ];
    let result = |call_id: &str, content: &[&str], is_error| Message::ToolResult {
        call_id: call_id.into(),
        result: ToolResult {
            content: content.iter().map(|text| (*text).into()).collect(),
            is_error,
            details: Some(json!({ "secret": "of the host" })),
        },
    };
    Request {
        system: "You keep a log.".into(),
        tools: vec![
            ToolDefinition::new("append", "Proposes a line.", json!({ "type": "object" })),
            ToolDefinition::new("write", "Writes.", json!({ "type": "object" })),
        ],
        messages: vec![
            Message::User { text: "Go.".into() },
            Message::Assistant { text: "I stage it.".into(), calls, verbatim: None },
            result("call/1", &["Staged.", " ", "preview"], false),
            result("call/2", &[""], true),
            Message::Custom {
                custom_type: "resolve-reminder".into(),
                display: false,
                text: "<system-reminder>…</system-reminder>".into(),
                details: json!({ "tool_name": "write" }),
            },
            Message::User { text: "  ".into() },
        ],
        tool_choice: ToolChoice::Named("write".into()),
    }
}

fn body(model: &HttpModel) -> Value {
    let bytes = model.body(&request()).unwrap();
    assert_eq!(bytes, model.body(&request()).unwrap(), "the same bytes each time");
    serde_json::from_slice(&bytes).unwrap()
}

// CONTRACT G11
#[test]
fn g11_requests_are_pinned_for_every_dialect() {
    for (provider, id, thinking) in [
        ("anthropic", "claude-sonnet-4-5", ThinkingSetting::Budget(40_000)),
        ("openai", "gpt-5.1", ThinkingSetting::Effort(Effort::High)),
        ("openai-chat", "gpt-4.1", ThinkingSetting::Default),
        ("deepseek", "deepseek-v4-pro", ThinkingSetting::Default),
        ("mistral", "devstral-medium-latest", ThinkingSetting::Default),
    ] {
        let body = body(&model(provider, id, thinking));
        let text = serde_json::to_string_pretty(&body).unwrap();
        assert!(!text.contains("of the host"), "details never reach the model");
        insta::assert_snapshot!(format!("request_{provider}"), text);
    }
}

#[test]
fn thinking_is_asked_for_in_each_providers_words() {
    let (effort, budget) = (ThinkingSetting::Effort(Effort::Low), ThinkingSetting::Budget(9000));
    for (provider, id, thinking, field, said) in [
        ("anthropic", "claude-opus-5", effort, "output_config", json!({ "effort": "low" })),
        ("anthropic", "claude-opus-5", effort, "thinking", json!({ "type": "adaptive" })),
        ("anthropic", "claude-x", ThinkingSetting::Off, "thinking", json!({ "type": "disabled" })),
        ("openai", "gpt-5.1", ThinkingSetting::Off, "reasoning", json!({ "effort": "none" })),
        (
            "openai",
            "gpt-5.1",
            budget,
            "reasoning",
            json!({ "effort": "medium", "summary": "auto" }),
        ),
        ("openai-chat", "gpt-5.1", effort, "reasoning_effort", json!("low")),
        ("openrouter", "x/y", effort, "reasoning", json!({ "effort": "low" })),
        ("openrouter", "x/y", budget, "reasoning", json!({ "max_tokens": 9000 })),
        ("openrouter", "x/y", ThinkingSetting::Off, "reasoning", json!({ "enabled": false })),
        (
            "deepseek",
            "deepseek-v4-pro",
            ThinkingSetting::Off,
            "thinking",
            json!({ "type": "disabled" }),
        ),
        ("moonshot", "kimi-k2.6", effort, "thinking", json!({ "type": "enabled" })),
        ("dashscope", "qwen3.5-plus", budget, "thinking_budget", json!(9000)),
        ("dashscope", "qwen3.5-plus", ThinkingSetting::Off, "enable_thinking", json!(false)),
        ("ollama", "qwen3:8b", effort, "reasoning_effort", json!("low")),
    ] {
        let model = model(provider, id, thinking);
        assert_eq!(body(&model)[field], said, "{provider} {thinking:?}");
        let thinks = if thinking == ThinkingSetting::Off { Thinking::Off } else { Thinking::On };
        assert_eq!(model.thinking(), thinks);
    }
    // Nothing is said of it by default, and reasoning is asked for only of who reasons.
    let plain = body(&model("openai", "gpt-4.1", ThinkingSetting::Default));
    assert!(plain.get("include").is_none() && plain.get("reasoning").is_none(), "{plain}");
}

#[test]
fn what_a_server_does_not_know_can_be_left_out() {
    let mut preset = Preset::custom(Wire::ChatCompletions);
    // Whose rules hold may be said.
    preset.rules = "mistral";
    let settings = Settings { no_stream_options: true, ..Settings::default() };
    let config =
        ModelConfig::new(preset, "m").with_base_url("http://localhost:1").with_settings(settings);
    let model = HttpModel::new(config).unwrap();
    assert!(body(&model).get("stream_options").is_none());
    assert_eq!((model.id(), model.forcing()), ("custom/m", Forcing::Named));
    let unknown = ModelConfig::new(Preset::custom(Wire::ChatCompletions), "m");
    assert!(HttpModel::new(unknown.clone()).is_err(), "it has no address");
    let unknown = HttpModel::new(unknown.with_base_url("http://localhost:1")).unwrap();
    assert_eq!(unknown.forcing(), Forcing::Unknown);
}

/// The marks for the cache stand at places that no turn moves, never in a message.
#[test]
fn cache_marks_are_outside_of_messages() {
    let marked = body(&model("anthropic", "claude-x", ThinkingSetting::Default));
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(marked["cache_control"], mark);
    assert_eq!(marked["system"][0]["cache_control"], mark);
    assert_eq!(marked.to_string().matches("cache_control").count(), 2);
    // Through a gateway that has no mark of its own for the tail: the system text alone.
    let gateway = |id| body(&model("openrouter", id, ThinkingSetting::Default));
    let marked = gateway("anthropic/claude-x");
    assert_eq!(marked["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(marked.to_string().matches("cache_control").count(), 1);
    assert!(gateway("openai/gpt-4.1")["messages"][0]["content"].is_string());
    let preset = Preset::find("anthropic").unwrap();
    let settings = Settings { no_cache_marks: true, ..Settings::default() };
    let config = ModelConfig::new(*preset, "claude-x").with_settings(settings);
    let plain = body(&HttpModel::new(config).unwrap());
    assert!(!plain.to_string().contains("cache_control"));
}
