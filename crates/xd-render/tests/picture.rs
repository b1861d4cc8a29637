//! Pictures of what is drawn.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use proptest::prelude::*;
use xd_render::{Cells, Ground, Options, Picture, Theme, preview_block};

fn svg(lines: &[xd_render::Line], width: usize, theme: &Theme, cells: &Cells) -> String {
    Picture::of(lines, width, theme, cells).to_svg("A \"<title>\"", Ground::Dark)
}

/// Fails where `svg` is no XML of the few elements that a picture is made of. Answers its texts.
fn assert_well_formed(svg: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut texts = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(!text.contains('>'), "{text:?}");
        if open.last() == Some(&"text") {
            texts.push(text.to_owned());
        }
        let end = tag.find('>').unwrap();
        let inner = &tag[1..end];
        assert_eq!(inner.matches('"').count() % 2, 0, "{inner:?}");
        match inner.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => {
                let name = inner.split([' ', '/']).next().unwrap();
                assert!(["svg", "title", "rect", "g", "text"].contains(&name), "{inner:?}");
                if !inner.ends_with('/') {
                    open.push(name);
                }
            }
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    texts
}

#[test]
fn a_picture_shows_the_texts_and_their_colours() {
    let options = Options::new(80).with_theme(Theme::ansi16());
    let drawn =
        svg(&preview_block(&fixture::preview(), &options), 80, &options.theme, &options.cells);
    let texts = assert_well_formed(&drawn);
    for wanted in ["src/client.ts", "newApi", "oldApi"] {
        assert!(texts.iter().any(|text| text.contains(wanted)), "{wanted}: {texts:?}");
    }
    assert!(drawn.contains("text-decoration=\"underline\""), "the marked words stand out");
    assert!(drawn.contains("aria-label=\"A &quot;&lt;title&gt;&quot;\""), "{drawn}");
    let again =
        svg(&preview_block(&fixture::preview(), &options), 80, &options.theme, &options.cells);
    assert_eq!(drawn, again);
}

#[test]
fn what_is_put_beside_stays_apart_and_what_is_put_beyond_is_cut() {
    let mut picture = Picture::new(6);
    let plain = anstyle::Style::new();
    assert_eq!(picture.put(1, 0, "ab", plain, &Cells::default()), 2);
    assert_eq!(picture.put(1, 4, "漢字", plain, &Cells::default()), 2);
    let texts = assert_well_formed(&picture.to_svg("t", Ground::Light));
    assert_eq!(texts, ["ab", "漢"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    // CONTRACT V4: a picture is inert too, whatever is in it.
    #[test]
    fn v4_any_text_makes_a_well_formed_picture(
        text in "(\\PC|[<>&\"'\u{0}-\u{1f}\u{202e}]|[a-z ]{3}){0,30}",
        width in 1usize..90,
    ) {
        let options = Options::new(width);
        for (_, lines) in fixture::everything(&text, &options) {
            let drawn = svg(&lines, width, &Theme::dark(), &options.cells);
            assert_well_formed(&drawn);
            prop_assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()));
        }
    }
}
