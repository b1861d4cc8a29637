//! Q1–Q6: the queue of hard directives.

use std::{iter, sync::Arc};

use xd_protocol::Verdict;
use xd_resolve::{ToolResult, block_on};
use xd_session::{DirectiveOptions, OnRejected, RejectReason, ToolChoice, ToolChoiceQueue};

use crate::scene::{Heard, heard};

fn named(tool: &str) -> ToolChoice {
    ToolChoice::Named(tool.to_owned())
}

fn options() -> DirectiveOptions {
    DirectiveOptions::new()
}

/// Options that note what is called back, and answer a rejection with `answer`.
fn noting(list: &Heard, answer: OnRejected) -> DirectiveOptions {
    let (resolved, rejected) = (Arc::clone(list), Arc::clone(list));
    options()
        .on_resolved(Arc::new(move || resolved.lock().unwrap().push("resolved".to_owned())))
        .on_rejected(Arc::new(move |reason| {
            rejected.lock().unwrap().push(format!("{reason:?}"));
            answer
        }))
}

/// Serves and resolves everything.
fn drain(queue: &mut ToolChoiceQueue) -> Vec<ToolChoice> {
    iter::from_fn(|| {
        let choice = queue.next_tool_choice();
        queue.resolve();
        choice
    })
    .collect()
}

#[test]
fn q1_once_sequences_and_iterators_in_the_order_pushed() {
    let mut queue = ToolChoiceQueue::new();
    queue.push_once(named("a"), options());
    queue.push_sequence(vec![named("b"), ToolChoice::None], options());
    queue.push(["c", "d"].map(named), options());
    queue.push_sequence(vec![], options());
    queue.push_once(ToolChoice::Required, options());
    let expect =
        [named("a"), named("b"), ToolChoice::None, named("c"), named("d"), ToolChoice::Required];
    assert_eq!(drain(&mut queue), expect);
    assert_eq!(drain(&mut queue), []);
}

#[test]
fn q1_now_goes_to_the_head() {
    let mut queue = ToolChoiceQueue::new();
    queue.push_sequence(vec![named("a"), named("b")], options());
    assert_eq!(queue.next_tool_choice(), Some(named("a")));
    queue.resolve();
    queue.push_once(named("first"), options().now());
    queue.push_once(named("before first"), options().now());
    assert_eq!(drain(&mut queue), [named("before first"), named("first"), named("b")]);
}

#[test]
fn q1_an_iterator_is_advanced_only_as_turns_ask() {
    let asked: Heard = Heard::default();
    let count = Arc::clone(&asked);
    let endless = iter::repeat_with(move || {
        count.lock().unwrap().push("asked".to_owned());
        ToolChoice::Required
    });
    let mut queue = ToolChoiceQueue::new();
    queue.push(endless, options());
    assert_eq!(heard(&asked).len(), 0);
    for _ in 0..3 {
        assert_eq!(queue.next_tool_choice(), Some(ToolChoice::Required));
        assert_eq!(heard(&asked).len(), 1);
        queue.resolve();
    }
}

#[test]
fn q2_a_served_choice_is_in_flight_until_it_is_reported() {
    let mut queue = ToolChoiceQueue::new();
    queue.push_sequence(vec![named("a"), named("b")], options());
    assert_eq!(queue.in_flight(), None);
    assert_eq!(queue.next_tool_choice(), Some(named("a")));
    assert_eq!(queue.in_flight(), Some(&named("a")));
    queue.resolve();
    assert_eq!(queue.in_flight(), None);
    assert_eq!(queue.next_tool_choice(), Some(named("b")));
    queue.reject(RejectReason::Error);
    assert_eq!((queue.in_flight().cloned(), queue.next_tool_choice()), (None, None));
    // Reports of nothing are nothing.
    queue.resolve();
    queue.reject(RejectReason::Aborted);
}

#[test]
fn q2_a_choice_that_nobody_reported_is_aborted_by_the_next() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    queue.push_once(named("lost"), noting(&list, OnRejected::Requeue));
    queue.next_tool_choice();
    assert_eq!(queue.next_tool_choice(), Some(named("lost")));
    assert_eq!(heard(&list), ["Aborted"]);
}

