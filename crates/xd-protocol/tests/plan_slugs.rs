//! P2: what is a plan's slug, and what is not.

use proptest::prelude::*;
use xd_protocol::{MAX_SLUG_CHARS, PlanSlug, SlugFault};

fn check(body: &str, expect: Result<&str, SlugFault>) {
    assert_eq!(PlanSlug::new(body).map(PlanSlug::as_str), expect, "{body:?}");
}

// CONTRACT P2
#[test]
fn p2_a_slug_is_one_line_of_letters_digits_underscores_and_hyphens() {
    for slug in ["a", "rename-client", "Rename_2", "-", "0", "plan", "x-plan"] {
        check(slug, Ok(slug));
        check(&format!("{slug}.md"), Ok(slug));
        check(&format!("\n  {slug}.md \r\n"), Ok(slug));
    }
    let longest = "s".repeat(MAX_SLUG_CHARS);
    check(&longest, Ok(&longest));
    check(&format!("{longest}.md"), Ok(&longest));
}

// CONTRACT P2; case 83
#[test]
fn p2_case_083_anything_else_is_refused_with_an_example() {
    use SlugFault::{Character, Empty, SeveralLines, TooLong};
    let plan = format!("# Rename the client\n\n{}", "Then rename it again.\n".repeat(1_000));
    let long = "s".repeat(MAX_SLUG_CHARS + 1);
    let cases = [
        ("", Empty),
        (" \n\t", Empty),
        (".md", Empty),
        ("a\nb", SeveralLines),
        ("a\rb", SeveralLines),
        ("a\u{2028}b", SeveralLines),
        ("a\u{85}b", SeveralLines),
        (&plan, SeveralLines),
        (&long, TooLong { chars: MAX_SLUG_CHARS + 1 }),
        ("rename client", Character(' ')),
        ("a\tb", Character('\t')),
        ("a.md.md", Character('.')),
        ("a.MD", Character('.')),
        ("a.txt", Character('.')),
        ("..", Character('.')),
        ("../a", Character('.')),
        ("a/b", Character('/')),
        ("a\\b", Character('\\')),
        ("local://a-plan.md", Character(':')),
        ("{\"title\":\"a\"}", Character('{')),
        ("\u{e4}rger", Character('\u{e4}')),
        ("a\u{200b}b", Character('\u{200b}')),
        ("a\u{1b}[2J", Character('\u{1b}')),
        ("\u{ff41}", Character('\u{ff41}')),
    ];
    for (body, fault) in cases {
        check(body, Err(fault));
        let text = fault.to_string();
        assert!(text.starts_with("Nothing was submitted: the content "), "{text}");
        assert!(text.ends_with("is submitted by writing rename-client"), "{text}");
        assert!(!text.contains(|c: char| c.is_control()), "{text}");
    }
}

// CONTRACT P1
#[test]
fn p1_a_draft_is_named_after_the_slug_and_back() {
    let slug = PlanSlug::new("a-plan").unwrap();
    assert_eq!(slug.to_string(), "a-plan");
    assert_eq!(slug.draft().to_string(), "a-plan-plan.md");
    for (name, expect) in [
        ("a-plan.md", Some("a")),
        ("a-plan-plan.md", Some("a-plan")),
        ("-plan.md", None),
        ("a.md", None),
        ("a-plan.md.md", None),
        ("a.md-plan.md", None),
        (" a-plan.md", None),
        ("a/b-plan.md", None),
    ] {
        assert_eq!(PlanSlug::of_draft(name).map(PlanSlug::as_str), expect, "{name:?}");
    }
}

proptest! {
    // CONTRACT P2: a slug names one file of one folder, and the draft names the slug.
    #[test]
    fn p2_no_text_becomes_a_slug_that_leads_anywhere_else(body in "\\PC{0,90}|[a-z-]{0,90}(.md)?|\\s?[A-Z_/.]{0,6}\\s?") {
        if let Ok(slug) = PlanSlug::new(&body) {
            let text = slug.as_str();
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            prop_assert!((1..=MAX_SLUG_CHARS).contains(&text.len()));
            prop_assert!(body.trim() == text || body.trim().strip_suffix(".md") == Some(text));
            let draft = slug.draft().to_string();
            prop_assert_eq!(PlanSlug::of_draft(&draft), Some(slug));
            prop_assert_eq!(PlanSlug::new(text), Ok(slug));
        }
    }
}

// CONTRACT P2: the number itself, not whatever the constant says.
#[test]
fn p2_eighty_characters_are_the_most() {
    assert!(PlanSlug::new(&"s".repeat(80)).is_ok());
    assert_eq!(PlanSlug::new(&"s".repeat(81)).err(), Some(SlugFault::TooLong { chars: 81 }));
}
