//! Tiers and approval: what runs by itself, what a person is asked, what she sees.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use xd_protocol::StageNumber;
use xd_resolve::{BoxFuture, StageRequest, StagedAction, Tier, ToolCall, ToolResult};
use xd_tests::{Bench, call, write_call};
use xd_write::{
    Approval, ApprovalRequest, Approver, FnTool, Policy, Tool, ToolContext, ToolDefinition,
    ToolFailure,
};

const WHY: &str = "It is what was asked for.";

/// Answers as it was told and keeps what it was asked.
#[derive(Default)]
struct Person {
    says: Option<String>,
    asked: Mutex<Vec<ApprovalRequest>>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Approver for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
        self.asked.lock().unwrap().push(request);
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        let answer = match &self.says {
            None => Approval::Granted,
            Some(words) => Approval::Refused { words: words.clone() },
        };
        Box::pin(std::future::ready(answer))
    }
}

impl Person {
    fn yes() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn no(words: &str) -> Arc<Self> {
        Arc::new(Self { says: Some(words.to_owned()), ..Self::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn action(&self, at: usize) -> Arc<StagedAction> {
        self.asked.lock().unwrap()[at].action.clone().unwrap()
    }
}

fn device(name: &str, tier: Tier) -> impl Tool + 'static {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } },
        "required": ["n"] });
    FnTool::new(ToolDefinition::new(name, "Runs.", schema), tier, |_, _| async {
        Ok(ToolResult::text("ran"))
    })
}

/// A tool whose tier depends on its arguments, cannot be said, or panics.
struct Moody(ToolDefinition);

impl Tool for Moody {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn tier(&self, arguments: &Value) -> Option<Tier> {
        match arguments["as"].as_str()? {
            "read" => Some(Tier::Read),
            "write" => Some(Tier::Write),
            _ => panic!("no tier for that"),
        }
    }

    fn call(
        &self,
        _: Arc<ToolContext>,
        _: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async { Ok(ToolResult::text("ran")) })
    }
}

fn moody() -> Moody {
    Moody(ToolDefinition::new("moody", "Depends.", json!({ "type": "object" })))
}

fn stage(bench: &Bench, label: &str, tier: Tier) -> u64 {
    let answer = label.to_owned();
    let request = StageRequest::new(label, move |_| {
        let answer = answer.clone();
        async move { Ok(ToolResult::text(format!("applied {answer}"))) }
    })
    .tier(tier);
    bench.session().actions().stage(request).unwrap().number().get()
}

// CONTRACT W6
#[tokio::test]
async fn w6_the_tier_of_every_kind_of_call() {
    let bench = Bench::with(&[], |b| {
        b.device(device("look", Tier::Read))
            .unwrap()
            .device(device("change", Tier::Write))
            .unwrap()
            .device(device("go", Tier::Exec))
            .unwrap()
            .device(moody())
            .unwrap()
    });
    let write = |path: &str, content: &str| write_call("1", path, content);
    let table = [
        (call("1", "read", json!({ "path": "a" })), Tier::Read),
        (call("1", "read", json!(null)), Tier::Read),
        (write("a.txt", "x"), Tier::Write),
        (write("xd://look", "{\"n\":1}"), Tier::Read),
        (write("xd://change", "{\"n\":1}"), Tier::Write),
        (write("xd://go", "{\"n\":1}"), Tier::Exec),
        (write("xd://go", "?"), Tier::Read),
        (write("xd://go", ""), Tier::Read),
        (write("xd://go", "{"), Tier::Exec),
        (write("xd://moody", "{\"as\":\"read\"}"), Tier::Read),
        (write("xd://moody", "{\"as\":\"write\"}"), Tier::Write),
        (write("xd://moody", "{\"as\":\"other\"}"), Tier::Exec),
        (write("xd://moody", "{}"), Tier::Exec),
        (call("1", "moody", json!({ "as": "other" })), Tier::Exec),
        (call("1", "look", json!({ "n": 1 })), Tier::Read),
        (call("1", "xd://go", json!({ "n": 1 })), Tier::Exec),
        (call("1", "edit", json!({})), Tier::Write),
        (call("1", "nothing", json!({})), Tier::Exec),
        (write("xd://nothing", "{}"), Tier::Exec),
        (write("xd://a/b", "{}"), Tier::Exec),
        (write("xd:/resolve", WHY), Tier::Exec),
        (write("http://x", WHY), Tier::Exec),
        (call("1", "write", json!({ "content": "x" })), Tier::Exec),
        (write("xd://propose", "x"), Tier::Write),
        (write("xd://resolve", WHY), Tier::Read),
        (write("xd://reject", WHY), Tier::Read),
    ];
    for (call, tier) in table {
        assert_eq!(bench.host.tier(&call), tier, "{call:?}");
    }
}

