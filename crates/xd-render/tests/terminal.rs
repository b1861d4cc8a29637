//! V2, V3: what a real terminal emulator makes of the drawings.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use proptest::prelude::*;
use xd_render::{Cells, Line, Options, Outcome, Theme, preview_block, result_block, to_ansi};

/// The emulator measures character by character, as many terminals do.
const MEASURE: Cells = Cells { ambiguous_wide: false, split_emoji: true };

/// Fails on everything that the drawing makes the terminal do besides drawing. Of the sequences the
/// emulator does not know, links alone are ours.
struct Nothing;

impl vt100::Callbacks for Nothing {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        panic!("V4: it rang the bell");
    }
    fn resize(&mut self, _: &mut vt100::Screen, _: (u16, u16)) {
        panic!("V4: it resized the terminal");
    }
    fn set_window_title(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        panic!("V4: it set the title");
    }
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], _: &[u8]) {
        panic!("V4: it wrote to the clipboard");
    }
    fn unhandled_control(&mut self, _: &mut vt100::Screen, byte: u8) {
        panic!("V4: it sent the control byte {byte:#x}");
    }
    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        assert_eq!(params[0], b"8", "V4: it sent an operating system command");
    }
}

/// Draws `lines` on a screen of `width` columns and gives it back. Line feeds become carriage
/// return and line feed, as the terminal driver makes them.
fn screen(lines: &[Line], width: usize, theme: &Theme) -> vt100::Parser<Nothing> {
    let rows = u16::try_from(lines.len() + 1).unwrap();
    let mut parser =
        vt100::Parser::new_with_callbacks(rows, u16::try_from(width).unwrap(), 0, Nothing);
    parser.process(to_ansi(lines, theme).replace('\n', "\r\n").as_bytes());
    parser
}

/// Every line stands on the row of its own, with its own text: nothing wrapped, nothing moved.
fn assert_drawn(name: &str, lines: &[Line], width: usize) {
    for theme in [Theme::none(), Theme::ansi16(), Theme::true_dark().with_links(true)] {
        let parser = screen(lines, width, &theme);
        let screen = parser.screen();
        let rows: Vec<String> = screen.rows(0, u16::try_from(width).unwrap()).collect();
        for (row, line) in rows.iter().zip(lines) {
            assert_eq!(
                row.trim_end(),
                line.text().trim_end(),
                "{name} in {width} columns, {theme:?}"
            );
        }
        let (row, column) = screen.cursor_position();
        assert_eq!((usize::from(row), column), (lines.len(), 0), "{name} in {width} columns");
    }
}

#[test]
fn case_113_case_115_hard_texts_stand_where_they_were_laid_out() {
    for text in fixture::HARD {
        for width in [2, 9, 41, 80] {
            let options = Options::new(width).with_cells(MEASURE);
            for (name, lines) in fixture::everything(text, &options) {
                assert_drawn(name, &lines, width);
            }
        }
    }
}

#[test]
fn case_113_no_line_wraps_at_any_width_up_to_400() {
    let by = xd_render::Highlighting::by(fixture::Motley);
    for width in (2..=400).step_by(3) {
        let options = Options::new(width).with_cells(MEASURE).with_highlighting(by.clone());
        assert_drawn("preview", &preview_block(&fixture::preview(), &options), width);
        assert_drawn("block", &result_block(&fixture::decision(Outcome::Failed), &options), width);
    }
}

#[test]
fn n2_nothing_is_reset_inside_a_line() {
    for theme in [Theme::ansi16(), Theme::dark(), Theme::light()] {
        let options = Options::new(60).with_theme(theme);
        for (name, lines) in fixture::everything("some: text", &options) {
            for line in to_ansi(&lines, &options.theme).lines() {
                let inside = line.strip_suffix("\u{1b}[0m").unwrap_or(line);
                for code in inside.split("\u{1b}[").skip(1).filter_map(|rest| rest.split_once('m'))
                {
                    let reset = code.0.is_empty() || code.0.split(';').any(|code| code.is_empty());
                    // A zero is a reset only where it is no colour's index.
                    let zero = code.0 == "0" || code.0.starts_with("0;");
                    assert!(!reset && !zero, "{name}: {line:?}");
                }
                let mut parser = vt100::Parser::new_with_callbacks(2, 200, 0, Nothing);
                parser.process(line.as_bytes());
                let left = parser.screen();
                let marked = left.bold() || left.italic() || left.underline() || left.inverse();
                let colours = (left.fgcolor(), left.bgcolor());
                assert!(!marked && colours == Default::default(), "{name}: not plain: {line:?}");
            }
        }
    }
}

#[test]
fn n2_v2_every_cell_of_a_block_is_inverse() {
    for width in [1, 2, 7, 8, 20, 40, 80, 200] {
        for outcome in
            [Outcome::Applied, Outcome::Discarded, Outcome::Failed, Outcome::NothingPending]
        {
            for theme in [Theme::ansi16(), Theme::dark(), Theme::light()] {
                let mut decision = fixture::decision(outcome);
                decision.reason = Some("漢字 with e\u{301} and \u{1b}[0m in it".into());
                let options = Options::new(width).with_cells(MEASURE).with_theme(theme);
                let lines = result_block(&decision, &options);
                let parser = screen(&lines, width, &options.theme);
                for row in 0..lines.len() {
                    for column in 0..width {
                        let at = (u16::try_from(row).unwrap(), u16::try_from(column).unwrap());
                        let cell = parser.screen().cell(at.0, at.1).unwrap();
                        // The second cell of a wide character has no attributes of its own.
                        let inverse = cell.inverse() || cell.is_wide_continuation();
                        assert!(inverse, "row {row}, column {column} of {width}: {outcome:?}");
                    }
                }
                let below = u16::try_from(lines.len()).unwrap();
                assert!(!parser.screen().cell(below, 0).unwrap().inverse(), "inverse leaks out");
            }
        }
    }
}

#[test]
fn v2_roles_reach_the_cells() {
    let options = Options::new(80).with_cells(MEASURE).with_theme(Theme::ansi16());
    let lines = result_block(&fixture::decision(Outcome::Applied), &options);
    let parser = screen(&lines, 80, &options.theme);
    let cell = |row, column| parser.screen().cell(row, column).unwrap();
    assert_eq!(cell(0, 3).contents(), "A");
    assert!(cell(0, 3).bold() && !cell(0, 3).italic());
    assert_eq!(cell(0, 3).fgcolor(), vt100::Color::Idx(2));
    assert!(cell(1, 1).italic() && !cell(1, 1).bold(), "the reason is in italics");

    let lines = preview_block(&fixture::preview(), &options);
    let parser = screen(&lines, 80, &options.theme);
    let (row, column) = lines
        .iter()
        .enumerate()
        .find_map(|(row, line)| Some((row, line.text().find("newApi")?)))
        .unwrap();
    let at = |column: usize| {
        parser.screen().cell(u16::try_from(row).unwrap(), u16::try_from(column).unwrap()).unwrap()
    };
    assert!(at(column).underline() && at(column + 5).underline(), "the new word is marked");
    assert!(!at(column - 1).underline() && !at(column + 6).underline(), "and it alone");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn case_113_any_text_stands_where_it_was_laid_out(
        text in "([a-z \t\n\u{1b}\u{7}\r:漢字한é]|[\u{300}-\u{305}]|[\u{1f300}-\u{1f64f}]){0,40}",
        width in 2usize..100,
    ) {
        let options = Options::new(width).with_cells(MEASURE);
        for (name, lines) in fixture::everything(&text, &options) {
            assert_drawn(name, &lines, width);
        }
    }
}
