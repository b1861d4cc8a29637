//! The tokens of a pattern behind a list: `$$$A` in `[$$$A, last]`, `{ $$$BODY; }`.
//!
//! Matching takes as many nodes off the end of a list as tokens stand behind it in the pattern,
//! whatever these nodes are: where the source has no separator, the last item itself would be lost.
//! So the tokens are taken out of the pattern, which matches the same without them, and the list
//! gives up at most as many of its own tokens.

use std::collections::BTreeMap;

use ast_grep_core::Language as _;
use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;

use crate::language::Lang;
use crate::literal::is_list;

/// How many tokens stand behind each list, by its name.
pub(crate) type Tails = BTreeMap<String, usize>;

/// Takes the tokens behind every list out of a pattern.
pub(crate) fn take_tails(node: &mut PatternNode, tails: &mut Tails) {
    let PatternNode::Internal { children, .. } = node else { return };
    let mut kept: Vec<PatternNode> = Vec::with_capacity(children.len());
    let mut behind = false;
    for mut child in std::mem::take(children) {
        if behind && child.is_trivial() {
            if let Some(name) = kept.last().and_then(name_of) {
                *tails.entry(name.to_owned()).or_default() += 1;
            }
            continue;
        }
        behind = is_list(&child);
        take_tails(&mut child, tails);
        kept.push(child);
    }
    *children = kept;
}

/// The first list of a pattern whose last item would be lost where the source has fewer separators:
/// its name, and the separator behind it.
pub(crate) fn endangered(node: &PatternNode) -> Option<(String, String)> {
    let PatternNode::Internal { children, .. } = node else { return None };
    let own = children.iter().enumerate().find_map(|(at, child)| {
        let name = name_of(child)?;
        let tokens: Vec<&str> = children[at + 1..]
            .iter()
            .map_while(|child| match child {
                PatternNode::Terminal { text, is_named: false, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let next = children.get(at + 1 + tokens.len());
        let first = tokens.first()?;
        // A comma in front of another item has to be in the source too.
        let safe = match next {
            None => tokens.len() == 1,
            Some(next) => tokens.len() == 1 && *first == "," && !is_list(next),
        };
        (!safe).then(|| (name.to_owned(), first.trim().to_owned()))
    });
    own.or_else(|| children.iter().find_map(endangered))
}

fn name_of(node: &PatternNode) -> Option<&str> {
    match node {
        PatternNode::MetaVar { meta_var: MetaVariable::MultiCapture(name) } => Some(name),
        PatternNode::MetaVar { .. }
        | PatternNode::Terminal { .. }
        | PatternNode::Internal { .. } => None,
    }
}

/// Puts a semicolon behind every list that stands alone in a body, where the grammar would take
/// `{ $$$BODY }` for something else (a C++ initialiser).
pub(crate) fn ended_lists(own: &str, lang: Lang) -> String {
    let sigil = lang.grammar().expando_char();
    let mark = String::from_iter([sigil; 3]);
    let mut out = String::new();
    let mut rest = own;
    while let Some(at) = rest.find(&mark) {
        let name = &rest[at + mark.len()..];
        let name = &name[..name.len()
            - name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len()];
        let end = at + mark.len() + name.len();
        let before = rest[..at].trim_end();
        let before = if before.is_empty() { out.trim_end() } else { before };
        let alone = before.ends_with(['{', ';', '}'])
            && !rest[end..].trim_start().starts_with([',', ';', '=', ':', '.', ')']);
        out.push_str(&rest[..end]);
        if alone {
            out.push(';');
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Takes the semicolons out again that [`ended_lists`] has put in.
pub(crate) fn without_list_ends(node: &mut PatternNode) {
    let PatternNode::Internal { children, .. } = node else { return };
    let is_end = |node: &PatternNode| matches!(node, PatternNode::Terminal { text, is_named: false, .. } if text == ";");
    if let [list, end] = children.as_slice()
        && is_list(list)
        && is_end(end)
    {
        *node = list.clone();
        return;
    }
    children.iter_mut().for_each(without_list_ends);
    // Where a name alone is no statement, the semicolon is one of its own.
    let is_empty_statement = |node: &PatternNode| match node {
        PatternNode::Internal { children, .. } => {
            matches!(children.as_slice(), [end] if is_end(end))
        }
        PatternNode::MetaVar { .. } | PatternNode::Terminal { .. } => false,
    };
    let mut behind_list = false;
    children.retain(|child| {
        let keep = !(behind_list && is_empty_statement(child));
        behind_list = is_list(child);
        keep
    });
}
