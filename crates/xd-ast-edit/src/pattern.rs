//! Patterns: parsing one for a language, refusing what cannot mean anything, and matching.
//!
//! The matching itself is ast-grep's "smart" strictness, with two additions that its users ask
//! for: a list capture behind a comma may be empty together with its comma (`f($A, $$$REST)`
//! matches `f(x)`), and text that spans lines matches whatever the file's line ending is.

use std::collections::BTreeSet;

use ast_grep_core::matcher::{Matcher, MatcherExt, PatternNode};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::{Language, Node, NodeMatch, Pattern};

use crate::language::Lang;
use crate::list_tail::{Tails, ended_lists, take_tails, without_list_ends};
use crate::literal::{Needed, Tokens, accesses_of, is_list, texts_of};
use crate::tree::{Doc, Tree, glimpse, place_of};
use crate::variable::{Form, variables};

/// Patterns longer than this many bytes are refused: no rewrite needs one.
pub(crate) const LONGEST: usize = 64 * 1024;
/// Patterns nested deeper than this many levels are refused; matching recurses over them.
const DEEPEST: usize = 400;
/// At most this many commas are made optional in one pattern; each doubles the variants.
const OPTIONAL_LISTS: usize = 3;

/// Why a pattern means nothing in a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It has a syntax error in this language.
    #[error(
        "does not parse: line {line}, column {column}, at `{}`{}",
        xd_protocol::Visible(near),
        lower_case.as_ref().map(|name| format!(" (variables are upper case: `${}`)", name.to_uppercase())).unwrap_or_default()
    )]
    Syntax {
        /// Line in the pattern, from 1.
        line: usize,
        /// Column in the pattern, in characters from 1.
        column: usize,
        /// What stands there.
        near: String,
        /// A `$name` in lower case that may have been meant as a variable.
        lower_case: Option<String>,
    },
    /// It is more than one node.
    #[error(
        "is more than one piece of code; give each an op of its own, or write the code around them"
    )]
    SeveralNodes,
    /// It is a variable and nothing else.
    #[error("is a variable alone and would match everything; write some code around it")]
    OnlyVariable,
    /// None of its variables stands where the language has a node.
    #[error("has `{name}` inside a text or token, where nothing can be captured")]
    VariableInText {
        /// The variable, with its dollars.
        name: String,
    },
    /// A list would lose its last item where the source has no such separator.
    #[error(
        "has `{separator}` behind `$$${name}`, which the code that it matches need not have; leave it out, or write the item that follows"
    )]
    SeparatorBehindList {
        /// The list, without dollars.
        name: String,
        /// What stands behind it.
        separator: String,
    },
    /// One name is used for a node and for a list.
    #[error("uses one name as `${name}` and as `$$${name}`; give them different names")]
    MixedVariable {
        /// The name, without dollars.
        name: String,
    },
    /// It is too long or too deep.
    #[error("is too large: {what}")]
    TooLarge {
        /// The bound that it passes.
        what: String,
    },
}

/// What a pattern binds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bindings {
    /// Names bound to one node (`$A`).
    pub(crate) singles: BTreeSet<String>,
    /// Names bound to a list of nodes (`$$$A`).
    pub(crate) lists: BTreeSet<String>,
}

/// A pattern, ready to match nodes of one language.
#[derive(Debug, Clone)]
pub(crate) struct CompiledPattern {
    /// The pattern, then its variants without the optional commas.
    variants: Vec<Pattern>,
    /// The same with CRLF inside multi-line text; empty where the pattern has none.
    crlf: Vec<Pattern>,
    /// The node kinds that a match has, one for each reading.
    pub(crate) kinds: Vec<u16>,
    /// What it binds.
    pub(crate) bindings: Bindings,
    /// Whether a name occurs twice: matching then compares whole subtrees, recursively.
    pub(crate) repeats: bool,
    /// What a file with a match contains.
    pub(crate) needed: Needed,
    /// How many tokens stand behind each list.
    pub(crate) tails: Tails,
    /// Its text; none where it has variables that capture nothing or occur twice, so that what they
    /// match is neither in the text nor captured.
    pub(crate) text: Option<String>,
}

