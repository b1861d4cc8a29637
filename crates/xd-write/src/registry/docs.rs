//! The documents of a device.

use xd_prompts::{DeviceDocs, Prompts};

use super::Mount;
use crate::inert::{inert_json, inert_lines};

/// What it does, its schema, an example (`CONTRACT W5`).
pub(super) fn docs(mount: &Mount, prompts: &Prompts) -> String {
    let definition = mount.tool.definition();
    let schema = serde_json::to_string_pretty(&definition.input_schema).unwrap_or_default();
    let (schema, description) = (inert_json(&schema), inert_lines(&definition.description));
    let context = DeviceDocs {
        name: definition.name.clone(),
        description: description.clone(),
        schema: schema.clone(),
        example: example(mount),
    };
    prompts.render(&context).unwrap_or_else(|error| {
        tracing::warn!(%error, "the device documents' template failed");
        format!("xd://{}\n\n{}\n\n{schema}\n", definition.name, description)
    })
}

/// Arguments that the device accepts, as JSON.
pub(super) fn example(mount: &Mount) -> Option<String> {
    mount.check.example().map(|example| inert_json(&example.to_string()))
}
