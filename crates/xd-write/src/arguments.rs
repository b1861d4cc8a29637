//! What is written to a device: nothing, a question, or arguments (`CONTRACT R3`).

use serde_json::{Map, Value};

/// The body of a `write` to a device, decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum DeviceBody {
    /// Empty, `?` or `help`: the documents are wanted, nothing runs.
    Docs,
    /// Arguments to run with.
    Arguments(Map<String, Value>),
}

/// Why a body is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyFault {
    /// It is no JSON.
    #[error("the content is not valid JSON: {message}")]
    NotJson {
        /// What the parser said, with line and column.
        message: String,
    },
    /// It is JSON, but no object.
    #[error("the content must be a JSON object, but is {kind}")]
    NotAnObject {
        /// What it is instead.
        kind: &'static str,
    },
}

impl DeviceBody {
    /// Decodes `content`: a string that holds a JSON object, or the object itself.
    ///
    /// # Errors
    /// [`BodyFault`].
    pub fn decode(content: &Value) -> Result<Self, BodyFault> {
        let parsed;
        let value = match content {
            Value::String(text) => {
                let text = text.trim();
                if text.is_empty() || text == "?" || text.eq_ignore_ascii_case("help") {
                    return Ok(Self::Docs);
                }
                parsed = serde_json::from_str(text)
                    .map_err(|error| BodyFault::NotJson { message: error.to_string() })?;
                &parsed
            }
            Value::Null => return Ok(Self::Docs),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => content,
        };
        match value {
            Value::Object(arguments) => Ok(Self::Arguments(arguments.clone())),
            Value::Null => Err(BodyFault::NotAnObject { kind: "null" }),
            Value::Bool(_) => Err(BodyFault::NotAnObject { kind: "true or false" }),
            Value::Number(_) => Err(BodyFault::NotAnObject { kind: "a number" }),
            Value::String(_) => Err(BodyFault::NotAnObject { kind: "a string" }),
            Value::Array(_) => Err(BodyFault::NotAnObject { kind: "an array" }),
        }
    }
}

/// Drops a habitual top-level `i` that the schema does not declare.
pub(crate) fn drop_habitual_i(arguments: &mut Map<String, Value>, schema: &Value) {
    let declared = schema.get("properties").is_some_and(|p| p.get("i").is_some());
    if !declared {
        arguments.shift_remove("i");
    }
}

/// Checks `arguments` against the part of JSON Schema that tools use: required and unknown
/// properties, `type`, `enum`, and the same within `items` and `properties`. Answers the first
/// mismatch in words, naming where it is.
pub(crate) fn mismatch(arguments: &Value, schema: &Value) -> Option<String> {
    mismatch_at(arguments, schema, "")
}

fn mismatch_at(value: &Value, schema: &Value, at: &str) -> Option<String> {
    let here = || if at.is_empty() { "the arguments".to_owned() } else { format!("`{at}`") };
    if let Some(types) = schema.get("type") {
        let one;
        let types = match types {
            Value::Array(types) => types.as_slice(),
            other => {
                one = [other.clone()];
                one.as_slice()
            }
        };
        let names: Vec<&str> = types.iter().filter_map(Value::as_str).collect();
        if !names.is_empty() && !names.iter().any(|name| is_of_type(value, name)) {
            return Some(format!("{} must be of type {}", here(), names.join(" or ")));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return Some(format!("{} must be one of {}", here(), allowed.join(", ")));
    }
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = name.as_str().filter(|name| !object.contains_key(*name)) {
                    return Some(format!("{} must have the property `{name}`", here()));
                }
            }
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            object.iter().find_map(|(name, value)| {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                match properties.and_then(|p| p.get(name)) {
                    Some(schema) => mismatch_at(value, schema, &at),
                    None if closed => Some(format!("`{at}` is not a known property")),
                    None => None,
                }
            })
        }
        Value::Array(items) => {
            let schema = schema.get("items")?;
            items
                .iter()
                .enumerate()
                .find_map(|(i, item)| mismatch_at(item, schema, &format!("{at}[{i}]")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0)
        }
        // A type that this part of JSON Schema does not know forbids nothing.
        _ => true,
    }
}
