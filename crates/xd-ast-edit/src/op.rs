//! Operations: what a caller asks for, checked without any file, then compiled for a language.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::language::Lang;
use crate::literal::Prefilter;
use crate::pattern::{CompiledPattern, PatternError};
use crate::refusal::DEEPEST_COMPARED;
use crate::rule::Rule;
use crate::rule_fault::RuleFault;
use crate::rule_match::{CompiledRule, DEEPEST_RECURSIVE};
use crate::template::{Template, TemplateError, bindings_in_text};

/// One rewrite (`CONTRACT A1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Every place that `pat` matches becomes `out`: `{"pat": …, "out": …}`.
    Pattern {
        /// The pattern: code with `$A`, `$_` and `$$$LIST` in it.
        pat: String,
        /// The template; empty deletes.
        out: String,
    },
    /// Every place that the rule matches becomes its `fix`: the rule's document, `{"rule": …, "fix": …}`.
    Rule(Rule),
}

impl Op {
    /// An operation from a pattern and a template.
    pub fn new(pat: impl Into<String>, out: impl Into<String>) -> Self {
        Self::Pattern { pat: pat.into(), out: out.into() }
    }

    /// What a message calls it: its pattern, or its rule by name.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Pattern { pat, .. } => pat.clone(),
            Self::Rule(rule) => match rule.id() {
                Some(id) => format!("rule {id}"),
                None => "rule".to_owned(),
            },
        }
    }

    /// The one language that it is for, where it names one.
    #[must_use]
    pub fn language(&self) -> Option<Lang> {
        match self {
            Self::Pattern { .. } => None,
            Self::Rule(rule) => rule.language(),
        }
    }
}

impl From<Rule> for Op {
    fn from(rule: Rule) -> Self {
        Self::Rule(rule)
    }
}

