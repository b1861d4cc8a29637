//! Operations: what a caller asks for, checked without any file, then compiled for a language.

use serde::{Deserialize, Serialize};

use crate::language::Lang;
use crate::pattern::{CompiledPattern, PatternError};
use crate::template::{Template, TemplateError, bindings_in_text};

/// One rewrite: every place that `pat` matches becomes `out` (`CONTRACT A1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// The pattern: code with `$A`, `$_` and `$$$LIST` in it.
    pub pat: String,
    /// The template; empty deletes.
    pub out: String,
}

impl Op {
    /// An operation from its two texts.
    pub fn new(pat: impl Into<String>, out: impl Into<String>) -> Self {
        Self { pat: pat.into(), out: out.into() }
    }
}

/// Why a list of operations is refused before any file is looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpsError {
    /// There is none.
    #[error("ops: is empty; give at least one {{\"pat\": …, \"out\": …}}")]
    NoOps,
    /// A pattern is empty or blank.
    #[error("ops[{op}].pat: is empty; write the code to find, such as `oldApi($A)`")]
    EmptyPattern {
        /// Index of the operation, from 0.
        op: usize,
    },
    /// Two operations have one pattern.
    #[error(
        "ops[{op}].pat: is the same as ops[{first}].pat (`{}`); keep one of them",
        xd_protocol::Visible(pat)
    )]
    RepeatedPattern {
        /// Index of the later operation.
        op: usize,
        /// Index of the earlier one.
        first: usize,
        /// The pattern.
        pat: String,
    },
    /// A template does not fit its pattern.
    #[error("ops[{op}].out: {error}")]
    Template {
        /// Index of the operation.
        op: usize,
        /// What is wrong with the template.
        error: TemplateError,
    },
}

/// Checks operations as far as their text tells, in whatever language they are to run.
///
/// # Errors
/// The first fault in the order of the list; each names the operand (`CONTRACT A1`, `S7`).
pub fn check_ops(ops: &[Op]) -> Result<(), OpsError> {
    if ops.is_empty() {
        return Err(OpsError::NoOps);
    }
    for (index, op) in ops.iter().enumerate() {
        let pat = op.pat.trim();
        if pat.is_empty() {
            return Err(OpsError::EmptyPattern { op: index });
        }
        if let Some(first) = ops[..index].iter().position(|other| other.pat.trim() == pat) {
            return Err(OpsError::RepeatedPattern { op: index, first, pat: pat.to_owned() });
        }
        Template::read(&op.out, &op.pat, &bindings_in_text(&op.pat))
            .map_err(|error| OpsError::Template { op: index, error })?;
    }
    Ok(())
}

/// Why an operation cannot run in one language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// Its pattern means nothing there.
    #[error("pat {0}")]
    Pattern(#[from] PatternError),
    /// Its template uses a variable that the pattern does not bind in that language.
    #[error("out {0}")]
    Template(#[from] TemplateError),
}

/// An operation, compiled.
#[derive(Debug, Clone)]
pub(crate) struct CompiledOp {
    /// Its index in the caller's list.
    pub(crate) index: usize,
    pub(crate) pattern: CompiledPattern,
    pub(crate) template: Template,
    /// The template as a pattern, where the result of the operation matches its own pattern:
    /// running it again would rewrite what it has written.
    pub(crate) regrows: Option<Regrowth>,
}

/// What tells places that an operation has already rewritten.
#[derive(Debug, Clone)]
pub(crate) struct Regrowth {
    /// The template read as a pattern, where it is one.
    pub(crate) result: Option<CompiledPattern>,
}

impl CompiledOp {
    fn compile(lang: Lang, index: usize, op: &Op) -> Result<Self, OpError> {
        let pattern = CompiledPattern::compile(lang, &op.pat)?;
        let template = Template::read(&op.out, &op.pat, &pattern.bindings)?;
        let regrows = pattern
            .occurs_in(lang, &op.out)
            .then(|| Regrowth { result: CompiledPattern::compile(lang, &op.out).ok() });
        Ok(Self { index, pattern, template, regrows })
    }
}

/// All operations that can run in one language, in the caller's order (`CONTRACT A5`).
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) lang: Lang,
    pub(crate) ops: Vec<CompiledOp>,
    /// For each node kind, the operations whose pattern or own result has it.
    pub(crate) by_kind: Vec<Vec<usize>>,
    /// For each node kind, whether it is a comment.
    pub(crate) comments: Vec<bool>,
    failures: Vec<(usize, OpError)>,
}

impl Program {
    /// Compiles `ops` for `lang`. Operations that mean nothing there are left out and listed by
    /// [`Program::failures`]; whether that is an error depends on the other languages of a call.
    #[must_use]
    pub fn compile(lang: Lang, ops: &[Op]) -> Self {
        let mut compiled = Vec::new();
        let mut failures = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            match CompiledOp::compile(lang, index, op) {
                Ok(op) => compiled.push(op),
                Err(error) => failures.push((index, error)),
            }
        }
        let grammar = ast_grep_core::tree_sitter::LanguageExt::get_ts_language(&lang.grammar());
        let kinds = grammar.node_kind_count();
        let mut by_kind = vec![Vec::new(); kinds];
        for (place, op) in compiled.iter().enumerate() {
            let result = op.regrows.as_ref().and_then(|regrows| regrows.result.as_ref());
            let of_result = result.iter().flat_map(|result| &result.kinds);
            for kind in op.pattern.kinds.iter().chain(of_result) {
                if let Some(ops) = by_kind.get_mut(usize::from(*kind))
                    && !ops.contains(&place)
                {
                    ops.push(place);
                }
            }
        }
        let comments = (0..kinds)
            .map(|kind| {
                let kind = u16::try_from(kind).unwrap_or_default();
                grammar.node_kind_is_named(kind)
                    && grammar.node_kind_for_id(kind).is_some_and(|name| name.contains("comment"))
            })
            .collect();
        Self { lang, ops: compiled, by_kind, comments, failures }
    }

    /// The language.
    #[must_use]
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// The operations that cannot run in this language, by index, with the reason.
    #[must_use]
    pub fn failures(&self) -> &[(usize, OpError)] {
        &self.failures
    }

    /// The operations whose result matches their own pattern, by index: running them again would
    /// rewrite what they have written (wrapping, swapping).
    pub fn regrowing(&self) -> impl Iterator<Item = usize> + '_ {
        self.ops.iter().filter(|op| op.regrows.is_some()).map(|op| op.index)
    }

    /// Whether a file with these bytes may hold a match: false only where it cannot. No parsing.
    #[must_use]
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        self.ops.iter().any(|op| op.may_match(bytes))
    }
}

impl CompiledOp {
    /// Whether a file with these bytes may hold a match of this operation.
    pub(crate) fn may_match(&self, bytes: &[u8]) -> bool {
        self.pattern
            .literal
            .as_ref()
            .is_none_or(|literal| memchr::memmem::find(bytes, literal.as_bytes()).is_some())
    }
}
