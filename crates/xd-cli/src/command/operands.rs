//! Refusals of a rewrite in the words of the command line: `-p 'f('` for `ops[0].pat`.

use xd_ast_edit::{
    Lang, LangError, OpError, OpsError, ProposeError, Refusal, Site, reasons_by_language,
};

use crate::{arguments::EditArguments, failure::Failure};

const OF_PATTERNS: &str = "A pattern is one whole piece of code: -p 'oldApi($A)'. $A is one node, \
                           $$$ARGS any number of them; see `xd help edit`.";
const OF_REWRITES: &str = "A rewrite may use what its own pattern captures: -p 'oldApi($A)' -r \
                           'newApi($A)'; see `xd help edit`.";
const OF_PATHS: &str = "Paths count from the workspace, the folder of -C, and stay inside it; give \
                        files, folders or globs, or . for everything.";
const OF_RESULTS: &str = "Nothing was staged. Mend the -r, or write more code around the -p.";

/// What is wrong with which operand, and what to do.
pub(super) fn failure(error: &ProposeError, arguments: &EditArguments) -> Failure {
    let named = Named(arguments);
    match error {
        ProposeError::Ops(OpsError::EmptyPattern { op }) => {
            Failure::new(format!("{} is empty", named.pattern(*op)), OF_PATTERNS)
        }
        ProposeError::Ops(OpsError::RepeatedPattern { op, .. }) => Failure::new(
            format!("{} is given twice", named.pattern(*op)),
            "Keep one of the two, with its -r.",
        ),
        ProposeError::Ops(OpsError::Template { op, error }) => Failure::new(
            format!("{} {}", named.rewrite(*op), named.translate(&error.to_string())),
            OF_REWRITES,
        ),
        ProposeError::Lang(LangError::Unknown { name }) => {
            Failure::new(format!("-l '{name}' is no language that is known"), languages())
        }
        ProposeError::Lang(LangError::NotBuilt { name }) => {
            Failure::new(format!("-l {name}: the grammar is not in this build"), languages())
        }
        ProposeError::Path { source, .. } => {
            let text = source.to_string();
            // The way out stands in the hint.
            let what = text.split("; give ").next().unwrap_or_default();
            let noun = if what.starts_with('\'') { "path " } else { "" };
            Failure::new(format!("{noun}{what}"), OF_PATHS)
        }
        ProposeError::Missing { path, .. } => {
            Failure::new(format!("path '{path}' does not exist"), OF_PATHS)
        }
        ProposeError::Protected { path, .. } => Failure::new(
            format!("path '{path}' is off limits: '.xd' and '.git' are never rewritten"),
            OF_PATHS,
        ),
        ProposeError::Glob { path, reason, .. } => {
            Failure::new(format!("path '{path}' is no glob: {reason}"), OF_PATHS)
        }
        ProposeError::Op { op, failures, .. } => {
            let of_rewrite =
                failures.iter().all(|(_, error)| matches!(error, OpError::Template(_)));
            Failure::new(
                format!("{} cannot be used: {}", named.pattern(*op), named.reasons(failures)),
                if of_rewrite { OF_REWRITES } else { OF_PATTERNS },
            )
        }
        ProposeError::File { path, refusal } => match refusal {
            Refusal::Overlap { first, second } => Failure::new(
                format!(
                    "'{path}': two patterns change the same code: {} and {}",
                    named.site(first),
                    named.site(second)
                ),
                "Nothing was staged. Stage one of them, resolve it, then stage the other.",
            ),
            Refusal::ResultDoesNotParse { line, near, source_line, op } => Failure::new(
                format!(
                    "'{path}': the result would not parse at its line {line} (`{near}`), after {} \
                     changed line {source_line}",
                    named.rewrite(*op)
                ),
                OF_RESULTS,
            ),
            refusal => Failure::new(
                format!("'{path}': {}", named.translate(&refusal.to_string())),
                OF_RESULTS,
            ),
        },
        error => Failure::new(
            named.translate(&error.to_string()),
            "Nothing was staged; mend this and run it again.",
        ),
    }
}

