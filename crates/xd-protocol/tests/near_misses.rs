//! Near misses: what was meant as an address and is none touches nothing (U7, case 32).

use xd_protocol::{Address, classify, parse_xd_url};

/// `input` is a slip, and its message offers `suggestion`.
#[track_caller]
fn check_slip(input: &str, suggestion: &str) {
    // Invariant P2
    let Address::NearMiss(slip) = classify(input) else {
        panic!("{input:?} is {:?}", classify(input));
    };
    assert_eq!(parse_xd_url(input), None);
    assert_eq!(slip.written(), input.trim());
    let text = slip.to_string();
    let offered = format!(
        "Did you mean '{suggestion}'? Prefix the path with './' to write it as a filesystem path."
    );
    assert!(text.starts_with("Unknown URI-like write target '"), "{text}");
    assert!(text.ends_with(&offered), "{text}");
    assert!(!text.contains(char::is_control), "{text:?}");
}

#[track_caller]
fn check_foreign(input: &str, scheme: &str) {
    let Address::Foreign(foreign) = classify(input) else {
        panic!("{input:?} is {:?}", classify(input));
    };
    assert_eq!((foreign.scheme(), foreign.written()), (scheme, input.trim()));
    assert!(foreign.to_string().ends_with("'. Tool devices use 'xd://<tool>'."), "{foreign}");
}

#[track_caller]
fn check_path(input: &str) {
    assert_eq!(classify(input), Address::Path(input));
}

#[test]
fn u7_case_032_near_misses_name_the_right_spelling() {
    // Invariant P2: a slip is never taken for a file path.
    for slip in [
        "xd:/x",
        "xd:x",
        "xd/x",
        "xd//x",
        "xdd://x",
        "xdt://x",
        "dx://x",
        // in any case
        "XD:/x",
        "Xd:x",
        "xD/x",
        "XD//x",
        "XDD://x",
        "Xdt://x",
        "DX://x",
        "dX://x",
        // as a path library would have normalised it
        "xdd:/x",
        "xdt:/x",
        "dx:/x",
        "XDD:/x",
        "xd:\\x",
        "xd:\\\\x",
        "xd\\x",
        "xdd:\\x",
        "xd\\\\x",
        "dx:\\\\x",
        // one letter too few, too many, another, swapped
        "x://x",
        "d://x",
        "xx://x",
        "dd://x",
        "xe://x",
        "cd://x",
        "xsd://x",
        "axd://x",
        "xd1://x",
        "xd-://x",
        "xd.://x",
        // blanks in it and around it
        " xd:/x ",
        "\txd:x\n",
        "xd ://x",
        "xd :/x",
        "xd :x",
        "xd: //x",
        "xd: x",
        "x d://x",
        // more separators than are right
        "xd:////x",
        "xdd:///x",
        "xd:/\\x",
        // what no reader sees
        "\u{feff}xd://x",
        "\u{200b}xd://x",
        "x\u{200b}d://x",
        "xd\u{200d}://x",
        "\u{202e}xd:/x",
        "xdd\u{200b}://x",
        "\u{1b}xd://x",
        // letters that only look like ours
        "хd://x",
        "ｘd://x",
        "xԁ://x",
        // quoted as in prose
        "\"xd://x\"",
        "'xd://x'",
        "`xd://x`",
        "<xd://x>",
        "(xd://x)",
    ] {
        // `xd:////x` begins with the prefix: it is malformed, not a slip, and no path either.
        if slip == "xd:////x" {
            assert!(matches!(classify(slip), Address::Malformed(_)), "{slip}");
        } else {
            check_slip(slip, "xd://x");
        }
    }
}

#[test]
fn u7_message_word_for_word() {
    let Address::NearMiss(slip) = classify("xdd://resolve@3") else { panic!() };
    assert_eq!(slip.rest(), "resolve@3");
    assert_eq!(
        slip.to_string(),
        "Unknown URI-like write target 'xdd://resolve@3'. Did you mean 'xd://resolve@3'? \
         Prefix the path with './' to write it as a filesystem path."
    );
    let Address::Foreign(foreign) = classify("http://host/x") else { panic!() };
    assert_eq!(
        foreign.to_string(),
        "Unknown URI-like write target 'http://host/x'. Tool devices use 'xd://<tool>'."
    );
}

