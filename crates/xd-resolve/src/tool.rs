//! Tool calls and tool results, in the one shape that every layer above uses.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call of a tool, as a model made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for the call; its result carries the same.
    pub id: String,
    /// The tool's name, as the model wrote it: nothing is looked up yet.
    pub name: String,
    /// The arguments. An object for a well-formed call, but a model may send anything.
    pub arguments: Value,
}

impl ToolCall {
    /// A call of `name` with `arguments`, under the provider's `id`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
    }

    /// The string argument `key`, where the arguments are an object and hold one.
    #[must_use]
    pub fn str_argument(&self, key: &str) -> Option<&str> {
        self.arguments.get(key)?.as_str()
    }
}

/// What a tool answered: text blocks for the model, details for the host.
///
/// A result is either a success or an error; `details` never reaches the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Text blocks in order, as the model reads them.
    pub content: Vec<String>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
    /// Structured data for the host: renderers, transcripts, tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ToolResult {
    /// A success of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![text.into()], is_error: false, details: None }
    }

    /// An error of one text block.
    pub fn error(text: impl Into<String>) -> Self {
        Self { content: vec![text.into()], is_error: true, details: None }
    }

    /// The same result with `details`.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// All text blocks, joined by line breaks.
    #[must_use]
    pub fn joined(&self) -> String {
        self.content.join("\n")
    }
}

/// How far a tool call reaches (`CONTRACT W6`). The order is that of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// It looks and changes nothing.
    Read,
    /// It changes files of the workspace.
    Write,
    /// It runs something, or nobody knows.
    Exec,
}
