//! Structural rewrites that are staged, not written.

mod engine;
mod expand;
mod indent;
mod language;
mod op;
mod pattern;
mod removal;
mod template;
mod tree;
mod variable;

pub use engine::{DroppedComment, Edit, Refusal, Rewritten, Site, assemble, rewrite};
pub use language::{Lang, LangError};
pub use op::{Op, OpError, OpsError, Program, check_ops};
pub use pattern::PatternError;
pub use template::TemplateError;
