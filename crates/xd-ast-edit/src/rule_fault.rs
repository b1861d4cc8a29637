//! What is wrong with a rule: the key, the reason, and the way out.

use std::fmt;

use xd_protocol::Visible;

use crate::language::LangError;
use crate::pattern::PatternError;
use crate::template::TemplateError;

/// Why a file of rules is refused. Names the file, the document in it and the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// What the text was called by whoever gave it.
    pub file: String,
    /// Which document of the file, from 1; none where the text is no YAML at all.
    pub document: Option<usize>,
    /// The rule's `id`, where it has one.
    pub id: Option<String>,
    /// What is wrong.
    pub fault: Box<RuleFault>,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Visible(&self.file))?;
        if let Some(document) = self.document {
            write!(f, ": document {document}")?;
        }
        if let Some(id) = &self.id {
            write!(f, " (rule `{}`)", Visible(id))?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl std::error::Error for RuleError {}

/// What is wrong with one rule, and at which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// The path of the key, as in `rule.any[1].pattern`; empty for the document itself.
    pub key: String,
    /// What is wrong there.
    pub problem: RuleProblem,
}

impl RuleFault {
    /// A fault at `key`.
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<RuleProblem>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", Visible(&self.key))?;
        }
        write!(f, "{}", self.problem)
    }
}

impl std::error::Error for RuleFault {}

/// The kinds of fault in a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// The text is no YAML and no JSON.
    #[error("is no YAML: {}", Visible(reason))]
    Syntax {
        /// Why, with the place.
        reason: String,
    },
    /// The text holds no document.
    #[error("holds no rule; write `rule: {{pattern: oldApi($A)}}` and `fix: newApi($A)`")]
    Empty,
    /// A key is missing.
    #[error("is missing; {hint}")]
    Missing {
        /// What to write.
        hint: &'static str,
    },
    /// A value has the wrong type.
    #[error("is no {expected}")]
    WrongType {
        /// What it has to be.
        expected: &'static str,
    },
    /// A key is not known.
    #[error("is unknown; use {known}")]
    UnknownKey {
        /// The keys that may stand there.
        known: String,
    },
    /// A key of ast-grep's rules that this project leaves out.
    #[error("is not supported: {reason}")]
    Unsupported {
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The language is unknown or not in this build.
    #[error("{0}")]
    Lang(#[from] LangError),
    /// A pattern means nothing in the language.
    #[error("{0}")]
    Pattern(#[from] PatternError),
    /// A selector finds nothing in its context.
    #[error(
        "`{}` is no node of the context; name the kind of a node that is in it",
        Visible(selector)
    )]
    Selector {
        /// The kind that was asked for.
        selector: String,
    },
    /// A kind is not one of the grammar.
    #[error("`{}` is no kind of node of {lang}{}", Visible(kind), reason_of(reason))]
    Kind {
        /// The kind.
        kind: String,
        /// The language.
        lang: &'static str,
        /// What is wrong with it as a selector, where it is one.
        reason: String,
    },
    /// A field is not one of the grammar.
    #[error("`{}` is no field of {lang}", Visible(field))]
    Field {
        /// The field.
        field: String,
        /// The language.
        lang: &'static str,
    },
    /// A regular expression cannot be read.
    #[error("is no regular expression: {}", Visible(reason))]
    Regex {
        /// Why.
        reason: String,
    },
    /// A glob cannot be read.
    #[error("is no glob: {}", Visible(reason))]
    Glob {
        /// Why.
        reason: String,
    },
    /// A utility is not defined in `utils`.
    #[error("`{}` is not in `utils`{}", Visible(id), known_utils(known))]
    Utility {
        /// The name.
        id: String,
        /// The names that are.
        known: Vec<String>,
    },
    /// A rule refers to itself through `follows` or `precedes`.
    #[error(
        "refers to itself through `follows` or `precedes`, whose depth nothing bounds; use `stopBy: end` there instead"
    )]
    SidewaysRecursion,
    /// A rule says nothing about the kind of its node.
    #[error("says nothing about the kind of node to find; add `kind` or `pattern`")]
    NoKind,
    /// `fix` does not fit the rule.
    #[error("{}", .0.to_string().replace("`pat` and `out`", "the rule").replace("`pat`", "the rule"))]
    Fix(#[from] TemplateError),
    /// Something else that ast-grep refuses.
    #[error("{}", Visible(reason))]
    Other {
        /// The reason in its words.
        reason: String,
    },
}

fn reason_of(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({})", Visible(reason)) }
}

fn known_utils(known: &[String]) -> String {
    if known.is_empty() {
        "; define it there".to_owned()
    } else {
        format!(" (there: {}); define it there", known.join(", "))
    }
}