impl CompiledPattern {
    /// Parses `source` as a pattern of `lang`, alone or in the first context that fits.
    ///
    /// # Errors
    /// See [`PatternError`]; a syntax error is told for the pattern alone.
    pub(crate) fn compile(lang: Lang, source: &str) -> Result<Self, PatternError> {
        let source = source.trim();
        if source.len() > LONGEST {
            return Err(PatternError::TooLarge {
                what: format!("{} bytes, {LONGEST} are allowed", source.len()),
            });
        }
        let source = &source.replace("\r\n", "\n");
        let mut failure = None;
        for group in lang.contexts() {
            let mut readings: Vec<Self> = Vec::new();
            for (before, after) in *group {
                match pattern_in_context(lang, source, before, after) {
                    Ok(None) => {}
                    Ok(Some(pattern)) => readings.push(Self::of_pattern(lang, source, &pattern)?),
                    // The message for the pattern alone is the one that a reader can follow.
                    Err(error) if failure.is_none() || before.is_empty() => failure = Some(error),
                    Err(_) => {}
                }
            }
            let mut readings = readings.into_iter();
            if let Some(mut first) = readings.next() {
                readings.for_each(|reading| first.also(reading));
                return Ok(first);
            }
        }
        Err(failure.unwrap_or(PatternError::SeveralNodes))
    }

    /// Takes another reading of the same text in.
    fn also(&mut self, other: Self) {
        if self.kinds != other.kinds {
            self.kinds.extend(other.kinds);
            self.variants.extend(other.variants);
            self.crlf.extend(other.crlf);
            self.repeats |= other.repeats;
            for (name, count) in other.tails {
                let own = self.tails.entry(name).or_default();
                *own = count.max(*own);
            }
            let own = std::mem::take(&mut self.needed);
            self.needed = Needed::either(vec![own, other.needed]);
        }
    }

    fn of_pattern(lang: Lang, source: &str, pattern: &Pattern) -> Result<Self, PatternError> {
        let kind = match &pattern.node {
            PatternNode::MetaVar { .. } => return Err(PatternError::OnlyVariable),
            PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => {
                *kind_id
            }
        };
        let mut found = Found::default();
        found.collect(&pattern.node);
        if !found.any_variable
            && let Some(lost) = variables(source).find(|variable| variable.form == Form::Variable)
        {
            return Err(PatternError::VariableInText { name: source[lost.range()].to_owned() });
        }
        if let Some(name) = found.bindings.singles.intersection(&found.bindings.lists).next() {
            return Err(PatternError::MixedVariable { name: name.clone() });
        }
        let tokens = if lang.folds_keywords() { Tokens::Named } else { Tokens::All };
        let mut needed = Needed::all_of(texts_of(&pattern.node, tokens));
        if tokens == Tokens::All {
            needed = needed.and(Needed::accesses(accesses_of(&pattern.node)));
        }
        let mut nodes = with_optional_lists(&pattern.node);
        let mut tails = Tails::new();
        for node in nodes.iter_mut().rev() {
            // The first, which comes last here, has all lists that the others have.
            tails.clear();
            take_tails(node, &mut tails);
        }
        let pattern_of = |node| {
            let mut variant = pattern.clone();
            variant.node = node;
            variant
        };
        let crlf = if nodes.iter().any(has_line_break) {
            nodes.iter().cloned().map(with_crlf).map(pattern_of).collect()
        } else {
            Vec::new()
        };
        let variants = nodes.into_iter().map(pattern_of).collect();
        Ok(Self {
            variants,
            crlf,
            kinds: vec![kind],
            bindings: found.bindings,
            repeats: found.repeats,
            needed,
            tails,
            text: (!found.drops && !found.repeats).then(|| source.to_owned()),
        })
    }

    /// Whether code with variables in it (a template) holds a match, in any context that parses.
    pub(crate) fn occurs_in(&self, lang: Lang, code: &str) -> bool {
        let own = lang.grammar().pre_process_pattern(code.trim());
        let own =
            if lang.needs_statement_ends() { ended_lists(&own, lang) } else { own.into_owned() };
        lang.contexts().iter().copied().flatten().any(|(before, after)| {
            let whole = format!("{before}{own}{after}");
            let Ok(tree) = Tree::parse(&whole, lang) else { return false };
            if tree.depth() > DEEPEST
                || tree.first_error_but(|node| is_placeholder(node, &whole, 0, lang)).is_some()
            {
                return false;
            }
            // The context may match by itself; that is no match in the code.
            let inside = before.len()..before.len() + own.len();
            tree.root().dfs().any(|node| {
                inside.contains(&node.range().start)
                    && self.kinds.contains(&node.kind_id())
                    && self.matches(&node, false).is_some_and(|(_, end)| end <= inside.end)
            })
        })
    }

