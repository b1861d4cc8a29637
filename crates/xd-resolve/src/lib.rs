//! Staged actions, their stack, and exactly-once dispatch of a decision.
mod tool;
pub use tool::{ToolCall, ToolResult};
