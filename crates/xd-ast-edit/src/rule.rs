//! Rules: the documents that ast-grep's users write, one or several in a YAML or JSON text.
//!
//! What is checked here needs no file to search: the form of the document, its language, its globs,
//! and that `fix` uses what the rule binds. A rule that names its language is compiled for it at
//! once, so that a wrong kind or pattern is told when the rule is read.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::language::Lang;
use crate::rule_fault::{RuleError, RuleFault, RuleProblem};
use crate::rule_match::CompiledRule;

/// The keys of a document. Those in the second half are for a linter and change no rewrite.
const KEYS: [&str; 15] = [
    "id",
    "language",
    "rule",
    "constraints",
    "utils",
    "transform",
    "fix",
    "files",
    "ignores",
    "message",
    "note",
    "severity",
    "labels",
    "url",
    "metadata",
];

/// A rule with a `fix`, as ast-grep's users write it: one document of a rule file.
///
/// `rule` is an object of `pattern`, `kind`, `regex`, `nthChild`, `range`, `inside`, `has`,
/// `follows`, `precedes` (with `stopBy` and `field`), `all`, `any`, `not` and `matches`; beside it
/// stand `constraints`, `utils`, `transform`, `files`, `ignores` and `fix`, a template or
/// `{template, expandStart, expandEnd}`. `language` may be left out: the rule then runs in every
/// language in which it means something. What a linter needs (`message`, `severity`, …) is
/// tolerated; `rewriters` and a choice of several fixes are refused by name.
///
/// A template in a rule is the same as in `out`: `$$` before a name is a literal dollar, and a
/// variable that the rule never binds is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    document: Map<String, Value>,
}

impl Rule {
    /// Reads every rule of `text`, which is YAML with any number of documents, or JSON. A list of
    /// rules counts as that many documents. `file` is what errors call the text.
    ///
    /// # Errors
    /// The first fault: it names the file, the document, the rule and the key (`CONTRACT A1`, `S7`).
    ///
    /// # Example
    /// ```
    /// # #[cfg(feature = "lang-typescript")] {
    /// use xd_ast_edit::{Lang, Op, Program, Rule, assemble, rewrite};
    ///
    /// let text = "
    /// id: no-console
    /// language: TypeScript
    /// rule:
    ///   pattern: console.log($A)
    ///   not: { inside: { kind: catch_clause, stopBy: end } }
    /// fix: logger.debug($A)
    /// ";
    /// let ops: Vec<Op> = Rule::parse("no-console.yml", text)?.into_iter().map(Op::from).collect();
    /// let program = Program::compile(Lang::named("ts")?, &ops);
    /// let source = "console.log(1);\ntry { f(); } catch { console.log(2); }\n";
    /// let rewritten = rewrite(&program, source, usize::MAX)?;
    /// assert_eq!(
    ///     assemble(source, &rewritten.edits),
    ///     "logger.debug(1);\ntry { f(); } catch { console.log(2); }\n"
    /// );
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Vec<Self>, RuleError> {
        let error = |document, id, fault| RuleError {
            file: file.to_owned(),
            document,
            id,
            fault: Box::new(fault),
        };
        let documents: Vec<Value> = ast_grep_config::from_multiple(text).map_err(|reason| {
            error(
                None,
                None,
                RuleFault::new("", RuleProblem::Syntax { reason: first_line(&reason) }),
            )
        })?;
        let documents = documents.into_iter().flat_map(|document| match document {
            Value::Array(rules) => rules,
            other => vec![other],
        });
        let mut rules = Vec::new();
        for (index, document) in documents.enumerate() {
            let id = document.get("id").and_then(Value::as_str).map(str::to_owned);
            let rule =
                Self::from_document(document).map_err(|fault| error(Some(index + 1), id, fault))?;
            rules.push(rule);
        }
        if rules.is_empty() {
            return Err(error(None, None, RuleFault::new("", RuleProblem::Empty)));
        }
        Ok(rules)
    }

