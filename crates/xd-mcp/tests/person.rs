//! A person confirms in the client.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::time::Duration;

use rmcp::model::ElicitationAction;
use serde_json::json;
use site::{Ears, Person, Site, data, is_error, text};
use xd_mcp::Ask;

fn says(action: ElicitationAction) -> Ears {
    let content = json!({ "reason": "Said by a person." });
    Ears { person: Person::Says(action, content), ..Ears::default() }
}

fn log(site: &Site) -> String {
    site.get(".xd/sessions/shell/log.jsonl")
}

#[tokio::test]
async fn an_acceptance_applies_with_the_persons_reason() {
    let site = Site::new();
    let ears = says(ElicitationAction::Accept);
    let client = site.client_of(site.options().ask(Ask::Person), ears.clone()).await;
    let result = client.edit("a.txt", "one", "1").await;
    assert!(!is_error(&result), "{}", text(&result));
    assert_eq!(data(&result)["outcome"], "applied");
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    let asked = ears.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains("-one") && asked[0].contains("+1"), "{}", asked[0]);
    assert!(log(&site).contains("Said by a person.") && log(&site).contains("\"person\""));
    client.leave().await;
}

#[tokio::test]
async fn case_160_a_decline_discards_and_a_cancel_keeps() {
    let site = Site::new();
    let client =
        site.client_of(site.options().ask(Ask::Person), says(ElicitationAction::Decline)).await;
    let result = client.edit("a.txt", "one", "1").await;
    assert_eq!(data(&result)["outcome"], "discarded", "{}", text(&result));
    assert!(text(&result).contains("Said by a person."), "{}", text(&result));
    client.leave().await;

    let ears = says(ElicitationAction::Cancel);
    let client = site.client_of(site.options().ask(Ask::Person), ears.clone()).await;
    let result = client.edit("a.txt", "one", "1").await;
    assert_eq!(data(&result)["outcome"], "staged", "{}", text(&result));
    assert!(text(&result).contains("did not decide"), "{}", text(&result));
    // The model's own confirm asks again, with its reason in view.
    let result = client.write("xd://resolve@2", "The model wants it.").await;
    assert!(is_error(&result) && text(&result).contains("stays pending"), "{}", text(&result));
    assert!(ears.asked.lock().unwrap()[1].contains("The model wants it."));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    assert!(text(&client.read("xd://resolve@2").await).contains("(pending)"));
    client.leave().await;
}

// Invariant X3
#[tokio::test]
async fn case_164_a_person_who_never_answers_decides_nothing() {
    let site = Site::new();
    let options = site.options().ask(Ask::Person).answer_within(Duration::from_millis(200));
    let ears = Ears { person: Person::Silent, ..Ears::default() };
    let client = site.client_of(options, ears).await;
    let result = client.edit("a.txt", "one", "1").await;
    assert_eq!(data(&result)["outcome"], "staged", "{}", text(&result));
    assert!(!text(&result).contains("did not decide"), "{}", text(&result));
    let result = client.write("xd://resolve", "Please.").await;
    assert!(is_error(&result) && text(&result).contains("stays pending"), "{}", text(&result));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    assert!(text(&client.read("xd://resolve@1").await).contains("(pending)"));
    client.leave().await;
}

#[tokio::test]
async fn case_154_a_client_that_cannot_ask_is_told_or_decides_itself() {
    let site = Site::new();
    let client = site.client_of(site.options().ask(Ask::Person), Ears::default()).await;
    client.edit("a.txt", "one", "1").await;
    let result = client.write("xd://resolve", "Good.").await;
    assert!(is_error(&result) && text(&result).contains("xd resolve"), "{}", text(&result));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    assert!(!is_error(&client.write("xd://reject", "Then not.").await));
    client.leave().await;

    let options = site.options().ask(Ask::PersonWhereAble);
    let client = site.client_of(options, Ears::default()).await;
    client.edit("a.txt", "one", "1").await;
    assert!(!is_error(&client.write("xd://resolve", "Good.").await));
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    client.leave().await;
}

#[tokio::test]
async fn case_156_and_case_170_every_question_shows_its_change_by_the_right_verb() {
    let site = Site::new();
    site.put("gone.txt", "will go\n");
    site.put("from.txt", "moves\n");
    let ears = says(ElicitationAction::Accept);
    let client = site.client_of(site.options().ask(Ask::PersonWhereAble), ears.clone()).await;
    let patch = |patch: &str| json!({ "patch": patch });
    client.edit("a.txt", "one", "1").await;
    client.write("b.txt", "whole\n").await;
    client.write("new.txt", "fresh\n").await;
    let delete = "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch\n";
    client.call("apply_patch", patch(delete)).await;
    let moved = "*** Begin Patch\n*** Update File: from.txt\n*** Move to: to.txt\n@@\n-moves\n+moved\n*** End Patch\n";
    client.call("apply_patch", patch(moved)).await;
    let asked = ears.asked.lock().unwrap().clone();
    let expected = [
        ("a.txt: edited", "-one", "+1"),
        ("b.txt: replaced", "-three", "+whole"),
        ("new.txt: created", "--- /dev/null", "+fresh"),
        ("gone.txt: deleted", "-will go", "+++ /dev/null"),
        ("from.txt → to.txt: moved", "-moves", "+moved"),
    ];
    assert_eq!(asked.len(), expected.len(), "{asked:#?}");
    for (question, (verb, old, new)) in asked.iter().zip(expected) {
        for part in [verb, old, new] {
            assert!(question.contains(part), "{part} in {question}");
        }
    }
    assert!(site.has("to.txt") && !site.has("from.txt") && !site.has("gone.txt"));
    client.leave().await;
}

#[tokio::test]
async fn case_54_a_question_draws_no_foreign_control() {
    let site = Site::new();
    let ears = says(ElicitationAction::Cancel);
    let client = site.client_of(site.options().ask(Ask::Person), ears.clone()).await;
    client.edit("a.txt", "one", "\u{1b}[2J\u{202e}evil").await;
    let asked = ears.asked.lock().unwrap().clone();
    let shown = |c: char| c == '\n' || c == '\t' || (!c.is_control() && c != '\u{202e}');
    assert!(asked[0].contains("evil") && asked[0].chars().all(shown), "{asked:?}");
    client.leave().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_a_person_is_asked_decides_nothing() {
    let site = Site::new();
    let ears = Ears { person: Person::Silent, ..Ears::default() };
    let client = site.client_of(site.options().ask(Ask::Person), ears.clone()).await;
    {
        let asking = client.edit("a.txt", "one", "1");
        let asked = site::until(|| !ears.asked.lock().unwrap().is_empty());
        tokio::select! {
            _ = asking => panic!("nobody answered"),
            asked = asked => assert!(asked),
        }
    }
    assert!(text(&client.read("xd://resolve@1").await).contains("(pending)"));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    client.leave().await;
}
