//! V4, N1: whatever comes in, only our own escape sequences go out.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use proptest::prelude::*;
use unicode_width::UnicodeWidthChar as _;
use xd_render::{Cells, Line, Link, Options, Role, Span, Theme, clean_line, clean_lines, to_ansi};

/// Takes our own sequences out of `text`: `ESC [ digits and ; m`, and with `links` the two of OSC 8.
fn without_ours(text: &str, links: bool) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let end = match after.as_bytes().first() {
            Some(b'[') => {
                let digits = after[1..].find(|c: char| !c.is_ascii_digit() && c != ';').unwrap();
                assert_eq!(after.as_bytes()[digits + 1], b'm', "foreign sequence in {text:?}");
                digits + 2
            }
            Some(b']') if links => {
                let end = after.find("\u{1b}\\").expect("an unterminated link");
                assert!(after[..end].starts_with("]8;;"), "foreign sequence in {text:?}");
                assert!(after[..end].bytes().all(|b| (0x20..0x7f).contains(&b)), "{text:?}");
                end + 2
            }
            _ => panic!("foreign sequence in {text:?}"),
        };
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

/// Fails on every character that a terminal would obey, hide or reorder by.
fn assert_inert(text: &str) {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        assert!(c == '\n' || !c.is_control(), "{:?} holds {:x}", text, u32::from(c));
        match c {
            // The three that scripts and emoji need, each only where it does something.
            '\u{200d}' => {
                assert!(!before.is_whitespace() && !before.is_ascii(), "{text:?}");
                assert!(chars.peek().is_some_and(|next| next.width().unwrap_or(0) > 0), "{text:?}");
            }
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                assert!(!before.is_whitespace(), "{text:?}");
                assert!(!matches!(before, '\u{fe00}'..='\u{fe0f}'), "{text:?}");
            }
            _ => assert!(
                !xd_protocol::is_invisible(c) && !matches!(c, '\u{2028}' | '\u{2029}'),
                "{text:?} holds {:x}",
                u32::from(c)
            ),
        }
        before = c;
    }
}

fn themes() -> [Theme; 4] {
    [Theme::none(), Theme::ansi16(), Theme::dark().with_links(true), Theme::true_light()]
}

fn scan(text: &str, width: usize) {
    let options = Options::new(width).with_link_root("/work");
    for (name, lines) in fixture::everything(text, &options) {
        for theme in themes() {
            let drawn = to_ansi(&lines, &theme);
            if theme == Theme::none() {
                assert!(!drawn.contains('\u{1b}'), "{name}: plain text has an escape: {drawn:?}");
            }
            assert_inert(&without_ours(&drawn, true));
            assert_eq!(drawn.matches('\n').count(), lines.len(), "{name}: {drawn:?}");
        }
    }
}

