//! Colours for code, by the grammars that rewrites use.
//!
//! *Layer:* above `xd-render`, whose question it answers, and `xd-ast-edit`, whose grammars it
//! uses. *Uses:* those two and `tree-sitter`. *Never touches:* files, a clock, the environment, the
//! terminal. A crate of its own, so that `xd-render` alone brings no grammar.
//!
//! # The rules
//! - Nothing is loaded before code is drawn: a grammar is a table in the binary, and a parser is made
//!   for each question.
//! - **Invariant H1:** tokens are in order, do not overlap, and begin and end between characters.
//! - **Invariant H2:** what is asked costs a constant times its length, whatever it holds: one parse,
//!   one walk without recursion, and nothing at all beyond [`LONGEST`] bytes.
//! - Part of a file is asked about, so the text may begin and end anywhere. Tokens are told from the
//!   leaves of the tree and what they stand in, which survives that; patterns over whole
//!   declarations, as editors use them, would not match the half of one.
//!
//! # Drawing a diff in colour
//! ```
//! use xd_highlight::GrammarHighlighter;
//! use xd_render::{Diff, Highlighting, Options, Theme, to_ansi};
//!
//! let options = Options::new(60)
//!     .with_theme(Theme::dark())
//!     .with_highlighting(Highlighting::by(GrammarHighlighter));
//! let diff = Diff::parse("--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2; // two\n");
//! let drawn = to_ansi(&diff.lines(&options, None), &options.theme);
//! // The comment is in italics.
//! assert!(drawn.contains("\u{1b}[3;38;5;248m// two"), "{drawn:?}");
//! ```
//!
//! # Where to read on
//! [`GrammarHighlighter`] is the whole of it. Within: `paint` walks a tree, `kind` says what a node is.

mod kind;
mod paint;

pub use paint::{GrammarHighlighter, LONGEST};
