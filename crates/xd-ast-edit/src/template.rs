//! Templates: reading the text that replaces a match, and refusing what it cannot mean.
//!
//! - `$NAME` inserts the node that the pattern bound as `$NAME`, `$$$NAME` the list.
//! - **`$$` before a name is one dollar**: `echo $$HOME` writes `echo $HOME`, `$$name` writes
//!   `$name`. (Backslash was rejected as the escape: `\$` is code in shells, regular expressions
//!   and strings, and JSON would need it doubled.) Where the pattern itself captures with two
//!   dollars (`$$OP`, which also matches tokens), `$$OP` inserts that capture.
//! - A dollar that no name follows is text: `${x}`, `$(x)`, `$1`, `$$`.
//! - A name with lower-case letters (`$name`) is text only where the pattern has the same word;
//!   otherwise it is an error that offers both ways out. It is never silently empty.
//! - One line break at the very end is dropped: the match did not contain one.

use ast_grep_core::Language as _;

use crate::indent::fixed_ranges;
use crate::language::Lang;
use crate::list_tail::Tails;
use crate::pattern::{Bindings, is_placeholder};
use crate::tree::Tree;
use crate::variable::{Form, Occurrence, variables};

/// Why a template is refused (`CONTRACT S7`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It names a variable that its pattern never binds.
    #[error(
        "uses `{name}`, which `pat` never binds{}; for a literal dollar write `${name}`",
        known(bound)
    )]
    Unbound {
        /// The variable, with its dollars.
        name: String,
        /// What the pattern binds, with dollars.
        bound: Vec<String>,
    },
    /// It names a list as a node, or a node as a list.
    #[error("uses `{used}`, but `pat` binds it as `{bound}`; write `{bound}`")]
    WrongForm {
        /// As the template has it.
        used: String,
        /// As the pattern has it.
        bound: String,
    },
    /// It inserts a variable that captures nothing (`$_`, `$$$_`).
    #[error(
        "uses `{name}`, and a name that starts with `_` captures nothing; give it a name in `pat` and `out`"
    )]
    Unnamed {
        /// The variable, with its dollars.
        name: String,
    },
    /// It has `$name` in lower case, which the pattern does not have.
    #[error(
        "has `{word}`, which is neither a variable (those are upper case) nor in `pat`; for a literal dollar write `{escaped}`"
    )]
    LowerCase {
        /// The word, with its dollars.
        word: String,
        /// The same, escaped.
        escaped: String,
    },
}

fn known(bound: &[String]) -> String {
    if bound.is_empty() {
        " (it binds nothing)".to_owned()
    } else {
        format!(" (it binds {})", bound.join(", "))
    }
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text as it is, with LF line breaks.
    Text(String),
    /// One bound node.
    Single(String),
    /// A bound list of nodes.
    List(String),
}

/// A template that fits its pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// Its parts; no two texts are neighbours, and none is empty.
    pub(crate) pieces: Vec<Piece>,
    /// The smallest indentation by spaces of any line after the first: its indentation unit.
    pub(crate) indent_unit: usize,
    /// For each of its lines, whether it begins inside a string, where white space is content. None
    /// before [`Template::of_language`].
    fixed: Vec<bool>,
    /// For each of its pieces, whether it stands inside a string.
    literal: Vec<bool>,
    /// How many tokens of the pattern stand behind each list.
    tails: Tails,
}

