//! Well-formed and malformed addresses: U1–U6, U8 and what P1 and P3 promise about them.

use xd_protocol::{
    Address, Device, DeviceName, MAX_NAME_BYTES, NameFault, RESERVED, Selection, StageNumber,
    Target, classify, is_reserved, notice, parse_xd_url,
};

/// An address in short: `root`, `resolve`, `reject@3`, `propose`, `tool:<name>`.
fn target_text(target: Target<'_>) -> String {
    let selected = |selection| match selection {
        Selection::Head => String::new(),
        Selection::Numbered(number) => format!("@{number}"),
    };
    match target {
        Target::Root => "root".to_owned(),
        Target::Device(Device::Resolve(selection)) => format!("resolve{}", selected(selection)),
        Target::Device(Device::Reject(selection)) => format!("reject{}", selected(selection)),
        Target::Device(Device::Propose) => "propose".to_owned(),
        Target::Device(Device::Tool(name)) => format!("tool:{name}"),
    }
}

#[track_caller]
fn check(input: &str, expect: &str) {
    let target = parse_xd_url(input).unwrap_or_else(|| panic!("{input:?} is no address"));
    assert_eq!(target_text(target), expect, "{input:?}");
}

#[track_caller]
fn check_fault(input: &str, expect: NameFault) {
    let Address::Malformed(malformed) = classify(input) else {
        panic!("{input:?} is {:?}", classify(input));
    };
    assert_eq!(malformed.fault(), expect, "{input:?}");
    assert_eq!(parse_xd_url(input), None, "{input:?}");
}

#[test]
fn u1_scheme_in_any_case_and_trimmed() {
    for scheme in ["xd", "XD", "Xd", "xD"] {
        check(&format!("{scheme}://resolve"), "resolve");
        check(&format!("{scheme}://grep"), "tool:grep");
        check(&format!("{scheme}://"), "root");
    }
    for around in [" ", "\n", "\t", "\r\n", "\u{a0}", "\u{3000}", " \u{2028} "] {
        check(&format!("{around}xd://resolve{around}"), "resolve");
        check(&format!("{around}xd://{around}"), "root");
    }
}

#[test]
fn u1_the_name_keeps_its_case() {
    check("XD://Resolve", "tool:Resolve");
    check("xd://RESOLVE", "tool:RESOLVE");
    check("xd://Propose", "tool:Propose");
    check("xd://Grep", "tool:Grep");
}

#[test]
fn u2_root_and_ordinary_names() {
    check("xd://", "root");
    for name in ["a", "ast_edit", "mcp__server__tool", "a.b", "a-b", "a:b", "größe", "工具", "1"]
    {
        check(&format!("xd://{name}"), &format!("tool:{name}"));
    }
}

#[test]
fn u2_malformed_names() {
    // Invariant P3
    use NameFault::{At, Control, Invisible, NotANumber, Separator, WhiteSpace};
    for (name, fault) in [
        ("/", Separator('/')),
        ("a/b", Separator('/')),
        ("resolve/", Separator('/')),
        ("/resolve", Separator('/')),
        ("../x", Separator('/')),
        ("a\\b", Separator('\\')),
        ("resolve?", Separator('?')),
        ("a?b=c", Separator('?')),
        ("resolve#1", Separator('#')),
        ("a b", WhiteSpace(' ')),
        ("a\tb", Control('\t')),
        ("a\nb", Control('\n')),
        ("a\u{a0}b", WhiteSpace('\u{a0}')),
        ("a\u{3000}b", WhiteSpace('\u{3000}')),
        ("a\0b", Control('\0')),
        ("a\u{1b}[2Jb", Control('\u{1b}')),
        ("a\u{7f}b", Control('\u{7f}')),
        ("a\u{9b}b", Control('\u{9b}')),
        ("a\u{2028}b", Control('\u{2028}')),
        ("a\u{2029}b", Control('\u{2029}')),
        ("res\u{200b}olve", Invisible('\u{200b}')),
        ("resolve\u{200d}", Invisible('\u{200d}')),
        ("\u{202e}evloser", Invisible('\u{202e}')),
        ("a\u{2066}b", Invisible('\u{2066}')),
        ("a\u{feff}b", Invisible('\u{feff}')),
        ("a\u{ad}b", Invisible('\u{ad}')),
        ("a\u{61c}b", Invisible('\u{61c}')),
        ("a\u{e0041}b", Invisible('\u{e0041}')),
        ("a@b", At),
        ("@", At),
        ("@1", At),
        ("propose@1", At),
        ("Resolve@1", At),
        ("resolve@", NotANumber),
    ] {
        check_fault(&format!("xd://{name}"), fault);
        assert!(DeviceName::new(name).is_err(), "{name:?}");
    }
}

#[test]
fn u2_every_control_and_format_character_is_refused() {
    // Invariant P3: over all characters, not examples.
    let format = ['\u{200b}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2060}'..='\u{206f}'];
    for c in '\0'..=char::MAX {
        let hidden = c.is_control()
            || c.is_whitespace()
            || matches!(c, '/' | '\\' | '?' | '#' | '@')
            || format.iter().any(|range| range.contains(&c));
        if hidden {
            let mut name = String::from("ab");
            name.insert(1, c);
            assert!(DeviceName::new(&name).is_err(), "U+{:04X}", u32::from(c));
        }
    }
}