/// The form of an operation with a pattern.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternForm {
    pat: String,
    out: String,
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Pattern { pat, out } => {
                PatternForm { pat: pat.clone(), out: out.clone() }.serialize(serializer)
            }
            Self::Rule(rule) => rule.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Op {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.get("rule").is_some() {
            return Rule::from_document(value).map(Self::Rule).map_err(D::Error::custom);
        }
        let PatternForm { pat, out } = PatternForm::deserialize(value).map_err(D::Error::custom)?;
        Ok(Self::Pattern { pat, out })
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
    /// Two operations are one rule, or two rules of one name.
    #[error(
        "ops[{op}]: is the same rule as ops[{first}]{}; keep one of them, or give each its own `id`",
        id.as_ref().map(|id| format!(" (`{}`)", xd_protocol::Visible(id))).unwrap_or_default()
    )]
    RepeatedRule {
        /// Index of the later operation.
        op: usize,
        /// Index of the earlier one.
        first: usize,
        /// The name, where there is one.
        id: Option<String>,
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
        match op {
            Op::Pattern { pat, out } => {
                let trimmed = pat.trim();
                if trimmed.is_empty() {
                    return Err(OpsError::EmptyPattern { op: index });
                }
                let same =
                    |other: &Op| matches!(other, Op::Pattern { pat, .. } if pat.trim() == trimmed);
                if let Some(first) = ops[..index].iter().position(same) {
                    let pat = trimmed.to_owned();
                    return Err(OpsError::RepeatedPattern { op: index, first, pat });
                }
                Template::read(out, pat, &bindings_in_text(pat))
                    .map_err(|error| OpsError::Template { op: index, error })?;
            }
            // What a rule is by itself was checked when it was read.
            Op::Rule(rule) => {
                let same = |other: &Op| match other {
                    Op::Pattern { .. } => false,
                    Op::Rule(other) => {
                        other == rule || (rule.id().is_some() && rule.id() == other.id())
                    }
                };
                if let Some(first) = ops[..index].iter().position(same) {
                    let id = rule.id().map(str::to_owned);
                    return Err(OpsError::RepeatedRule { op: index, first, id });
                }
            }
        }
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
    /// It is a rule that means nothing there.
    #[error("{0}")]
    Rule(#[from] RuleFault),
}

/// An operation, compiled.
#[derive(Debug, Clone)]
pub(crate) struct CompiledOp {
    /// Its index in the caller's list.
    pub(crate) index: usize,
    pub(crate) finder: Finder,
    prefilter: Prefilter,
}

/// How an operation finds what it replaces.
#[derive(Debug, Clone)]
pub(crate) enum Finder {
    Pattern(Box<PatternFinder>),
    Rule(Box<CompiledRule>),
}

/// A pattern with its template.
#[derive(Debug, Clone)]
pub(crate) struct PatternFinder {
    pub(crate) pattern: CompiledPattern,
    pub(crate) template: Template,
    /// Where the result of the operation matches its own pattern: running it again would rewrite
    /// what it has written.
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
        match op {
            Op::Pattern { pat, out } => {
                let pattern = CompiledPattern::compile(lang, pat)?;
                let template = Template::read(out, pat, &pattern.bindings)?
                    .of_language(lang)
                    .with_tails(pattern.tails.clone());
                let regrows = pattern
                    .occurs_in(lang, out)
                    .then(|| Regrowth { result: CompiledPattern::compile(lang, out).ok() });
                let prefilter = Prefilter::new(pattern.needed.clone());
                let finder = PatternFinder { pattern, template, regrows };
                Ok(Self { index, finder: Finder::Pattern(Box::new(finder)), prefilter })
            }
            Op::Rule(rule) => {
                let rule = CompiledRule::compile(lang, rule)?;
                let prefilter = Prefilter::new(rule.needed.clone());
                Ok(Self { index, finder: Finder::Rule(Box::new(rule)), prefilter })
            }
        }
    }

    /// The kinds of node that it looks at: those of a match, and of its own result.
    fn kinds(&self) -> Vec<u16> {
        match &self.finder {
            Finder::Pattern(finder) => {
                let result = finder.regrows.as_ref().and_then(|regrows| regrows.result.as_ref());
                let of_result = result.into_iter().flat_map(|result| &result.kinds);
                finder.pattern.kinds.iter().chain(of_result).copied().collect()
            }
            Finder::Rule(rule) => rule.kinds.clone(),
        }
    }

    /// The deepest tree that it can match without running out of stack.
    pub(crate) fn deepest(&self) -> usize {
        match &self.finder {
            Finder::Rule(rule) if rule.recursive => DEEPEST_RECURSIVE,
            Finder::Rule(rule) if rule.repeats => DEEPEST_COMPARED,
            Finder::Pattern(finder) if finder.pattern.repeats => DEEPEST_COMPARED,
            Finder::Pattern(_) | Finder::Rule(_) => usize::MAX,
        }
    }

    /// The text that replaces a match.
    pub(crate) fn template(&self) -> &Template {
        match &self.finder {
            Finder::Pattern(finder) => &finder.template,
            Finder::Rule(rule) => &rule.template,
        }
    }

    /// Whether a file with these bytes may hold a match of this operation.
    pub(crate) fn may_match(&self, bytes: &[u8]) -> bool {
        self.prefilter.passes(bytes)
    }

    /// Where what every match holds begins in these bytes, one place at least for each match; none
    /// where nothing is known of it. What a rule needs may stand outside of its match.
    fn places(&self, bytes: &[u8]) -> Option<Vec<usize>> {
        match &self.finder {
            Finder::Pattern(_) => self.prefilter.places(bytes),
            Finder::Rule(_) => None,
        }
    }

    /// Whether the operation is for the file at `path`, relative to the workspace root.
    pub(crate) fn is_for(&self, path: &str) -> bool {
        match &self.finder {
            Finder::Pattern(_) => true,
            Finder::Rule(rule) => rule.paths.take(path),
        }
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
            // A rule for another language is no failure: it says so itself.
            if op.language().is_some_and(|own| own != lang) {
                continue;
            }
            match CompiledOp::compile(lang, index, op) {
                Ok(op) => compiled.push(op),
                Err(error) => failures.push((index, error)),
            }
        }
        let grammar = ast_grep_core::tree_sitter::LanguageExt::get_ts_language(&lang.grammar());
        let kinds = grammar.node_kind_count();
        let mut by_kind = vec![Vec::new(); kinds];
        for (place, op) in compiled.iter().enumerate() {
            for kind in op.kinds() {
                if let Some(ops) = by_kind.get_mut(usize::from(kind))
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

    /// The operations with a pattern whose result matches it, by index: running them again would
    /// rewrite what they have written (wrapping, swapping). Of a rule, a result tells.
    pub fn regrowing(&self) -> impl Iterator<Item = usize> + '_ {
        let regrows = |op: &&CompiledOp| match &op.finder {
            Finder::Pattern(finder) => finder.regrows.is_some(),
            Finder::Rule(_) => false,
        };
        self.ops.iter().filter(regrows).map(|op| op.index)
    }

    /// Whether a file with these bytes may hold a match: false only where it cannot. No parsing.
    #[must_use]
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        self.ops.iter().any(|op| op.may_match(bytes))
    }

    /// Places of which every match of an `active` operation holds one, in order; none where a match
    /// may be anywhere.
    pub(crate) fn places(&self, active: &[bool], bytes: &[u8]) -> Option<Vec<usize>> {
        let mut all = Vec::new();
        for (op, _) in self.ops.iter().zip(active).filter(|(_, active)| **active) {
            all.extend(op.places(bytes)?);
        }
        all.sort_unstable();
        Some(all)
    }

    /// Whether there is nothing to run in this language.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}
