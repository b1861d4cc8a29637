//! Structural rewrites over many files, proposed as a change set and never written.
//!
//! Layer: a producer of staged actions, above `xd-changeset` and `xd-write`.
//! May use: the grammars of ast-grep, files below one workspace root (read only), threads.
//! Never touches: a file for writing, anything outside the root, the environment, the terminal.
//!
//! # The two halves
//! - The **engine** is pure: [`Program::compile`] reads operations for one language, [`rewrite`]
//!   turns a source into edits. No files, no clock.
//! - A **call** ([`propose`]) finds the files that a [`Request`] names, reads them, runs the engine
//!   on several threads and answers an [`Outcome`]: a [`Proposal`] to stage, or the statement that
//!   nothing would change.
//!
//! # Patterns (`CONTRACT A1`)
//! A pattern is code with variables: `$A` is any one node, `$$$A` any list of nodes, `$_` anything
//! unnamed; the same name twice matches the same code. It is read where it parses: alone, as a
//! statement, as a member of a class. A list behind a comma may be empty together with the comma.
//! What does not parse, is more than one piece, or is a variable alone is refused with its place.
//!
//! # Templates
//! A template is text with the pattern's variables. A variable that the pattern does not bind is an
//! error. **`$$` before a name is one literal dollar**: `$$HOME` writes `$HOME`. A dollar that no
//! name follows is text as it stands (`${x}`, `$1`). A lower-case `$name` is text where the pattern
//! has the same word, and an error otherwise, because it may be a mistyped variable.
//!
//! Captures go in literally and once. Their later lines move with the indentation of the place
//! where they land; blank lines and the inside of strings stay. New lines end as the file's do.
//! An empty list takes its comma with it, and `;` or `,` are not doubled at the end. An empty
//! template removes the match together with its separator, its terminator, its line, the head that
//! is nothing without it (`export`, decorators, `template <…>`), and the comments that document it,
//! which count as dropped. What is left of a tuple stays one: `(a,)`. Text behind a capture that
//! ends in a line comment begins a line.
//!
//! # Rule objects
//! An operation may be a [`Rule`] instead, a document as ast-grep's users write it: `kind`, `regex`,
//! `inside`, `has` and the others beside `pattern`, and `fix`. All that is said of templates holds
//! for `fix`; a variable that one match leaves unbound refuses the call with its place.
//!
//! # Invariants
//! - **Invariant A1:** every [`Lang`] can parse: there is no value for a grammar left out.
//! - **Invariant A2:** a template that was read names nothing that its pattern does not bind.
//! - **Invariant A3:** the edits of a result are sorted and never overlap.
//! - **Invariant A4:** where the source parses, so does the result, or there is none.
//! - **Invariant A5:** the same files give the same outcome on any number of threads.
//! - **Invariant A6:** label, preview and result show the same two numbers.
//! - **Invariant A7:** what stands around an edit is read as before: it ends where it ended, takes in
//!   nothing that stood beside it, and no comment hides it. What cannot be told to be so is refused
//!   with its place. Text order (HTML, Markdown) is only checked for comments.
//! - **Invariant A8:** what is inside a string, a here-document or a template literal keeps its white
//!   space, in captures and in templates; a result that would not is refused with its place.
//! - **Invariant A9:** what a match holds is spelt by its pattern, captured, a comment, or matched by
//!   a variable that is to capture nothing or occurs twice; anything else is refused.
//!
//! # Example
//! ```
//! # #[cfg(feature = "lang-typescript")] {
//! use xd_ast_edit::{Lang, Op, Program, assemble, check_ops, rewrite};
//!
//! let ops = [Op::new("oldApi($A, $$$REST)", "newApi({ first: $A }, $$$REST)")];
//! check_ops(&ops).unwrap();
//! let program = Program::compile(Lang::named("ts").unwrap(), &ops);
//! let source = "oldApi(x);\noldApi(y, 1, 2);\n";
//! let rewritten = rewrite(&program, source, usize::MAX).unwrap();
//! assert_eq!(rewritten.replacements, 2);
//! assert_eq!(
//!     assemble(source, &rewritten.edits),
//!     "newApi({ first: x });\nnewApi({ first: y }, 1, 2);\n"
//! );
//! # }
//! ```

mod around;
mod doc_comment;
mod dropped;
mod engine;
mod expand;
mod files;
mod indent;
mod language;
mod list_tail;
mod literal;
mod op;
mod pattern;
mod preview;
mod propose;
mod refusal;
mod removal;
mod request;
mod rule;
mod rule_check;
mod rule_fault;
mod rule_match;
mod rule_pattern;
mod summary;
mod template;
mod tool;
mod tree;
mod uncaptured;
mod variable;

pub use dropped::DroppedComment;
pub use engine::{Edit, Rewritten, assemble, rewrite};
pub use language::{Lang, LangError};
pub use op::{Op, OpError, OpsError, Program, check_ops};
pub use pattern::PatternError;
pub use propose::{Outcome, Proposal, propose};
pub use refusal::{Refusal, Site};
pub use request::{Control, Limits, Progress, ProposeError, Request, reasons_by_language};
pub use rule::Rule;
pub use rule_fault::{RuleError, RuleFault, RuleProblem};
pub use summary::{Cap, Counts, FileCount, Issue, IssueKind, LeftOut, LostComment, Summary};
pub use template::TemplateError;
pub use tool::AstEditTool;
pub use xd_write::Bound;
