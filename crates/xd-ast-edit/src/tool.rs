//! The tool `ast_edit`: a call in, a staged preview out.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use xd_protocol::Visible;
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{
    ArgumentCheck, ArgumentSchema, Concurrency, Mismatch, Progress, Proposed, Tool, ToolContext,
    ToolDefinition, ToolFailure,
};

use crate::{Bound, Control, Limits, Op, Outcome, Proposal, ProposeError, Request, Rule, propose};

/// The tool's name.
const NAME: &str = "ast_edit";

/// Structural rewrites for an agent: it stages, it never writes (`CONTRACT A1`).
#[derive(Debug, Clone)]
pub struct AstEditTool {
    definition: ToolDefinition,
    limits: Limits,
}

impl Default for AstEditTool {
    /// The tool with the usual limits.
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl AstEditTool {
    /// The tool with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { definition: definition(), limits }
    }
}

impl Tool for AstEditTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(Tier::Write)
    }

    fn declared_tier(&self) -> Option<Tier> {
        Some(Tier::Write)
    }

    fn argument_check(&self) -> Option<Arc<dyn ArgumentCheck>> {
        let schema = ArgumentSchema::compile(&self.definition.input_schema).ok()?;
        Some(Arc::new(Arguments(schema)))
    }

    /// It only stages, so calls of one batch may search side by side.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn only_stages(&self) -> bool {
        true
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(call(context, arguments, self.limits))
    }
}

/// Carries a call out.
///
/// # Cancel safety
/// Dropped while it searches, the search ends at the next file and nothing is staged.
async fn call(
    context: Arc<ToolContext>,
    arguments: Value,
    limits: Limits,
) -> Result<ToolResult, ToolFailure> {
    let request = match request_of(arguments) {
        Ok(request) => request,
        Err(fault) => {
            let example = example();
            return Ok(ToolResult::error(format!("{NAME}: {fault}. Example: {example}")));
        }
    };
    let searched = context.away(move |context, stop| search(context, &request, limits, stop));
    let outcome = searched.await?;
    match outcome {
        Ok(Outcome::Proposal(proposal)) => {
            let proposed = proposal.clone().into_proposed();
            let summary = json!(proposal.summary);
            let shown = |number| proposal.preview(Bound::MODEL, Some(number));
            Ok(context.stage_proposed(proposed, summary, shown).await)
        }
        Ok(Outcome::NoReplacements(summary)) => {
            let details = json!({ "summary": summary });
            Ok(ToolResult::text(summary.no_replacements()).with_details(details))
        }
        Err(ProposeError::Cancelled) => Err(ToolFailure::Aborted),
        Err(error) => Ok(ToolResult::error(format!("{NAME}: {error}"))),
    }
}

fn search(
    context: &ToolContext,
    request: &Request,
    limits: Limits,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Outcome, ProposeError> {
    let span =
        tracing::debug_span!("ast_edit", ops = request.ops.len(), paths = request.paths.len());
    let _entered = span.enter();
    let progress = |at: crate::Progress| {
        // One report for every file would be more than any reader wants.
        if at.seen.is_multiple_of(64) || at.seen == at.files {
            context.report(Progress::Files { seen: at.seen, matched: at.matched });
        }
    };
    let control = Control { cancelled, progress: &progress };
    propose(context.workspace().root(), request, &limits, &control)
}

/// A call as it may well be made, for documents and errors (case 40).
fn example() -> Value {
    json!({ "ops": [{ "pat": "oldApi($A)", "out": "newApi($A)" }], "paths": ["src"] })
}

/// The check that is built in, with an example that means something.
struct Arguments(ArgumentSchema);

impl ArgumentCheck for Arguments {
    fn check(&self, arguments: &Value) -> Vec<Mismatch> {
        self.0.check(arguments)
    }

    fn example(&self) -> Option<Value> {
        Some(example())
    }
}

/// Reads the arguments; the fault names the operand.
fn request_of(arguments: Value) -> Result<Request, String> {
    let Value::Object(mut arguments) = arguments else {
        return Err("the arguments are no object".to_owned());
    };
    let ops = take_list(&mut arguments, "ops")?;
    let ops = ops
        .into_iter()
        .enumerate()
        .map(|(index, op)| op_of(index, op))
        .collect::<Result<_, _>>()?;
    let paths = take_list(&mut arguments, "paths")?
        .into_iter()
        .enumerate()
        .map(|(index, path)| match path {
            Value::String(path) => Ok(path),
            _ => Err(format!("`paths[{index}]` is no string")),
        })
        .collect::<Result<_, _>>()?;
    let lang = match arguments.remove("lang") {
        None | Some(Value::Null) => None,
        Some(Value::String(lang)) => Some(lang),
        Some(_) => return Err("`lang` is no string".to_owned()),
    };
    nothing_else(&arguments, "", "ops, paths, lang")?;
    Ok(Request { ops, paths, lang })
}

fn op_of(index: usize, op: Value) -> Result<Op, String> {
    let Value::Object(mut op) = op else {
        return Err(format!("`ops[{index}]` is no object with `pat` and `out`"));
    };
    if op.contains_key("rule") {
        return rule_of(index, op);
    }
    let mut text = |key: &str, hint: &str| match op.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`ops[{index}].{key}` is no string")),
        None => Err(format!("`ops[{index}].{key}` is missing{hint}")),
    };
    let pat = text("pat", " (or give `rule` and `fix`)")?;
    // To delete by leaving something out would be too easy a mistake.
    let out = text("out", " (write \"\" to delete)")?;
    nothing_else(&op, &format!("ops[{index}]."), "pat, out")?;
    Ok(Op::new(pat, out))
}

