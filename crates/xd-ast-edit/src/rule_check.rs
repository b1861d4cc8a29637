//! Walking a rule's document: every key checked with its place, patterns read, and what the rule
//! binds and needs collected. ast-grep-config then compiles a document that it cannot misread.

use std::collections::BTreeMap;

use ast_grep_core::Language as _;
use serde_json::{Map, Value};

use crate::language::Lang;
use crate::list_tail::endangered;
use crate::literal::{Needed, Tokens, texts_of};
use crate::pattern::{Bindings, Found, PatternError};
use crate::rule::{Rule, first_line};
use crate::rule_fault::{RuleFault, RuleProblem};
use crate::rule_pattern;
use crate::template::bindings_in_text;

const RULE_KEYS: [&str; 13] = [
    "pattern", "kind", "regex", "nthChild", "range", "inside", "has", "precedes", "follows", "all",
    "any", "not", "matches",
];

/// What a walk over a rule finds.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// What the rule may bind; one match need not bind all of it.
    pub(crate) bindings: Bindings,
    /// Whether a name occurs twice: matching then compares whole subtrees.
    pub(crate) repeats: bool,
    /// Whether a utility refers to itself, through `has` or `inside`.
    pub(crate) recursive: bool,
    /// What a file with a match contains.
    pub(crate) needed: Needed,
    /// All patterns, for the words of a template that are not variables.
    pub(crate) text: String,
}

/// Whether what a part of a rule binds is there after the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binds {
    Kept,
    /// Inside `not`, `stopBy` and `ofRule`.
    Lost,
}

/// The state of a utility.
enum Utility {
    /// Not walked yet.
    Raw(Value),
    /// Being walked: whoever asks refers to itself. Holds how many sideways steps led here.
    Open(usize),
    Done(Value, Needed),
}

struct Checker {
    /// None where only the form is checked.
    lang: Option<Lang>,
    utilities: BTreeMap<String, Utility>,
    found: Found,
    recursive: bool,
    text: String,
    /// How many `follows` and `precedes` are around.
    sideways: usize,
}

/// Checks the document of `rule` for `lang` and puts patterns that need a context into one.
///
/// # Errors
/// The first fault, with its key.
pub(crate) fn check(lang: Lang, document: &mut Map<String, Value>) -> Result<Checked, RuleFault> {
    walk(Some(lang), document)
}

/// Checks what no language is needed for, with the template of the rule.
///
/// # Errors
/// The first fault, with its key.
pub(crate) fn check_without_language(rule: &Rule) -> Result<(), RuleFault> {
    let mut document = rule.document().clone();
    let checked = walk(None, &mut document)?;
    crate::rule_match::template_of(&document, &checked).map(drop)
}

fn walk(lang: Option<Lang>, document: &mut Map<String, Value>) -> Result<Checked, RuleFault> {
    let mut checker = Checker {
        lang,
        utilities: BTreeMap::new(),
        found: Found::default(),
        recursive: false,
        text: String::new(),
        sideways: 0,
    };
    if let Some(utils) = document.get_mut("utils") {
        let Value::Object(utils) = utils.take() else { return Err(no_object("utils")) };
        checker.utilities = utils.into_iter().map(|(id, util)| (id, Utility::Raw(util))).collect();
        for id in checker.utilities.keys().cloned().collect::<Vec<_>>() {
            checker.utility(&id, "utils")?;
        }
    }
    let Some(rule) = document.get_mut("rule") else {
        let hint = "write `rule: {pattern: oldApi($A)}`, or an object of other rules";
        return Err(RuleFault::new("rule", RuleProblem::Missing { hint }));
    };
    let needed = checker.object(rule, "rule", Binds::Kept)?;
    if let Some(constraints) = document.get_mut("constraints") {
        let Value::Object(constraints) = constraints else { return Err(no_object("constraints")) };
        for (name, rule) in constraints {
            // A variable that a match does not bind is not constrained, so nothing is needed.
            checker.object(rule, &format!("constraints.{name}"), Binds::Kept)?;
        }
    }
    for (place, fix) in fixes(document) {
        for key in ["expandStart", "expandEnd"] {
            if let Some(relation) = fix.get_mut(key) {
                checker.relation(relation, &format!("{place}.{key}"), Binds::Lost)?;
            }
        }
    }
    if !checker.utilities.is_empty() {
        let utils =
            std::mem::take(&mut checker.utilities).into_iter().map(|(id, util)| match util {
                Utility::Raw(util) | Utility::Done(util, _) => (id, util),
                Utility::Open(_) => (id, Value::Null),
            });
        document.insert("utils".to_owned(), Value::Object(utils.collect()));
    }
    let Checker { found, recursive, text, .. } = checker;
    Ok(Checked { bindings: found.bindings, repeats: found.repeats, recursive, needed, text })
}

