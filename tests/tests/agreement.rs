//! One parser for all, on any input; and the corpora of the fuzzers, replayed.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{fs, path::Path, sync::Arc};

use proptest::prelude::*;
use serde_json::json;
use xd_protocol::{Selection, Verdict};
use xd_resolve::{ActionState, StageRequest, Tier, ToolCall, ToolResult};
use xd_session::{Boundary, Finalizer, Judgement, Session, TurnEnd, TurnRequest};
use xd_tests::drawings;
use xd_tests::judges::{self, Judges};
use xd_write::{CallScope, Host, Workspace};

/// Texts that look like addresses more often than chance would have it.
fn near_addresses() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("xd://".to_owned()),
        Just("XD://".to_owned()),
        Just("xd://resolve@".to_owned()),
        Just("xd://tool".to_owned()),
        Just("xd:/".to_owned()),
        Just("xd".to_owned()),
        Just("resolve".to_owned()),
        Just("reject".to_owned()),
        Just("propose".to_owned()),
        Just("Resolve".to_owned()),
        Just("@".to_owned()),
        Just("1".to_owned()),
        Just("2".to_owned()),
        Just("tool".to_owned()),
        Just("0".to_owned()),
        Just(":".to_owned()),
        Just("/".to_owned()),
        Just("\\".to_owned()),
        Just(" ".to_owned()),
        Just("\u{200b}".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\n".to_owned()),
        Just("local://".to_owned()),
        Just(":raw".to_owned()),
        Just("./".to_owned()),
        "[a-z]{1,3}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

#[test]
fn u9_gate_dispatcher_tier_and_renderer_agree_on_any_text() {
    let judges = Judges::new();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let any_text = prop_oneof![3 => near_addresses(), 1 => any::<String>()];
    runner
        .run(&any_text, |path| {
            judges.agree(&path);
            Ok(())
        })
        .unwrap();
}

// CONTRACT U9, U11, W6: chance alone would seldom meet what is pending and what is mounted.
#[test]
fn u9_u11_they_agree_while_two_actions_are_pending_and_a_device_is_mounted() {
    let judges = Judges::new();
    for target in [
        "resolve",
        "resolve@1",
        "resolve@2",
        "resolve@3",
        "resolve@0",
        "resolve@01",
        "Resolve",
        "reject",
        "reject@1",
        "reject@2",
        "reject@3",
        "propose",
        "tool",
        "Tool",
        "tools",
        "tool@1",
        "tool/",
        "other",
        "",
    ] {
        for path in [
            format!("xd://{target}"),
            format!("XD://{target}"),
            format!(" xd://{target}"),
            format!("xd:/{target}"),
            target.to_owned(),
        ] {
            judges.agree(&path);
        }
    }
}

/// One host of each form, each call by itself: what it does and what the gate takes it for.
struct Forms {
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Forms {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, _folder: folder, workspace }
    }

    /// Lets a host of `form` with one staged action run `call`. Whatever decides the action is a
    /// confirm to the gate; every confirm that names the action, or none, decides it; and once a
    /// session has ended nothing decides in the next.
    fn agree(&self, form: Finalizer, call: &ToolCall) {
        let session = Arc::new(Session::new().with_finalizer(form));
        let host = Host::builder(Arc::clone(&session), self.workspace.clone()).build();
        let stage = || {
            let apply = |_| async { Ok(ToolResult::text("done")) };
            session.actions().stage(StageRequest::new("Rename: 1 file", apply)).unwrap().number()
        };
        let tools = host.definitions().into_iter().map(|tool| tool.name);
        let request = TurnRequest::with_tools(tools);
        let calls = std::slice::from_ref(call);
        let judged = || session.judge(TurnEnd::Complete, calls, |call| host.tier(call));

        session.next_turn(&request);
        session.boundary(Boundary::New);
        let number = stage();
        assert_eq!(judged(), Judgement::Void, "late in {form:?}: {call:?}");

        let plan = session.next_turn(&request);
        assert_eq!(plan.requirement.unwrap().number, number);
        let confirm = form.confirm_of(call);
        let tier = host.tier(call);
        let expect =
            if confirm.is_some() || tier == Tier::Read { Judgement::Run } else { Judgement::Skip };
        assert_eq!(judged(), expect, "{form:?}: {call:?} of tier {tier:?}");
        let result = self.runtime.block_on(host.run_batch(calls, &CallScope::model()));
        let became = session.actions().get(number).unwrap().1;
        let expect = confirm.filter(|confirm| match confirm.selection {
            Selection::Head => true,
            Selection::Numbered(named) => named == number,
        });
        let expect = match expect.map(|confirm| confirm.verdict) {
            Some(Verdict::Apply) => ActionState::Applied,
            Some(Verdict::Discard) => ActionState::Discarded,
            None => ActionState::Pending,
        };
        assert_eq!(became, expect, "{form:?}: {call:?} was answered {result:?}");
    }
}