/// An operation with a rule: the document of a rule file, as an object.
fn rule_of(index: usize, mut op: Map<String, Value>) -> Result<Op, String> {
    if op.contains_key("pat") {
        return Err(format!(
            "`ops[{index}]` has both `pat` and `rule`; put the pattern into the rule as `pattern`"
        ));
    }
    // What it becomes is called `fix` in a rule; a call that says `out` as in other ops means that.
    if let Some(out) = op.shift_remove("out") {
        if op.contains_key("fix") {
            return Err(format!("`ops[{index}]` has both `out` and `fix`; keep `fix`"));
        }
        op.insert("fix".to_owned(), out);
    }
    Rule::from_document(Value::Object(op)).map(Op::Rule).map_err(|fault| {
        let dot = if fault.key.is_empty() { "" } else { "." };
        format!("ops[{index}]{dot}{fault}")
    })
}

fn take_list(arguments: &mut Map<String, Value>, key: &str) -> Result<Vec<Value>, String> {
    match arguments.remove(key) {
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("`{key}` is no array")),
        None => Err(format!("`{key}` is missing")),
    }
}

fn nothing_else(rest: &Map<String, Value>, place: &str, known: &str) -> Result<(), String> {
    match rest.keys().next() {
        Some(key) => Err(format!("`{place}{}` is unknown; use {known}", Visible(key))),
        None => Ok(()),
    }
}

impl Proposal {
    /// What is staged of it: the change set, its label and the whole preview.
    #[must_use]
    pub fn into_proposed(self) -> Proposed {
        Proposed {
            label: self.label(),
            source_tool_name: NAME.to_owned(),
            success: self.applied(),
            notes: self.summary.notes(),
            preview: self.preview(Bound::Whole, None),
            change_set: self.change_set,
        }
    }
}

fn definition() -> ToolDefinition {
    ToolDefinition::new(
        NAME,
        "Rewrites code by structure in many files; the result is a preview, no file is changed.\n\
         pat is code with variables: $A is one node, $$$ARGS any number of them, $_ anything; the \
         same name twice must match the same code. out is what it becomes, with the same \
         variables; an empty out deletes. A literal dollar before a name is written $$. Whitespace and \
         comments between nodes do not matter; only the outermost of nested matches is rewritten.\n\
         Where a pattern is not enough, an op is a rule instead, as in ast-grep's YAML: rule with \
         pattern, kind, regex, inside, has, follows, precedes (with stopBy, field), all, any, not, \
         matches, nthChild, and fix for what a match becomes.",
        json!({
            "type": "object",
            "properties": {
                "ops": {
                    "type": "array",
                    "description": "The rewrites.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "pat": { "type": "string", "description": "The pattern: oldApi($A)." },
                            "out": { "type": "string", "description": "What it becomes: newApi($A)." },
                            "rule": { "type": "object", "description": "Instead of pat: {\"pattern\": \"oldApi($A)\", \"inside\": {\"kind\": \"class_body\", \"stopBy\": \"end\"}}." },
                            "fix": { "description": "With rule: what a match becomes, or {template, expandStart, expandEnd}." },
                            "constraints": { "type": "object", "description": "With rule: a rule for each variable." },
                            "utils": { "type": "object", "description": "With rule: rules that matches names." },
                            "transform": { "type": "object", "description": "With rule: variables made of others." },
                            "language": { "type": "string", "description": "With rule: the language that it is for." },
                            "files": { "type": "array", "description": "With rule: globs of its files." },
                            "ignores": { "type": "array", "description": "With rule: globs that it leaves out." },
                            "id": { "type": "string", "description": "With rule: its name in messages." }
                        },
                        "additionalProperties": false
                    }
                },
                "paths": {
                    "type": "array",
                    "description": "Files, folders or globs in the workspace; ignored files are left out unless named themselves.",
                    "items": { "type": "string" }
                },
                "lang": { "type": "string", "description": "Only files of this language." }
            },
            "required": ["ops", "paths"],
            "additionalProperties": false
        }),
    )
}
