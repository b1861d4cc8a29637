//! What a match holds that its pattern neither spells nor captures: replacing it would lose that
//! without a word.

use std::ops::Range;

use ast_grep_core::NodeMatch;

use crate::pattern::CompiledPattern;
use crate::tree::{Doc, Walk, walk};

/// The first named leaf in the `matched` bytes of a match that is not in the pattern's text, in a
/// capture or a comment; none where the pattern has variables that capture nothing.
pub(crate) fn uncaptured(
    pattern: &CompiledPattern,
    found: &NodeMatch<'_, Doc>,
    matched: &Range<usize>,
    source: &str,
) -> Option<Range<usize>> {
    let text = pattern.text.as_ref()?;
    let env = found.get_env();
    let singles = pattern.bindings.singles.iter().filter_map(|name| env.get_match(name));
    let mut captures: Vec<Range<usize>> = singles.map(|node| node.range()).collect();
    for name in &pattern.bindings.lists {
        let nodes = env.get_multiple_matches(name);
        captures.extend(nodes.iter().map(|node| node.range()));
    }
    let captured = |range: &Range<usize>| {
        captures.iter().any(|capture| capture.start <= range.start && range.end <= capture.end)
    };
    let mut lost = None;
    walk(found.get_node().get_inner_node().walk(), |node, _| {
        let range = node.byte_range();
        let outside = range.end <= matched.start || matched.end <= range.start;
        if outside || node.is_extra() || captured(&range) {
            return Walk::Over;
        }
        if node.child_count() == 0 && node.is_named() {
            let leaf = source.get(range.clone()).unwrap_or_default().trim();
            if !text.contains(leaf) && !text.contains(&leaf.replace("\r\n", "\n")) {
                lost = Some(range);
                return Walk::Stop;
            }
        }
        Walk::Into
    });
    lost
}
