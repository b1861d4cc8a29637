//! Calls, decisions, previews and diffs as styled lines for a terminal.
//!
//! *Layer:* above `xd-protocol` and `xd-resolve`, whose calls and results it draws. *Uses:* those
//! two, `serde_json`, and Unicode tables; `similar` for word marks. *Never touches:* files, a
//! clock, the environment, the terminal. It returns lines and text; it prints nothing.
//!
//! # The rules
//! - **Invariant N1:** no [`Span`] holds a control, line-breaking, bidirectional or invisible
//!   character. Foreign bytes are shown escaped, in every field, without exception
//!   (`CONTRACT V4`); the only control bytes in [`to_ansi`]'s text are its own.
//! - **Invariant N2:** inside a line nothing is reset, so a block stays whole (`CONTRACT V2`).
//! - **Invariant N3:** what is drawn of streaming arguments only grows, and no byte is looked at
//!   twice (`CONTRACT V1`).
//! - **Invariant N4:** at any width from 1 no line is wider than the terminal, and the lines of a
//!   result's block are exactly as wide (`CONTRACT V2`, `V3`).
//! - What is cut is counted, and the way to see it is named where there is one. Text that is not
//!   cut is wrapped, never dropped.
//!
//! # Drawing a call from its first byte to its result
//! ```
//! use serde_json::json;
//! use xd_render::{CallView, Options, Phase, Renderers, Theme, to_ansi, to_plain};
//! use xd_resolve::{ToolCall, ToolResult};
//!
//! let options = Options::new(64);
//!
//! // While the arguments stream: feed, and redraw where something changed.
//! let mut view = CallView::new("write");
//! for chunk in [r#"{"path": "xd://re"#, r#"ject", "content": "It also "#, r#"renames tests."}"#] {
//!     if view.push(chunk.as_bytes()) {
//!         let _redraw = view.lines(&options);
//!     }
//! }
//! view.set_phase(Phase::Running);
//! let running = to_plain(view.lines(&options));
//! assert_eq!(running, "◌ Reject · running\n  It also renames tests.\n");
//!
//! // With the result: one block in place of the call.
//! let call = ToolCall::new("1", "write", json!({
//!     "path": "xd://reject", "content": "It also renames tests."
//! }));
//! let result = ToolResult::text("Discarded.").with_details(json!({ "xdev": {
//!     "tool": "reject", "mode": "execute", "args": { "reason": "It also renames tests." },
//!     "inner": {
//!         "action": "discard", "reason": "It also renames tests.",
//!         "source_tool_name": "ast_edit", "label": "AST Edit: 2 replacements in 1 file"
//!     }
//! }}));
//! let lines = Renderers::new().draw(&call, &result, &options);
//! assert_eq!(
//!     to_plain(&lines),
//!     " ⊘ Discard: 2 replacements in 1 file [AST Edit]\n proposed -> rejected\n It also renames tests.\n"
//! );
//! assert!(to_ansi(&lines, &Theme::dark()).contains("\u{1b}[7;"));
//! ```
//!
//! # Where to read on
//! [`CallView`] for streaming calls and [`Arguments`] for the decoder beneath; [`Renderers`] for
//! finished calls, with [`result_block`], [`preview_block`] and [`result_card`] one by one;
//! [`Diff`] for diffs alone; [`Line`], [`Span`] and [`Role`] for drawings of your own; [`Theme`],
//! [`Cells`] and [`Options`] for what the terminal is like; [`Highlighter`] for colours in code; [`Picture`] for SVG; [`clean_line`] for foreign text.

mod ansi;
mod arguments;
mod block;
mod call;
mod card;
mod cells;
mod clean;
mod decision;
mod diff;
mod diff_header;
mod diff_lines;
mod growing;
mod head;
mod highlight;
mod icon;
mod link;
mod options;
mod palette;
mod picture;
mod preview;
mod style;
mod summary;
mod text_decoder;
mod theme;
mod word_marks;

pub use ansi::{to_ansi, to_plain};
pub use arguments::{Arguments, Field, Shape};
pub use block::result_block;
pub use call::{CallView, Phase};
pub use card::{Renderers, ResultRenderer, own_call, result_card};
pub use cells::{Break, Cells};
pub use clean::{clean_line, clean_lines};
pub use decision::{Decision, Outcome};
pub use diff::{Diff, FileChange, FileDiff};
pub use highlight::{Highlighter, Highlighting, Syntax, Token};
pub use link::Link;
pub use options::Options;
pub use palette::Ground;
pub use picture::Picture;
pub use preview::{Preview, PreviewState, draw_preview, preview_block};
pub use style::{Line, Role, Span, Style};
pub use theme::Theme;
