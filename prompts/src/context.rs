//! One typed context for each template: the variables it may use, and nothing else.
//!
//! Every field is always present when a template renders: what may be missing is an `Option`, which
//! a template tests with `is none`. A variable that no context declares is therefore always a
//! mistake, and it is an error.

use serde::Serialize;

use crate::PromptName;

/// A context that belongs to exactly one template.
pub trait PromptContext: Serialize {
    /// The template that this context is for.
    const PROMPT: PromptName;
}

/// Ties each context to its template.
macro_rules! belongs_to {
    ($($context:ty => $name:ident),+ $(,)?) => {
        $(impl PromptContext for $context {
            const PROMPT: PromptName = PromptName::$name;
        })+
    };
}

belongs_to! {
    ResolveReminder => ResolveReminder,
    ResolveReminderHiddenTool => ResolveReminderHiddenTool,
    DeviceSection => DeviceSection,
    PlanMode => PlanMode,
    DeviceDocs => DeviceDocs,
    ProtocolUsage => ProtocolUsage,
}

/// The reminder for a staged action at the head of the stack (`CONTRACT G3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResolveReminder {
    /// The tool that staged it, as the model calls it: `ast_edit`.
    pub tool_name: String,
    /// The number of the head.
    pub number: u64,
    /// The numbers of all pending actions, the head first. Empty counts as the head alone.
    pub pending: Vec<u64>,
}

/// The reminder for hosts that offer the hidden `resolve` tool instead of devices (`CONTRACT D15`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResolveReminderHiddenTool {
    /// The tool that staged it, as the model calls it: `ast_edit`.
    pub tool_name: String,
    /// The number of the head.
    pub number: u64,
    /// The numbers of all pending actions, the head first. Empty counts as the head alone.
    pub pending: Vec<u64>,
}

/// The prompt section that tells which devices are mounted (`CONTRACT R5`, case 42).
///
/// Budgets are the caller's: it decides which summaries are cut and which documents are inlined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceSection {
    /// The devices to show, in the order to show them.
    pub devices: Vec<DeviceLine>,
    /// How many devices are shown without their documents.
    pub listed_only: u64,
    /// How many devices are mounted. More than `devices` holds means that the rest is only counted.
    pub total: u64,
}

/// One device in a [`DeviceSection`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceLine {
    /// The device's name, without the scheme.
    pub name: String,
    /// What it does, in one line. Line breaks are flattened, other control characters escaped.
    pub summary: String,
    /// Its documents, where they are inlined. Shown as they are.
    pub doc: Option<String>,
}

/// The text at the tail of the conversation while plan mode is on (`CONTRACT P1`, `P4`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanMode {
    /// The plan's slug, where a draft exists already.
    pub slug: Option<String>,
}

/// The page that a device shows when it is read (`CONTRACT R3`, `W5`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceDocs {
    /// The device's name, without the scheme.
    pub name: String,
    /// What it does, as long as needed.
    pub description: String,
    /// The JSON Schema of its arguments, pretty-printed.
    pub schema: String,
    /// A JSON object of arguments that the schema accepts.
    pub example: Option<String>,
}

/// The protocol in under 2 KB, for a client that does not know it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProtocolUsage {
    /// The names of the tools that stage. Empty leaves the line out.
    pub producers: Vec<String>,
}
