//! Every drawing of any text, judged: inert, and no wider than the terminal (`CONTRACT V3`, V4).
//!
//! Panics where something is wrong, so that a fuzzer and a replay of its corpus can call it.

use serde_json::json;
use xd_highlight::GrammarHighlighter;
use xd_render::{
    CallView, Cells, Decision, Ground, Highlighting, Line, Options, Outcome, Picture, Preview,
    PreviewState, Renderers, Theme, preview_block, result_block, to_ansi,
};
use xd_resolve::{ToolCall, ToolResult};

/// Draws `bytes` as every field of everything. The first two say how wide the terminal is and how it
/// measures.
///
/// # Panics
/// Where a line is too wide, a byte of control comes through, or a picture is broken.
pub fn any_text(bytes: &[u8]) {
    let (head, text) = bytes.split_at(bytes.len().min(2));
    let width = 1 + usize::from(head.first().copied().unwrap_or(79)) * 399 / 255;
    let measure = head.get(1).copied().unwrap_or(0);
    let cells = Cells { ambiguous_wide: measure & 1 != 0, split_emoji: measure & 2 != 0 };
    let options = Options::new(width)
        .with_cells(cells)
        .with_live_lines(3)
        .with_link_root("/work")
        .with_highlighting(Highlighting::by(GrammarHighlighter));
    let text = String::from_utf8_lossy(text);
    for lines in drawn(&text, &options) {
        for line in &lines {
            let drawn = line.width(&cells);
            assert!(drawn <= width, "{drawn} cells of {width}: {:?}", line.text());
        }
        for theme in [Theme::none(), Theme::ansi16(), Theme::true_dark().with_links(true)] {
            let out = to_ansi(&lines, &theme);
            assert_inert(&out);
            assert!(theme != Theme::none() || !out.contains('\u{1b}'), "{out:?}");
        }
        let picture = Picture::of(&lines, width, &Theme::light(), &cells);
        let svg = picture.to_svg(&text, Ground::Light);
        assert!(svg.chars().all(|c| c == '\n' || !c.is_control()), "{svg:?}");
    }
}

fn drawn(text: &str, options: &Options) -> Vec<Vec<Line>> {
    let name = ["a.rs", "a.py", "a.md", "a.html"][text.len() % 4];
    let diff = format!("--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n-{text}\n {text}\n+{text}x\n");
    let preview = Preview {
        number: Some(1),
        label: Some(text.to_owned()),
        source: Some(text.to_owned()),
        state: PreviewState::Pending,
        stale: Some(text.to_owned()),
        text: diff.clone(),
        see_all: Some(text.to_owned()),
    };
    let decision = Decision {
        outcome: Outcome::Failed,
        label: Some(text.to_owned()),
        source: Some(text.to_owned()),
        reason: Some(text.to_owned()),
        message: Some(text.to_owned()),
    };
    let mut all = vec![
        preview_block(&preview, options),
        preview_block(&Preview { text: text.to_owned(), ..preview }, options),
        result_block(&decision, options),
    ];
    for path in [text, name, "xd://resolve", "xd://tool"] {
        let call = ToolCall::new("1", "write", json!({ "path": path, "content": text }));
        let mut view = CallView::new("write");
        for byte in call.arguments.to_string().bytes() {
            if view.push(&[byte]) && view.lines(options).len() > options.live_lines + 2 {
                panic!("a call of {} lines", view.lines(options).len());
            }
        }
        all.push(view.lines(options).to_vec());
        let renderers = Renderers::new();
        all.push(renderers.draw(&call, &ToolResult::text(text), options));
        all.push(renderers.draw(&call, &ToolResult::error(diff.clone()), options));
    }
    // What streams may be anything at all.
    let mut view = CallView::new(text);
    view.push(text.as_bytes());
    all.push(view.lines(options).to_vec());
    all
}

/// Fails on every control byte but line feeds and the sequences that are our own: styles, which end
/// in `m` and hold digits and semicolons, and hyperlinks, which hold printable ASCII.
fn assert_inert(out: &str) {
    let mut rest = out;
    while let Some(at) = rest.find(|c: char| c != '\n' && c.is_control()) {
        let own = rest[at..].strip_prefix('\u{1b}').and_then(|sequence| {
            if let Some(style) = sequence.strip_prefix('[') {
                let end = style.find(|c: char| !c.is_ascii_digit() && c != ';')?;
                return style[end..].strip_prefix('m');
            }
            let (link, behind) = sequence.strip_prefix("]8;;")?.split_once("\u{1b}\\")?;
            link.bytes().all(|byte| (0x21..0x7f).contains(&byte)).then_some(behind)
        });
        rest = own.unwrap_or_else(|| panic!("a foreign control byte in {out:?}"));
    }
}
