//! Case 93, P4: a refused write keeps its text, and repeating it is bounded.

use serde_json::json;
use xd_protocol::notice;

use crate::scene::{Scene, touching};

// CONTRACT P4
#[test]
fn p4_a_refused_write_of_a_plan_is_kept_named_and_can_be_submitted() {
    let text = "# Plan\n\n1. Rename.\r\n\u{fc}";
    for (path, name) in [
        ("docs/rename-plan.md", "rename"),
        ("PLAN.md", "PLAN"),
        ("./deep/er/my plan.md", "my"),
        ("src/a.rs", "a-rs"),
        ("\u{8a08}\u{753b}.md", "plan"),
    ] {
        let scene = Scene::planning();
        let before = scene.picture();
        let result = scene.write(path, text);
        assert!(result.is_error);
        assert_eq!(
            result.joined(),
            format!(
                "Not written: {} The text is kept as local://{name}-plan.md, whose slug is \
                 {name}; read it there, it need not be written again.{}",
                notice::PLAN_MODE_ON,
                notice::PLAN_MODE_HINT
            )
        );
        assert_eq!(scene.picture(), before);
        assert_eq!(scene.read(&format!("local://{name}-plan.md")).joined(), text);
        scene.script.approve();
        assert_eq!(scene.propose(name).content[1], text);
    }
}

// CONTRACT P4
#[test]
fn p4_what_is_kept_overwrites_nothing_and_is_kept_once() {
    let scene = Scene::planning();
    scene.write("local://PLAN-plan.md", "mine");
    for _ in 0..2 {
        assert!(scene.write("PLAN.md", "first").joined().contains("local://PLAN-2-plan.md"));
        assert!(scene.write("x/PLAN.md", "second").joined().contains("local://PLAN-3-plan.md"));
    }
    let drafts = scene.read("local://").joined();
    assert_eq!(
        drafts,
        "3 drafts:\nlocal://PLAN-2-plan.md\nlocal://PLAN-3-plan.md\nlocal://PLAN-plan.md\n"
    );
    assert_eq!(scene.read("local://PLAN-plan.md").joined(), "mine");
    // Nothing to keep is not kept.
    assert!(!scene.write("blank.md", " \n").joined().contains("kept"));
}

// CONTRACT P4
#[test]
fn p4_a_draft_under_a_broken_name_is_kept_under_a_good_one() {
    let scene = Scene::planning();
    for (address, name) in [
        ("local://my plan.md", "my-plan.md"),
        ("local://../../rename-plan.md", "rename-plan.md"),
        ("local:///etc/x", "etc-x-plan.md"),
        ("local://", "plan-plan.md"),
    ] {
        let result = scene.write(address, &format!("for {address}"));
        let text = result.joined();
        assert!(result.is_error && text.contains("is no draft's address"), "{text}");
        assert!(text.contains(&format!("kept as local://{name}")), "{address}: {text}");
        assert_eq!(scene.read(&format!("local://{name}")).joined(), format!("for {address}"));
    }
}

// case 93
#[test]
fn case_093_a_repeated_forbidden_write_is_told_to_stop_and_what_is_allowed() {
    let scene = Scene::planning();
    let session = scene.host.session();
    session.begin_prompt();
    for n in 1..=7 {
        let text = scene.write("a.txt", &format!("try {n}")).joined();
        let stop =
            format!("This same call was refused {n} times in this prompt: stop repeating it.");
        assert_eq!(text.contains(&stop), n >= 3, "{n}: {text}");
        assert_eq!(text.contains(notice::PLAN_MODE_ALLOWS), n >= 3, "{n}: {text}");
        assert_eq!(text.contains("This run ends here."), n >= 6, "{n}: {text}");
        assert_eq!(session.refusals_spent().is_some(), n >= 6);
    }
    session.begin_prompt();
    assert!(!scene.write("a.txt", "again").joined().contains("stop repeating"));
}

// case 93
#[test]
fn case_093_alternating_between_forbidden_calls_is_bounded_and_allowed_ones_count_nothing() {
    let scene = Scene::with(|builder| builder.tool(touching("probe", xd_resolve::Tier::Exec)));
    scene.enter();
    let session = scene.host.session();
    session.begin_prompt();
    for n in 1..=12 {
        assert_eq!(session.refusals_spent(), None, "{n}");
        assert!(scene.write(&format!("new-{n}.txt"), "x").is_error);
        assert!(!scene.read("a.txt").is_error);
        assert!(!scene.write("local://a-plan.md", "x").is_error);
        // Unknown tools, bad arguments and broken addresses are mistakes, not refusals.
        assert!(scene.call("nothing", json!({})).is_error);
        assert!(scene.write("xd:/propose", "x").is_error);
    }
    assert_eq!(session.refusals_spent(), Some(12));
}

// CONTRACT P4; cases 56, 93
#[test]
fn p4_cases_056_093_a_session_without_file_writes_keeps_plans_and_counts_refusals_alike() {
    let scene = Scene::with(|builder| builder.writes(xd_write::WriteScope::DevicesOnly));
    scene.enter();
    assert!(scene.write("PLAN.md", "# Plan").joined().contains("kept as local://PLAN-plan.md"));
    scene.host.session().plan().leave();
    scene.host.session().begin_prompt();
    for n in 1..=3 {
        let text = scene.write("a.txt", "x").joined();
        assert!(text.contains("reaches xd:// devices only"), "{text}");
        assert_eq!(text.contains("stop repeating it. Do something else"), n == 3, "{text}");
    }
}