/// The object forms of `fix`, with their keys.
fn fixes(document: &mut Map<String, Value>) -> Vec<(String, &mut Map<String, Value>)> {
    match document.get_mut("fix") {
        Some(Value::Object(fix)) => vec![("fix".to_owned(), fix)],
        Some(Value::Array(list)) => list
            .iter_mut()
            .enumerate()
            .filter_map(|(index, fix)| Some((format!("fix[{index}]"), fix.as_object_mut()?)))
            .collect(),
        Some(_) | None => Vec::new(),
    }
}

fn no_object(key: &str) -> RuleFault {
    RuleFault::new(key, RuleProblem::WrongType { expected: "object" })
}

fn text_of<'v>(value: &'v Value, key: &str) -> Result<&'v str, RuleFault> {
    value.as_str().ok_or_else(|| RuleFault::new(key, RuleProblem::WrongType { expected: "string" }))
}

impl Checker {
    /// Walks the utility `id`, once, and answers what it needs.
    fn utility(&mut self, id: &str, key: &str) -> Result<Needed, RuleFault> {
        let sideways = self.sideways;
        match self.utilities.get_mut(id) {
            None => {
                let known = self.utilities.keys().cloned().collect();
                Err(RuleFault::new(key, RuleProblem::Utility { id: id.to_owned(), known }))
            }
            Some(Utility::Done(_, needed)) => Ok(needed.clone()),
            Some(Utility::Open(before)) => {
                if sideways > *before {
                    return Err(RuleFault::new(key, RuleProblem::SidewaysRecursion));
                }
                self.recursive = true;
                Ok(Needed::default())
            }
            Some(state) => {
                let Utility::Raw(mut util) = std::mem::replace(state, Utility::Open(sideways))
                else {
                    return Ok(Needed::default());
                };
                let needed = self.object(&mut util, &format!("utils.{id}"), Binds::Kept)?;
                let done = Utility::Done(util, needed.clone());
                self.utilities.insert(id.to_owned(), done);
                Ok(needed)
            }
        }
    }