#[test]
fn q3_resolving_sets_the_label_once_and_calls_back() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    queue.push_once(named("a"), noting(&list, OnRejected::Drop).label("plan"));
    queue.push_once(named("b"), options());
    queue.next_tool_choice();
    assert_eq!(queue.consume_last_served_label(), None, "not before it took effect");
    queue.resolve();
    assert_eq!(heard(&list), ["resolved"]);
    assert_eq!(queue.consume_last_served_label().as_deref(), Some("plan"));
    assert_eq!(queue.consume_last_served_label(), None);
    queue.next_tool_choice();
    queue.resolve();
    assert_eq!(queue.consume_last_served_label().as_deref(), Some("anonymous"));
}

fn confirm(queue: &mut ToolChoiceQueue) -> Option<String> {
    let answer = queue.invoke(Verdict::Apply, &"Why.".into())?;
    Some(block_on(answer).joined())
}

#[test]
fn q3_a_handler_that_was_not_called_is_a_rejection() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    let handled = |list: &Heard| {
        noting(list, OnRejected::Requeue).on_invoked(Arc::new(|verdict, reason| {
            let text = format!("{} {reason}", verdict.as_str());
            Some(Box::pin(std::future::ready(ToolResult::text(text))))
        }))
    };
    queue.push_once(named("a"), handled(&list));
    queue.next_tool_choice();
    queue.resolve();
    assert_eq!(heard(&list), ["NotInvoked"]);
    assert_eq!(queue.consume_last_served_label(), None);

    assert_eq!(confirm(&mut queue), None, "nothing is in flight");
    assert_eq!(queue.next_tool_choice(), Some(named("a")));
    assert_eq!(confirm(&mut queue).as_deref(), Some("apply Why."));
    queue.resolve();
    assert_eq!(heard(&list), ["resolved"]);
}

#[test]
fn q3_a_handler_that_lets_a_confirm_pass_was_not_called() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    let passing = noting(&list, OnRejected::Drop).on_invoked(Arc::new(|_, _| None));
    queue.push_once(named("a"), passing);
    queue.next_tool_choice();
    assert_eq!(confirm(&mut queue), None);
    queue.resolve();
    assert_eq!(heard(&list), ["NotInvoked"]);
}

const PLAIN_REASONS: [RejectReason; 4] = [
    RejectReason::Aborted,
    RejectReason::Error,
    RejectReason::Unavailable,
    RejectReason::NotInvoked,
];

#[test]
fn q4_every_reason_reaches_the_callback() {
    use RejectReason::{Aborted, Cleared, Error, NotInvoked, Removed, Unavailable};
    for reason in [Aborted, Error, Cleared, Removed, Unavailable, NotInvoked] {
        let list = Heard::default();
        let mut queue = ToolChoiceQueue::new();
        queue.push_once(named("a"), noting(&list, OnRejected::Drop));
        queue.next_tool_choice();
        queue.reject(reason);
        assert_eq!(heard(&list), [format!("{reason:?}")]);
        assert_eq!((queue.in_flight().cloned(), queue.consume_last_served_label()), (None, None));
    }
}

#[test]
fn q4_requeue_replays_only_the_lost_choice_again_and_again() {
    for reason in PLAIN_REASONS {
        let list = Heard::default();
        let mut queue = ToolChoiceQueue::new();
        queue.push_sequence(vec![named("a"), named("b")], noting(&list, OnRejected::Requeue));
        queue.push_once(named("c"), options());
        for _ in 0..5 {
            assert_eq!(queue.next_tool_choice(), Some(named("a")));
            queue.reject(reason);
        }
        assert_eq!(heard(&list).len(), 5, "callbacks are kept");
        assert_eq!(drain(&mut queue), [named("a"), named("b"), named("c")]);
        assert_eq!(heard(&list), ["resolved", "resolved"]);
    }
}

#[test]
fn q4_drop_is_the_default_and_loses_one_choice() {
    for reason in PLAIN_REASONS {
        for options in [options(), noting(&Heard::default(), OnRejected::Drop)] {
            let mut queue = ToolChoiceQueue::new();
            queue.push_sequence(vec![named("a"), named("b")], options);
            queue.next_tool_choice();
            queue.reject(reason);
            assert_eq!(drain(&mut queue), [named("b")]);
        }
    }
}