    /// Reads one document that is parsed already.
    ///
    /// # Errors
    /// The first fault, with its key.
    pub fn from_document(document: Value) -> Result<Self, RuleFault> {
        let Value::Object(document) = document else {
            return Err(RuleFault::new(
                "",
                RuleProblem::WrongType { expected: "object with `rule` and `fix`" },
            ));
        };
        for key in document.keys() {
            if key == "rewriters" {
                let reason = "its fixes would be inserted without the checks made here; give each rewrite a rule of its own";
                return Err(RuleFault::new(key, RuleProblem::Unsupported { reason }));
            }
            if !KEYS.contains(&key.as_str()) {
                return Err(RuleFault::new(
                    key,
                    RuleProblem::UnknownKey { known: KEYS.join(", ") },
                ));
            }
        }
        let rule = Self { document };
        if rule.document.get("severity").and_then(Value::as_str) == Some("off") {
            let reason = "`off` switches the rule off; leave the rule out, or take the line out";
            return Err(RuleFault::new("severity", RuleProblem::Unsupported { reason }));
        }
        rule.globs("files")?;
        rule.globs("ignores")?;
        if let Some(id) = rule.document.get("id")
            && !id.is_string()
        {
            return Err(RuleFault::new("id", RuleProblem::WrongType { expected: "string" }));
        }
        match rule.document.get("language") {
            None => {
                crate::rule_check::check_without_language(&rule)?;
            }
            Some(Value::String(name)) => {
                let lang = Lang::named(name).map_err(|error| RuleFault::new("language", error))?;
                CompiledRule::compile(lang, &rule)?;
            }
            Some(_) => {
                return Err(RuleFault::new(
                    "language",
                    RuleProblem::WrongType { expected: "string" },
                ));
            }
        }
        Ok(rule)
    }

    /// The rule's name, where it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.document.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    /// The one language that the rule is for, where it names one.
    #[must_use]
    pub fn language(&self) -> Option<Lang> {
        Lang::named(self.document.get("language")?.as_str()?).ok()
    }

    /// The document as it was read.
    #[must_use]
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Which files the rule is for, by `files` and `ignores`.
    pub(crate) fn paths(&self) -> PathGlobs {
        let globs = |key| self.globs(key).ok().flatten();
        PathGlobs { files: globs("files"), ignores: globs("ignores") }
    }

    /// The globs under `key`.
    fn globs(&self, key: &str) -> Result<Option<GlobSet>, RuleFault> {
        let Some(value) = self.document.get(key) else { return Ok(None) };
        let wrong = |key: String| {
            RuleFault::new(
                key,
                RuleProblem::WrongType { expected: "list of globs such as `src/**`" },
            )
        };
        let Value::Array(list) = value else { return Err(wrong(key.to_owned())) };
        let mut set = GlobSetBuilder::new();
        for (index, glob) in list.iter().enumerate() {
            let place = format!("{key}[{index}]");
            let (text, folds) = match glob {
                Value::String(text) => (Some(text.as_str()), false),
                Value::Object(object) => (
                    object.get("glob").and_then(Value::as_str),
                    object.get("caseInsensitive").and_then(Value::as_bool).unwrap_or(false),
                ),
                _ => (None, false),
            };
            let text = text.ok_or_else(|| wrong(place.clone()))?;
            // `./src/**` means what it says: paths here begin at the workspace root.
            let text = text.strip_prefix("./").unwrap_or(text);
            let fault = |error: globset::Error| {
                RuleFault::new(
                    place.clone(),
                    RuleProblem::Glob { reason: error.kind().to_string() },
                )
            };
            set.add(GlobBuilder::new(text).case_insensitive(folds).build().map_err(fault)?);
        }
        let set = set.build();
        set.map(Some).map_err(|error| {
            RuleFault::new(key, RuleProblem::Glob { reason: error.kind().to_string() })
        })
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_document(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The files that a rule is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathGlobs {
    files: Option<GlobSet>,
    ignores: Option<GlobSet>,
}

impl PathGlobs {
    /// Whether the file at `path`, relative to the workspace root, is among them.
    pub(crate) fn take(&self, path: &str) -> bool {
        let named = self.files.as_ref().is_none_or(|files| files.is_match(path));
        named && !self.ignores.as_ref().is_some_and(|ignores| ignores.is_match(path))
    }
}

/// The first line of an error: the rest repeats the text that the caller has.
pub(crate) fn first_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().to_owned()
}
