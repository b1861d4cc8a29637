//! The tool `grep`: lines that match a pattern.

use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use xd_changeset::{RelPath, Root};
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure};

use super::{
    arguments,
    arguments::OneOrMore,
    matches::{InFile, Matches},
    walk::Walk,
};

const NAME: &str = "grep";
const EXAMPLE: &str = r#"{"pattern": "fn main", "path": "src", "glob": "*.rs"}"#;
/// Matching lines of an answer, unless the call says otherwise.
const USUAL: usize = 100;
/// The most that a call may ask for.
const MOST: usize = 1_000;
/// The most lines around a match.
const MOST_CONTEXT: usize = 20;
/// The most bytes of an answer's lines.
const BYTES: usize = 32 << 10;
/// The most bytes of a file that is searched.
const FILE_BYTES: u64 = 32 << 20;
/// Files that are named for what is not shown.
const NAMED: usize = 20;

/// Searches files for a regular expression or a literal text. Tier read; runs beside others.
#[derive(Debug)]
pub struct GrepTool {
    definition: ToolDefinition,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<OneOrMore>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    files_only: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    limit: Option<usize>,
}

impl Default for GrepTool {
    fn default() -> Self {
        let definition = ToolDefinition::new(
            NAME,
            "Searches files for lines that match a pattern.\n\
             The pattern is a regular expression, a plain text with `literal`. A line reads \
             `path:number: text`, one of the context `path:number- text`. Ignored and binary files \
             are left out, hidden ones unless `hidden` is set.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "What to search for." },
                    "path": { "type": "string", "description": "A file or folder; the workspace without it." },
                    "glob": {
                        "description": "Only files that fit, one pattern or several: *.rs, src/**, !*.lock",
                        "anyOf": [
                            { "type": "string" },
                            { "type": "array", "items": { "type": "string" } }
                        ]
                    },
                    "literal": { "type": "boolean", "description": "Take the pattern as plain text." },
                    "ignore_case": { "type": "boolean", "description": "Letters of either case match." },
                    "context": { "type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "description": "Lines around each match." },
                    "files_only": { "type": "boolean", "description": "Only the files, each with how many lines match." },
                    "hidden": { "type": "boolean", "description": "Look at hidden files too." },
                    "offset": { "type": "integer", "minimum": 0, "description": "Leave out so many at the begin." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "description": "At most so many; 100 without it." }
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        );
        Self { definition }
    }
}

impl Tool for GrepTool {
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
    /// Dropped, the search ends at the next file.
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
                .away(move |context, stop| search(context.workspace().root(), arguments, stop));
            match found.await? {
                Ok(Some(result)) => Ok(result),
                Ok(None) => Err(ToolFailure::Aborted),
                Err(fault) => Ok(ToolResult::error(format!("{NAME}: {fault}."))),
            }
        })
    }
}

/// What was not searched.
#[derive(Debug, Default)]
struct Left {
    binary: usize,
    large: usize,
    unreadable: usize,
}

/// The answer; none where it is not wanted any more.
fn search(
    root: &Root,
    arguments: Arguments,
    stop: &dyn Fn() -> bool,
) -> Result<Option<ToolResult>, String> {
    let matcher = matcher(&arguments)?;
    let globs = arguments.glob.clone().map(OneOrMore::into_list).unwrap_or_default();
    let walk = Walk::new(root, arguments.path.as_deref(), &globs, arguments.hidden)?;
    let context = arguments.context.min(MOST_CONTEXT);
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut matches = Matches {
        text: String::new(),
        total: 0,
        shown: 0,
        later: Vec::new(),
        files: 0,
        counts: Vec::new(),
        lines: !arguments.files_only,
        offset: arguments.offset,
        limit: arguments.limit.unwrap_or(USUAL).clamp(1, MOST),
        bytes: BYTES,
    };
    let mut left = Left::default();
    walk.files(root, |path| {
        look(root, path, &matcher, &mut searcher, &mut matches, &mut left);
        !stop()
    });
    Ok(if stop() { None } else { Some(answer(matches, &left)) })
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, String> {
    if arguments.pattern.is_empty() {
        return Err("the pattern is empty; every line would match".to_owned());
    }
    RegexMatcherBuilder::new()
        .fixed_strings(arguments.literal)
        .case_insensitive(arguments.ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| {
            format!("the pattern is no regular expression: {error}; set `literal` for plain text")
        })
}

/// Searches one file, read through the root so that no link leads out (**Invariant G7**).
fn look(
    root: &Root,
    path: &RelPath,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    matches: &mut Matches,
    left: &mut Left,
) {
    match root.metadata(path) {
        Ok(metadata) if metadata.len > FILE_BYTES => {
            left.large += 1;
            return;
        }
        Ok(_) => {}
        Err(_) => {
            left.unreadable += 1;
            return;
        }
    }
    let content = root.read(path);
    let Some(bytes) = content.as_ref().ok().and_then(|content| content.bytes().ok()) else {
        left.unreadable += 1;
        return;
    };
    let mut in_file = InFile::new(matches, path);
    // Nothing can fail but the reading, and the bytes are here.
    let searched = searcher.search_slice(matcher, &bytes, &mut in_file);
    left.unreadable += usize::from(searched.is_err());
    left.binary += usize::from(in_file.end());
}

fn answer(matches: Matches, left: &Left) -> ToolResult {
    let Matches { mut text, total, shown, later, files, counts, lines, offset, limit, .. } =
        matches;
    let counted = |n: usize, one: &str, more: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {more}"),
    };
    let mut rest = String::new();
    let shown = if lines {
        let end = offset.min(total) + shown;
        if end < total {
            rest = format!(
                " Shown are {} to {end}; the rest: the same call with offset {end}.",
                offset + 1
            );
            for (path, count) in later.iter().take(NAMED) {
                rest.push_str(&format!("\n  {path}: {count} more"));
            }
            if later.len() > NAMED {
                rest.push_str(&format!("\n  and {} more files", later.len() - NAMED));
            }
        }
        shown
    } else {
        let page: Vec<_> = counts.iter().skip(offset).take(limit).collect();
        for (path, count) in &page {
            text.push_str(&format!("{path}: {count}\n"));
        }
        let end = offset.min(files) + page.len();
        if end < files {
            rest = format!(
                " Shown are the files {} to {end}; the rest: the same call with offset {end}.",
                offset + 1
            );
        }
        page.len()
    };
    if !text.is_empty() {
        text.push('\n');
    }
    if total == 0 {
        text.push_str("No lines match.");
    } else {
        let lines = counted(total, "matching line", "matching lines");
        text.push_str(&format!("{lines} in {}.", counted(files, "file", "files")));
        if shown == 0 {
            text.push_str(&format!(" None of them comes after the first {offset}."));
        }
    }
    text.push_str(&rest);
    for (n, what) in
        [(left.binary, "not text"), (left.large, "over 32 MB"), (left.unreadable, "not readable")]
    {
        if n > 0 {
            text.push_str(&format!("\n{} not searched: {what}.", counted(n, "file", "files")));
        }
    }
    let details = json!({ "lines": total, "files": files, "shown": shown, "offset": offset });
    ToolResult::text(text).with_details(details)
}