/// The operands in `text` as they were typed.
pub(super) fn translate(text: &str, arguments: &EditArguments) -> String {
    Named(arguments).translate(text)
}

fn languages() -> String {
    let names: Vec<&str> = Lang::all().map(Lang::name).collect();
    format!("Use one of: {}.", names.join(", "))
}

/// The operands of one command line.
struct Named<'a>(&'a EditArguments);

impl Named<'_> {
    /// An operation: a pattern, or what comes behind the patterns, a rule.
    fn pattern(&self, op: usize) -> String {
        match self.0.patterns.get(op) {
            Some(pattern) => format!("-p '{}'", pattern.trim()),
            None => format!("rule {} of --rule", op + 1 - self.0.patterns.len()),
        }
    }

    fn rewrite(&self, op: usize) -> String {
        match self.0.rewrites.get(op) {
            Some(rewrite) => format!("-r '{rewrite}'"),
            None => format!("the fix of {}", self.pattern(op)),
        }
    }

    fn site(&self, site: &Site) -> String {
        let (first, last) = site.lines;
        let lines =
            if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        format!("{} at {lines} (`{}`)", self.pattern(site.op), site.text)
    }

    /// The reasons of all languages, each reason once.
    fn reasons(&self, failures: &[(Lang, OpError)]) -> String {
        let told = |(lang, error): &(Lang, OpError)| {
            let reason = match error {
                OpError::Pattern(error) => format!("it {error}"),
                OpError::Template(error) => format!("its -r {error}"),
                error => error.to_string(),
            };
            (*lang, self.translate(&reason))
        };
        reasons_by_language(failures.iter().map(told))
    }

    /// Names the operands that `text` has by their place in a call, and the two parts of an
    /// operation by their flags.
    fn translate(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = ["ops[", "paths["].iter().filter_map(|sign| rest.find(sign)).min() {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (name, length) = self.operand(rest).unwrap_or_else(|| (rest[..1].to_owned(), 1));
            out.push_str(&name);
            rest = &rest[length..];
        }
        out.push_str(rest);
        out.replace("`pat`", "-p").replace("`out`", "-r").replace("`lang`", "-l LANG")
    }

    /// The operand that `text` begins with, and how long its name is there.
    fn operand(&self, text: &str) -> Option<(String, usize)> {
        let (open, close) = (text.find('[')?, text.find(']')?);
        let index: usize = text.get(open + 1..close)?.parse().ok()?;
        if text.starts_with("paths[") {
            return Some((format!("path '{}'", self.0.paths.get(index)?), close + 1));
        }
        if index >= self.0.patterns.len() && self.0.rules.is_empty() {
            return None;
        }
        let after = &text[close + 1..];
        Some(if after.starts_with(".out") {
            (self.rewrite(index), close + 1 + ".out".len())
        } else {
            let length = if after.starts_with(".pat") { ".pat".len() } else { 0 };
            (self.pattern(index), close + 1 + length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_call_are_named_as_they_were_typed() {
        let arguments = EditArguments {
            patterns: vec!["f($A)".to_owned(), "g()".to_owned()],
            rewrites: vec!["h($A)".to_owned(), String::new()],
            rules: Vec::new(),
            lang: None,
            max_files: 0,
            max_replacements: 0,
            paths: vec!["src".to_owned()],
        };
        for (text, wanted) in [
            (
                "ops[0] grows: its result matches its own `pat`.",
                "-p 'f($A)' grows: its result matches its own -p.",
            ),
            ("ops[1].pat and ops[0].out, paths[0]", "-p 'g()' and -r 'h($A)', path 'src'"),
            ("ops[7], ops[x], paths[, ops[", "ops[7], ops[x], paths[, ops["),
            ("a.ts:1: no language; give `lang`", "a.ts:1: no language; give -l LANG"),
        ] {
            assert_eq!(translate(text, &arguments), wanted);
        }
    }
}