    /// Walks a rule object: all of its keys hold together.
    fn object(&mut self, value: &mut Value, key: &str, binds: Binds) -> Result<Needed, RuleFault> {
        let Value::Object(rule) = value else { return Err(no_object(key)) };
        if rule.is_empty() {
            let hint = "an empty rule finds nothing; write `pattern` or `kind`";
            return Err(RuleFault::new(key, RuleProblem::Missing { hint }));
        }
        let mut needed = Needed::default();
        for (name, value) in rule {
            let key = format!("{key}.{name}");
            let more = match name.as_str() {
                "pattern" => self.pattern(value, &key, binds)?,
                "kind" => self.kind(text_of(value, &key)?, &key)?,
                "regex" => regex(text_of(value, &key)?, &key)?,
                "nthChild" => {
                    if let Some(of_rule) = value.get_mut("ofRule") {
                        self.object(of_rule, &format!("{key}.ofRule"), Binds::Lost)?;
                    }
                    Needed::default()
                }
                // Its form is checked where it is compiled.
                "range" => Needed::default(),
                "inside" | "has" => self.relation(value, &key, binds)?,
                "precedes" | "follows" => {
                    if value.get("field").is_some() {
                        let reason = "`field` belongs to `has` and `inside`; leave it out";
                        let key = format!("{key}.field");
                        return Err(RuleFault::new(key, RuleProblem::Unsupported { reason }));
                    }
                    self.sideways += 1;
                    let needed = self.relation(value, &key, binds);
                    self.sideways -= 1;
                    needed?
                }
                "all" => {
                    let all = self.list(value, &key, binds)?;
                    all.into_iter().fold(Needed::default(), Needed::and)
                }
                "any" => Needed::either(self.list(value, &key, binds)?),
                "not" => {
                    self.object(value, &key, Binds::Lost)?;
                    Needed::default()
                }
                "matches" => match value {
                    Value::String(id) => self.utility(&id.clone(), &key)?,
                    _ => {
                        let reason = "utilities with arguments are of a project, not of a rule; name one of `utils`";
                        return Err(RuleFault::new(key, RuleProblem::Unsupported { reason }));
                    }
                },
                _ => {
                    let known = RULE_KEYS.join(", ");
                    return Err(RuleFault::new(key, RuleProblem::UnknownKey { known }));
                }
            };
            needed = needed.and(more);
        }
        Ok(needed)
    }

    fn list(
        &mut self,
        value: &mut Value,
        key: &str,
        binds: Binds,
    ) -> Result<Vec<Needed>, RuleFault> {
        let Value::Array(rules) = value else {
            return Err(RuleFault::new(key, RuleProblem::WrongType { expected: "list of rules" }));
        };
        let mut all = Vec::with_capacity(rules.len());
        for (index, rule) in rules.iter_mut().enumerate() {
            all.push(self.object(rule, &format!("{key}[{index}]"), binds)?);
        }
        Ok(all)
    }

    /// A rule object with `stopBy` and `field` beside its keys.
    fn relation(
        &mut self,
        value: &mut Value,
        key: &str,
        binds: Binds,
    ) -> Result<Needed, RuleFault> {
        let Value::Object(relation) = value else { return Err(no_object(key)) };
        // The rule keys alone are walked; the two others are put back behind them.
        let stop_by = relation.shift_remove("stopBy");
        let field = relation.shift_remove("field");
        let needed = self.object(value, key, binds)?;
        let Value::Object(relation) = value else { return Err(no_object(key)) };
        if let Some(mut stop_by) = stop_by {
            let place = format!("{key}.stopBy");
            match &mut stop_by {
                Value::String(word) if word == "end" || word == "neighbor" => {}
                Value::Object(_) => drop(self.object(&mut stop_by, &place, Binds::Lost)?),
                _ => {
                    let expected = "`end`, `neighbor` or rule object";
                    return Err(RuleFault::new(place, RuleProblem::WrongType { expected }));
                }
            }
            relation.insert("stopBy".to_owned(), stop_by);
        }
        if let Some(field) = field {
            let place = format!("{key}.field");
            let name = text_of(&field, &place)?;
            if let Some(lang) = self.lang
                && lang.grammar().field_to_id(name).is_none()
            {
                let problem = RuleProblem::Field { field: name.to_owned(), lang: lang.name() };
                return Err(RuleFault::new(place, problem));
            }
            relation.insert("field".to_owned(), field);
        }
        Ok(needed)
    }

    fn kind(&self, kind: &str, key: &str) -> Result<Needed, RuleFault> {
        if let Some(lang) = self.lang
            && let Err(error) = ast_grep_config::parse_selector(kind, lang.grammar())
        {
            let plain = kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let reason = if plain { String::new() } else { first_line(&error) };
            let problem = RuleProblem::Kind { kind: kind.to_owned(), lang: lang.name(), reason };
            return Err(RuleFault::new(key, problem));
        }
        Ok(Needed::default())
    }

