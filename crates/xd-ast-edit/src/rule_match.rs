//! A rule compiled for one language: what it matches, what it replaces, and by what.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use ast_grep_config::{GlobalRules, RuleConfig, SerializableRuleConfig};
use ast_grep_core::matcher::MatcherExt as _;
use ast_grep_core::meta_var::MetaVarEnv;
use ast_grep_core::replacer::Replacer as _;
use ast_grep_core::{Matcher as _, Node, NodeMatch};
use ast_grep_language::SupportLang;
use serde_json::{Map, Value, json};

use crate::language::Lang;
use crate::literal::Needed;
use crate::pattern::Bindings;
use crate::rule::{PathGlobs, Rule, first_line};
use crate::rule_check::{Checked, check};
use crate::rule_fault::{RuleFault, RuleProblem};
use crate::template::{Piece, Template};
use crate::tree::Doc;

/// A utility that refers to itself recurses as deep as the tree; this many levels fit every stack.
pub(crate) const DEEPEST_RECURSIVE: usize = 1_000;

/// A rule, ready to match nodes of one language.
#[derive(Clone)]
pub(crate) struct CompiledRule {
    config: Arc<RuleConfig<SupportLang>>,
    /// The kinds of node that a match may be.
    pub(crate) kinds: Vec<u16>,
    /// The text that replaces a match.
    pub(crate) template: Template,
    /// Whether a name occurs twice, so that subtrees are compared.
    pub(crate) repeats: bool,
    /// Whether matching recurses over the tree.
    pub(crate) recursive: bool,
    /// What a file with a match contains.
    pub(crate) needed: Needed,
    /// Which files it is for.
    pub(crate) paths: PathGlobs,
    expands: bool,
}

impl CompiledRule {
    /// Compiles `rule` for `lang`.
    ///
    /// # Errors
    /// The first fault, with its key.
    pub(crate) fn compile(lang: Lang, rule: &Rule) -> Result<Self, RuleFault> {
        let mut document = rule.document().clone();
        let checked = check(lang, &mut document)?;
        let template = template_of(&document, &checked)?.of_language(lang);
        let mut bare = Map::new();
        for key in ["rule", "constraints", "utils", "transform"] {
            if let Some(value) = document.shift_remove(key) {
                bare.insert(key.to_owned(), value);
            }
        }
        // The template is expanded here, by the rules of all templates; ast-grep does the range.
        let mut fix = Map::from_iter([("template".to_owned(), json!(""))]);
        if let Some(Value::Object(config)) = document.get("fix").map(only_fix) {
            for key in ["expandStart", "expandEnd"] {
                fix.extend(config.get(key).map(|value| (key.to_owned(), value.clone())));
            }
        }
        let expands = fix.len() > 1;
        bare.insert("fix".to_owned(), Value::Object(fix));
        bare.insert("language".to_owned(), json!(lang.grammar().to_string()));
        let serialized: SerializableRuleConfig<SupportLang> =
            serde_json::from_value(Value::Object(bare)).map_err(|error| other("", &error))?;
        let config = RuleConfig::try_from(serialized, &GlobalRules::default())
            .map_err(|error| refused(&error))?;
        let kinds = config.matcher.potential_kinds();
        let Some(kinds) = kinds else { return Err(RuleFault::new("rule", RuleProblem::NoKind)) };
        Ok(Self {
            config: Arc::new(config),
            kinds: kinds.iter().filter_map(|kind| u16::try_from(kind).ok()).collect(),
            template,
            repeats: checked.repeats,
            recursive: checked.recursive,
            needed: checked.needed,
            paths: rule.paths(),
            expands,
        })
    }

    /// Matches `node`: the match, and the bytes that `fix` replaces.
    pub(crate) fn matches<'t>(
        &self,
        node: &Node<'t, Doc>,
    ) -> Option<(NodeMatch<'t, Doc>, Range<usize>)> {
        let found = self.config.matcher.match_node(node.clone())?;
        let range = match self.config.fixer.first() {
            Some(fixer) if self.expands => fixer.get_replaced_range(&found, &self.config.matcher),
            Some(_) | None => found.range(),
        };
        Some((found, range))
    }

    /// A variable of the template that this match did not bind, with its dollars.
    pub(crate) fn unbound(&self, env: &MetaVarEnv<'_, Doc>) -> Option<String> {
        self.template.pieces.iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Single(name) => (env.get_match(name).is_none()
                && env.get_transformed(name).is_none())
            .then(|| format!("${name}")),
            Piece::List(name) => env.get_labels(name).is_none().then(|| format!("$$${name}")),
        })
    }
}

