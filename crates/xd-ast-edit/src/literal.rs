//! What a file must contain to hold a match: a search for bytes, before any parsing.
//!
//! Everything here errs to one side: a file that holds a match always passes. Where nothing is
//! known, every file passes and is parsed.

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use memchr::memmem::Finder;

/// At most this many groups are searched for; each costs a pass over the file.
const GROUPS: usize = 3;
/// A group of more texts than this is not worth its searches.
const ALTERNATIVES: usize = 16;

/// Texts in groups: a match needs at least one text of every group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    groups: Vec<Vec<Vec<u8>>>,
}

impl Needed {
    /// All of these texts.
    pub(crate) fn all_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        Self { groups: texts.map(|text| vec![text.as_bytes().to_owned()]).collect() }
    }

    /// What a match of a regular expression needs: a beginning and an end, where these are texts.
    pub(crate) fn of_regex(regex: &str) -> Self {
        use regex_syntax::hir::literal::{ExtractKind, Extractor};
        let Ok(hir) = regex_syntax::parse(regex) else { return Self::default() };
        let mut groups = Vec::new();
        for kind in [ExtractKind::Prefix, ExtractKind::Suffix] {
            let found = Extractor::new().kind(kind).limit_total(ALTERNATIVES).extract(&hir);
            let Some(literals) = found.literals() else { continue };
            let texts: Vec<Vec<u8>> =
                literals.iter().map(|literal| literal.as_bytes().to_owned()).collect();
            if !texts.is_empty() && texts.iter().all(|text| !text.is_empty()) {
                groups.push(texts);
            }
        }
        Self { groups }
    }

    /// What two things that both hold need.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.groups.extend(other.groups);
        self
    }

    /// What alternatives need together: a text of the best group of any of them.
    pub(crate) fn either(alternatives: Vec<Self>) -> Self {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for alternative in alternatives {
            let Some(best) = alternative.groups.into_iter().max_by_key(|group| worth(group)) else {
                return Self::default();
            };
            for text in best {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        if texts.is_empty() || texts.len() > ALTERNATIVES {
            return Self::default();
        }
        Self { groups: vec![texts] }
    }
}

/// How rare a group is likely to be: its shortest text decides.
fn worth(group: &[Vec<u8>]) -> (usize, std::cmp::Reverse<usize>) {
    let shortest = group.iter().map(Vec::len).min().unwrap_or_default();
    (shortest, std::cmp::Reverse(group.len()))
}

/// The search itself, prepared once for all files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefilter {
    /// The group that is likely to be rarest comes first.
    groups: Vec<Vec<Finder<'static>>>,
}

impl Prefilter {
    /// Prepares the search for what is `needed`.
    pub(crate) fn new(needed: Needed) -> Self {
        let mut groups = needed.groups;
        // Punctuation says little, and a file that lacks a bracket is to be told as broken.
        let wordy = |group: &Vec<Vec<u8>>| {
            group
                .iter()
                .all(|text| text.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80))
        };
        if groups.iter().any(wordy) {
            groups.retain(wordy);
        }
        groups.sort_by_key(|group| std::cmp::Reverse(worth(group)));
        let mut chosen: Vec<Vec<Vec<u8>>> = Vec::new();
        for group in groups {
            // What is part of a text that is searched for anyway says nothing more.
            let known = chosen.iter().any(|other| {
                other
                    .iter()
                    .all(|text| group.iter().any(|part| memchr::memmem::find(text, part).is_some()))
            });
            if !known && chosen.len() < GROUPS {
                chosen.push(group);
            }
        }
        let finder = |text: &Vec<u8>| Finder::new(text).into_owned();
        Self { groups: chosen.iter().map(|group| group.iter().map(finder).collect()).collect() }
    }

    /// Whether these bytes may hold a match: false only where they cannot.
    pub(crate) fn passes(&self, bytes: &[u8]) -> bool {
        self.groups.iter().all(|group| group.iter().any(|finder| finder.find(bytes).is_some()))
    }

    /// Whether nothing is known, so that every file passes.
    #[cfg(test)]
    pub(crate) fn is_open(&self) -> bool {
        self.groups.is_empty()
    }
}

/// Which tokens of a pattern have to be in a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// Nodes with names and the tokens between them.
    All,
    /// Nodes with names only: tokens may be skipped, or be written in another letter case.
    Named,
}

/// Every text that all matches of a pattern contain. Tokens that matching may skip do not count:
/// one right behind a list, and commas, which go with an empty list.
pub(crate) fn texts_of(node: &PatternNode, tokens: Tokens) -> Vec<&str> {
    fn visit<'p>(node: &'p PatternNode, tokens: Tokens, texts: &mut Vec<&'p str>) {
        match node {
            PatternNode::MetaVar { .. } => {}
            PatternNode::Terminal { text, is_named, .. } => {
                if *is_named || tokens == Tokens::All {
                    texts.extend(text.split('\n').max_by_key(|line| line.len()));
                }
            }
            PatternNode::Internal { children, .. } => {
                let mut behind_list = false;
                for child in children {
                    let token = matches!(child, PatternNode::Terminal { is_named: false, .. });
                    let comma = matches!(child, PatternNode::Terminal { text, .. } if text == ",");
                    if !(token && behind_list || comma) {
                        visit(child, tokens, texts);
                    }
                    behind_list = is_list(child) || (behind_list && token);
                }
            }
        }
    }
    let mut texts = Vec::new();
    visit(node, tokens, &mut texts);
    texts
}

/// Whether a node of a pattern is a variable for a list.
pub(crate) fn is_list(node: &PatternNode) -> bool {
    matches!(
        node,
        PatternNode::MetaVar { meta_var: MetaVariable::MultiCapture(_) | MetaVariable::Multiple }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(needed: &Needed, text: &str, expect: bool) {
        let prefilter = Prefilter::new(needed.clone());
        assert_eq!(prefilter.passes(text.as_bytes()), expect, "{needed:?} in {text}");
    }

    #[test]
    fn a1_all_texts_are_needed_and_one_of_each_group() {
        let both = Needed::all_of(["console", "log", "("]);
        check(&both, "console.log(x)", true);
        check(&both, "console.info(x)", false);
        let either = Needed::either(vec![Needed::all_of(["alpha"]), Needed::all_of(["beta"])]);
        check(&either, "a beta b", true);
        check(&either, "a gamma b", false);
        check(&both.and(either), "console.log(alpha)", true);
    }

    #[test]
    fn a1_an_alternative_that_needs_nothing_lets_everything_pass() {
        let open = Needed::either(vec![Needed::all_of(["alpha"]), Needed::default()]);
        assert!(Prefilter::new(open).is_open());
        assert!(Prefilter::new(Needed::default()).passes(b""));
        assert!(Prefilter::new(Needed::either(vec![])).is_open());
    }

    #[test]
    fn a1_a_regular_expression_needs_its_beginning_and_its_end() {
        check(&Needed::of_regex("^old[A-Z]"), "x = oldName", true);
        check(&Needed::of_regex("^old"), "x = newName", false);
        check(&Needed::of_regex("^(alpha|beta)$"), "beta", true);
        check(&Needed::of_regex("^(alpha|beta)$"), "gamma", false);
        check(&Needed::of_regex(".*Legacy$"), "FooLegacy", true);
        check(&Needed::of_regex(".*Legacy$"), "Foo", false);
        for open in ["", ".*", "a*", "^$", "(?i)x*", "("] {
            assert!(Prefilter::new(Needed::of_regex(open)).is_open(), "{open}");
        }
        check(&Needed::of_regex("(?i)^ab$"), "AB", true);
    }
}
