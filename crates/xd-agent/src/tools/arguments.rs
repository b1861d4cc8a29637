//! The arguments of a call, as its tool reads them.

use serde::de::DeserializeOwned;
use serde_json::Value;
use xd_resolve::ToolResult;

/// The arguments as `T`, or the answer that says what is wrong and shows a call that is right. A
/// habitual top-level `i` is dropped, as for devices (`CONTRACT R3`).
pub(super) fn read<T: DeserializeOwned>(
    tool: &str,
    mut arguments: Value,
    example: &str,
) -> Result<T, ToolResult> {
    if let Some(object) = arguments.as_object_mut() {
        object.remove("i");
    }
    serde_json::from_value(arguments)
        .map_err(|error| ToolResult::error(format!("{tool}: {error}. Example: {example}")))
}

/// One text or several.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(super) fn into_list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::More(more) => more,
        }
    }
}
