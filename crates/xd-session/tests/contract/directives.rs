//! G1–G3, D15: the directive and the soft requirement.

use serde_json::json;
use xd_protocol::Verdict;
use xd_resolve::{PendingActionStore, ToolCall};
use xd_session::{
    Directive, DirectiveOptions, Finalizer, Reminder, Session, SoftRequirement, ToolChoice,
};

use crate::scene::{
    confirm, confirm_as, detour, look, n, request, stage, stage_many, tier, turn, write,
};

fn soft(session: &Session) -> SoftRequirement {
    match session.next_tool_choice_directive() {
        Directive::Soft(requirement) => requirement,
        other => panic!("{other:?}"),
    }
}

#[test]
fn g1_hard_then_soft_then_none() {
    let session = Session::new();
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
    stage(&session);
    session.with_queue(|queue| queue.push_once(ToolChoice::Required, DirectiveOptions::new()));
    // The hard one is consumed, the soft one only looked at.
    assert!(matches!(session.next_tool_choice_directive(), Directive::Hard(ToolChoice::Required)));
    for _ in 0..20 {
        assert_eq!(soft(&session).number, n(1));
    }
    confirm(&session, Verdict::Discard, "No.");
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
}

#[test]
fn g1_asking_for_the_directive_spends_no_reminder_and_no_budget() {
    let session = Session::new();
    stage(&session);
    (0..50).for_each(|_| drop(soft(&session)));
    let (plan, _) = turn(&session, &[detour()]);
    assert!(plan.reminder.is_some() && plan.parked.is_none());
}

#[test]
fn s2_staging_changes_neither_queue_nor_choice() {
    // Invariant S3
    let session = Session::new();
    session.with_queue(|queue| queue.push_once(ToolChoice::None, DirectiveOptions::new()));
    let before = session.with_queue(|queue| format!("{queue:?}"));
    stage_many(&session, 5);
    assert_eq!(session.with_queue(|queue| format!("{queue:?}")), before);
    session.with_queue(xd_session::ToolChoiceQueue::clear);
    for static_choice in [ToolChoice::Auto, ToolChoice::Required] {
        let request = xd_session::TurnRequest { static_choice: static_choice.clone(), ..request() };
        let plan = session.next_turn(&request);
        assert!(plan.requirement.is_some());
        assert_eq!(plan.tool_choice, static_choice);
    }
}

#[test]
fn g2_the_id_changes_exactly_when_the_head_changes() {
    let session = Session::new();
    let mut ids = Vec::new();
    let mut note = |session: &Session| ids.push(soft(session).id);
    stage(&session);
    note(&session);
    note(&session);
    stage(&session);
    note(&session);
    turn(&session, &[look()]);
    note(&session);
    confirm_as(&session, numbered(Verdict::Discard, 1), "The lower one.");
    note(&session);
    stage(&session);
    note(&session);
    confirm(&session, Verdict::Apply, "The upper one.");
    note(&session);
    let (a, b, c) =
        ("pending-action:ast_edit:1", "pending-action:ast_edit:2", "pending-action:ast_edit:3");
    assert_eq!(ids, [a, a, b, b, b, c, b]);
}

fn numbered(verdict: Verdict, number: u64) -> xd_protocol::Confirm {
    let selection = xd_protocol::Selection::Numbered(n(number));
    xd_protocol::Confirm { verdict, selection }
}

#[test]
fn g2_what_satisfies() {
    let session = Session::new();
    stage(&session);
    let requirement = soft(&session);
    assert_eq!(requirement.tool_name(), "write");
    for path in ["xd://resolve", "xd://reject", " XD://resolve@1 ", "xd://reject@99"] {
        assert!(requirement.satisfies(&write(path)), "{path}");
    }
    for path in ["xd://propose", "xd://", "xd:/resolve", "a.rs", "xd://resolve@0", "xd://Resolve"] {
        assert!(!requirement.satisfies(&write(path)), "{path}");
    }
    let of_read = ToolCall::new("1", "read", json!({ "path": "xd://resolve" }));
    let by_name = ToolCall::new("1", "xd://resolve", json!({ "reason": "Why." }));
    assert!(!requirement.satisfies(&of_read) && requirement.satisfies(&by_name));
}

