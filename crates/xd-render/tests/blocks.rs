//! What every block looks like, at four widths and in three themes.

mod fixture;

use serde_json::json;
use xd_render::{
    Decision, Highlighter, Highlighting, Line, Options, Outcome, Phase, Preview, PreviewState,
    Renderers, Syntax, Theme, Token, preview_block, result_block, result_card, to_ansi,
};
use xd_resolve::{ToolCall, ToolResult};

use fixture::{call_lines, decision, preview};

const WIDTHS: [usize; 4] = [20, 40, 80, 200];

/// Snapshots `draw` at every width and theme, escapes made readable and line ends marked.
fn check(name: &str, draw: impl Fn(&Options) -> Vec<Line>) {
    for (theme_name, theme) in [
        ("none", Theme::none()),
        ("ansi16", Theme::ansi16()),
        ("dark", Theme::dark()),
        ("light", Theme::light()),
    ] {
        let mut text = String::new();
        for width in WIDTHS {
            let options = Options::new(width).with_theme(theme.clone());
            let drawn = to_ansi(&draw(&options), &options.theme);
            text.push_str(&format!("── {width} columns\n"));
            for line in drawn.replace('\u{1b}', "␛").lines() {
                text.push_str(&format!("{line}⏎\n"));
            }
        }
        insta::assert_snapshot!(format!("{name}_{theme_name}"), text);
    }
}

#[test]
fn v2_block_of_an_accepted_action() {
    check("accept", |options| result_block(&decision(Outcome::Applied), options));
}

#[test]
fn v2_block_of_a_discarded_action() {
    check("discard", |options| result_block(&decision(Outcome::Discarded), options));
}

#[test]
fn v2_block_of_a_failed_apply() {
    check("failed", |options| result_block(&decision(Outcome::Failed), options));
}

#[test]
fn v2_block_of_a_foreign_result_without_reason_or_label() {
    let decision = Decision {
        outcome: Outcome::Discarded,
        label: None,
        source: None,
        reason: None,
        message: None,
    };
    check("foreign", |options| result_block(&decision, options));
}

#[test]
fn d3_block_of_a_reject_with_nothing_pending() {
    let decision = Decision {
        outcome: Outcome::NothingPending,
        label: None,
        source: None,
        reason: Some("Not needed.".into()),
        message: None,
    };
    check("nothing_pending", |options| result_block(&decision, options));
}

#[test]
fn v1_calls_while_they_stream() {
    let confirm = json!({ "path": "xd://resolve", "content": fixture::REASON }).to_string();
    check("call_resolve", |options| call_lines("write", &confirm, Phase::Streaming, options));
    let file = json!({ "path": "src/a/rather/deep/folder/client.ts", "content": "x" }).to_string();
    check("call_file", |options| call_lines("write", &file, Phase::Queued, options));
    let tool = json!({ "paths": ["src"], "ops": [{ "pat": "a($X)", "out": "b($X)" }] }).to_string();
    check("call_tool", |options| call_lines("ast_edit", &tool, Phase::Running, options));
}

#[test]
fn v5_a_device_without_a_renderer_draws_as_a_generic_card() {
    let call = ToolCall::new(
        "1",
        "write",
        json!({ "path": "xd://format_table", "content": "{\"table\": \"|a|b|\"}" }),
    );
    let result =
        ToolResult::text("| a | b |\n\nOne table, two columns, nothing else to say of it.");
    check("device_card", |options| {
        result_card(&xd_render::own_call(&call).unwrap(), &result, options)
    });
    let failed = ToolResult::error("No table in the input.");
    check("device_card_failed", |options| Renderers::new().draw(&call, &failed, options));
}

#[test]
fn case_109_preview_names_every_file_with_counts() {
    check("preview", |options| preview_block(&preview(), options));
}

#[test]
fn case_107_preview_states_its_cut_and_the_way_to_all() {
    check("preview_cut", |options| {
        preview_block(&preview(), &options.clone().with_max_lines(Some(3)))
    });
}

#[test]
fn case_109_code_is_coloured_where_somebody_tells_what_it_is() {
    check("preview_coloured", |options| {
        let by = Highlighting::by(Words);
        preview_block(&preview(), &options.clone().with_highlighting(by))
    });
}

/// Knows three words and a comment.
struct Words;

impl Highlighter for Words {
    fn tokens(&self, _: &str, source: &str) -> Option<Vec<Token>> {
        let known = [
            ("return", Syntax::Keyword),
            ("import", Syntax::Keyword),
            ("string", Syntax::Type),
            ("// 漢字", Syntax::Comment),
        ];
        let found = known.iter().flat_map(|(word, syntax)| {
            let at = source.match_indices(word);
            at.map(|(at, word)| Token { range: at..at + word.len(), syntax: *syntax })
        });
        let mut tokens: Vec<Token> = found.collect();
        tokens.sort_by_key(|token| token.range.start);
        Some(tokens)
    }
}

#[test]
fn f2_a_stale_preview_says_so() {
    let mut preview = preview();
    preview.stale = Some("src/client.ts changed after the preview.".into());
    preview.text = String::new();
    check("preview_stale", |options| preview_block(&preview, options));
}

// CONTRACT W5: what is no longer pending is not drawn as a proposal.
#[test]
fn w5_a_preview_says_what_became_of_it() {
    let cases = [
        (PreviewState::Pending, "◌ Proposed: ", "@3 pending"),
        (PreviewState::BeingResolved, "◌ Proposed: ", "@3 being resolved"),
        (PreviewState::Applied, "✓ Applied: ", "@3 applied"),
        (PreviewState::Discarded, "⊘ Discarded: ", "@3 discarded"),
        (PreviewState::Void, "⊘ Void: ", "@3 void"),
        (PreviewState::Withdrawn, "⊘ Withdrawn: ", "@3 withdrawn"),
    ];
    for (state, title, badge) in cases {
        for width in WIDTHS {
            let drawn = preview_block(&Preview { state, ..preview() }, &Options::new(width));
            let text: String = drawn.iter().map(|line| line.text() + "\n").collect();
            assert!(text.starts_with(title) && text.contains(badge), "{width}: {text}");
        }
        let mut unnamed = Preview { state, ..preview() };
        unnamed.number = None;
        let drawn = preview_block(&unnamed, &Options::new(200));
        assert!(drawn[0].text().ends_with(state.word()), "{}", drawn[0].text());
    }
}
