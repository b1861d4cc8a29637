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
        // The nodes of a list stand side by side.
        if let (Some(first), Some(last)) = (nodes.first(), nodes.last()) {
            captures.push(first.range().start..last.range().end);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Lang;
    use crate::tree::Tree;

    /// What of `code` is told to be lost, where the pattern's own knowledge of it is `change`d.
    fn lost(code: &str, pat: &str, change: impl Fn(&mut CompiledPattern)) -> Option<String> {
        let lang = Lang::named("python").ok()?;
        let mut pattern = CompiledPattern::compile(lang, pat).unwrap();
        let tree = Tree::parse(code, lang).unwrap();
        let node = tree.root().dfs().find(|node| pattern.matches(node, false).is_some()).unwrap();
        let (found, end) = pattern.matches(&node, false).unwrap();
        change(&mut pattern);
        let range = uncaptured(&pattern, &found, &(node.range().start..end), code)?;
        Some(code[range].to_owned())
    }

    // Invariant A9.
    #[test]
    #[cfg(feature = "lang-python")]
    fn a1_what_is_neither_spelt_nor_captured_is_found() {
        let nothing = |_: &mut CompiledPattern| {};
        assert_eq!(lost("f(x, [y], 1)", "f($A, $$$B)", nothing), None);
        assert_eq!(lost("f(x,  # why\n  1)", "f($A, 1)", nothing), None);
        // Where a variable captures nothing, or stands twice, that is meant.
        assert_eq!(lost("f(x, 1)", "f($_, $$$)", nothing), None);
        assert_eq!(lost("f(g(x), g( x ))", "f($A, $A)", nothing), None);
        // A capture that went missing, as one of a list that was cut too short.
        let cut = |pattern: &mut CompiledPattern| pattern.bindings.lists.clear();
        assert_eq!(lost("f(x, y)", "f($A, $$$B)", cut), Some("y".to_owned()));
        let cut = |pattern: &mut CompiledPattern| pattern.bindings.singles.clear();
        assert_eq!(lost("f(old(1))", "f($A)", cut), Some("old".to_owned()));
    }
}
