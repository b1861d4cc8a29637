//! Why a schema cannot be checked.

use std::{error::Error, fmt};

use xd_protocol::Visible;

/// Why a schema cannot be checked, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// The place, as a JSON pointer: `#/properties/n`.
    pub at: String,
    /// What is wrong there.
    pub kind: SchemaFaultKind,
}

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFaultKind {
    /// It is neither an object nor true or false.
    NotASchema,
    /// A keyword has a value that it cannot have.
    Malformed {
        /// The keyword.
        keyword: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A keyword constrains arguments in a way that is not supported.
    Unsupported {
        /// The keyword.
        keyword: String,
    },
    /// A pattern is no regular expression, or uses what is not supported.
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why it was refused.
        why: String,
    },
    /// A reference leads nowhere in the document.
    Reference {
        /// The reference.
        reference: String,
    },
    /// A schema asks for itself of the same value, for ever.
    Endless,
    /// No object fits it, and arguments are one.
    NeverAnObject,
    /// It is nested too deeply or has too many parts.
    TooLarge,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at `{}` of its schema: ", Visible(&self.at))?;
        match &self.kind {
            SchemaFaultKind::NotASchema => f.write_str("a schema is an object, true or false"),
            SchemaFaultKind::Malformed { keyword, expected } => {
                write!(f, "`{}` must be {expected}", Visible(keyword))
            }
            SchemaFaultKind::Unsupported { keyword } => write!(
                f,
                "`{}` is not supported, and without it more would be accepted than the schema \
                 allows",
                Visible(keyword)
            ),
            SchemaFaultKind::Pattern { pattern, why } => {
                write!(f, "the pattern `{}` is not supported: {}", Visible(pattern), Visible(why))
            }
            SchemaFaultKind::Reference { reference } => write!(
                f,
                "`{}` leads nowhere; only references within the document (`#/$defs/…`) are followed",
                Visible(reference)
            ),
            SchemaFaultKind::Endless => f.write_str("the schema asks for itself without end"),
            SchemaFaultKind::NeverAnObject => {
                f.write_str("arguments are always an object, and no object fits this")
            }
            SchemaFaultKind::TooLarge => f.write_str("the schema is too large or too deep"),
        }
    }
}

impl Error for SchemaFault {}