// CONTRACT W6 — Invariant W4
#[tokio::test]
async fn w6_a_resolve_takes_the_tier_of_what_it_applies() {
    let bench = Bench::new(&[]);
    stage(&bench, "look", Tier::Read);
    stage(&bench, "run", Tier::Exec);
    stage(&bench, "change", Tier::Write);
    for (address, tier) in [
        ("xd://resolve", Tier::Write),
        ("xd://resolve@1", Tier::Read),
        ("xd://resolve@2", Tier::Exec),
        ("XD://resolve@3", Tier::Write),
        ("xd://resolve@4", Tier::Read),
        ("xd://reject", Tier::Read),
        ("xd://reject@2", Tier::Read),
    ] {
        assert_eq!(bench.host.tier(&write_call("1", address, WHY)), tier, "{address}");
        assert_eq!(bench.host.tier(&call("1", address, json!({ "content": WHY }))), tier);
    }
    // With nobody there to ask, what reaches too far is refused and stays pending.
    let result = bench.write("xd://resolve@2", WHY).await;
    assert!(result.is_error && result.joined().starts_with("Not executed: refused"));
    assert_eq!(bench.pending(), [3, 2, 1]);
    assert!(!bench.write("xd://resolve@3", WHY).await.is_error);
}

// CONTRACT W6: a person sees the change that the confirm would apply.
#[tokio::test]
async fn w6_a_confirm_asks_with_the_change_in_view() {
    let person = Person::yes();
    let policy = Policy::automatic(Tier::Read).asking(person.clone());
    let bench = Bench::with(&[("a.txt", "one\n")], |b| b.policy(policy));
    bench
        .session()
        .actions()
        .stage(StageRequest::new("none", |_| async { Ok(ToolResult::text("")) }))
        .unwrap();
    bench.edit("a.txt", "one", "two").await;
    assert_eq!(person.asked(), 1, "the staging call itself is of write tier");
    bench.write("xd://resolve", WHY).await;
    let action = person.action(1);
    assert_eq!(action.number().get(), 2);
    assert!(action.preview().contains("-one\n+two\n"), "{}", action.preview());
    assert_eq!(action.change_set().unwrap().paths()[0].as_str(), "a.txt");
    bench.write("xd://resolve@1", WHY).await;
    assert_eq!(person.action(2).number().get(), 1);
    // A reject asks nobody.
    bench.put("a.txt", "one\n");
    stage(&bench, "change", Tier::Write);
    bench.write("xd://reject", WHY).await;
    assert_eq!(person.asked(), 3);
}

// CONTRACT W6, D14, case 121: a bare confirm in a batch that also stages means the head at the
// batch's begin; that one is shown, its tier counts, it is applied.
#[tokio::test]
async fn w6_case_121_what_is_shown_is_what_is_applied() {
    let person = Person::yes();
    let policy = Policy::automatic(Tier::Write).asking(person.clone());
    let stager = FnTool::new(
        ToolDefinition::new("harmless", "Stages.", json!({ "type": "object" })),
        Tier::Read,
        |context, _| async move {
            let request =
                StageRequest::new("harmless", |_| async { Ok(ToolResult::text("harmless")) });
            Ok(context.stage(request.tier(Tier::Read)).await?.result("nothing"))
        },
    );
    let bench = Bench::with(&[], |b| b.policy(policy).tool(stager));
    stage(&bench, "dangerous", Tier::Exec);
    let calls = [call("1", "harmless", json!({})), write_call("2", "xd://resolve", WHY)];
    let results = bench.run(&calls).await;
    assert_eq!(results[1].content, ["applied dangerous"]);
    assert_eq!(person.asked(), 1);
    assert_eq!(person.asked.lock().unwrap()[0].tier, Tier::Exec);
    assert_eq!(person.action(0).label(), "dangerous");

    // Staged while the person is thinking: the answer is for what she saw.
    let bench = Arc::new(Bench::with(&[], |b| {
        b.policy(Policy::automatic(Tier::Read).asking(person.clone()))
    }));
    stage(&bench, "shown", Tier::Write);
    let other = Arc::clone(&bench);
    *person.meanwhile.lock().unwrap() = Some(Box::new(move || {
        stage(&other, "slipped in", Tier::Write);
    }));
    let result = bench.write("xd://resolve", WHY).await;
    assert_eq!(result.content, ["applied shown"]);
    assert_eq!(person.action(1).label(), "shown");
    assert_eq!(bench.pending(), [2]);
}

