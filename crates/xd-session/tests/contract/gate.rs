//! G4–G8, G12: the gate by itself, turn for turn.

use xd_session::{Budget, CallKind, Gate, Judgement, Opening, TurnEnd};

use crate::scene::{n, open_for};

use CallKind::{Confirm, Detour, Look};

/// How the gate opens for head 1: `off`, `ask`, `force`, `parked`; `!` where it reminds.
fn open(gate: &mut Gate) -> String {
    match open_for(gate, Some(n(1))) {
        Opening::Off => "off".to_owned(),
        Opening::Parked(_) => "parked".to_owned(),
        Opening::Armed { force, remind, .. } => {
            format!("{}{}", if force { "force" } else { "ask" }, if remind { "!" } else { "" })
        }
    }
}

/// One complete turn: how it opened, and what became of its calls.
fn turn(gate: &mut Gate, calls: &[CallKind]) -> String {
    let opened = open(gate);
    format!("{opened} {:?}", gate.judge(TurnEnd::Complete, calls))
}

/// Turns on one head, with what each leads to.
#[track_caller]
fn check(turns: &[(&[CallKind], &str)]) -> Gate {
    let mut gate = Gate::new();
    for (at, (calls, expect)) in turns.iter().enumerate() {
        assert_eq!(turn(&mut gate, calls), *expect, "turn {at}");
    }
    gate
}

#[test]
fn g4_a_compliant_turn_runs_unforced() {
    // Invariant S3
    check(&[(&[Confirm], "ask! Run")]);
    check(&[(&[Confirm, Confirm], "ask! Run")]);
}

#[test]
fn g5_a_detour_is_skipped_and_the_next_turn_alone_forces() {
    // Invariant S3, Invariant S4
    check(&[(&[Detour], "ask! Skip"), (&[Confirm], "force Run"), (&[Confirm], "ask Run")]);
    check(&[(&[Detour, Detour], "ask! Skip"), (&[Detour], "force Skip"), (&[], "force NoCall")]);
}

#[test]
fn g5_a_batch_that_mixes_a_confirm_with_a_detour_does_not_comply() {
    check(&[(&[Confirm, Detour], "ask! Skip"), (&[Confirm], "force Run")]);
    check(&[(&[Detour, Confirm], "ask! Skip"), (&[Confirm], "force Run")]);
    check(&[(&[Look, Detour], "ask! Skip"), (&[Confirm], "force Run")]);
}

#[test]
fn g5_text_only_escalates_likewise() {
    check(&[(&[], "ask! NoCall"), (&[Confirm], "force Run")]);
}

#[test]
fn g6_reads_run_and_neither_satisfy_nor_escalate_five_times() {
    check(&[
        (&[Look], "ask! Run"),
        (&[Look], "ask Run"),
        (&[Look, Look], "ask Run"),
        (&[Look], "ask Run"),
        (&[Look], "ask Run"),
        (&[Look], "ask Skip"),
        (&[Confirm], "force Run"),
    ]);
    // A confirm beside a look complies, and the look counts.
    check(&[
        (&[Confirm, Look], "ask! Run"),
        (&[Look, Confirm], "ask Run"),
        (&[Look], "ask Run"),
        (&[Look], "ask Run"),
        (&[Look], "ask Run"),
        (&[Confirm, Look], "ask Skip"),
        (&[Confirm, Look], "force Skip"),
        (&[Confirm], "force Run"),
    ]);
}

#[test]
fn g7_forced_turns_are_at_most_three() {
    // Invariant S2
    let mut gate = check(&[
        (&[Detour], "ask! Skip"),
        (&[Detour], "force Skip"),
        (&[Detour], "force Skip"),
        (&[Detour], "force Skip"),
        (&[Detour], "parked Free"),
    ]);
    assert!(gate.is_parked(n(1)) && !gate.asks_for(n(1)));
    assert_eq!(open(&mut gate), "off", "parked once, then left alone");
    gate.prompt_began();
    assert!(!gate.is_parked(n(1)));
    assert_eq!(turn(&mut gate, &[Confirm]), "ask Run", "anew, without a second reminder");
}

#[test]
fn g7_turns_of_every_kind_are_at_most_eight() {
    // Invariant S2: confirms that comply and fail all the same.
    let mut turns = vec![(&[Confirm][..], "ask! Run")];
    turns.extend([(&[Confirm][..], "ask Run"); 7]);
    turns.push((&[Confirm], "parked Free"));
    check(&turns);
}

