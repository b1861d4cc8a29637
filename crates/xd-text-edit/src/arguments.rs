//! The arguments of both tools: one form each that is documented, others that models know from
//! elsewhere and that mean the same.

use serde_json::{Map, Value, json};
use xd_protocol::Visible;
use xd_write::{ArgumentCheck, ArgumentSchema, Mismatch};

use crate::edit::Edit;

/// Other names under which a file, a text and a patch are known.
const PATH: [&str; 4] = ["path", "file_path", "filePath", "file"];
const OLD: [&str; 5] = ["old_text", "old_string", "oldText", "oldString", "old_str"];
const NEW: [&str; 5] = ["new_text", "new_string", "newText", "newString", "new_str"];
const ALL: [&str; 2] = ["replace_all", "replaceAll"];
const PATCH: [&str; 5] = ["patch", "input", "diff", "patch_text", "patchText"];

/// A call of `edit` as it may well be made, for documents and errors (case 40).
pub(crate) fn edit_example() -> Value {
    json!({ "edits": [{ "path": "src/main.rs", "old_text": "let a = 1;", "new_text": "let a = 2;" }] })
}

/// A call of `apply_patch` as it may well be made.
pub(crate) fn patch_example() -> Value {
    json!({ "patch": "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    old();\n+    new();\n" })
}

/// The schema of the documented form of `edit`.
pub(crate) fn edit_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "edits": {
                "type": "array",
                "description": "The edits; those of one file are made in this order, each on the result of the one before.",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string", "description": "The file." },
                        "old_text": {
                            "type": "string",
                            "description": "The text exactly as it stands in the file, white space included, with as many lines as it takes to be unique. Empty to create a file."
                        },
                        "new_text": { "type": "string", "description": "What it becomes. Empty to delete it." },
                        "replace_all": { "type": "boolean", "description": "Change every place, not the only one." }
                    },
                    "required": ["path", "old_text", "new_text"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["edits"],
        "additionalProperties": false
    })
}

/// The schema of the documented form of `apply_patch`.
pub(crate) fn patch_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "patch": {
                "type": "string",
                "description": "A unified diff of any number of files, or a patch between *** Begin Patch and *** End Patch."
            }
        },
        "required": ["patch"],
        "additionalProperties": false
    })
}

/// Reads the arguments of `edit`; the fault names the operand.
///
/// Besides `{edits: […]}` it takes one edit alone, a `path` beside the edits for all of them, and
/// the names `old_string`, `new_string`, `file_path`.
pub(crate) fn edits_of(arguments: &Value) -> Result<Vec<Edit>, String> {
    let arguments = object(arguments, "the arguments are no object")?;
    let Some(edits) = arguments.get("edits").filter(|edits| !edits.is_null()) else {
        if arguments.keys().any(|key| OLD.contains(&key.as_str()) || NEW.contains(&key.as_str())) {
            return Ok(vec![edit_of(&arguments, "", None)?]);
        }
        return Err("`edits` is missing".to_owned());
    };
    let common = take(&arguments, &PATH, "")?.map(|path| text(path, "path")).transpose()?;
    let others = [&["edits"][..], &PATH].concat();
    nothing_else(&arguments, &others, "", "edits")?;
    let parsed;
    let edits = match edits {
        // Some models write a list as its text.
        Value::String(list) => {
            parsed = serde_json::from_str::<Value>(list)
                .map_err(|error| format!("`edits` is a string and no JSON: {error}"))?;
            &parsed
        }
        edits => edits,
    };
    let list = match edits {
        Value::Array(list) => list.as_slice(),
        one @ Value::Object(_) => std::slice::from_ref(one),
        _other => return Err("`edits` is no array".to_owned()),
    };
    let one = |(index, edit): (usize, &Value)| {
        let place = format!("edits[{index}].");
        let edit = object(edit, &format!("`edits[{index}]` is no object"))?;
        edit_of(&edit, &place, common.as_deref())
    };
    list.iter().enumerate().map(one).collect()
}

fn edit_of(edit: &Map<String, Value>, place: &str, common: Option<&str>) -> Result<Edit, String> {
    let known = [&PATH[..], &OLD, &NEW, &ALL].concat();
    nothing_else(edit, &known, place, "path, old_text, new_text, replace_all")?;
    let field = |names: &[&str], hint: &str| -> Result<String, String> {
        match take(edit, names, place)? {
            Some(value) => text(value, &format!("{place}{}", names[0])),
            None => Err(format!("`{place}{}` is missing{hint}", names[0])),
        }
    };
    let path = match (take(edit, &PATH, place)?, common) {
        (None, Some(common)) => common.to_owned(),
        (_, _) => field(&PATH, "")?,
    };
    let replace_all = match take(edit, &ALL, place)? {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => *all,
        Some(Value::String(all)) if all == "true" || all == "false" => all == "true",
        Some(_) => return Err(format!("`{place}replace_all` is no boolean")),
    };
    let old_text = field(&OLD, " (write \"\" to create a file)")?;
    // To delete by leaving something out would be too easy a mistake.
    let new_text = field(&NEW, " (write \"\" to delete)")?;
    Ok(Edit { path, old_text, new_text, replace_all })
}