    /// Matches `node` itself; `crlf` says whether the file has CRLF line endings anywhere.
    ///
    /// The second value is the end of the matched text, which may lie before the end of the node:
    /// what follows the pattern's last piece (a semicolon, an `else`) is not part of the match.
    pub(crate) fn matches<'t>(
        &self,
        node: &Node<'t, Doc>,
        crlf: bool,
    ) -> Option<(NodeMatch<'t, Doc>, usize)> {
        let crlf: &[Pattern] = if crlf { &self.crlf } else { &[] };
        self.variants.iter().chain(crlf).find_map(|pattern| {
            let found = pattern.match_node(node.clone())?;
            let end = pattern
                .get_match_len(node.clone())
                .map_or(node.range().end, |length| node.range().start + length);
            Some((found, end))
        })
    }
}

/// Parses the pattern in a context and cuts out the node that is exactly the pattern; none where
/// the reading is an accident.
pub(crate) fn pattern_in_context(
    lang: Lang,
    source: &str,
    before: &str,
    after: &str,
) -> Result<Option<Pattern>, PatternError> {
    let own = lang.grammar().pre_process_pattern(source);
    if lang.needs_statement_ends() {
        let ended = ended_lists(&own, lang);
        let read = read_in_context(lang, source, &ended, before, after);
        // A list in braces need not be one of statements.
        if read.is_ok() || ended == own {
            return read;
        }
    }
    read_in_context(lang, source, &own, before, after)
}

/// The same of the pattern's text as it is parsed, `own`.
fn read_in_context(
    lang: Lang,
    source: &str,
    own: &str,
    before: &str,
    after: &str,
) -> Result<Option<Pattern>, PatternError> {
    let whole = format!("{before}{own}{after}");
    let tree = Tree::parse(&whole, lang).map_err(|_| PatternError::SeveralNodes)?;
    let range = before.len()..before.len() + own.len();
    if let Some(place) = tree.first_error_but(|node| is_placeholder(node, &whole, range.end, lang))
    {
        return Err(syntax_error(source, own, place.saturating_sub(before.len())));
    }
    if tree.depth() > DEEPEST {
        return Err(PatternError::TooLarge {
            what: format!("nested deeper than {DEEPEST} levels"),
        });
    }
    let node = tree.node_spanning(range.clone());
    // The root, and the list of statements of a body, span several pieces without being code.
    if node.range() != range || node.parent().is_none() || node.kind() == "statement_list" {
        return Err(PatternError::SeveralNodes);
    }
    if lang.is_accident(&node.kind(), source) {
        return Ok(None);
    }
    let mut pattern = Pattern::from(node);
    if lang.needs_statement_ends() {
        without_list_ends(&mut pattern.node);
    }
    Ok(Some(pattern))
}

/// Whether a fault in a pattern's tree is only that a variable stands where the grammar wants
/// more: a list for statements or fields, or a statement whose end is left out.
pub(crate) fn is_placeholder(
    node: tree_sitter::Node<'_>,
    whole: &str,
    end: usize,
    lang: Lang,
) -> bool {
    let is_variable = |node: tree_sitter::Node<'_>| {
        lang.grammar().extract_meta_var(&whole[node.byte_range()]).is_some()
    };
    if node.is_error() {
        return is_variable(node);
    }
    let ends_statement = matches!(
        node.kind(),
        ";" | "" | "\n" | "_automatic_semicolon" | "_newline" | "source_file_token1"
    );
    node.is_missing()
        && ends_statement
        && (node.start_byte() >= end || node.parent().is_some_and(is_variable))
}

pub(crate) fn syntax_error(source: &str, own: &str, at: usize) -> PatternError {
    // The variables' sign may have another width in the parsed text; characters correspond.
    let characters = own.get(..at).map_or(usize::MAX, |before| before.chars().count());
    let at = source.char_indices().nth(characters).map_or(source.len(), |(at, _)| at);
    let (line, column) = place_of(source, at);
    let lower_case = variables(source)
        .find(|variable| variable.form == Form::LowerCase)
        .map(|variable| variable.name.to_owned());
    let near = glimpse(source, at, 40);
    let near = if near.is_empty() { "the end".to_owned() } else { near };
    PatternError::Syntax { line, column, near, lower_case }
}