impl fmt::Debug for CompiledRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledRule").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

/// Reads `fix` as the template of a rule that was checked.
///
/// # Errors
/// Where it is missing, has a form that is not supported, or does not fit the rule.
pub(crate) fn template_of(
    document: &Map<String, Value>,
    checked: &Checked,
) -> Result<Template, RuleFault> {
    let Some(fix) = document.get("fix") else {
        let hint = "write what a match becomes, with the rule's variables; \"\" deletes it";
        return Err(RuleFault::new("fix", RuleProblem::Missing { hint }));
    };
    let (text, key) = match only_fix(fix) {
        Value::String(text) => (text.as_str(), "fix"),
        Value::Object(config) => {
            let known = ["template", "expandStart", "expandEnd", "title"];
            if let Some(other) = config.keys().find(|key| !known.contains(&key.as_str())) {
                let known = known.join(", ");
                return Err(RuleFault::new(
                    format!("fix.{other}"),
                    RuleProblem::UnknownKey { known },
                ));
            }
            match config.get("template") {
                Some(Value::String(text)) => (text.as_str(), "fix.template"),
                Some(_) => {
                    let expected = "string";
                    return Err(RuleFault::new(
                        "fix.template",
                        RuleProblem::WrongType { expected },
                    ));
                }
                None => {
                    let hint = "write what a match becomes; \"\" deletes it";
                    return Err(RuleFault::new("fix.template", RuleProblem::Missing { hint }));
                }
            }
        }
        Value::Array(_) => {
            let reason = "it is a choice of several; keep the one that is meant";
            return Err(RuleFault::new("fix", RuleProblem::Unsupported { reason }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let expected = "string or object with `template`";
            return Err(RuleFault::new("fix", RuleProblem::WrongType { expected }));
        }
    };
    let mut bindings: Bindings = checked.bindings.clone();
    bindings.singles.extend(transformed(document)?);
    Template::read(text, &checked.text, &bindings).map_err(|error| RuleFault::new(key, error))
}

/// A list of one fix is that fix.
fn only_fix(fix: &Value) -> &Value {
    match fix {
        Value::Array(list) if list.len() == 1 => &list[0],
        other => other,
    }
}

/// The names that `transform` makes.
fn transformed(document: &Map<String, Value>) -> Result<Vec<String>, RuleFault> {
    let Some(transform) = document.get("transform") else { return Ok(Vec::new()) };
    let Value::Object(transform) = transform else {
        return Err(RuleFault::new("transform", RuleProblem::WrongType { expected: "object" }));
    };
    for (name, how) in transform {
        let key = format!("transform.{name}");
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(upper) {
            let reason = "a variable is upper case; give it a name such as `NEW`";
            return Err(RuleFault::new(key, RuleProblem::Unsupported { reason }));
        }
        let rewrites = how.get("rewrite").is_some()
            || how.as_str().is_some_and(|how| how.trim_start().starts_with("rewrite("));
        if rewrites {
            let reason =
                "`rewrite` needs `rewriters`, which are not; give each rewrite a rule of its own";
            return Err(RuleFault::new(key, RuleProblem::Unsupported { reason }));
        }
    }
    Ok(transform.keys().cloned().collect())
}

/// A refusal of ast-grep-config: the key that it names, and the innermost reason.
fn refused(error: &ast_grep_config::RuleConfigError) -> RuleFault {
    use ast_grep_config::{RuleConfigError, RuleCoreError};
    let key = match error {
        RuleConfigError::MissingPotentialKinds => {
            return RuleFault::new("rule", RuleProblem::NoKind);
        }
        RuleConfigError::Core(RuleCoreError::Utils(_)) => "utils",
        RuleConfigError::Core(RuleCoreError::Rule(_)) => "rule",
        RuleConfigError::Core(RuleCoreError::Constraints(_)) => "constraints",
        RuleConfigError::Core(RuleCoreError::Transform(_)) => "transform",
        RuleConfigError::Fixer(_) => "fix",
        _ => "",
    };
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    other(key, &innermost)
}

fn other(key: &str, error: &impl fmt::Display) -> RuleFault {
    RuleFault::new(key, RuleProblem::Other { reason: first_line(error) })
}
