//! Sample contexts: together they reach every branch of the built-in templates.

use minijinja::Value;
use minijinja::value::Serde;

use crate::{
    DeviceDocs, DeviceLine, DeviceSection, PlanMode, PromptContext, PromptName, ProtocolUsage,
    ResolveReminder, ResolveReminderHiddenTool,
};

/// One sample: which template, which case of it, with what.
pub(crate) struct Sample {
    pub(crate) prompt: PromptName,
    pub(crate) case: &'static str,
    pub(crate) context: Value,
}

/// All samples, in a fixed order.
pub(crate) fn all() -> Vec<Sample> {
    let device = |name: &str, summary: &str, doc: Option<&str>| DeviceLine {
        name: name.into(),
        summary: summary.into(),
        doc: doc.map(Into::into),
    };
    let docs = |example: Option<&str>| {
        DeviceDocs {
        name: "format_table".into(),
        description: "Aligns the columns of a Markdown table.".into(),
        schema: "{\n  \"type\": \"object\",\n  \"properties\": {\n    \"table\": { \"type\": \"string\" }\n  },\n  \"required\": [\"table\"]\n}".into(),
        example: example.map(Into::into),
    }
    };
    vec![
        sample(
            "one",
            ResolveReminder { tool_name: "ast_edit".into(), number: 1, pending: vec![1] },
        ),
        sample(
            "several",
            ResolveReminder { tool_name: "ast_edit".into(), number: 7, pending: vec![7, 5, 2] },
        ),
        sample(
            "one",
            ResolveReminderHiddenTool { tool_name: "ast_edit".into(), number: 1, pending: vec![1] },
        ),
        sample(
            "several",
            ResolveReminderHiddenTool {
                tool_name: "ast_edit".into(),
                number: 7,
                pending: vec![7, 5, 2],
            },
        ),
        sample(
            "very-many",
            ResolveReminder { tool_name: "edit".into(), number: 40, pending: forty() },
        ),
        sample(
            "very-many",
            ResolveReminderHiddenTool { tool_name: "edit".into(), number: 40, pending: forty() },
        ),
        sample("none", DeviceSection { devices: vec![], listed_only: 0, total: 0 }),
        sample(
            "one",
            DeviceSection {
                devices: vec![device(
                    "format_table",
                    "Aligns a table.",
                    Some("Takes `{\"table\": string}`."),
                )],
                listed_only: 0,
                total: 1,
            },
        ),
        sample(
            "many",
            DeviceSection {
                devices: vec![
                    device(
                        "ast_edit",
                        "Rewrites code by structure.",
                        Some("Takes `ops` and `paths`.\n"),
                    ),
                    device("issue_create", "Files an issue\non the tracker.", None),
                    device("issue_list", "Lists issues.", None),
                ],
                listed_only: 2,
                total: 200,
            },
        ),
        sample("fresh", PlanMode { slug: None }),
        sample("drafted", PlanMode { slug: Some("rename-client".into()) }),
        sample("with-example", docs(Some("{ \"table\": \"|a|b|\" }"))),
        sample("without-example", docs(None)),
        sample("plain", ProtocolUsage { producers: vec![] }),
        sample("producers", ProtocolUsage { producers: vec!["edit".into(), "ast_edit".into()] }),
    ]
}

/// A stack too long to list.
fn forty() -> Vec<u64> {
    (1..=40).rev().collect()
}

fn sample<C: PromptContext>(case: &'static str, context: C) -> Sample {
    Sample { prompt: C::PROMPT, case, context: Value::from(Serde(&context)) }
}