#[test]
fn q4_drop_sequence_loses_the_rest_of_it_and_nothing_else() {
    for reason in PLAIN_REASONS {
        let mut queue = ToolChoiceQueue::new();
        let all = ["a", "b", "c"].map(named);
        queue.push(all, noting(&Heard::default(), OnRejected::DropSequence));
        queue.push_once(named("other"), options());
        queue.next_tool_choice();
        queue.reject(reason);
        assert_eq!(drain(&mut queue), [named("other")]);
    }
}

#[test]
fn q4_a_requeued_choice_belongs_to_its_sequence() {
    // First requeued, then the whole sequence given up.
    let answers =
        Arc::new(std::sync::Mutex::new(vec![OnRejected::DropSequence, OnRejected::Requeue]));
    let answer = options().on_rejected(Arc::new(move |_| answers.lock().unwrap().pop().unwrap()));
    let mut queue = ToolChoiceQueue::new();
    queue.push_sequence(vec![named("a"), named("b")], answer);
    queue.next_tool_choice();
    queue.reject(RejectReason::Error);
    assert_eq!(queue.next_tool_choice(), Some(named("a")));
    queue.reject(RejectReason::Error);
    assert_eq!(queue.next_tool_choice(), None);
}

#[test]
fn q5_removing_by_label_finds_requeued_ones_too() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    let labelled = || noting(&list, OnRejected::Requeue).label("plan");
    queue.push_sequence(vec![named("a"), named("b")], labelled());
    queue.push_once(named("keep"), options());
    queue.push_once(named("c"), labelled());
    queue.next_tool_choice();
    queue.reject(RejectReason::Error);
    assert_eq!(heard(&list), ["Error"]);
    queue.remove_by_label("plan");
    assert_eq!(drain(&mut queue), [named("keep")]);
    assert_eq!(heard(&list), [""; 0], "waiting ones were never served");
}

#[test]
fn q5_removing_by_label_rejects_the_one_in_flight() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    let labelled = noting(&list, OnRejected::Requeue).label("plan");
    queue.push_sequence(vec![named("a"), named("b")], labelled);
    queue.next_tool_choice();
    queue.remove_by_label("other");
    assert_eq!((queue.in_flight(), heard(&list).len()), (Some(&named("a")), 0));
    queue.remove_by_label("plan");
    assert_eq!((queue.in_flight(), heard(&list)), (None, vec!["Removed".to_owned()]));
    assert_eq!(queue.next_tool_choice(), None, "a requeue would bring it back");
    queue.push_once(named("a"), options());
    queue.remove_by_label("anonymous");
    assert_eq!(queue.next_tool_choice(), None);
}

#[test]
fn q5_clear_empties_everything_and_ignores_a_requeue() {
    let list = Heard::default();
    let mut queue = ToolChoiceQueue::new();
    queue.push_once(named("served"), options().label("served"));
    queue.next_tool_choice();
    queue.resolve();
    queue.push_sequence(vec![named("a"), named("b")], noting(&list, OnRejected::Requeue));
    queue.push_once(named("c"), options());
    queue.next_tool_choice();
    queue.clear();
    assert_eq!(heard(&list), ["Cleared"]);
    assert_eq!((queue.in_flight().cloned(), queue.next_tool_choice()), (None, None));
    assert_eq!(queue.consume_last_served_label(), None);
}

#[test]
fn q6_a_user_force_is_that_tool_and_then_none() {
    let mut queue = ToolChoiceQueue::new();
    queue.push_once(named("waiting"), options());
    queue.user_force("grep");
    assert_eq!(drain(&mut queue), [named("grep"), ToolChoice::None, named("waiting")]);
    assert_eq!(queue.consume_last_served_label().as_deref(), Some("anonymous"));

    // Where the forced turn fails, the turn without tools goes with it.
    queue.user_force("grep");
    queue.next_tool_choice();
    queue.reject(RejectReason::Unavailable);
    assert_eq!(queue.next_tool_choice(), None);
}
