//! The revision without a handshake: questions as results, subscriptions as a stream.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::time::Duration;

use rmcp::{
    RoleClient,
    model::{
        CallToolResponse, ElicitationAction, InputResponses, ProtocolVersion, SubscriptionFilter,
    },
    service::{ClientLifecycleMode, ClientServiceExt as _, RunningService},
};
use serde_json::json;
use site::{Ears, Person, Site, call, data, edits, is_error, params, text};
use xd_mcp::{Ask, LOG, Options};

async fn client(options: Options, ears: Ears) -> RunningService<RoleClient, Ears> {
    let (ours, theirs) = tokio::io::duplex(256 * 1024);
    let (reader, writer) = tokio::io::split(ours);
    tokio::spawn(xd_mcp::serve(options, reader, writer));
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = ClientLifecycleMode::Discover { preferred_versions };
    ears.serve_with_lifecycle(theirs, mode).await.unwrap()
}

fn says(action: ElicitationAction) -> Ears {
    let content = json!({ "reason": "Said by a person." });
    Ears { person: Person::Says(action, content), ..Ears::default() }
}

#[tokio::test]
async fn case_160_each_answer_to_a_question_as_result() {
    for (action, outcome, state) in [
        (ElicitationAction::Accept, "applied", "(applied)"),
        (ElicitationAction::Decline, "discarded", "(discarded)"),
        (ElicitationAction::Cancel, "staged", "(pending)"),
    ] {
        let site = Site::new();
        let ears = says(action);
        let client = client(site.options().ask(Ask::Person), ears.clone()).await;
        let result = call(&client, "edit", edits("a.txt", "one", "1")).await;
        assert_eq!(data(&result)["outcome"], outcome, "{}", text(&result));
        assert_eq!(
            data(&result)["pending"].as_array().unwrap().len(),
            usize::from(outcome == "staged")
        );
        // Asked once, staged once.
        assert_eq!(ears.asked.lock().unwrap().len(), 1);
        let read = call(&client, "read", json!({ "path": "xd://resolve@1" })).await;
        assert!(text(&read).contains(state), "{}", text(&read));
        assert!(is_error(&call(&client, "read", json!({ "path": "xd://resolve@2" })).await));
        assert_eq!(site.get("a.txt") == "1\ntwo\n", outcome == "applied");
    }
}

// Invariant X3
#[tokio::test]
async fn an_answer_decides_once_and_only_what_was_asked() {
    let site = Site::new();
    let client = client(site.options().ask(Ask::Person), says(ElicitationAction::Cancel)).await;
    let asking = client.call_tool_once(params("edit", edits("a.txt", "one", "1"))).await.unwrap();
    let CallToolResponse::InputRequired(question) = asking else { panic!("{asking:?}") };
    let answers = InputResponses::from([("confirm".to_owned(), json!({ "action": "accept" }))]);
    let returned = |name: &str, arguments, state: Option<String>| {
        let mut params = params(name, arguments);
        params.request_state = state;
        params.input_responses = Some(answers.clone());
        params
    };
    let once = async |params| match client.call_tool_once(params).await.unwrap() {
        CallToolResponse::Complete(result) => result,
        other => panic!("{other:?}"),
    };
    let forged = returned("edit", edits("a.txt", "one", "1"), Some("rs1.x.y".to_owned()));
    assert!(is_error(&once(forged).await));
    let other = returned("edit", edits("b.txt", "three", "3"), question.request_state.clone());
    assert!(is_error(&once(other).await), "it is the answer to another call");
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    let right = returned("edit", edits("a.txt", "one", "1"), question.request_state.clone());
    let applied = once(right.clone()).await;
    assert_eq!(data(&applied)["outcome"], "applied", "{}", text(&applied));
    let again = once(right).await;
    assert!(is_error(&again) && text(&again).contains("no longer pending"), "{}", text(&again));
}

#[tokio::test]
async fn case_164_an_answer_after_its_time_decides_nothing() {
    let site = Site::new();
    let options = site.options().ask(Ask::Person).answer_within(Duration::from_secs(1));
    let client = client(options, says(ElicitationAction::Cancel)).await;
    let asking = client.call_tool_once(params("edit", edits("a.txt", "one", "1"))).await.unwrap();
    let CallToolResponse::InputRequired(question) = asking else { panic!("{asking:?}") };
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let mut late = params("edit", edits("a.txt", "one", "1"));
    late.request_state = question.request_state;
    late.input_responses =
        Some(InputResponses::from([("confirm".to_owned(), json!({ "action": "accept" }))]));
    let CallToolResponse::Complete(result) = client.call_tool_once(late).await.unwrap() else {
        panic!()
    };
    assert!(is_error(&result) && text(&result).contains("time is over"), "{}", text(&result));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn who_listens_hears_of_changes() {
    let site = Site::new();
    let client = client(site.options(), Ears::default()).await;
    let filter =
        SubscriptionFilter::builder().resource_subscription(LOG).resources_list_changed().build();
    let mut heard = client.listen(filter).await.unwrap();
    call(&client, "edit", edits("a.txt", "one", "1")).await;
    let mut seen = (false, false);
    while seen != (true, true) {
        let next = tokio::time::timeout(Duration::from_secs(10), heard.next()).await;
        let note =
            format!("{:?}", next.expect("a note comes").unwrap().expect("the stream is open"));
        seen.0 |= note.contains(LOG);
        seen.1 |= note.contains("ListChanged");
    }
}

// CONTRACT P2: the answer is for the text that was shown, once, also where it comes back later.
#[tokio::test]
async fn p2_a_plan_is_approved_by_the_call_that_comes_back() {
    let site = Site::new();
    let client = client(site.options().plan(), says(ElicitationAction::Accept)).await;
    let draft = |text: &str| json!({ "path": "local://rename-plan.md", "content": text });
    let propose = json!({ "path": "xd://propose", "content": "rename" });
    call(&client, "write", draft("# One\n")).await;
    let asking = client.call_tool_once(params("write", propose.clone())).await.unwrap();
    let CallToolResponse::InputRequired(question) = asking else { panic!("{asking:?}") };
    call(&client, "write", draft("# Another\n")).await;
    let mut returned = params("write", propose.clone());
    returned.request_state = question.request_state.clone();
    returned.input_responses =
        Some(InputResponses::from([("confirm".to_owned(), json!({ "action": "accept" }))]));
    let late = client.call_tool_once(returned).await.unwrap();
    let CallToolResponse::Complete(late) = late else { panic!("{late:?}") };
    assert!(is_error(&late) && text(&late).contains("changed"), "{}", text(&late));
    let approved = call(&client, "write", propose).await;
    assert!(!is_error(&approved) && text(&approved).contains("# Another"), "{}", text(&approved));
    let written = json!({ "path": "c.txt", "content": "now\n" });
    assert!(!is_error(&call(&client, "write", written).await));
    assert_eq!(site.get("c.txt"), "now\n");
}
