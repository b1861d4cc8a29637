//! What may still become an address, and that all questions about a path agree (U4, U9).

use proptest::prelude::*;
use xd_protocol::{
    Address, Confirm, Device, READ_TOOL, Selection, Target, Verdict, WRITE_TOOL, classify,
    confirm_of, could_become_xd_url, parse_xd_url,
};

#[test]
fn u4_table() {
    for yes in [
        "",
        "x",
        "X",
        "xd",
        "xD",
        "xd:",
        "XD:/",
        "xd://",
        "xd://r",
        "xd://a/b",
        " ",
        "\n\t",
        "  x",
        "\u{a0}xd:",
        "xd://\u{202e}",
        "xD://Resolve@0",
    ] {
        assert!(could_become_xd_url(yes), "{yes:?}");
    }
    for no in [
        "d",
        "a",
        "x ",
        "xx",
        "xdd",
        "xd/",
        "xd;",
        "xd:x",
        "xd: ",
        "xd:/x",
        "xd:\\",
        ".",
        "./xd://",
        "\u{feff}xd://",
        "ｘ",
        "х",
        "/",
        ":",
        "xd:/ /",
        "0",
    ] {
        assert!(!could_become_xd_url(no), "{no:?}");
    }
}

#[test]
fn u4_exactly_the_strings_that_a_continuation_completes() {
    // Every text of up to four letters of a small alphabet, against the definition itself.
    let alphabet = ['x', 'D', ':', '/', ' ', 'a'];
    let mut texts = vec![String::new()];
    for at in 0..4 {
        let longer: Vec<String> = texts
            .iter()
            .filter(|text| text.chars().count() == at)
            .flat_map(|text| alphabet.iter().map(move |c| format!("{text}{c}")))
            .collect();
        texts.extend(longer);
    }
    for text in &texts {
        let completed = (0..="xd://".len()).any(|from| {
            let whole = format!("{text}{}", &"xd://"[from..]);
            let start = whole.trim_start();
            start.len() >= 5
                && start.is_char_boundary(5)
                && start[..5].eq_ignore_ascii_case("xd://")
        });
        assert_eq!(could_become_xd_url(text), completed, "{text:?}");
    }
    assert_eq!(texts.len(), 1 + 6 + 36 + 216 + 1296);
}

/// Texts near the protocol: pieces of addresses, blanks and foreign characters in any order.
fn near_protocol() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "xd://", "XD://", "xd:", "xd", "://", ":", "/", "//", "\\", "x", "d", "dx", "resolve",
            "reject", "propose", "Resolve", "@", "@1", "@01", "1", "./", " ", "\n", "?", "#", "grep",
            "\u{200b}", "\u{feff}", "\u{202e}", "\u{1b}", "\u{a0}", "ü", "х", "😀", "C:", "\"", "`",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![3 => near_protocol(), 1 => ".*", 1 => "[ \t]*[xX]?[dD]?:?/{0,3}.{0,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn u4_fed_bit_by_bit_never_false_and_then_true(text in any_path()) {
        let mut open = true;
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let now = could_become_xd_url(&text[..at]);
            prop_assert!(open || !now, "true again at {at} of {text:?}");
            open = now;
        }
    }

    #[test]
    fn u9_all_questions_agree(text in any_path()) {
        // Invariant P1: one parser.
        let address = classify(&text);
        let target = parse_xd_url(&text);
        prop_assert_eq!(matches!(address, Address::Xd(_)), target.is_some());

        // Whatever begins with the prefix is an address or a broken one, and nothing else is.
        let begins = could_become_xd_url(&text) && text.trim().len() >= 5;
        let ours = matches!(address, Address::Xd(_) | Address::Malformed(_));
        prop_assert_eq!(begins, ours, "{:?}", text);

        // The predicate of the gate is the parser and the tool, nothing more.
        let confirm = match target {
            Some(Target::Device(Device::Resolve(selection))) => {
                Some(Confirm { verdict: Verdict::Apply, selection })
            }
            Some(Target::Device(Device::Reject(selection))) => {
                Some(Confirm { verdict: Verdict::Discard, selection })
            }
            Some(Target::Root | Target::Device(Device::Propose | Device::Tool(_))) | None => None,
        };
        prop_assert_eq!(confirm_of(WRITE_TOOL, &text), confirm);
        for other in [READ_TOOL, "Write", "write ", "", "edit", "resolve"] {
            prop_assert_eq!(confirm_of(other, &text), None);
        }
    }

    #[test]
    fn u9_white_space_around_changes_nothing(text in any_path(), before in "[ \t\n]{0,3}", after in "[ \t\n]{0,3}") {
        let around = format!("{before}{text}{after}");
        prop_assert_eq!(parse_xd_url(&around), parse_xd_url(&text));
    }

    #[test]
    fn u7_dot_slash_always_makes_a_path(text in any_path()) {
        // Invariant P2
        let path = format!("./{text}");
        prop_assert_eq!(classify(&path), Address::Path(&path));
    }

    #[test]
    fn u7_no_text_with_a_scheme_is_a_path(before in "[^/\\\\\\s]{0,6}", after in any_path()) {
        // Invariant P2: what holds `://` before any slash is never a file.
        let text = format!("{before}://{after}");
        prop_assert!(!matches!(classify(&text), Address::Path(_)), "{:?}", text);
    }

    #[test]
    fn u2_what_parses_round_trips(text in any_path()) {
        // Invariant P3: the name of a tool device is short and wholly visible.
        if let Some(Target::Device(device)) = parse_xd_url(&text) {
            let spelled = match device {
                Device::Resolve(Selection::Numbered(n)) => format!("xd://resolve@{n}"),
                Device::Reject(Selection::Numbered(n)) => format!("xd://reject@{n}"),
                Device::Resolve(Selection::Head)
                | Device::Reject(Selection::Head)
                | Device::Propose
                | Device::Tool(_) => format!("xd://{}", device.name()),
            };
            prop_assert_eq!(parse_xd_url(&spelled), Some(Target::Device(device)));
            prop_assert!(device.name().len() <= xd_protocol::MAX_NAME_BYTES);
            prop_assert_eq!(xd_protocol::Visible(&spelled).to_string(), spelled);
        }
    }
}
