//! Reasons, verdicts, notices and selectors: D2, G2 and the literal texts.

use xd_protocol::{
    Confirm, LineRange, MAX_REASON_CHARS, Reason, ReasonFault, Selection, Selector, StageNumber,
    Verdict, Visible, classify, confirm_of, is_invisible, is_selector_list, notice, parse_xd_url,
    split_selector,
};

fn n(number: u64) -> StageNumber {
    StageNumber::new(number).expect("numbers begin at 1")
}

#[test]
fn d2_a_reason_is_trimmed() {
    // Invariant P4
    assert_eq!(Reason::new("  All call sites.\n").unwrap().as_str(), "All call sites.");
    assert_eq!(Reason::new("\u{a0}ok\u{3000}").unwrap().to_string(), "ok");
    assert_eq!(Reason::new("a\n\nb").unwrap().as_str(), "a\n\nb");
}

#[test]
fn d2_blank_reasons_are_refused() {
    // Invariant P4: never blank, and what nobody can see is blank.
    for body in
        ["", " ", "\n\t \r", "\u{a0}", "\u{200b}", "\u{feff} \u{2060}", "\0", "\u{ad}", "\u{3164}"]
    {
        assert_eq!(Reason::new(body), Err(ReasonFault::Blank), "{body:?}");
    }
    assert!(ReasonFault::Blank.to_string().contains("Write one plain-text sentence"));
}

#[test]
fn d2_long_reasons_are_refused() {
    // Invariant P4: characters, not bytes, and without the blanks around.
    assert_eq!(MAX_REASON_CHARS, 2_000);
    let longest = "ü".repeat(MAX_REASON_CHARS);
    assert_eq!(Reason::new(&format!(" {longest} ")).unwrap().as_str(), longest);
    let fault = Reason::new(&format!("{longest}!")).unwrap_err();
    assert_eq!(fault, ReasonFault::TooLong { chars: 2_001 });
    assert!(fault.to_string().starts_with("The reason has 2001 characters; 2000 is the most."));
}

#[test]
fn d1_the_address_alone_decides() {
    let apply = Confirm { verdict: Verdict::Apply, selection: Selection::Head };
    assert_eq!(confirm_of("write", "xd://resolve"), Some(apply));
    let discard = Confirm { verdict: Verdict::Discard, selection: Selection::Head };
    assert_eq!(confirm_of("write", "xd://reject"), Some(discard));
    for (verdict, word, device) in
        [(Verdict::Apply, "apply", "resolve"), (Verdict::Discard, "discard", "reject")]
    {
        assert_eq!((verdict.as_str(), verdict.device()), (word, device));
    }
}

#[test]
fn g2_what_satisfies_a_soft_requirement() {
    for (path, number) in [("xd://resolve@3", 3), (" XD://reject@7 ", 7)] {
        let confirm = confirm_of("write", path).unwrap();
        assert_eq!(confirm.selection, Selection::Numbered(n(number)));
    }
    for path in [
        "xd://",
        "xd://propose",
        "xd://Resolve",
        "xd://grep",
        "xd://resolve@0",
        "xd:/resolve",
        "xd://resolve/",
        "./xd://resolve",
        "resolve",
        "xd://resolve:raw",
        "",
    ] {
        assert_eq!(confirm_of("write", path), None, "{path}");
    }
    assert_eq!(confirm_of("read", "xd://resolve"), None);
}

#[test]
fn s4_notice_of_one_and_of_several() {
    let one = notice::StagedNotice { first: &[n(1)], total: 1 }.to_string();
    assert_eq!(
        one,
        "Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to \
         xd://resolve. To discard: write to xd://reject."
    );
    let two = notice::StagedNotice { first: &[n(5), n(2)], total: 2 }.to_string();
    assert_eq!(
        two,
        format!(
            "{one} 2 actions are pending, newest first: xd://resolve@5 or xd://reject@5, \
             xd://resolve@2 or xd://reject@2."
        )
    );
    let more = notice::StagedNotice { first: &[n(9)], total: 4 }.to_string();
    assert!(more.ends_with("xd://resolve@9 or xd://reject@9, and 3 more."), "{more}");
}

#[test]
fn s4_d14_every_address_in_a_notice_parses() {
    let texts = [
        notice::StagedNotice { first: &[n(5), n(2)], total: 2 }.to_string(),
        notice::StillPending { number: n(4), attempted: Verdict::Apply }.to_string(),
        notice::StillPending { number: n(4), attempted: Verdict::Discard }.to_string(),
    ];
    for text in texts {
        let words = text.split_whitespace().filter(|word| word.starts_with("xd://"));
        let addresses: Vec<&str> = words.map(|word| word.trim_end_matches([',', '.'])).collect();
        assert!(!addresses.is_empty());
        for address in addresses {
            assert!(confirm_of("write", address).is_some(), "{address} in {text}");
        }
    }
}

#[test]
fn d9_still_pending_says_how_to_go_on() {
    assert_eq!(
        notice::StillPending { number: n(4), attempted: Verdict::Apply }.to_string(),
        "Staged action @4 is still pending. To retry, write a reason to xd://resolve@4. To discard \
         it instead, write to xd://reject@4."
    );
    assert_eq!(
        notice::StillPending { number: n(4), attempted: Verdict::Discard }.to_string(),
        "Staged action @4 is still pending. To retry, write a reason to xd://reject@4. To apply it \
         instead, write to xd://resolve@4."
    );
}

