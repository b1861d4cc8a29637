//! Noise on every wire: it never panics, and the next request is sound.

use proptest::prelude::*;

use super::*;
use crate::provider::{Preset, sse::Frames};

const WIRES: [Wire; 3] = [Wire::AnthropicMessages, Wire::ChatCompletions, Wire::OpenaiResponses];

/// Feeds bytes through decoder and assembler, as the edge does.
fn feed(wire: Wire, pieces: &[&[u8]]) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let mut answer = wire.assembler("m", &[]);
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
    #![proptest_config(ProptestConfig::with_cases(600))]

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

    /// Real events, shaken: left out, doubled, in any order, cut.
    #[test]
    fn real_events_in_any_order_never_panic_and_go_back_whole(
        picks in proptest::collection::vec((0_usize..64, 0_usize..400), 0..24),
        size in 1_usize..40,
    ) {
        for (wire, real) in WIRES.into_iter().zip(REAL) {
            let text: String = picks.iter().map(|(pick, cut)| {
                let event = real[pick % real.len()];
                // Most are whole.
                let end = if cut % 8 == 0 { (*cut).min(event.len()) } else { event.len() };
                format!("data: {}\n\n", &event[..end])
            }).collect();
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            if let (Ok(reply), _) = feed(wire, &pieces) {
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
    let target = Target { model: "m", settings: &settings, dialect: &preset.dialect, thinks: true };
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

/// Events as the providers send them, by wire.
const REAL: [&[&str]; 3] = [
    &[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"write","input":{}}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"x y","input":{"k":1}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"p\":"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"redacted_thinking","data":"zz"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}"#,
        r#"{"type":"message_stop"}"#,
    ],
    &[
        r#"{"choices":[{"delta":{"role":"assistant","content":"hi"}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"read","arguments":{"q":1}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"xd://x"},"extra_content":{"google":{"thought_signature":"s"}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
        "[DONE]",
    ],
    &[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"r"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","encrypted_content":"e"}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"write","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"a","name":"write","arguments":"{}"}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"a","name":"x y","arguments":"{"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"hi"}]}}"#,
        r#"{"type":"response.output_text.delta","output_index":3,"delta":"hi"}"#,
        r#"{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
    ],
];

/// What happens between two requests.
#[derive(Debug, Clone)]
enum Happening {
    User(String),
    Hidden(String),
    Said { text: String, calls: usize, own: bool },
}

fn happening() -> impl Strategy<Value = Happening> {
    let text =
        || prop_oneof![Just(String::new()), Just(" ".to_owned()), "[a-z\"\\\\é🦀\n\\]]{0,12}"];
    prop_oneof![
        text().prop_map(Happening::User),
        text().prop_map(Happening::Hidden),
        (text(), 0_usize..3, any::<bool>()).prop_map(|(text, calls, own)| Happening::Said {
            text,
            calls,
            own
        }),
    ]
}

/// Appends what happened, every call with its result.
fn append(happening: &Happening, wire: Wire, history: &mut Vec<crate::Message>) {
    use crate::Message;
    let (text, count, own) = match happening.clone() {
        Happening::User(text) => return history.push(Message::User { text }),
        Happening::Hidden(text) => {
            let (custom_type, details) = ("resolve-reminder".to_owned(), serde_json::Value::Null);
            return history.push(Message::Custom { custom_type, display: false, text, details });
        }
        Happening::Said { text, calls, own } => (text, calls, own),
    };
    let place = history.len();
    let call = |at: usize| {
        let id = format!("toolu_{place}_{at}");
        xd_resolve::ToolCall::new(id, "write", serde_json::json!({ "at": at }))
    };
    let calls: Vec<_> = (0..count).map(call).collect();
    let json = match wire {
        Wire::AnthropicMessages => "[{\"type\":\"text\",  \"text\":\"]\"}]",
        Wire::ChatCompletions => "{\"role\": \"assistant\",\"content\":\"],\"}",
        Wire::OpenaiResponses => "[{\"type\":\"reasoning\"} , {\"a\":\"]\"}]",
    };
    let verbatim = own.then(|| crate::Verbatim {
        wire: wire.as_str().to_owned(),
        model: "m".to_owned(),
        json: json.to_owned(),
    });
    history.push(Message::Assistant { text: text.clone(), calls: calls.clone(), verbatim });
    for call in calls {
        let result = xd_resolve::ToolResult { content: vec![text.clone()], ..Default::default() };
        history.push(Message::ToolResult { call_id: call.id, result });
    }
}

proptest! {
    /// Invariant G5; CONTRACT G3, G11
    #[test]
    fn g3_g5_whatever_happens_a_body_begins_with_the_one_before(
        happenings in proptest::collection::vec(happening(), 1..12),
        forced in any::<bool>(),
    ) {
        for preset in Preset::all() {
            let settings = Settings::default();
            let target = Target { model: "m", settings: &settings, dialect: &preset.dialect, thinks: true };
            let mut request = Request {
                system: "s".to_owned(),
                tools: vec![xd_write::ToolDefinition::new("write", "w", serde_json::json!({}))],
                messages: vec![crate::Message::User { text: "u".to_owned() }],
                tool_choice: xd_session::ToolChoice::Auto,
            };
            let mut before = preset.wire.body(&request, target).expect("it is written");
            for happening in &happenings {
                append(happening, preset.wire, &mut request.messages);
                if forced {
                    request.tool_choice = xd_session::ToolChoice::Named("write".to_owned());
                }
                let next = preset.wire.body(&request, target).expect("it is written");
                prop_assert_eq!(&next, &preset.wire.body(&request, target).expect("again"));
                let end = before.windows(15).rposition(|w| w == b"],\"tool_choice\"").expect("a choice");
                prop_assert_eq!(&before[..end], &next[..end], "{} {:?}", preset.name, happening);
                before = next;
            }
        }
    }
}
