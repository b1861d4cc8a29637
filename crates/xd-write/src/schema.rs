//! Arguments checked by JSON Schema (`CONTRACT R3`).
//!
//! A schema is compiled when its tool is mounted. What constrains arguments and is not understood
//! here is refused then, so that nothing is accepted later that the schema would refuse.

mod check;
mod compile;
mod example;
mod fault;
mod mismatch;
mod pattern;

use regex::Regex;
use serde_json::{Number, Value};

pub use fault::{SchemaFault, SchemaFaultKind};
pub use mismatch::Mismatch;

/// Checks the arguments of a device before its tool runs.
///
/// [`ArgumentSchema`] is the usual one. A tool whose schema uses more than that one understands
/// brings its own, from [`Tool::argument_check`](crate::Tool::argument_check).
pub trait ArgumentCheck: Send + Sync {
    /// What does not fit, one entry a place and not more than a model can act on at once; empty
    /// where all fits.
    fn check(&self, arguments: &Value) -> Vec<Mismatch>;

    /// Arguments that fit, for documents and errors; none where nothing is known to fit.
    fn example(&self) -> Option<Value> {
        None
    }
}

/// A JSON Schema, compiled: the built-in [`ArgumentCheck`].
///
/// It understands `type`, `enum`, `const`; the limits of numbers, strings, arrays and objects;
/// `pattern`; `properties`, `patternProperties`, `additionalProperties`, `propertyNames`,
/// `required`, `dependentRequired`, `dependentSchemas`, `dependencies`; `items`, `prefixItems`,
/// `additionalItems`, `contains`; `allOf`, `anyOf`, `oneOf`, `not`, `if`; and `$ref` within the
/// document. `format`, `title`, `default` and other annotations constrain nothing, as the standard
/// has it, and so do words that the standard does not know.
///
/// ```
/// use serde_json::json;
/// use xd_write::{ArgumentCheck as _, ArgumentSchema};
///
/// let schema = json!({ "type": "object", "properties": { "n": { "minimum": 1 } } });
/// let schema = ArgumentSchema::compile(&schema).unwrap();
/// assert!(schema.check(&json!({ "n": 2 })).is_empty());
/// assert_eq!(schema.check(&json!({ "n": 0 }))[0].to_string(), "`n` must be at least 1; got 0");
///
/// let fault = ArgumentSchema::compile(&json!({ "unevaluatedProperties": false })).unwrap_err();
/// assert!(fault.to_string().contains("`unevaluatedProperties` is not supported"));
/// ```
#[derive(Debug)]
pub struct ArgumentSchema {
    nodes: Vec<Node>,
}

/// The place of a compiled schema among the nodes; the root is the first.
type NodeId = usize;

/// One schema or subschema.
#[derive(Debug, Default)]
struct Node {
    rules: Vec<Rule>,
    /// What the schema itself gives as values: `examples`, `default`.
    hints: Vec<Value>,
}

/// One constraint.
#[derive(Debug)]
enum Rule {
    /// The schema `false`.
    Never,
    Type(Vec<Kind>),
    Enum(Vec<Value>),
    Const(Value),
    Minimum {
        limit: Number,
        exclusive: bool,
    },
    Maximum {
        limit: Number,
        exclusive: bool,
    },
    MultipleOf(Number),
    Length {
        least: u64,
        most: Option<u64>,
    },
    Pattern(Pattern),
    Items {
        prefix: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    Count {
        least: u64,
        most: Option<u64>,
    },
    Unique,
    Contains {
        schema: NodeId,
        least: u64,
        most: Option<u64>,
    },
    Properties(Properties),
    Required(Vec<String>),
    Names(NodeId),
    Size {
        least: u64,
        most: Option<u64>,
    },
    /// Where the named property is there, these must be too.
    DependentRequired(Vec<(String, Vec<String>)>),
    /// Where the named property is there, the whole must fit this too.
    DependentSchemas(Vec<(String, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    /// The schema, and how it is written.
    Not(NodeId, String),
    If {
        test: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
}

#[derive(Debug)]
struct Properties {
    named: Vec<(String, NodeId)>,
    patterns: Vec<(Pattern, NodeId)>,
    others: Option<NodeId>,
}

#[derive(Debug)]
struct Pattern {
    source: String,
    regex: Regex,
}

/// The types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::String,
        Self::Array,
        Self::Object,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl Rule {
    /// The schemas that it asks of the same value.
    fn in_place(&self) -> Vec<NodeId> {
        match self {
            Self::AllOf(all) | Self::AnyOf(all) | Self::OneOf(all) => all.clone(),
            Self::Not(one, _) => vec![*one],
            Self::If { test, then, otherwise } => {
                [Some(*test), *then, *otherwise].into_iter().flatten().collect()
            }
            Self::DependentSchemas(all) => all.iter().map(|(_, id)| *id).collect(),
            Self::Never
            | Self::Type(_)
            | Self::Enum(_)
            | Self::Const(_)
            | Self::Minimum { .. }
            | Self::Maximum { .. }
            | Self::MultipleOf(_)
            | Self::Length { .. }
            | Self::Pattern(_)
            | Self::Items { .. }
            | Self::Count { .. }
            | Self::Unique
            | Self::Contains { .. }
            | Self::Properties(_)
            | Self::Required(_)
            | Self::Names(_)
            | Self::Size { .. }
            | Self::DependentRequired(_) => Vec::new(),
        }
    }
}

impl ArgumentSchema {
    /// Compiles `schema`.
    ///
    /// # Errors
    /// [`SchemaFault`]: it is malformed, can never accept an object, or constrains by something
    /// that is not supported.
    pub fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        compile::compile(schema)
    }

    /// Whether the schema says something of a top-level property called `name`.
    pub(crate) fn declares(&self, name: &str) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![0];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            for rule in &self.nodes[id].rules {
                if let Rule::Properties(properties) = rule {
                    let by_name = properties.named.iter().any(|(n, _)| n == name);
                    if by_name || properties.patterns.iter().any(|(p, _)| p.regex.is_match(name)) {
                        return true;
                    }
                }
                open.extend(rule.in_place());
            }
        }
        false
    }
}

impl ArgumentCheck for ArgumentSchema {
    fn check(&self, arguments: &Value) -> Vec<Mismatch> {
        check::check(self, arguments)
    }

    fn example(&self) -> Option<Value> {
        example::example(self)
    }
}