#[test]
fn g7_case_069_a_forced_call_printed_as_prose_gets_one_turn_without_the_pin() {
    check(&[
        (&[], "ask! NoCall"),
        (&[], "force NoCall"),
        (&[], "ask NoCall"),
        (&[], "parked Free"),
    ]);
    // Where the turn without the pin brings a call, it goes on as usual.
    check(&[
        (&[], "ask! NoCall"),
        (&[], "force NoCall"),
        (&[Confirm], "ask Run"),
        (&[Detour], "ask Skip"),
        (&[Confirm], "force Run"),
    ]);
}

#[test]
fn g7_case_071_empty_forced_turns_end_and_the_action_stays() {
    // Invariant S2: nothing but silence ends in at most eight turns.
    let mut gate = Gate::new();
    let opened: Vec<_> = (0..9)
        .map(|_| {
            let opened = open(&mut gate);
            gate.judge(TurnEnd::Complete, &[]);
            opened
        })
        .collect();
    assert!(opened.contains(&"parked".to_owned()), "{opened:?}");
}

#[test]
fn g7_truncated_output_counts_and_is_not_carried_out() {
    let mut gate = Gate::new();
    assert_eq!(open(&mut gate), "ask!");
    assert_eq!(
        gate.judge(TurnEnd::Truncated, &[Confirm]),
        Judgement::Skip,
        "it may be half a call"
    );
    assert_eq!(open(&mut gate), "force");
    assert_eq!(gate.judge(TurnEnd::Truncated, &[]), Judgement::NoCall);
}

#[test]
fn g7_case_073_two_tools_in_turn_do_not_escape() {
    // Invariant S2: the counter is the head's, not a tool's.
    let mut gate = Gate::new();
    let mut turns = 0;
    while open(&mut gate) != "parked" {
        gate.judge(TurnEnd::Complete, if turns % 2 == 0 { &[Look] } else { &[Detour] });
        turns += 1;
        assert!(turns <= 8);
    }
}

#[test]
fn g8_a_failed_apply_lifts_the_gate_until_the_next_prompt() {
    let mut gate = check(&[(&[Confirm], "ask! Run")]);
    gate.apply_failed(n(1));
    assert!(!gate.asks_for(n(1)) && !gate.is_parked(n(1)));
    for _ in 0..20 {
        assert_eq!(turn(&mut gate, &[Detour]), "off Free");
    }
    // Lifted for that head alone.
    assert!(matches!(
        open_for(&mut gate, Some(n(2))),
        Opening::Armed { remind: true, force: false, .. }
    ));
    gate.prompt_began();
    assert_eq!(turn(&mut gate, &[Confirm]), "ask Run");
}

#[test]
fn g12_aborted_and_failed_turns_spend_nothing() {
    for end in [TurnEnd::Aborted, TurnEnd::Failed] {
        let mut gate = Gate::new();
        for at in 0..50 {
            assert_eq!(open(&mut gate), if at == 0 { "ask!" } else { "ask" });
            assert_eq!(gate.judge(end, &[Detour]), Judgement::Void);
        }
        // Nor is the escalation lost.
        assert_eq!(turn(&mut gate, &[Detour]), "ask Skip");
        for _ in 0..50 {
            assert_eq!(open(&mut gate), "force");
            assert_eq!(gate.judge(end, &[]), Judgement::Void);
        }
        assert_eq!(turn(&mut gate, &[Confirm]), "force Run");
    }
}

#[test]
fn g12_calls_of_a_void_turn_do_not_run_where_the_gate_was_off_either() {
    let mut gate = Gate::new();
    assert_eq!(open_for(&mut gate, None), Opening::Off);
    assert_eq!(gate.judge(TurnEnd::Aborted, &[Detour]), Judgement::Void);
    open_for(&mut gate, None);
    assert_eq!(gate.judge(TurnEnd::Complete, &[Detour]), Judgement::Free);
}

#[test]
fn g7_each_head_has_its_own_budget() {
    let mut gate = Gate::new();
    for head in (1..=3).rev() {
        for _ in 0..8 {
            assert!(matches!(open_for(&mut gate, Some(n(head))), Opening::Armed { .. }));
            gate.judge(TurnEnd::Complete, &[Confirm]);
        }
        assert_eq!(open_for(&mut gate, Some(n(head))), Opening::Parked(n(head)));
    }
}