/// Reads the arguments of `apply_patch`.
pub(crate) fn patch_of(arguments: &Value) -> Result<String, String> {
    if let Value::String(patch) = arguments {
        return Ok(patch.clone());
    }
    let arguments = object(arguments, "the arguments are no object")?;
    nothing_else(&arguments, &PATCH, "", "patch")?;
    match take(&arguments, &PATCH, "")? {
        Some(value) => text(value, "patch"),
        None => Err("`patch` is missing".to_owned()),
    }
}

fn object(value: &Value, fault: &str) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(map) => Ok(map.clone()),
        _other => Err(fault.to_owned()),
    }
}

fn text(value: &Value, name: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is no string"))
}

/// The value under one of the names; two of them are one too many.
fn take<'a>(
    map: &'a Map<String, Value>,
    names: &[&str],
    place: &str,
) -> Result<Option<&'a Value>, String> {
    let mut found = names.iter().filter_map(|name| Some((name, map.get(*name)?)));
    let first = found.next();
    match (first, found.next()) {
        (Some((one, _)), Some((other, _))) => {
            Err(format!("`{place}{one}` and `{place}{other}` say the same; give one"))
        }
        (first, None) => Ok(first.map(|(_, value)| value)),
        (None, Some(_)) => Ok(None),
    }
}

fn nothing_else(
    map: &Map<String, Value>,
    known: &[&str],
    place: &str,
    use_these: &str,
) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{place}{}` is unknown; use {use_these}", Visible(key))),
        None => Ok(()),
    }
}

/// The check of a tool that is mounted as a device: the schema of the documented form, and
/// whatever else the tool can read.
pub(crate) struct Tolerant {
    pub(crate) schema: ArgumentSchema,
    pub(crate) reads: fn(&Value) -> bool,
    pub(crate) example: fn() -> Value,
}

impl ArgumentCheck for Tolerant {
    fn check(&self, arguments: &Value) -> Vec<Mismatch> {
        match (self.reads)(arguments) {
            true => Vec::new(),
            false => self.schema.check(arguments),
        }
    }

    fn example(&self) -> Option<Value> {
        Some((self.example)())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(arguments: &Value) -> Edit {
        edits_of(arguments).unwrap().remove(0)
    }

    #[test]
    fn the_forms_that_models_know_mean_the_same() {
        let expect = Edit::new("a", "b", "c").everywhere();
        for arguments in [
            json!({ "edits": [{ "path": "a", "old_text": "b", "new_text": "c", "replace_all": true }] }),
            json!({ "path": "a", "old_text": "b", "new_text": "c", "replace_all": true }),
            json!({ "file_path": "a", "old_string": "b", "new_string": "c", "replace_all": "true" }),
            json!({ "file_path": "a", "edits": [{ "old_string": "b", "new_string": "c", "replace_all": true }] }),
            json!({ "edits": { "path": "a", "oldText": "b", "newText": "c", "replaceAll": true } }),
            json!({ "edits": "[{\"path\":\"a\",\"old_text\":\"b\",\"new_text\":\"c\",\"replace_all\":true}]" }),
        ] {
            assert_eq!(first(&arguments), expect, "{arguments}");
        }
        assert_eq!(first(&edit_example()).path, "src/main.rs");
        for patch in [json!("x"), json!({ "patch": "x" }), json!({ "input": "x" })] {
            assert_eq!(patch_of(&patch).unwrap(), "x");
        }
    }

    #[test]
    fn case_040_faults_name_the_operand() {
        for (arguments, expect) in [
            (json!(null), "the arguments are no object"),
            (json!({}), "`edits` is missing"),
            (json!({ "edits": 1 }), "`edits` is no array"),
            (json!({ "edits": "[" }), "`edits` is a string and no JSON"),
            (json!({ "edits": ["a"] }), "`edits[0]` is no object"),
            (json!({ "edits": [], "glob": 1 }), "`glob` is unknown; use edits"),
            (
                json!({ "edits": [{ "old_text": "a", "new_text": "b" }] }),
                "`edits[0].path` is missing",
            ),
            (
                json!({ "path": "a", "old_text": "b" }),
                "`new_text` is missing (write \"\" to delete)",
            ),
            (
                json!({ "path": "a", "new_text": "b" }),
                "`old_text` is missing (write \"\" to create a file)",
            ),
            (json!({ "path": 1, "old_text": "b", "new_text": "" }), "`path` is no string"),
            (
                json!({ "path": "a", "old_text": "b", "old_string": "b", "new_text": "" }),
                "`old_text` and `old_string` say the same",
            ),
            (
                json!({ "path": "a", "old_text": "b", "new_text": "", "replace_all": 1 }),
                "`replace_all` is no boolean",
            ),
            (
                json!({ "edits": [{ "path": "a", "old_text": "b", "new_text": "", "x\n": 1 }] }),
                "`edits[0].x\\u{a}` is unknown",
            ),
        ] {
            let fault = edits_of(&arguments).unwrap_err();
            assert!(fault.starts_with(expect), "{arguments}: {fault}");
        }
        for (arguments, expect) in [
            (json!({}), "`patch` is missing"),
            (json!({ "patch": 1 }), "`patch` is no string"),
            (json!([]), "the arguments are no object"),
            (json!({ "patch": "x", "path": "y" }), "`path` is unknown; use patch"),
        ] {
            assert_eq!(patch_of(&arguments).unwrap_err(), expect);
        }
    }
}