#[test]
fn d7_discarded_text() {
    let text = notice::Discarded { label: "AST Edit: 2 replacements in 1 file", reason: "Wrong." };
    assert_eq!(text.to_string(), "Discarded: AST Edit: 2 replacements in 1 file. Reason: Wrong.");
}

#[test]
fn d3_d4_d5_d15_g5_s5_literal_texts() {
    for (text, expect) in [
        (notice::NOTHING_TO_REJECT, "Nothing to reject; no pending action remains."),
        (
            notice::NOTHING_TO_APPLY,
            "No pending action to apply — xd://resolve is only valid while a staged preview is pending.",
        ),
        (
            notice::PLAN_MODE_HINT,
            " To submit the plan for approval, write its title to xd://propose instead.",
        ),
        (notice::NOTHING_TO_RESOLVE, "No pending action to resolve. Nothing to apply or discard."),
        (
            notice::NOT_EXECUTED,
            "Not executed: call the `write` tool to resolve the pending action before using other tools.",
        ),
        (
            notice::STORE_UNAVAILABLE,
            "Pending action store unavailable for custom tools in this runtime.",
        ),
        (
            notice::NO_PLAN,
            "No plan is awaiting approval — xd://propose only accepts a plan title while plan mode is active.",
        ),
        (notice::NO_REPLACEMENTS, "No replacements made"),
    ] {
        assert_eq!(text, expect);
    }
}

#[test]
fn w5_usage_lines_are_one_line_each_and_begin_with_their_address() {
    for (usage, device) in [
        (notice::RESOLVE_USAGE, "xd://resolve"),
        (notice::REJECT_USAGE, "xd://reject"),
        (notice::PROPOSE_USAGE, "xd://propose"),
    ] {
        assert!(usage.starts_with(&format!("{device} — ")), "{usage}");
        assert!(!usage.contains('\n'));
        assert!(parse_xd_url(device).is_some());
    }
}

/// `path` splits into a base and these lines.
#[track_caller]
fn check_lines(path: &str, base: &str, expect: &[(u32, Option<u32>)]) {
    let Some((found, Selector::Lines(ranges))) = split_selector(path) else { panic!("{path}") };
    let ranges: Vec<_> = ranges.iter().map(|LineRange { first, last }| (first, last)).collect();
    assert_eq!((found, &ranges[..]), (base, expect), "{path}");
}

#[test]
fn w4_selectors() {
    check_lines("a.rs:3-9", "a.rs", &[(3, Some(9))]);
    check_lines("a.rs:3", "a.rs", &[(3, Some(3))]);
    check_lines("a.rs:3-", "a.rs", &[(3, None)]);
    check_lines("a.rs:3+4", "a.rs", &[(3, Some(6))]);
    check_lines("a.rs:1,5-6", "a.rs", &[(1, Some(1)), (5, Some(6))]);
    check_lines("C:\\a.rs:2", "C:\\a.rs", &[(2, Some(2))]);
    // At the end of what a line number can be.
    let most = u32::MAX;
    check_lines(&format!("a:{most}+1"), "a", &[(most, Some(most))]);
    check_lines(&format!("a:{most}+9"), "a", &[(most, Some(most))]);
    assert_eq!(split_selector("a:raw"), Some(("a", Selector::Raw)));
    assert_eq!(split_selector("a:"), Some(("a", Selector::Empty)));
    for none in [
        "a",
        "a:0",
        "a:9-3",
        "a:x",
        "a:3-x",
        "a:+3",
        "a:-3",
        "a:1,,2",
        "a:1,",
        ":3",
        "a:4294967296",
    ] {
        assert_eq!(split_selector(none), None, "{none}");
    }
    assert!(is_selector_list("a:1-2;b:4"));
    assert!(is_selector_list("a:1 ; b:raw"));
    assert!(!is_selector_list("a:1-2"));
    assert!(!is_selector_list("a:1-2;b"));
}

#[test]
fn case_038_a_suffix_glued_to_a_device_peels_off() {
    for suffix in ["raw", "1-9", "3", "3-", "2+2", "1,4"] {
        for address in ["xd://propose", "xd://grep", "xd://resolve@4"] {
            let written = format!("{address}:{suffix}");
            let (base, _) = split_selector(&written).unwrap();
            assert_eq!(base, address);
            // Glued on it never confirms anything.
            assert_eq!(confirm_of("write", &written), None);
        }
    }
    // The colon of the scheme is no selector's.
    assert_eq!(split_selector("xd://"), None);
    assert_eq!(split_selector("xd://grep"), None);
}

#[test]
fn v4_visible_shows_what_a_terminal_would_obey_or_hide() {
    for c in '\0'..=char::MAX {
        let text = Visible(c.encode_utf8(&mut [0; 4])).to_string();
        let hidden = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c);
        assert_eq!(text.starts_with("\\u{"), hidden, "U+{:04X}", u32::from(c));
    }
    assert_eq!(Visible("größe 工具 😀").to_string(), "größe 工具 😀");
    // The line of a broken address stays one line.
    assert!(
        matches!(classify("xd://a\nb"), xd_protocol::Address::Malformed(m) if !m.to_string().contains('\n'))
    );
}