#[test]
fn u7_a_suggestion_is_itself_well_formed() {
    for (slip, suggestion) in [
        ("xd:", "xd://"),
        ("xd/", "xd://"),
        ("xd:/resolve", "xd://resolve"),
        ("xd/reject@9", "xd://reject@9"),
        ("xd:/a/b", "xd://<tool>"),
        ("xd:/resolve@0", "xd://<tool>"),
        ("xd:/a b", "xd://<tool>"),
        ("xd:/a\u{1b}b", "xd://<tool>"),
        ("xd:\u{200b}//x", "xd://<tool>"),
    ] {
        check_slip(slip, suggestion);
        if suggestion != "xd://<tool>" {
            assert!(parse_xd_url(suggestion).is_some(), "{suggestion}");
        }
    }
}

#[test]
fn u7_other_schemes() {
    for (input, scheme) in [
        ("http://x", "http"),
        ("HTTPS://x", "HTTPS"),
        ("local://plan.md", "local"),
        ("file:///etc/passwd", "file"),
        ("file:/etc/passwd", "file"),
        ("git+ssh://x", "git+ssh"),
        (" mailto://x", "mailto"),
        ("my_tool://x", "my_tool"),
        ("xdev://x", "xdev"),
        ("c://x", "c"),
        ("://x", ""),
        ("a b://x", "a b"),
        ("größe://x", "größe"),
        ("http\u{200b}://x", "http\u{200b}"),
    ] {
        check_foreign(input, scheme);
    }
}

#[test]
fn u7_paths_are_paths() {
    // Invariant P2: only `./` makes such a text a path.
    for path in [
        "./xd/x",
        "./xd:/x",
        "./xd://x",
        "./xd:x",
        ".\\xd\\x",
        "./dx://x",
        "../xd/x",
        "/xd/x",
        "a/xd://x",
        "a/http://x",
        "/tmp/xd:/x",
        "C:\\x",
        "C:/x",
        "c:\\x",
        "x:\\x",
        "X:/x",
        "d:/x",
        "D:\\x",
        "C:\\\\x",
        "D:\\\\x",
        "C:x",
        "xd",
        "xd.rs",
        "xdx",
        "xd-x",
        "xd_x/y",
        "xdd/x",
        "dx/x",
        "xdt:x",
        "d/x",
        "x/y",
        "ax/d",
        "a.rs:3-9",
        "notes:5-6",
        "a:1-2;b:4",
        "b:raw",
        "a:",
        ":",
        "::",
        ":x",
        "",
        "src/lib.rs",
        "résumé.txt",
        "a b/c d",
        ".",
        "..",
        "~/x",
    ] {
        check_path(path);
    }
}

#[test]
fn u7_case_054_foreign_bytes_are_shown_escaped() {
    for input in ["xdd://\u{1b}[2J", "xd:\u{202e}x", "\u{1b}]8;;http://x", "my\u{7}://x"] {
        let text = match classify(input) {
            Address::NearMiss(slip) => slip.to_string(),
            Address::Foreign(foreign) => foreign.to_string(),
            other => panic!("{input:?} is {other:?}"),
        };
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        assert!(text.contains("\\u{"), "{text}");
    }
}

#[test]
fn u7_separators_of_another_alphabet_are_slips() {
    for slip in ["xd：//resolve", "xd：／／resolve", "xd:∕∕resolve", "XD：resolve", "xd⁄⁄resolve"]
    {
        check_slip(slip, "xd://resolve");
    }
    check_slip("xdd：//resolve", "xd://resolve");
    check_foreign("http：//host", "http");
    for path in ["第一章：序.md", "notes：a/b", "./xd：//resolve", "d：/x", "a∕b"] {
        check_path(path);
    }
}

// What is quoted of a long text is its beginning: a message never has the size of the input.
#[test]
fn u7_u8_a_message_quotes_a_long_text_in_part() {
    let long = "é".repeat(1_000_000);
    let texts = [
        format!("xd://{long}"),
        format!("xd:/{long}"),
        format!("http://{long}"),
        format!("{long}://x"),
    ];
    for text in &texts {
        let told = match classify(text) {
            Address::Malformed(fault) => fault.to_string(),
            Address::NearMiss(slip) => slip.to_string(),
            Address::Foreign(foreign) => foreign.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(told.len() < 2_000, "{} bytes", told.len());
        assert!(told.contains(&format!("… ({} bytes)", text.len())), "{told}");
    }
    let whole = format!("xd:/{}", "a".repeat(128));
    assert!(classify(&whole) != Address::Path(&whole));
    check_slip(&whole, &format!("xd://{}", "a".repeat(128)));
}
