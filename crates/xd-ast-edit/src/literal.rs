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
    groups: Vec<Vec<Text>>,
}

impl Needed {
    /// All of these texts.
    pub(crate) fn all_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        Self { groups: texts.map(|text| vec![Text::of(text)]).collect() }
    }

    /// All of these accesses.
    pub(crate) fn accesses(accesses: Vec<Access>) -> Self {
        Self { groups: accesses.into_iter().map(|access| vec![Text::Access(access)]).collect() }
    }

    /// What a match of a regular expression needs: a beginning and an end, where these are texts.
    pub(crate) fn of_regex(regex: &str) -> Self {
        use regex_syntax::hir::literal::{ExtractKind, Extractor};
        let Ok(hir) = regex_syntax::parse(regex) else { return Self::default() };
        let mut groups = Vec::new();
        for kind in [ExtractKind::Prefix, ExtractKind::Suffix] {
            let found = Extractor::new().kind(kind).limit_total(ALTERNATIVES).extract(&hir);
            let Some(literals) = found.literals() else { continue };
            let texts: Vec<Text> =
                literals.iter().map(|literal| Text::Plain(literal.as_bytes().to_owned())).collect();
            if !texts.is_empty() && texts.iter().all(|text| !text.word().is_empty()) {
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
        let mut texts: Vec<Text> = Vec::new();
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
fn worth(group: &[Text]) -> (usize, std::cmp::Reverse<usize>) {
    let shortest = group.iter().map(Text::len).min().unwrap_or_default();
    (shortest, std::cmp::Reverse(group.len()))
}

/// The search itself, prepared once for all files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefilter {
    /// The group that is likely to be rarest comes first.
    groups: Vec<Vec<Search>>,
}

/// The search for one text.
#[derive(Debug, Clone)]
struct Search {
    word: Finder<'static>,
    /// What the word has to be the beginning of, where it is one.
    access: Option<Access>,
}

impl Search {
    fn new(text: Text) -> Self {
        let word = Finder::new(text.word()).into_owned();
        let access = match text {
            Text::Plain(_) => None,
            Text::Access(access) => Some(access),
        };
        Self { word, access }
    }

    fn finds(&self, bytes: &[u8]) -> bool {
        self.places(bytes).next().is_some()
    }

    /// Where the text begins, in order.
    fn places<'s>(&'s self, bytes: &'s [u8]) -> impl Iterator<Item = usize> + 's {
        let may_begin = |at: &usize| match &self.access {
            None => true,
            Some(access) => access.may_begin(bytes, *at),
        };
        Places { search: self, bytes, from: 0 }.filter(may_begin)
    }
}

/// Every place of a word, those that overlap included.
struct Places<'s> {
    search: &'s Search,
    bytes: &'s [u8],
    from: usize,
}

impl Iterator for Places<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.from + self.search.word.find(self.bytes.get(self.from..)?)?;
        self.from = at + 1;
        Some(at)
    }
}

impl Prefilter {
    /// Prepares the search for what is `needed`.
    pub(crate) fn new(needed: Needed) -> Self {
        let mut groups = needed.groups;
        // Punctuation says little, and a file that lacks a bracket is to be told as broken.
        let wordy = |group: &Vec<Text>| {
            let wordy = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
            group.iter().all(|text| text.word().iter().any(wordy))
        };
        if groups.iter().any(wordy) {
            groups.retain(wordy);
        }
        groups.sort_by_key(|group| std::cmp::Reverse(worth(group)));
        let mut chosen: Vec<Vec<Text>> = Vec::new();
        for group in groups {
            // What is part of a text that is searched for anyway says nothing more.
            let known = chosen.iter().any(|other| {
                other.iter().all(|text| group.iter().any(|part| part.is_part_of(text)))
            });
            if !known && chosen.len() < GROUPS {
                chosen.push(group);
            }
        }
        let searches = |group: Vec<Text>| group.into_iter().map(Search::new).collect();
        Self { groups: chosen.into_iter().map(searches).collect() }
    }

    /// Whether these bytes may hold a match: false only where they cannot.
    pub(crate) fn passes(&self, bytes: &[u8]) -> bool {
        self.groups.iter().all(|group| group.iter().any(|search| search.finds(bytes)))
    }

    /// Where the texts of the rarest group begin, of which every match holds one; none where nothing
    /// is known.
    pub(crate) fn places(&self, bytes: &[u8]) -> Option<Vec<usize>> {
        let group = self.groups.first()?;
        Some(group.iter().flat_map(|search| search.places(bytes)).collect())
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

/// What must be in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Plain(Vec<u8>),
    Access(Access),
}

impl Text {
    fn of(text: &str) -> Self {
        Self::Plain(text.as_bytes().to_owned())
    }