#[test]
fn u2_names_end_at_128_bytes() {
    let longest = "n".repeat(MAX_NAME_BYTES);
    assert_eq!(MAX_NAME_BYTES, 128);
    check(&format!("xd://{longest}"), &format!("tool:{longest}"));
    check_fault(&format!("xd://{longest}n"), NameFault::TooLong { bytes: 129 });
    // Bytes, not letters.
    let wide = "ü".repeat(65);
    check_fault(&format!("xd://{wide}"), NameFault::TooLong { bytes: 130 });
}

#[test]
fn u3_malformed_is_none_in_the_plain_form_and_explained_in_the_richer() {
    assert_eq!(parse_xd_url("src/lib.rs"), None);
    assert_eq!(classify("src/lib.rs"), Address::Path("src/lib.rs"));
    assert_eq!(parse_xd_url("xd://a/b"), None);
    let Address::Malformed(malformed) = classify("  xd://a/b ") else { panic!() };
    assert_eq!(malformed.url(), "xd://a/b");
    assert_eq!(malformed.fault().to_string(), "the name holds '/'");
}

#[test]
fn u3_a_path_comes_back_untouched() {
    for path in ["", " ", " a.rs ", "a\n", "\ta", "./xd://resolve "] {
        assert_eq!(classify(path), Address::Path(path), "{path:?}");
    }
}

#[test]
fn u3_every_fault_says_why_on_one_visible_line() {
    use NameFault::{At, Control, Empty, Invisible, NotANumber, Separator, TooLong, WhiteSpace};
    let faults = [
        (Empty, "the name is empty"),
        (Separator('\\'), "the name holds '\\'"),
        (WhiteSpace('\u{a0}'), "the name holds white space (U+00A0)"),
        (Control('\n'), "the name holds a control character (U+000A)"),
        (Invisible('\u{202e}'), "the name holds an invisible character (U+202E)"),
        (At, "only resolve@<n> and reject@<n> hold '@'"),
        (NotANumber, "behind '@' stands a staged action's number, from 1, in plain digits"),
        (TooLong { bytes: 129 }, "the name has 129 bytes; 128 is the most"),
    ];
    for (fault, text) in faults {
        assert_eq!(fault.to_string(), text);
    }
}

#[test]
fn u5_reserved_names() {
    assert_eq!(RESERVED, ["resolve", "reject", "propose"]);
    for name in RESERVED {
        assert!(is_reserved(name));
        let address = format!("xd://{name}");
        let Some(Target::Device(device)) = parse_xd_url(&address) else { panic!() };
        assert!(!matches!(device, Device::Tool(_)), "{name} is no tool");
        assert_eq!(device.name(), name);
    }
    for name in ["Resolve", "resolve2", "reject:1", "proposes", ""] {
        assert!(!is_reserved(name), "{name}");
    }
}

#[test]
fn u6_numbered_addresses() {
    check("xd://resolve@1", "resolve@1");
    check("xd://reject@42", "reject@42");
    check(" XD://reject@42\n", "reject@42");
    check("xd://resolve@18446744073709551615", "resolve@18446744073709551615");
    let Some(Target::Device(device)) = parse_xd_url("xd://resolve@7") else { panic!() };
    assert_eq!(device.name(), "resolve");
}

#[test]
fn u6_a_number_has_one_spelling() {
    for number in [
        "0",
        "00",
        "01",
        "+1",
        "-1",
        " 1",
        "1x",
        "1.0",
        "1e3",
        "0x1",
        "one",
        "1@2",
        "1_000",
        "٣",
        "18446744073709551616",
        "99999999999999999999999999",
        "@",
        "1,2",
        "1-2",
        "head",
    ] {
        for device in ["resolve", "reject"] {
            check_fault(&format!("xd://{device}@{number}"), NameFault::NotANumber);
        }
    }
    assert_eq!(StageNumber::new(0), None);
    assert_eq!(StageNumber::FIRST.get(), 1);
    assert_eq!(StageNumber::FIRST.next().get(), 2);
}

#[test]
fn u8_texts_for_malformed_addresses() {
    let Address::Malformed(malformed) = classify("xd://a/b") else { panic!() };
    assert_eq!(malformed.to_string(), "Invalid xd:// URL: xd://a/b. Use xd://<tool>.");
    assert_eq!(
        notice::MalformedRead(malformed).to_string(),
        "Invalid xd:// URL: xd://a/b. Use xd:// or xd://<tool>."
    );
    assert_eq!(notice::NOT_MOUNTED, "xd:// is not mounted in this session.");
}

#[test]
fn u8_case_054_foreign_characters_are_shown_not_sent() {
    let Address::Malformed(malformed) = classify("xd://a\u{1b}]52;c;x\u{7}\u{202e}") else {
        panic!()
    };
    assert_eq!(
        malformed.to_string(),
        "Invalid xd:// URL: xd://a\\u{1b}]52;c;x\\u{7}\\u{202e}. Use xd://<tool>."
    );
}
