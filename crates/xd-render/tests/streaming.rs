//! V1: what is drawn of a call while it streams, and what that costs.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use proptest::prelude::*;
use serde_json::json;
use xd_render::{CallView, Highlighter, Highlighting, Options, Phase, Token, to_plain};
use xd_resolve::ToolCall;

/// The distinct drawings while `source` arrives byte by byte, each with the bytes it took.
fn frames(name: &str, source: &str, width: usize) -> Vec<(usize, String)> {
    let options = Options::new(width);
    let mut view = CallView::new(name);
    let mut frames = vec![(0, to_plain(view.lines(&options)))];
    for (i, byte) in source.bytes().enumerate() {
        let changed = view.push(&[byte]);
        let drawn = to_plain(view.lines(&options));
        let last = &frames.last().unwrap().1;
        assert!(changed || drawn == *last, "an unannounced change at byte {i} of {source:?}");
        if drawn != *last {
            frames.push((i + 1, drawn));
        }
    }
    frames
}

fn last(name: &str, source: &str, width: usize) -> String {
    frames(name, source, width).pop().unwrap().1
}

#[test]
fn v1_nothing_is_drawn_until_the_path_can_be_nothing_else() {
    let source = r#"{"path":"xd://resolve","content":"Because."}"#;
    let frames = frames("write", source, 80);
    assert_eq!(frames[0], (0, String::new()));
    // The closing quote of the path decides: `xd://resolver` and `xd://resolve@2` are others.
    assert_eq!(frames[1], (22, "◌ Resolve\n".into()));
    assert_eq!(frames[2].1, "◌ Resolve\n  B\n");
    assert_eq!(frames.last().unwrap().1, "◌ Resolve\n  Because.\n");
    assert_eq!(frames.len(), 2 + "Because.".len());
}

#[test]
fn v1_case_099_each_address_has_its_title_wherever_the_path_stands() {
    for (path, title) in [
        ("xd://resolve", "◌ Resolve\n"),
        (" XD://resolve ", "◌ Resolve\n"),
        ("xd://reject", "◌ Reject\n"),
        ("xd://resolve@12", "◌ Resolve @12\n"),
        ("xd://reject@1", "◌ Reject @1\n"),
        ("xd://propose", "◌ Propose\n"),
        ("xd://format_table", "◌ format_table\n"),
    ] {
        let first = json!({ "path": path, "content": "why" }).to_string();
        let after = json!({ "content": "why", "path": path }).to_string();
        for source in [first, after] {
            assert_eq!(last("write", &source, 80), format!("{title}  why\n"), "{source}");
        }
    }
}

