//! Plan mode over the protocol: a person approves in the client, or is told what to do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use rmcp::model::ElicitationAction;
use serde_json::{Value, json};
use site::{Client, Ears, Person, Site, is_error, text};

const PLAN: &str = "# Rename\n\n1. One becomes 1.\n";

async fn planning(site: &Site, person: Person) -> (Client, Ears) {
    let ears = Ears { person, ..Ears::default() };
    (site.client_of(site.options().plan(), ears.clone()).await, ears)
}

fn says(action: ElicitationAction) -> Person {
    Person::Says(action, json!({ "reason": "Name the tests too." }))
}

fn log(site: &Site) -> Vec<Value> {
    let log = site.get(".xd/sessions/shell/log.jsonl");
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// CONTRACT P1, P2, P4, W7, cases 89 and 97
#[tokio::test]
async fn p2_a_person_approves_the_plan_that_is_in_view_and_plan_mode_ends() {
    let site = Site::new();
    let (client, ears) = planning(&site, says(ElicitationAction::Accept)).await;
    let told = client.peer.peer_info().unwrap();
    let instructions = told.instructions.as_deref().unwrap_or_default().to_owned();
    assert!(instructions.contains("xd://propose"), "{instructions}");
    // Nothing of the working tree changes by any route; staging and drafts do.
    let held = client.write("a.txt", "x").await;
    assert!(is_error(&held), "{}", text(&held));
    let staged = client.edit("a.txt", "one", "1").await;
    assert!(!is_error(&staged), "{}", text(&staged));
    let applied = client.write("xd://resolve", "Now.").await;
    assert!(is_error(&applied), "{}", text(&applied));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    let missing = client.write("xd://propose", "rename").await;
    assert!(is_error(&missing) && text(&missing).contains("local://rename-plan.md"));
    let draft = client.write("local://rename-plan.md", PLAN).await;
    assert!(!is_error(&draft), "{}", text(&draft));
    assert!(ears.asked.lock().unwrap().is_empty(), "there was nothing to ask about");

    let approved = client.write("xd://propose", "rename").await;
    assert!(!is_error(&approved), "{}", text(&approved));
    assert!(text(&approved).contains("is approved") && text(&approved).contains(PLAN));
    let asked = ears.asked.lock().unwrap().clone();
    assert!(asked.len() == 1 && asked[0].contains(PLAN), "{asked:?}");
    let done = client.write("xd://resolve@1", "It is in the plan.").await;
    assert!(!is_error(&done), "{}", text(&done));
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    // CONTRACT L1
    let plans: Vec<_> =
        log(&site).iter().filter_map(|line| line["plan"].as_str().map(ToOwned::to_owned)).collect();
    assert_eq!(plans, ["proposed", "approved"]);
    client.leave().await;
}

// CONTRACT P1, case 160: a refusal sends the words back, a cancellation decides nothing.
#[tokio::test]
async fn case_160_a_refused_plan_brings_the_words_and_plan_mode_stays() {
    for (action, words) in [
        (ElicitationAction::Decline, "Name the tests too."),
        (ElicitationAction::Cancel, "did not decide"),
    ] {
        let site = Site::new();
        let (client, _) = planning(&site, says(action.clone())).await;
        client.write("local://rename-plan.md", PLAN).await;
        let answer = client.write("xd://propose", "rename").await;
        assert!(is_error(&answer) && text(&answer).contains(words), "{}", text(&answer));
        assert!(text(&answer).contains("Plan mode stays on"), "{}", text(&answer));
        assert!(is_error(&client.write("a.txt", "x").await));
        client.leave().await;
    }
}

// case 89: without somebody to ask it is said what to do, and nothing is approved.
#[tokio::test]
async fn case_89_a_client_that_cannot_ask_says_what_to_do() {
    let site = Site::new();
    let (client, _) = planning(&site, Person::None).await;
    client.write("local://rename-plan.md", PLAN).await;
    let answer = client.write("xd://propose", "rename").await;
    for word in ["cannot ask", "xd read local://rename-plan.md", "without --plan"] {
        assert!(is_error(&answer) && text(&answer).contains(word), "{word}: {}", text(&answer));
    }
    assert!(is_error(&client.write("a.txt", "x").await));
    let read = client.read("local://rename-plan.md").await;
    assert!(text(&read).contains("One becomes 1."), "{}", text(&read));
    client.leave().await;
    // A server without it does not know plan mode, nor does the shell.
    let client = site.client().await;
    let answer = client.write("xd://propose", "rename").await;
    assert!(text(&answer).contains("No plan is awaiting approval"), "{}", text(&answer));
    assert!(!is_error(&client.write("a.txt", "x").await));
    client.leave().await;
}

// CONTRACT P2: a draft that another process changes while she looks is not approved.
#[tokio::test]
async fn p2_a_plan_that_changed_meanwhile_is_not_approved() {
    let site = Site::new();
    let (client, _) = planning(&site, Person::Silent).await;
    client.write("local://rename-plan.md", PLAN).await;
    let options = site.options().plan().answer_within(std::time::Duration::from_millis(200));
    let impatient =
        site.client_of(options, Ears { person: Person::Silent, ..Ears::default() }).await;
    let answer = impatient.write("xd://propose", "rename").await;
    assert!(is_error(&answer) && text(&answer).contains("nobody answered"), "{}", text(&answer));
    impatient.leave().await;
    // A plan that nobody could see in whole is not asked about.
    client.write("local://long-plan.md", &"word ".repeat(20_000)).await;
    let answer = client.write("xd://propose", "long").await;
    assert!(is_error(&answer) && text(&answer).contains("too long"), "{}", text(&answer));
    client.leave().await;
}