#[test]
fn g3_the_reminder_word_for_word() {
    let session = Session::new();
    stage(&session);
    let reminder = session.next_turn(&request()).reminder.unwrap();
    assert!(reminder.text.starts_with("<system-reminder>\n"), "{}", reminder.text);
    assert!(reminder.text.ends_with("\n</system-reminder>"), "{}", reminder.text);
    assert!(reminder.text.contains(
        "`ast_edit` result above: PREVIEW — no files changed. Finalize now with `write`: write a \
         one-sentence plain-text reason to `xd://resolve` to APPLY, or `xd://reject` to DISCARD."
    ));
    assert_eq!(reminder.details, json!({ "tool_name": "ast_edit" }));
    assert_eq!(Reminder::CUSTOM_TYPE, "resolve-reminder");
    const { assert!(!Reminder::DISPLAY) };
}

#[test]
fn g3_once_for_a_head_and_again_for_another() {
    // Invariant S4
    let session = Session::new();
    let reminded = |session: &Session| turn(session, &[look()]).0.reminder.is_some();
    stage(&session);
    assert_eq!([reminded(&session), reminded(&session)], [true, false]);
    stage(&session);
    assert_eq!([reminded(&session), reminded(&session)], [true, false]);
    // Back to the first: it was reminded of already.
    confirm(&session, Verdict::Apply, "Yes.");
    assert!(!reminded(&session));
    session.begin_prompt();
    assert!(!reminded(&session));
}

#[test]
fn g3_a_reminder_is_rendered_when_it_is_asked_for_and_not_before() {
    let session = Session::new();
    stage(&session);
    let plan = session.next_turn(&request());
    let due = plan.reminder.unwrap();
    assert_eq!(plan.requirement.unwrap().reminder(), due);
    // None is due here, so none was rendered: what is asked for later speaks of what is so then.
    let requirement = session.next_turn(&request()).requirement.unwrap();
    stage(&session);
    assert!(!due.text.contains("are pending"), "{}", due.text);
    assert!(requirement.reminder().text.contains("2 staged actions are pending, newest first: @2"));
}

#[test]
fn d15_the_hidden_tool_as_finalizer() {
    let session = Session::new().with_finalizer(Finalizer::HiddenTool);
    stage(&session);
    let requirement = soft(&session);
    assert_eq!(requirement.tool_name(), "resolve");
    assert!(requirement.reminder().text.contains("Finalize now with the `resolve` tool"));
    let call = |arguments| ToolCall::new("1", "resolve", arguments);
    assert!(requirement.satisfies(&call(json!({ "action": "apply", "reason": "Why." }))));
    assert!(!requirement.satisfies(&call(json!({ "action": "perhaps", "reason": "Why." }))));
    assert!(!requirement.satisfies(&call(json!({}))));
    // Invariant S9: the addresses are carried out in this form too, so they count in it.
    assert!(requirement.satisfies(&write("xd://resolve@1")));
    assert!(requirement.satisfies(&ToolCall::new("1", "xd://reject", json!({ "reason": "No." }))));
    assert!(!requirement.satisfies(&write("a.rs")) && !requirement.satisfies(&write("xd://")));
    assert_eq!(
        session.finalizer().not_executed(),
        "Not executed: call the `resolve` tool to resolve the pending action before using other tools."
    );

    // It is forced where it is among the tools.
    let tools = || xd_session::TurnRequest::with_tools(["read", "resolve"]);
    session.next_turn(&tools());
    session.judge(xd_session::TurnEnd::Complete, &[detour()], tier);
    let plan = session.next_turn(&tools());
    assert_eq!(plan.tool_choice, ToolChoice::Named("resolve".to_owned()));

    // And both forms decide on one stack.
    let face = PendingActionStore::new(session.actions().clone());
    let arguments = json!({ "action": "apply", "reason": "Why." });
    xd_resolve::block_on(face.resolve(&arguments, xd_resolve::Decider::Model));
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
}

#[test]
fn g5_text_of_a_call_that_was_not_executed() {
    assert_eq!(
        Finalizer::Write.not_executed(),
        "Not executed: call the `write` tool to resolve the pending action before using other tools."
    );
}