impl Template {
    /// Reads `out` as the template for the pattern `pat` with its `bindings`.
    ///
    /// **Invariant A2:** a template that was read names nothing that its pattern does not bind.
    ///
    /// # Errors
    /// See [`TemplateError`]; each names the variable.
    pub(crate) fn read(out: &str, pat: &str, bindings: &Bindings) -> Result<Self, TemplateError> {
        let out = out.replace("\r\n", "\n");
        let out = out.strip_suffix('\n').unwrap_or(&out);
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        for occurrence in variables(out) {
            text.push_str(&out[at..occurrence.start]);
            at = occurrence.range().end;
            match meaning(&occurrence, pat, bindings)? {
                Meaning::Literal { dollars } => {
                    text.extend(std::iter::repeat_n('$', dollars));
                    text.push_str(occurrence.name);
                }
                Meaning::Insert { piece, length } => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(piece);
                    text.push_str(&occurrence.name[length..]);
                }
            }
        }
        text.push_str(&out[at..]);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        let indent_unit = out
            .lines()
            .skip(1)
            .map(|line| line.len() - line.trim_start_matches(' ').len())
            .filter(|spaces| *spaces > 0)
            .min()
            .unwrap_or(0);
        Ok(Self {
            pieces,
            indent_unit,
            fixed: Vec::new(),
            literal: Vec::new(),
            tails: Tails::new(),
        })
    }

    /// The template as code of `lang`: which of its lines begin inside a string is read off its tree,
    /// in the first context that it parses in, or off the tree of what it is alone.
    pub(crate) fn of_language(mut self, lang: Lang) -> Self {
        let mut code = String::new();
        // Where each piece begins, in characters: the sign of a variable may get another width.
        let mut starts = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            starts.push(code.chars().count());
            match piece {
                Piece::Text(text) => code.push_str(text),
                Piece::Single(name) => code.extend(["$", name]),
                Piece::List(name) => code.extend(["$$$", name]),
            }
        }
        let own = lang.grammar().pre_process_pattern(&code).into_owned();
        let starts: Vec<usize> = starts
            .into_iter()
            .map(|start| own.char_indices().nth(start).map_or(own.len(), |(at, _)| at))
            .collect();
        let mut alone = None;
        for (before, after) in lang.contexts().iter().copied().flatten() {
            let whole = format!("{before}{own}{after}");
            let Ok(tree) = Tree::parse(&whole, lang) else { continue };
            let end = before.len() + own.len();
            let is_sound =
                tree.first_error_but(|node| is_placeholder(node, &whole, end, lang)).is_none();
            if is_sound || (before.is_empty() && alone.is_none()) {
                let fixed = fixed_ranges(tree.cursor().node(), &whole, lang);
                let inside = |at: usize| {
                    fixed.iter().any(|range| {
                        range.start < at + before.len() && at + before.len() < range.end
                    })
                };
                let breaks = memchr::memchr_iter(b'\n', own.as_bytes());
                let lines = std::iter::once(false).chain(breaks.map(|at| inside(at + 1))).collect();
                let literal = |at: &usize| {
                    !lang.indents_leaves() && (inside(*at) || tree.is_in_string(at + before.len()))
                };
                let pieces = starts.iter().map(literal).collect();
                let found = (lines, pieces);
                if is_sound {
                    alone = Some(found);
                    break;
                }
                alone = Some(found);
            }
        }
        (self.fixed, self.literal) = alone.unwrap_or_default();
        self
    }

    /// With the number of tokens that its pattern has behind each list.
    pub(crate) fn with_tails(self, tails: Tails) -> Self {
        Self { tails, ..self }
    }

    /// How many tokens at the end of the list `name` belong to the pattern.
    pub(crate) fn tail(&self, name: &str) -> usize {
        self.tails.get(name).copied().unwrap_or_default()
    }

    /// Whether line `number` of the template, from 0, begins inside a string.
    pub(crate) fn is_fixed(&self, number: usize) -> bool {
        self.fixed.get(number) == Some(&true)
    }

    /// Whether piece `number` of the template, from 0, stands inside a string.
    pub(crate) fn is_literal(&self, number: usize) -> bool {
        self.literal.get(number) == Some(&true)
    }
}

enum Meaning {
    /// The word with this many dollars before it.
    Literal { dollars: usize },
    /// A capture, named by the first `length` bytes of the word.
    Insert { piece: Piece, length: usize },
}

fn meaning(
    occurrence: &Occurrence<'_>,
    pat: &str,
    bindings: &Bindings,
) -> Result<Meaning, TemplateError> {
    let Occurrence { dollars, name, upper, form, .. } = *occurrence;
    let word = || format!("{}{name}", "$".repeat(dollars));
    let in_pattern = || variables(pat).any(|other| other.dollars == dollars && other.name == name);
    let bound = |upper: &str| bindings.singles.contains(upper) || bindings.lists.contains(upper);
    match (form, dollars) {
        (Form::LowerCase, _) if in_pattern() => Ok(Meaning::Literal { dollars }),
        (Form::LowerCase, 1 | 3) if bound(upper) => insert(dollars, upper, bindings),
        (Form::LowerCase, 1 | 3) => {
            Err(TemplateError::LowerCase { word: word(), escaped: format!("${}", word()) })
        }
        (Form::Variable, 2) if in_pattern() && bindings.singles.contains(name) => {
            insert(1, name, bindings)
        }
        (Form::LowerCase | Form::Variable, 2 | 4..) => {
            Ok(Meaning::Literal { dollars: dollars - 1 })
        }
        (Form::Variable, _) if name.starts_with('_') && !bound(name) => {
            Err(TemplateError::Unnamed { name: word() })
        }
        (Form::Variable, _) => insert(dollars, name, bindings),
        (Form::LowerCase, _) => Ok(Meaning::Literal { dollars }),
    }
}