    fn pattern(&mut self, value: &mut Value, key: &str, binds: Binds) -> Result<Needed, RuleFault> {
        let fault = |error| RuleFault::new(key, RuleProblem::Pattern(error));
        let (text, selector, strictness) = match &*value {
            Value::String(text) => (text.clone(), None, None),
            Value::Object(object) => {
                let known = ["context", "selector", "strictness"];
                if let Some(other) = object.keys().find(|other| !known.contains(&other.as_str())) {
                    let known = known.join(", ");
                    let key = format!("{key}.{other}");
                    return Err(RuleFault::new(key, RuleProblem::UnknownKey { known }));
                }
                let part = |name: &str| {
                    let value = object.get(name)?;
                    Some(text_of(value, &format!("{key}.{name}")).map(str::to_owned))
                };
                let Some(context) = part("context") else {
                    let hint = "write the code around the pattern, and `selector` for its kind";
                    let key = format!("{key}.context");
                    return Err(RuleFault::new(key, RuleProblem::Missing { hint }));
                };
                (context?, part("selector").transpose()?, part("strictness").transpose()?)
            }
            _ => {
                let expected = "string or object with `context` and `selector`";
                return Err(RuleFault::new(key, RuleProblem::WrongType { expected }));
            }
        };
        if text.trim().is_empty() {
            let hint = "write the code to find, such as `oldApi($A)`";
            return Err(RuleFault::new(key, RuleProblem::Missing { hint }));
        }
        self.text.push_str(&text);
        self.text.push('\n');
        let Some(lang) = self.lang else {
            if binds == Binds::Kept {
                let more = bindings_in_text(&text);
                self.found.bindings.singles.extend(more.singles);
                self.found.bindings.lists.extend(more.lists);
            }
            return Ok(Needed::default());
        };
        let node = if value.is_string() {
            let reading = rule_pattern::read(lang, &text).map_err(fault)?;
            if let Some(replacement) = reading.replacement {
                *value = replacement;
            }
            reading.node
        } else {
            let node = rule_pattern::read_in(lang, &text, selector.as_deref()).map_err(fault)?;
            node.ok_or_else(|| {
                let selector = selector.unwrap_or_default();
                let key = format!("{key}.selector");
                RuleFault::new(key, RuleProblem::Selector { selector })
            })?
        };
        match binds {
            Binds::Kept => {
                if let Some((name, separator)) = endangered(&node) {
                    return Err(fault(PatternError::SeparatorBehindList { name, separator }));
                }
                self.found.collect(&node);
            }
            Binds::Lost => {
                let mut lost = Found::default();
                lost.collect(&node);
                // A name that is bound outside is compared with here.
                let known = &self.found.bindings;
                let compared = lost.bindings.singles.iter().chain(&lost.bindings.lists).next();
                self.found.repeats |=
                    lost.repeats || (compared.is_some() && *known != Bindings::default());
            }
        }
        let tokens = match strictness.as_deref() {
            Some("signature") => return Ok(Needed::default()),
            Some("cst" | "smart") | None if !lang.folds_keywords() => Tokens::All,
            Some("cst" | "smart" | "ast" | "relaxed" | "template") | None => Tokens::Named,
            Some(_) => {
                let expected = "strictness; use cst, smart, ast, relaxed, signature or template";
                let key = format!("{key}.strictness");
                return Err(RuleFault::new(key, RuleProblem::WrongType { expected }));
            }
        };
        Ok(Needed::all_of(texts_of(&node, tokens)))
    }
}

fn regex(text: &str, key: &str) -> Result<Needed, RuleFault> {
    match ast_grep_core::matcher::RegexMatcher::try_new(text) {
        Ok(_) => Ok(Needed::of_regex(text)),
        Err(_) => {
            let reason = regex_syntax::parse(text).err().map_or_else(
                || "it is too large".to_owned(),
                |error| error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            );
            Err(RuleFault::new(key, RuleProblem::Regex { reason }))
        }
    }
}
