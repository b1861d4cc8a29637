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
