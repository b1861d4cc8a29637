//! The tokens of a pattern behind a list: `$$$A` in `[$$$A, last]`, `{ $$$BODY; }`.
//!
//! Matching takes as many nodes off the end of a list as tokens stand behind it in the pattern,
//! whatever these nodes are: where the source has no separator, the last item itself would be lost.
//! So the tokens are taken out of the pattern, which matches the same without them, and the list
//! gives up at most as many of its own tokens.

use std::collections::BTreeMap;

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;

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