/// Characters of every dangerous kind, often.
fn hostile() -> impl Strategy<Value = String> {
    let hard = proptest::sample::select(fixture::HARD.to_vec()).prop_map(str::to_owned);
    let control = prop_oneof![
        (0u32..0x20).prop_map(|c| char::from_u32(c).unwrap()),
        (0x7fu32..0xa0).prop_map(|c| char::from_u32(c).unwrap()),
        proptest::sample::select(vec![
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{202e}',
            '\u{2066}',
            '\u{2028}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{e0100}',
            '\u{e0041}',
            '\u{ad}',
            '\u{301}',
            '\u{1f469}',
            '\u{1f3fd}',
            '\u{1f1e6}',
            '漢',
            'a',
            ' ',
            ':',
            '"',
            '\\',
        ]),
    ];
    let soup = proptest::collection::vec(prop_oneof![control, any::<char>()], 0..24)
        .prop_map(|chars| chars.into_iter().collect::<String>());
    proptest::collection::vec(prop_oneof![hard, soup], 1..3).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn n1_v4_nothing_foreign_reaches_the_terminal(text in hostile(), width in 1usize..120) {
        scan(&text, width);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn n1_clean_text_is_inert_and_stays_as_it_is(text in hostile()) {
        let clean = clean_line(&text);
        assert_inert(&clean);
        assert!(!clean.contains('\n'));
        assert_eq!(clean_line(&clean), clean);
        for line in clean_lines(&text, &Cells::default()) {
            assert_inert(&line);
        }
    }
}

#[test]
fn case_111_every_control_character_is_shown_escaped() {
    let controls = (0u32..0x20).chain(0x7f..0xa0).filter(|c| *c != 0x09);
    for code in controls {
        let c = char::from_u32(code).unwrap();
        assert_eq!(clean_line(&format!("a{c}b")), format!("a\\u{{{code:x}}}b"));
    }
    assert_eq!(clean_line("\u{1b}[2J"), "\\u{1b}[2J");
    assert_eq!(clean_line("a\u{202e}b\u{2028}c"), "a\\u{202e}b\\u{2028}c");
    assert_eq!(clean_lines("a\r\nb\rc\n", &Cells::default()), ["a", "b\\u{d}c"]);
}

#[test]
fn case_111_hard_texts_in_every_field() {
    for text in fixture::HARD {
        for width in [1, 13, 80] {
            scan(text, width);
        }
    }
}

#[test]
fn v4_what_scripts_and_emoji_need_stays() {
    for text in
        ["👩‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇩🇪 1️⃣ ❤️", "e\u{301}\u{323} n\u{303}", "क्षत्रिय न्‍य", "葛\u{e0100}", "עברית عربى"]
    {
        assert_eq!(clean_line(text), text);
    }
}

#[test]
fn v4_marks_and_joiners_without_a_base_are_shown() {
    assert_eq!(clean_line("a\u{200d}b"), "a\\u{200d}b");
    assert_eq!(clean_line("👩\u{200d}"), "👩\\u{200d}");
    assert_eq!(clean_line(" \u{fe0f}"), " \\u{fe0f}");
    assert_eq!(clean_line("a\u{fe0f}\u{fe0f}"), "a\u{fe0f}\\u{fe0f}");
    assert_eq!(clean_line("a\u{200d}\u{1f3fd}"), "a\\u{200d}\u{1f3fd}");
    // A joiner behind something that was spelt out has lost its emoji.
    assert_eq!(clean_line("👩\u{200c}\u{200d}👩"), "👩\\u{200c}\\u{200d}👩");
    // A mark without a base would be drawn on what stands before the field.
    assert_eq!(clean_line("\u{301}\u{302}x"), "\\u{301}\\u{302}x");
    assert_eq!(clean_line("a\u{200b}\u{301}"), "a\\u{200b}\\u{301}");
    let stacked = format!("a{}", "\u{301}".repeat(1000));
    assert!(clean_line(&stacked).chars().filter(|c| *c == '\u{301}').count() <= 16);
}

#[test]
fn case_113_tabs_become_blanks_by_cell() {
    assert_eq!(clean_line("a\tb"), "a   b");
    assert_eq!(clean_line("漢\tb"), "漢  b");
    assert_eq!(clean_line("\t\tx"), "        x");
    assert_eq!(clean_line("abcd\te"), "abcd    e");
}

#[test]
fn v4_links_are_drawn_only_where_the_theme_has_them() {
    let link = Link::file(std::path::Path::new("/a b/ü\u{7}.rs"));
    assert_eq!(link.as_ref().unwrap().uri(), "file:///a%20b/%C3%BC%07.rs");
    assert_eq!(Link::file(std::path::Path::new("relative")), None);
    let mut line = Line::new();
    line.push(Span::new("x", Role::Text).linked(link));
    let drawn = |theme: Theme| to_ansi(std::slice::from_ref(&line), &theme);
    assert_eq!(drawn(Theme::dark()), "x\n");
    assert_eq!(drawn(Theme::none().with_links(true)), "x\n");
    assert_eq!(
        drawn(Theme::dark().with_links(true)),
        "\u{1b}]8;;file:///a%20b/%C3%BC%07.rs\u{1b}\\x\u{1b}]8;;\u{1b}\\\n"
    );
}