fn insert(dollars: usize, name: &str, bindings: &Bindings) -> Result<Meaning, TemplateError> {
    let used = format!("{}{name}", "$".repeat(dollars));
    let length = name.len();
    match (dollars == 3, bindings.singles.contains(name), bindings.lists.contains(name)) {
        (false, true, _) => Ok(Meaning::Insert { piece: Piece::Single(name.to_owned()), length }),
        (true, _, true) => Ok(Meaning::Insert { piece: Piece::List(name.to_owned()), length }),
        (false, false, true) => Err(TemplateError::WrongForm { used, bound: format!("$$${name}") }),
        (true, true, false) => Err(TemplateError::WrongForm { used, bound: format!("${name}") }),
        (_, false, false) => {
            let singles = bindings.singles.iter().map(|name| format!("${name}"));
            let lists = bindings.lists.iter().map(|name| format!("$$${name}"));
            Err(TemplateError::Unbound { name: used, bound: singles.chain(lists).collect() })
        }
    }
}

/// What `pat` binds as far as its text tells, for a check that needs no language.
pub(crate) fn bindings_in_text(pat: &str) -> Bindings {
    let mut bindings = Bindings::default();
    for occurrence in variables(pat) {
        if occurrence.form == Form::Variable && !occurrence.name.starts_with('_') {
            match occurrence.dollars {
                1 | 2 => bindings.singles.insert(occurrence.name.to_owned()),
                3 => bindings.lists.insert(occurrence.name.to_owned()),
                _ => continue,
            };
        }
    }
    bindings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pat: &str, out: &str) -> Result<Vec<Piece>, TemplateError> {
        Template::read(out, pat, &bindings_in_text(pat)).map(|template| template.pieces)
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[track_caller]
    fn literal(pat: &str, out: &str, expect: &str) {
        assert_eq!(read(pat, out), Ok(vec![text(expect)]), "{pat} => {out}");
    }

    #[track_caller]
    fn refused(pat: &str, out: &str, expect: &str) {
        assert_eq!(read(pat, out).unwrap_err().to_string(), expect, "{pat} => {out}");
    }

    #[test]
    fn case_181_a_variable_that_is_never_bound_is_named() {
        // Invariant A2, CONTRACT S7.
        refused(
            "foo($A)",
            "bar($B)",
            "uses `$B`, which `pat` never binds (it binds $A); for a literal dollar write `$$B`",
        );
        refused(
            "foo()",
            "bar($$$B)",
            "uses `$$$B`, which `pat` never binds (it binds nothing); for a literal dollar write `$$$$B`",
        );
        refused("foo($$$A)", "bar($A)", "uses `$A`, but `pat` binds it as `$$$A`; write `$$$A`");
        refused("foo($A)", "bar($$$A)", "uses `$$$A`, but `pat` binds it as `$A`; write `$A`");
        refused(
            "foo($_)",
            "bar($_)",
            "uses `$_`, and a name that starts with `_` captures nothing; give it a name in `pat` and `out`",
        );
    }

    #[test]
    fn case_185_a_literal_dollar_has_an_escape_and_an_unknown_name_is_an_error() {
        literal("foo($A)", "echo $$HOME", "echo $HOME");
        literal("foo($A)", "echo $$A", "echo $A");
        literal("foo($A)", "echo $$name", "echo $name");
        literal(
            "foo($A)",
            "kill $$; a $ b ${x} $(y) $1 `${z}`",
            "kill $$; a $ b ${x} $(y) $1 `${z}`",
        );
        literal("foo($x)", "bar($x)", "bar($x)");
        refused(
            "foo($A)",
            "bar($name)",
            "has `$name`, which is neither a variable (those are upper case) nor in `pat`; for a literal dollar write `$$name`",
        );
        refused(
            "foo($A)",
            "bar($$$args)",
            "has `$$$args`, which is neither a variable (those are upper case) nor in `pat`; for a literal dollar write `$$$$args`",
        );
    }

    #[test]
    fn a1_captures_stand_between_texts() {
        let single = |name: &str| Piece::Single(name.to_owned());
        assert_eq!(
            read("f($A, $$$REST)", "g($$$REST, $A)\n"),
            Ok(vec![
                text("g("),
                Piece::List("REST".to_owned()),
                text(", "),
                single("A"),
                text(")")
            ])
        );
        assert_eq!(read("f($A)", "use$Aid()"), Ok(vec![text("use"), single("A"), text("id()")]));
        assert_eq!(
            read("$A $$OP $B", "$B $$OP $A").map(|pieces| pieces[2].clone()),
            Ok(single("OP"))
        );
        assert_eq!(read("f($A)", ""), Ok(vec![]));
    }
}
