//! The tool `glob`: files by the pattern of their paths.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure};

use super::{arguments, arguments::OneOrMore, walk::Walk};

const NAME: &str = "glob";
const EXAMPLE: &str = r#"{"pattern": "src/**/*.rs"}"#;
/// Paths of an answer, unless the call says otherwise.
const USUAL: usize = 200;
/// The most that a call may ask for.
const MOST: usize = 2_000;

/// Lists files by the pattern of their paths. Tier read; runs beside others.
#[derive(Debug)]
pub struct GlobTool {
    definition: ToolDefinition,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: OneOrMore,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    limit: Option<usize>,
}

impl Default for GlobTool {
    fn default() -> Self {
        let definition = ToolDefinition::new(
            NAME,
            "Lists files by a pattern of their paths, sorted.\n\
             `*` and `?` stand for letters of a name, `**` for folders, `{a,b}` for either; a \
             pattern without a slash fits at any depth; one behind `!` takes files out. Ignored \
             files are left out, hidden ones unless `hidden` is set.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "description": "One pattern or several.",
                        "anyOf": [
                            { "type": "string" },
                            { "type": "array", "items": { "type": "string" } }
                        ]
                    },
                    "path": { "type": "string", "description": "The folder to look in; the workspace without it." },
                    "hidden": { "type": "boolean", "description": "Look at hidden files too." },
                    "offset": { "type": "integer", "minimum": 0, "description": "Leave out so many paths at the begin." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "description": "At most so many paths; 200 without it." }
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        );
        Self { definition }
    }
}

impl Tool for GlobTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(Tier::Read)
    }

    fn declared_tier(&self) -> Option<Tier> {
        Some(Tier::Read)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    /// # Cancel safety
    /// Dropped, the walk ends at the next file.
    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move {
            let arguments: Arguments = match arguments::read(NAME, arguments, EXAMPLE) {
                Ok(arguments) => arguments,
                Err(answer) => return Ok(answer),
            };
            let found = context
                .away(move |context, stop| find(context.workspace().root(), arguments, stop));
            match found.await? {
                Ok(Some(result)) => Ok(result),
                Ok(None) => Err(ToolFailure::Aborted),
                Err(fault) => Ok(ToolResult::error(format!("{NAME}: {fault}."))),
            }
        })
    }
}

/// The answer; none where it is not wanted any more.
fn find(
    root: &xd_changeset::Root,
    arguments: Arguments,
    stop: &dyn Fn() -> bool,
) -> Result<Option<ToolResult>, String> {
    let Arguments { pattern, path, hidden, offset, limit } = arguments;
    let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
    let walk = Walk::new(root, path.as_deref(), &pattern.into_list(), hidden)?;
    let (mut total, mut shown) = (0_usize, Vec::new());
    walk.files(root, |path| {
        if total >= offset && shown.len() < limit {
            shown.push(path.to_string());
        }
        total += 1;
        !stop()
    });
    if stop() {
        return Ok(None);
    }
    let count = match total {
        0 => "No files match. Hidden and ignored files are not looked at.".to_owned(),
        1 => "1 file.".to_owned(),
        n => format!("{n} files."),
    };
    let end = offset + shown.len();
    let details = json!({ "files": total, "shown": shown.len(), "offset": offset });
    let mut text = shown.join("\n");
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&count);
    if shown.is_empty() && total > 0 {
        text.push_str(&format!(" None of them comes after the first {offset}."));
    } else if end < total {
        text.push_str(&format!(
            " Shown are {} to {end}; the rest: the same call with offset {end}.",
            offset + 1
        ));
    } else if offset > 0 {
        text.push_str(&format!(" Shown are {} to {end}.", offset + 1));
    }
    Ok(Some(ToolResult::text(text).with_details(details)))
}