/// What a walk over a pattern finds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What it binds.
    pub(crate) bindings: Bindings,
    /// Whether a name occurs twice.
    pub(crate) repeats: bool,
    any_variable: bool,
    /// Whether a variable captures nothing.
    drops: bool,
}

impl Found {
    /// Adds what `node` and all below it bind.
    pub(crate) fn collect(&mut self, node: &PatternNode) {
        match node {
            PatternNode::Terminal { .. } => {}
            PatternNode::Internal { children, .. } => {
                children.iter().for_each(|child| self.collect(child))
            }
            PatternNode::MetaVar { meta_var } => {
                self.any_variable = true;
                let new = match meta_var {
                    MetaVariable::Capture(name, _) => self.bindings.singles.insert(name.clone()),
                    MetaVariable::MultiCapture(name) => self.bindings.lists.insert(name.clone()),
                    MetaVariable::Dropped(_) | MetaVariable::Multiple => {
                        self.drops = true;
                        true
                    }
                };
                self.repeats |= !new;
            }
        }
    }
}

/// The pattern, then every form of it in which lists behind a comma at the end of their row are
/// left out together with the comma.
fn with_optional_lists(node: &PatternNode) -> Vec<PatternNode> {
    let mut all = vec![node.clone()];
    for _ in 0..OPTIONAL_LISTS {
        let site = all.len();
        let known = all.clone();
        for variant in &known[..site] {
            let mut shorter = variant.clone();
            if drop_last_list(&mut shorter) && !known.iter().any(|known| same(known, &shorter)) {
                all.push(shorter);
            }
        }
        if all.len() == site {
            break;
        }
    }
    all
}

/// Takes out the first `, $$$X` that only tokens follow; false where there is none.
fn drop_last_list(node: &mut PatternNode) -> bool {
    let PatternNode::Internal { children, .. } = node else { return false };
    let site = (1..children.len()).find(|at| {
        let comma = matches!(&children[at - 1], PatternNode::Terminal { text, is_named: false, .. } if text == ",");
        let before = at.checked_sub(2).map(|before| &children[before]);
        is_list(&children[*at])
            && comma
            && before.is_some_and(|before| !is_list(before) && !before.is_trivial())
            && children[at + 1..].iter().all(PatternNode::is_trivial)
    });
    match site {
        Some(at) => {
            children.drain(at - 1..=at);
            true
        }
        None => children.iter_mut().any(drop_last_list),
    }
}

/// Whether two patterns are the same tree.
pub(crate) fn same(a: &PatternNode, b: &PatternNode) -> bool {
    match (a, b) {
        (PatternNode::MetaVar { meta_var: a }, PatternNode::MetaVar { meta_var: b }) => a == b,
        (
            PatternNode::Terminal { text: a, kind_id: a_kind, .. },
            PatternNode::Terminal { text: b, kind_id: b_kind, .. },
        ) => a == b && a_kind == b_kind,
        (
            PatternNode::Internal { children: a, kind_id: a_kind },
            PatternNode::Internal { children: b, kind_id: b_kind },
        ) => a_kind == b_kind && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (
            PatternNode::MetaVar { .. }
            | PatternNode::Terminal { .. }
            | PatternNode::Internal { .. },
            _,
        ) => false,
    }
}

fn has_line_break(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => false,
        PatternNode::Terminal { text, is_named, .. } => *is_named && text.contains('\n'),
        PatternNode::Internal { children, .. } => children.iter().any(has_line_break),
    }
}

fn with_crlf(node: PatternNode) -> PatternNode {
    match node {
        PatternNode::MetaVar { .. } => node,
        PatternNode::Terminal { text, is_named, kind_id } => {
            PatternNode::Terminal { text: text.replace('\n', "\r\n"), is_named, kind_id }
        }
        PatternNode::Internal { kind_id, children } => PatternNode::Internal {
            kind_id,
            children: children.into_iter().map(with_crlf).collect(),
        },
    }
}
