//! V3, N4: no line is wider than the terminal, at any width and in any measure.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use proptest::prelude::*;
use xd_render::{Break, Cells, Line, Options, Outcome, Role, Style, result_block};

fn assert_fits(text: &str, width: usize, cells: Cells) {
    let options = Options::new(width).with_cells(cells);
    for (name, lines) in fixture::everything(text, &options) {
        for line in &lines {
            let drawn = line.width(&cells);
            // A block's line is exactly as wide as the terminal.
            let least = if name == "block" { width } else { 0 };
            assert!(
                (least..=width).contains(&drawn),
                "{name} of {text:?}: {drawn} cells of {width}: {:?} in {cells:?}",
                line.text()
            );
        }
    }
}

#[test]
fn n4_v3_hard_texts_at_narrow_and_usual_widths() {
    for text in fixture::HARD {
        for width in [1, 2, 3, 8, 20, 60, 200] {
            assert_fits(text, width, Cells::default());
        }
    }
}

#[test]
fn n4_v3_one_hard_text_at_widths_from_1_to_200() {
    let text = ["漢字 e\u{301}\tx", "👩‍👩‍👧‍👦 🇩🇪", "\u{1b}[1m\u{202e}a long word"].join("\n");
    for width in (1..=40).chain((41..=200).step_by(11)) {
        assert_fits(&text, width, Cells::default());
    }
}

#[test]
fn n4_v3_blocks_at_every_width_from_1_to_400() {
    for cells in fixture::measures() {
        for width in 1..=400 {
            let options = Options::new(width).with_cells(cells);
            for outcome in [Outcome::Failed] {
                for line in result_block(&fixture::decision(outcome), &options) {
                    assert_eq!(line.width(&cells), width, "{:?}", line.text());
                }
            }
            let coloured = xd_render::Highlighting::by(fixture::Motley);
            let options = options.with_highlighting(coloured);
            for line in xd_render::preview_block(&fixture::preview(), &options) {
                assert!(line.width(&cells) <= width, "{width}: {:?}", line.text());
            }
        }
    }
}

#[test]
fn v3_width_zero_counts_as_one() {
    for (_, lines) in fixture::everything("漢 text", &Options::new(0)) {
        assert!(lines.iter().all(|line| line.width(&Cells::default()) <= 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn n4_v3_any_text_fits_in_any_measure(
        text in "(\\PC|\\s|[a-z ]{3}|[\u{300}-\u{30f}\u{1f1e6}-\u{1f1ff}\u{1f468}\u{200d}漢]){0,30}",
        width in 1usize..=400,
        measure in 0usize..4,
    ) {
        assert_fits(&text, width, fixture::measures()[measure]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn v3_cut_and_wrap_lose_nothing_that_fits(
        text in "(\\PC|[a-z ]{2}|[\u{300}-\u{303}\u{1f468}\u{200d}漢]){0,60}",
        width in 2usize..40,
        measure in 0usize..4,
    ) {
        let cells = fixture::measures()[measure];
        let line = Line::of(&text, Role::Text);
        let clean = line.text();
        let cut = cells.cut(&clean, width);
        assert!(cells.width(&cut) <= width);
        assert_eq!(cut == clean, cells.width(&clean) <= width);
        let tail = cells.cut_start(&clean, width);
        assert!(cells.width(&tail) <= width);
        assert_eq!(tail == clean, cells.width(&clean) <= width);

        let rows = line.wrap(width, Break::Anywhere, &cells);
        assert!(rows.iter().all(|row| row.width(&cells) <= width));
        if rows.iter().all(|row| row.text() != "?") {
            assert_eq!(rows.iter().map(Line::text).collect::<String>(), clean);
        }
        // Words may lose the blanks at a break, and nothing else.
        let rows = line.wrap(width, Break::Words, &cells);
        assert!(rows.iter().all(|row| row.width(&cells) <= width));
        if rows.iter().all(|row| row.text() != "?") {
            let dense = |text: &str| text.replace(' ', "");
            assert_eq!(dense(&rows.iter().map(Line::text).collect::<String>()), dense(&clean));
        }
    }
}

#[test]
fn v3_prose_breaks_between_words() {
    let rows = |text: &str, width| -> Vec<String> {
        let line = Line::of(text, Role::Text);
        line.wrap(width, Break::Words, &Cells::default()).iter().map(Line::text).collect()
    };
    assert_eq!(rows("one two  three", 7), ["one two", "three"]);
    assert_eq!(rows("one two  three", 8), ["one two", "three"]);
    assert_eq!(rows("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
    assert_eq!(rows("    indented text", 12), ["    indented", "text"]);
    assert_eq!(rows("漢字漢字", 3), ["漢", "字", "漢", "字"]);
    assert_eq!(rows("漢x", 1), ["?", "x"]);
    assert_eq!(rows("", 5), [""]);
}

#[test]
fn v3_styles_survive_cutting_and_wrapping() {
    let mut line = Line::of("red", Role::Error);
    line.add("green", Role::Success);
    let cells = Cells::default();
    let roles = |line: &Line| -> Vec<(String, Role)> {
        line.spans().iter().map(|span| (span.text().to_owned(), span.style().role)).collect()
    };
    let rows = line.wrap(5, Break::Anywhere, &cells);
    assert_eq!(roles(&rows[0]), [("red".into(), Role::Error), ("gr".into(), Role::Success)]);
    assert_eq!(roles(&rows[1]), [("een".into(), Role::Success)]);
    let cut = line.cut(5, &cells).pad(7, Style::new(Role::Muted), &cells);
    assert_eq!(cut.text(), "redg…  ");
    assert_eq!(cut.spans().last().unwrap().style().role, Role::Muted);
}

#[test]
fn case_115_joined_emoji_and_marks_keep_the_right_border_in_one_column() {
    let decision = xd_render::Decision {
        outcome: Outcome::Applied,
        label: Some("Edit: 👩‍👩‍👧‍👦 漢字 e\u{301}".into()),
        source: None,
        reason: Some("👩🏽‍🚀 ships 🇩🇪 and ❤️ for 한국어".into()),
        message: None,
    };
    for cells in fixture::measures() {
        for line in result_block(&decision, &Options::new(60).with_cells(cells)) {
            assert_eq!(line.width(&cells), 60, "{:?}", line.text());
        }
    }
}