// A person's no is the model's answer, with her words, and nothing has run.
#[tokio::test]
async fn w7_a_no_runs_nothing_and_passes_the_words_on() {
    let person = Person::no("  Not on a Friday. ");
    let policy = Policy::automatic(Tier::Read).asking(person.clone());
    let bench = Bench::with(&[("a.txt", "one\n")], |b| {
        b.policy(policy).device(device("change", Tier::Write)).unwrap()
    });
    stage(&bench, "It", Tier::Write);
    let before = bench.picture();
    for (path, content) in [
        ("xd://resolve", WHY),
        ("xd://resolve@1", WHY),
        ("a.txt", "x"),
        ("xd://change", "{\"n\":1}"),
    ] {
        let result = bench.write(path, content).await;
        assert!(result.is_error);
        assert_eq!(
            result.content,
            ["Not executed: refused: Not on a Friday. Do not try the same again."]
        );
    }
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.pending(), [1]);
    assert_eq!(person.asked(), 4);
}

// CONTRACT U7, U8, R3, R4: what can run nothing is answered, not put to a person, and not refused
// in words that say nothing.
#[tokio::test]
async fn w6_what_can_run_nothing_is_answered_without_asking() {
    let person = Person::no("no");
    let policy = Policy::automatic(Tier::Read).asking(person.clone());
    for asking in [true, false] {
        let policy = if asking { policy.clone() } else { Policy::automatic(Tier::Read) };
        let bench =
            Bench::with(&[], |b| b.policy(policy).device(device("go", Tier::Exec)).unwrap());
        for (path, content, words) in [
            ("xd:/resolve", WHY, "Did you mean 'xd://resolve'?"),
            ("http://x", "x", "Tool devices use 'xd://<tool>'."),
            ("xd://a/b", "x", "Invalid xd:// URL"),
            ("xd://", "x", "is the list of devices"),
            ("xd://gone", "{}", "Unknown device 'xd://gone'."),
            ("xd://go", "{", "not valid JSON"),
            ("xd://go", "[]", "must be a JSON object"),
            ("xd://go", "{\"n\":\"x\"}", "must be of type integer"),
            ("xd://go", "{}", "must have the property `n`"),
        ] {
            let result = bench.write(path, content).await;
            assert!(result.is_error && result.joined().contains(words), "{}", result.joined());
        }
        let unknown = bench.one(ToolCall::new("1", "bash", json!({}))).await;
        assert!(unknown.joined().starts_with("Unknown tool `bash`."), "{}", unknown.joined());
        let no_path = bench.one(call("1", "write", json!({}))).await;
        assert!(no_path.joined().contains("`path` is missing"));
        assert!(!bench.write("xd://go", "?").await.is_error);
    }
    assert_eq!(person.asked(), 0);
}

// CONTRACT W6: a tier that panics is the farthest one, and the loop that asks for it lives on.
#[tokio::test]
async fn w6_a_tier_that_panics_is_exec() {
    let bench = Bench::with(&[], |b| b.tool(moody()));
    let call = call("1", "moody", json!({ "as": "other" }));
    assert_eq!(bench.host.tier(&call), Tier::Exec);
    let result = bench.one(call).await;
    assert!(result.joined().starts_with("Not executed: refused"), "{}", result.joined());
}

// An approval is for one call: the same call asks again (the policy keeps nothing).
#[tokio::test]
async fn w6_a_yes_is_for_one_call() {
    let person = Person::yes();
    let policy = Policy::automatic(Tier::Read).asking(person.clone());
    let bench = Bench::with(&[], |b| b.policy(policy));
    for asked in 1..=3 {
        bench.write("a.txt", "x\n").await;
        assert_eq!(person.asked(), asked);
    }
    assert!(bench.session().actions().get(StageNumber::new(1).unwrap()).is_none());
}