    /// What is searched for.
    fn word(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text,
            Self::Access(access) => &access.word,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Access(access) => {
                access.word.len() + access.then.iter().map(Vec::len).sum::<usize>()
            }
        }
    }

    /// Whether whoever finds `whole` has found this too.
    fn is_part_of(&self, whole: &Self) -> bool {
        match self {
            Self::Plain(text) => memchr::memmem::find(whole.word(), text).is_some(),
            Self::Access(_) => self == whole,
        }
    }
}

/// A name and an access to something in it, side by side in one node: `this.`, `Vec::new`. Between
/// its parts there is nothing but white space and comments, so that most places where the name
/// stands alone, in prose above all, need no parser to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    word: Vec<u8>,
    /// The operator, and the name behind it where the pattern has one.
    then: Vec<Vec<u8>>,
}

impl Access {
    /// Whether the access may begin with the word at `at`: false only where it cannot.
    fn may_begin(&self, bytes: &[u8], at: usize) -> bool {
        if at > 0 && is_of_name(bytes[at - 1]) {
            return false;
        }
        let mut rest = &bytes[at + self.word.len()..];
        for part in &self.then {
            let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
            rest = &rest[rest.iter().take_while(|byte| blank(byte)).count()..];
            rest = match rest.strip_prefix(part.as_slice()) {
                Some(behind) => behind,
                None => return begins_something_else(rest),
            };
        }
        true
    }
}

/// Whether `rest` may be a comment, a line that goes on, or whatever a grammar has there: true unless
/// it is sure to be neither.
fn begins_something_else(rest: &[u8]) -> bool {
    let Some(first) = rest.first() else { return false };
    // A keyword of C++ between the operator and the name.
    rest.starts_with(b"template") || !(is_of_name(*first) || b",)]}:+&|>.".contains(first))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Every access that all matches of a pattern contain, as far as it is written out.
pub(crate) fn accesses_of(node: &PatternNode) -> Vec<Access> {
    const OPERATORS: [&str; 3] = [".", "::", "->"];
    fn name(node: &PatternNode) -> Option<Vec<u8>> {
        match node {
            PatternNode::Terminal { text, is_named: true, .. }
                if !text.is_empty() && text.bytes().all(is_of_name) =>
            {
                Some(text.as_bytes().to_owned())
            }
            _ => None,
        }
    }
    fn visit(node: &PatternNode, accesses: &mut Vec<Access>) {
        let PatternNode::Internal { children, .. } = node else { return };
        if let [first, PatternNode::Terminal { text, is_named: false, .. }, behind, ..] =
            children.as_slice()
            && OPERATORS.contains(&text.as_str())
            && let Some(word) = name(first)
        {
            let mut then = vec![text.as_bytes().to_owned()];
            then.extend(name(behind));
            accesses.push(Access { word, then });
        }
        for child in children {
            visit(child, accesses);
        }
    }
    let mut accesses = Vec::new();
    visit(node, &mut accesses);
    accesses
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

    fn access(parts: &[&str]) -> Needed {
        let mut parts = parts.iter().map(|part| part.as_bytes().to_owned());
        let word = parts.next().unwrap();
        Needed::accesses(vec![Access { word, then: parts.collect() }])
    }

    // What may stand between the parts of an access is white space and comments, of any language.
    #[test]
    fn a1_an_access_is_told_from_a_name_alone() {
        let this = access(&["this", "."]);
        for text in [
            "this.x",
            "(this.x)",
            "this\n  .x",
            "this /* a */ .x",
            "this // a\n.x",
            "this # a\n.x",
            "this -- a\n.x",
            "this?.x",
            "this!.x",
            "this\\\n.x",
            "this\u{a0}.x",
            "a this b this.x",
            "this {- a -} .x",
            "this (* a *) .x",
            "this ; a\n.x",
            "this <!-- --> .x",
            "this\u{b}.x",
        ] {
            check(&this, text, true);
        }
        for text in ["", "this", "this x", "this, that", "in (this) way", "thistle.x", "wethis.x"] {
            check(&this, text, false);
        }
        let both = access(&["Number", ".", "isInteger"]);
        check(&both, "Number . isInteger(x)", true);
        check(&both, "Number. /* a */ isInteger(x)", true);
        check(&both, "Number.template isInteger(x)", true);
        check(&both, "Number.isNaN(x); isInteger(x)", false);
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