#[test]
fn v1_a_file_write_shows_its_path_as_it_grows() {
    let frames = frames("write", r#"{"path":"src/a.rs","content":"text"}"#, 80);
    let drawn: Vec<_> = frames.iter().map(|frame| frame.1.as_str()).collect();
    assert_eq!(drawn[..4], ["", "◌ Write s\n", "◌ Write sr\n", "◌ Write src\n"]);
    assert_eq!(*drawn.last().unwrap(), "◌ Write src/a.rs\n");
    // `x`, `xd`, `xd:` could all go on to be an address.
    let frames = self::frames("write", r#"{"path":"xd.rs"}"#, 80);
    assert_eq!(frames[1].1, "◌ Write xd.\n");
}

#[test]
fn v1_a_written_file_is_linked_once_its_path_is_whole() {
    let options = Options::new(80).with_link_root("/project");
    let mut view = CallView::new("write");
    view.push(br#"{"path":"src/a b.rs"#);
    let links = |view: &mut CallView| -> Vec<String> {
        let spans = view.lines(&options).iter().flat_map(|line| line.spans());
        spans.filter_map(|span| Some(span.link()?.uri().to_owned())).collect()
    };
    assert!(links(&mut view).is_empty());
    view.push(b"\"");
    assert_eq!(links(&mut view), ["file:///project/src/a%20b.rs"]);
}

#[test]
fn v1_refused_addresses_are_shown_as_written() {
    for path in ["xd://a/b", "xdd://resolve", "xd:/resolve", "xd://"] {
        let source = json!({ "path": path, "content": "x" }).to_string();
        assert_eq!(last("write", &source, 80), format!("◌ Write {path}\n"));
    }
}

#[test]
fn v1_the_body_is_its_first_line_cut_to_72_columns() {
    let long = "wide 漢字 ".repeat(20);
    for (content, expected) in [
        ("first line\nsecond line", "first line".to_owned()),
        ("\n\n  first \r\nsecond", "first".to_owned()),
        (long.as_str(), format!("{}…", "wide 漢字 ".repeat(7) + "w")),
        (&"x".repeat(72), "x".repeat(72)),
        (&"x".repeat(73), "x".repeat(71) + "…"),
        ("\u{1b}[2Jgone", "\\u{1b}[2Jgone".to_owned()),
    ] {
        let source = json!({ "path": "xd://reject", "content": content }).to_string();
        assert_eq!(last("write", &source, 200), format!("◌ Reject\n  {expected}\n"));
    }
}

#[test]
fn v1_a_repeated_path_draws_what_will_be_called() {
    let source = r#"{"path":"notes.txt","content":"x","path":"xd://resolve"}"#;
    let frames = frames("write", source, 80);
    let drawn: Vec<_> = frames.iter().map(|frame| frame.1.as_str()).collect();
    assert!(drawn.contains(&"◌ Write notes.txt\n"));
    // While the second path arrives the first is void, and nothing is drawn.
    assert_eq!(drawn[drawn.len() - 2..], ["", "◌ Resolve\n  x\n"]);
    let back = r#"{"path":"xd://resolve","content":"x","path":"notes.txt"}"#;
    assert!(last("write", back, 80).starts_with("◌ Write notes.txt\n"));
}

#[test]
fn v5_the_hidden_resolve_tool_draws_the_same() {
    let apply = r#"{"reason":"Good.","action":"apply"}"#;
    assert_eq!(last("resolve", apply, 80), "◌ Resolve\n  Good.\n");
    let discard = r#"{"action":"discard","reason":"Bad."}"#;
    let frames = frames("resolve", discard, 80);
    assert_eq!(frames[1], (19, "◌ Reject\n".into()));
    assert_eq!(frames.last().unwrap().1, "◌ Reject\n  Bad.\n");
}

#[test]
fn u11_v1_a_call_named_by_an_address_draws_as_that_device() {
    assert_eq!(last("xd://reject@2", r#"{"content":"No."}"#, 80), "◌ Reject @2\n  No.\n");
    assert_eq!(last("xd://format_table", "{}", 80), "◌ format_table\n");
}

#[test]
fn v1_a_body_that_moves_to_another_argument_starts_again() {
    let source = r#"{"reason":"a long reason that came first","content":"x"}"#;
    assert_eq!(last("xd://reject", source, 80), "◌ Reject\n  x\n");
}

#[test]
fn v5_a_call_is_queued_until_it_starts() {
    let source = r#"{"path":"xd://propose","content":"my-plan"}"#;
    let options = Options::new(80);
    let mut view = CallView::new("write");
    view.push(source.as_bytes());
    assert_eq!(to_plain(view.lines(&options)), "◌ Propose\n  my-plan\n");
    view.set_phase(Phase::Queued);
    assert_eq!(to_plain(view.lines(&options)), "◌ Propose · queued\n  my-plan\n");
    view.set_phase(Phase::Running);
    assert_eq!(to_plain(view.lines(&options)), "◌ Propose · running\n  my-plan\n");
}

#[test]
fn case_105_arguments_that_are_none_are_named_and_nothing_panics() {
    let options = Options::new(60);
    for (source, expected) in [
        ("", "◌ write · queued\n  no arguments\n"),
        ("{", "◌ write · queued\n  the arguments end too early\n"),
        ("null", "◌ write · queued\n  the arguments are no JSON object\n"),
        ("[1]", "◌ write · queued\n  the arguments are no JSON object\n"),
        (
            "{\"path\": \"xd://resolve",
            "◌ Write xd://resolve · queued\n  the arguments end too early\n",
        ),
        ("{\"path\": xd://resolve}", "◌ Write xd://resolve · queued\n"),
        ("{\"path\": [\"xd://resolve\"]}", "◌ Write [\"xd://resolve\"] · queued\n"),
        ("{\"path\" 1", "◌ write · queued\n  the arguments are no valid JSON\n"),
        ("{}", "◌ write · queued\n"),
    ] {
        let lines = fixture::call_lines("write", source, Phase::Queued, &options);
        assert_eq!(to_plain(&lines), expected, "{source:?}");
    }
}

#[test]
fn u9_a_foreign_name_cannot_pose_as_a_title_of_ours() {
    assert_eq!(last("write", r#"{"path":"xd://Resolve","content":""}"#, 80), "◌ xd://Resolve\n");
    assert_eq!(last("Resolve @3", "{}", 80), "◌ tool Resolve @3\n");
    assert_eq!(last("Resolver", "{}", 80), "◌ Resolver\n");
}

#[test]
fn generic_calls_list_their_whole_arguments_and_only_those() {
    let frames = frames("search", r#"{"query":"a b","limit":5,"deep":{"x":[1]}}"#, 80);
    let drawn: Vec<_> = frames.iter().map(|frame| frame.1.as_str()).collect();
    assert_eq!(
        drawn,
        [
            "◌ search\n",
            "◌ search query=a b\n",
            "◌ search query=a b  limit=5\n",
            "◌ search query=a b  limit=5  deep={\"x\":[1]}\n",
        ]
    );
}

/// The steps that streaming `source` in chunks of `chunk` bytes takes, drawn after each.
fn steps(name: &str, source: &str, chunk: usize) -> u64 {
    let options = Options::new(80);
    let mut view = CallView::new(name);
    for bytes in source.as_bytes().chunks(chunk) {
        view.push(bytes);
        view.lines(&options);
    }
    view.steps()
}

#[test]
fn case_101_streaming_costs_a_constant_times_the_length() {
    let calls = |n: usize| {
        [
            ("write", json!({ "path": "xd://resolve", "content": "word ".repeat(n) })),
            ("write", json!({ "path": "xd://resolve", "content": "x".repeat(5 * n) })),
            ("write", json!({ "path": "xd://resolve", "content": " \n".repeat(3 * n) })),
            ("write", json!({ "path": "xd://resolve", "content": "\u{301}".repeat(3 * n) })),
            ("write", json!({ "content": "line\n".repeat(n), "path": "xd://format_table" })),
            ("write", json!({ "path": "p/".repeat(3 * n), "content": "" })),
            ("write", json!({ "path": " ".repeat(5 * n), "content": "" })),
            ("write", json!({ "path": format!("xd://{}", "d".repeat(5 * n)), "content": "" })),
            ("search", json!({ "query": "q".repeat(5 * n), "list": vec![1; 2 * n] })),
        ]
    };
    for chunk in [1, 64] {
        for ((name, single), (_, double)) in calls(4_000).into_iter().zip(calls(8_000)) {
            let (single, double) = (single.to_string(), double.to_string());
            let (a, b) = (steps(name, &single, chunk), steps(name, &double, chunk));
            assert!(a >= single.len() as u64 && b >= double.len() as u64, "steps are not counted");
            // Doubling the length at most doubles the steps; a head of at most a few hundred
            // columns is measured again while it grows, which is the constant.
            assert!(b * 10 <= a * 22, "{a} steps, then {b}, for {}", &single[..40]);
            assert!(a <= 8 * single.len() as u64 + 200_000, "{a} steps for {} bytes", single.len());
        }
    }
}

/// Colours nothing and counts what it is asked about.
struct Counting(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Highlighter for Counting {
    fn tokens(&self, _: &str, source: &str) -> Option<Vec<Token>> {
        self.0.lock().unwrap().push(source.to_owned());
        Some(Vec::new())
    }
}

#[test]
fn case_101_whole_lines_of_a_file_are_laid_out_and_coloured_once() {
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let options = Options::new(40)
        .with_live_lines(3)
        .with_highlighting(Highlighting::by(Counting(std::sync::Arc::clone(&asked))));
    let content: Vec<String> = (1..=200).map(|n| format!("let n{n} = {n};")).collect();
    let source = json!({ "path": "a.rs", "content": content.join("\n") }).to_string();
    let mut view = CallView::new("write");
    let mut shown = String::new();
    for byte in source.bytes() {
        if view.push(&[byte]) {
            shown = to_plain(view.lines(&options));
        }
    }
    assert_eq!(
        shown,
        "◌ Write a.rs\n  197 let n197 = 197;\n  198 let n198 = 198;\n  199 let n199 = 199;\n"
    );
    // Each line once, in order; the last is not whole, as no line feed follows it.
    assert_eq!(*asked.lock().unwrap(), content[..199]);
    view.set_phase(Phase::Running);
    assert_eq!(to_plain(view.lines(&options)), "◌ Write a.rs · running\n");
}

// N3: however the content comes, what is drawn below the title is what the whole of it would draw.
#[test]
fn n3_live_lines_are_the_last_ones_however_they_come() {
    let sources = [
        json!({ "path": "a.rs", "content": "one\ntwo\n\nfour\nfive\nsix" }).to_string(),
        json!({ "content": "one\ntwo\nthree\n", "path": "a.rs" }).to_string(),
        r#"{"path":"a","content":"1\n2\n3\n4\n","content":"5\n6\n"}"#.to_owned(),
        r#"{"path":"a","content":"1\n2\n","path":"b","content":"\n"}"#.to_owned(),
    ];
    for source in sources {
        for chunk in [1, 2, 7, 1000] {
            let options = Options::new(40).with_live_lines(3);
            let (mut view, mut fed) = (CallView::new("write"), Vec::new());
            for bytes in source.as_bytes().chunks(chunk) {
                let before = view.lines(&options).to_vec();
                let changed = view.push(bytes);
                fed.extend_from_slice(bytes);
                let mut whole = CallView::new("write");
                whole.push(&fed);
                assert_eq!(view.lines(&options), whole.lines(&options), "{source} by {chunk}");
                assert!(changed || view.lines(&options) == before, "{source} by {chunk}");
            }
        }
    }
}

#[test]
fn case_101_lines_that_are_not_drawn_are_not_laid_out() {
    let options = Options::new(80).with_live_lines(4);
    let cost = |lines: usize, chunk: usize| {
        let content = "a line of thirty-two characters\n".repeat(lines);
        let source = json!({ "path": "a.txt", "content": content }).to_string();
        let mut view = CallView::new("write");
        for bytes in source.as_bytes().chunks(chunk) {
            if view.push(bytes) {
                view.lines(&options);
            }
        }
        (view.steps(), source.len() as u64)
    };
    for chunk in [1, 64, 4096] {
        let ((single, length), (double, _)) = (cost(1_000, chunk), cost(2_000, chunk));
        assert!(double * 10 <= single * 22, "{single} steps, then {double}, by {chunk}");
        assert!(single <= 4 * length, "{single} steps for {length} bytes by {chunk}");
    }
}

#[test]
fn n1_live_lines_are_inert_and_fit() {
    for text in fixture::HARD {
        let source = json!({ "path": "a.rs", "content": format!("{text}\n{text}\n") }).to_string();
        for width in [1, 2, 7, 20, 80] {
            let options = Options::new(width).with_live_lines(2);
            let mut view = CallView::new("write");
            view.push(source.as_bytes());
            for line in view.lines(&options) {
                assert!(line.width(&options.cells) <= width, "{width}: {:?}", line.text());
                assert!(line.text().chars().all(|c| !c.is_control()), "{:?}", line.text());
            }
        }
    }
}

#[test]
fn v1_what_is_settled_is_not_laid_out_again() {
    let options = Options::new(80);
    let mut view = CallView::new("write");
    view.push(br#"{"path":"xd://resolve","content":"one line\n"#);
    let at = view.lines(&options).as_ptr();
    for _ in 0..1000 {
        assert!(!view.push(b"more and more "));
        assert_eq!(view.lines(&options).as_ptr(), at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // The drawing of a stream ends as that of the whole call, however it was cut.
    #[test]
    fn v1_chunks_do_not_matter(
        path in "(xd://(resolve|reject|propose|tool)(@[0-9])?|xd:/x|[a-z/. ]{0,12}|\\PC{0,6})",
        content in "(\\PC|[a-z \n]){0,120}",
        path_first: bool,
        chunk in 1usize..40,
    ) {
        let arguments = if path_first {
            json!({ "path": path, "content": content })
        } else {
            json!({ "content": content, "path": path })
        };
        let call = ToolCall::new("1", "write", arguments);
        let source = call.arguments.to_string();
        let options = Options::new(100);
        let mut view = CallView::new("write");
        for bytes in source.as_bytes().chunks(chunk) {
            view.push(bytes);
            view.lines(&options);
        }
        view.set_phase(Phase::Queued);
        let mut whole = CallView::of(&call);
        prop_assert_eq!(view.lines(&options), whole.lines(&options));
    }

    // U9: the title and the dispatcher agree on what a call confirms.
    #[test]
    fn u9_the_title_and_the_dispatcher_agree(
        path in "( ?[xX][dD]:/{1,2}(resolve|reject|Resolve|propose|t)(@[0-9]{1,2})?[/ ]?|\\PC{0,8})",
        name in "(write|write|read|xd://resolve|xd://reject@3)",
    ) {
        let call = ToolCall::new("1", name, json!({ "path": path, "content": "why" }));
        let drawn = to_plain(CallView::of(&call).lines(&Options::new(200)));
        let title = match xd_resolve::confirm_of_call(&call) {
            Some(confirm) => {
                let word = match confirm.verdict {
                    xd_protocol::Verdict::Apply => "Resolve",
                    xd_protocol::Verdict::Discard => "Reject",
                };
                Some(match confirm.selection {
                    xd_protocol::Selection::Head => format!("◌ {word} · queued"),
                    xd_protocol::Selection::Numbered(n) => format!("◌ {word} @{n} · queued"),
                })
            }
            None => None,
        };
        let first = drawn.lines().next().unwrap_or("");
        match title {
            Some(title) => prop_assert_eq!(first, title),
            None => prop_assert!(!first.starts_with("◌ Resolve") && !first.starts_with("◌ Reject")),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    // The same for any name and any fields in any order, repeated keys and rubbish included.
    #[test]
    fn v1_case_099_case_105_any_arguments_draw_the_same_in_pieces(
        name in "(write|resolve|xd://reject|xd://tool|search)",
        fields in proptest::collection::vec(
            (
                "(path|content|reason|action|other)",
                "(\"(xd://resolve|xd://t|a\\.rs|apply|discard|[a-z ]{0,90}|\\\\n)\"|7|\\[1\\]|\\{\"k\":2\\}|x)",
            ),
            0..7,
        ),
        cut in 0usize..400,
        chunk in 1usize..20,
    ) {
        let body: Vec<_> =
            fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let source = format!("{{{}}}", body.join(","));
        let source = &source[..cut.min(source.len())];
        let options = Options::new(100);
        let mut pieces = CallView::new(name.clone());
        for bytes in source.as_bytes().chunks(chunk) {
            let before = pieces.lines(&options).to_vec();
            let changed = pieces.push(bytes);
            prop_assert!(changed || pieces.lines(&options) == before);
        }
        let mut whole = CallView::new(name);
        whole.push(source.as_bytes());
        prop_assert_eq!(pieces.lines(&options), whole.lines(&options));
        pieces.set_phase(Phase::Queued);
        whole.set_phase(Phase::Queued);
        prop_assert_eq!(pieces.lines(&options), whole.lines(&options));
    }
}