// CONTRACT U9, G2, D13, D15, Invariant S9: in the earlier form as in the usual one.
#[test]
fn u9_d15_what_the_gate_counts_is_what_the_dispatcher_carries_out_in_both_forms() {
    let forms = Forms::new();
    let write =
        |path: &str| ToolCall::new("1", "write", json!({ "path": path, "content": "Because." }));
    let mut calls: Vec<ToolCall> = Vec::new();
    for target in [
        "resolve",
        "reject",
        "resolve@1",
        "reject@1",
        "resolve@2",
        "reject@2",
        "Resolve",
        "propose",
        "other",
        "resolve@0",
        "",
    ] {
        for path in [
            format!("xd://{target}"),
            format!(" XD://{target} "),
            format!("xd:/{target}"),
            format!("./{target}/a.txt"),
        ] {
            calls.push(write(&path));
            calls.push(ToolCall::new("1", "read", json!({ "path": path })));
            calls.push(ToolCall::new("1", path, json!({ "reason": "Because." })));
        }
    }
    for action in [json!("apply"), json!("discard"), json!("Apply"), json!("perhaps"), json!(1)] {
        for arguments in [
            json!({ "action": action, "reason": "Because." }),
            json!({ "action": action, "content": "Because." }),
            json!({ "action": action }),
            json!([action]),
        ] {
            for name in ["resolve", "reject", "Resolve", "write"] {
                calls.push(ToolCall::new("1", name, arguments.clone()));
            }
        }
    }
    for call in &calls {
        for form in [Finalizer::Write, Finalizer::HiddenTool] {
            forms.agree(form, call);
        }
    }
}

// CONTRACT U9, D15
#[test]
fn u9_d15_gate_and_dispatcher_agree_on_any_text_in_both_forms() {
    let forms = Forms::new();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let any_text = prop_oneof![3 => near_addresses(), 1 => any::<String>()];
    runner
        .run(&(any_text, any::<bool>()), |(text, named)| {
            let call = match named {
                true => ToolCall::new("1", text, json!({ "content": "Because." })),
                false => {
                    ToolCall::new("1", "write", json!({ "path": text, "content": "Because." }))
                }
            };
            for form in [Finalizer::Write, Finalizer::HiddenTool] {
                forms.agree(form, &call);
            }
            Ok(())
        })
        .unwrap();
}

// CONTRACT U9, E4, R3
#[test]
fn the_corpora_replay() {
    let judges = Judges::new();
    let replay = |target: &str, judge: &dyn Fn(&[u8])| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let mut files: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "the corpus of {target} is empty");
        files.iter().for_each(|file| judge(&fs::read(file).unwrap()));
    };
    replay("address", &|bytes| judges.agree(&String::from_utf8_lossy(bytes)));
    replay("device_body", &|bytes| judges::device_body(&String::from_utf8_lossy(bytes)));
    replay("transcript", &judges::transcript);
    replay("drawings", &drawings::any_text);
}

// CONTRACT V3, V4: the judge of the fuzzer, on what a generator finds in a second or two.
#[test]
fn v4_any_bytes_are_drawn_inert_and_fit() {
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        "..(\\PC|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202a}-\u{202e}\u{2066}]|[a-z{}()\"'/*#\n\t]{1,4}){0,20}"
            .prop_map(String::into_bytes),
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&bytes, |bytes| {
            drawings::any_text(&bytes);
            Ok(())
        })
        .unwrap();
}

// CONTRACT E4
#[test]
fn e4_any_bytes_read_as_a_transcript_pair_every_call() {
    let line = prop_oneof![
        Just(r#"{"v":1,"entry":"message","message":{"role":"user","text":"Hi."}}"#.to_owned()),
        Just(r#"{"v":1,"entry":"void","numbers":[3],"reason":"x"}"#.to_owned()),
        ("[ab]{0,1}", "[ab]{0,1}").prop_map(|(a, b)| format!(r#"{{"v":1,"entry":"message","message":{{"role":"assistant","text":"","calls":[{{"id":"{a}","name":"read","arguments":1}},{{"id":"{b}","name":"x","arguments":null}}]}}}}"#)),
        "[ab]{0,1}".prop_map(|id| format!(r#"{{"v":1,"entry":"message","message":{{"role":"tool_result","call_id":"{id}","result":{{"content":[]}}}}}}"#)),
        any::<String>(),
    ];
    let text = (proptest::collection::vec(line, 0..12), 0_usize..400).prop_map(|(lines, cut)| {
        let mut bytes = lines.join("\n").into_bytes();
        bytes.push(b'\n');
        let end = bytes.len().saturating_sub(cut / 10);
        bytes.truncate(end);
        bytes
    });
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&text, |bytes| {
            judges::transcript(&bytes);
            Ok(())
        })
        .unwrap();
}