#[test]
fn d13_what_answers_a_turn_from_before_a_boundary_is_void_also_after_a_prompt() {
    for calls in [&[][..], &[Confirm], &[Look], &[Detour], &[Confirm, Look]] {
        for asked in [None, Some(n(1))] {
            let mut gate = Gate::new();
            open_for(&mut gate, asked);
            gate.boundary();
            gate.prompt_began();
            assert_eq!(gate.judge(TurnEnd::Complete, calls), Judgement::Void);
            assert!(gate.was_late());
            assert_eq!(gate.judge(TurnEnd::Complete, calls), Judgement::Free, "it is over now");
            assert!(!gate.was_late());
        }
    }
}

/// Turns that stage with every batch that is carried out, forced or not: how many until the head is
/// parked, at most `most`.
fn turns_that_stage(gate: &mut Gate, calls: &[CallKind], most: usize) -> Option<usize> {
    let mut head = 1;
    (0..most).find(|_| {
        let parked = matches!(open_for(gate, Some(n(head))), Opening::Parked(_));
        head += u64::from(gate.judge(TurnEnd::Complete, calls) == Judgement::Run);
        parked
    })
}

#[test]
fn g6_g7_case_073_what_is_staged_by_looking_has_no_budget_of_its_own() {
    // Invariant S2
    for calls in [&[Look][..], &[Look, Confirm], &[Look, Look, Look]] {
        let taken = turns_that_stage(&mut Gate::new(), calls, 200);
        assert!(taken.is_some_and(|taken| taken <= 8), "{calls:?}: {taken:?}");
    }
    // Heads that come up otherwise, as what an apply stages, have the whole budget each.
    assert_eq!(turns_that_stage(&mut Gate::new(), &[Confirm], 200), None);
}

#[test]
fn g7_a_head_that_a_look_brought_about_goes_on_where_the_one_before_was() {
    let head = |gate: &mut Gate, head| open_for(gate, Some(n(head)));
    let armed = |number, remind, force| Opening::Armed { head: n(number), remind, force };
    let mut gate = check(&[(&[Look], "ask! Run"), (&[Look], "ask Run"), (&[Look], "ask Run")]);
    assert_eq!(
        head(&mut gate, 2),
        armed(2, true, false),
        "not forced: staging forces nothing (S2)"
    );
    for _ in 0..2 {
        assert_eq!(gate.judge(TurnEnd::Complete, &[Look]), Judgement::Run);
        assert_eq!(head(&mut gate, 2), armed(2, false, false));
    }
    assert_eq!(gate.judge(TurnEnd::Complete, &[Look]), Judgement::Skip, "the sixth look of all");
    // Once nothing was pending, nothing is passed on.
    let mut gate = check(&[(&[Look], "ask! Run")]);
    assert_eq!(open_for(&mut gate, None), Opening::Off);
    for _ in 0..8 {
        assert!(matches!(head(&mut gate, 2), Opening::Armed { head: _, .. }));
        gate.judge(TurnEnd::Complete, &[Confirm]);
    }
    assert_eq!(head(&mut gate, 2), Opening::Parked(n(2)), "it had eight turns of its own");
    // A prompt gives each its own.
    let mut gate = check(&[(&[Look], "ask! Run")]);
    gate.prompt_began();
    for _ in 0..5 {
        head(&mut gate, 2);
        assert_eq!(gate.judge(TurnEnd::Complete, &[Look]), Judgement::Run);
    }
}

#[test]
fn g7_a_budget_of_ones_own() {
    let budget = Budget { turns: 2, forced: 0, reads: 0 };
    let mut gate = Gate::with_budget(budget);
    assert_eq!(turn(&mut gate, &[Look]), "ask! Skip");
    assert_eq!(open(&mut gate), "parked", "no forced turn is left");
    gate.boundary();
    for expect in ["ask! Run", "ask Run", "parked Free"] {
        assert_eq!(turn(&mut gate, &[Confirm]), expect);
    }
    let mut gate = Gate::with_budget(Budget { turns: 0, forced: 0, reads: 0 });
    assert_eq!(open(&mut gate), "parked");
    // The widest there is does not overflow.
    let mut gate = Gate::with_budget(Budget { turns: 255, forced: 255, reads: 255 });
    let armed = (0..400).take_while(|_| turn(&mut gate, &[Confirm, Look]).ends_with("Run")).count();
    assert_eq!(armed, 255);
}

#[test]
fn g3_reminders_are_due_again_after_compaction_and_boundary_alone() {
    // Invariant S4
    let mut gate = Gate::new();
    assert_eq!(open(&mut gate), "ask!");
    gate.prompt_began();
    assert_eq!(open(&mut gate), "ask");
    gate.history_compacted();
    assert_eq!(open(&mut gate), "ask!");
    assert_eq!(open(&mut gate), "ask");
    gate.boundary();
    assert_eq!(open(&mut gate), "ask!");
}
