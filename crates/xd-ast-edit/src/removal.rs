//! Removing code with what belongs to it: the separator of a list item, the terminator of a
//! statement, the attributes of an item, and the line where nothing else is left on it.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use crate::doc_comment::{Doc, doc_of};
use crate::engine::Edit;
use crate::indent::{Lines, is_blank};
use crate::language::Lang;
use crate::tree::Tree;

/// A match that is removed.
#[derive(Debug, Clone)]
pub(crate) struct Removal {
    /// Index of the operation.
    pub(crate) op: usize,
    /// The id of the matched node, where the match is the whole of it.
    pub(crate) node: Option<usize>,
    /// The bytes of the match.
    pub(crate) range: Range<usize>,
}

/// The edits that remove `gone`: sorted, apart from each other, and empty but for the comma of what
/// is left of a tuple.
pub(crate) fn removals(tree: &Tree, source: &str, gone: &[Removal]) -> Vec<Edit> {
    let lines = &Lines::of(source);
    let mut pieces = Vec::new();
    let mut commas = Vec::new();
    let wanted: HashMap<usize, usize> = gone
        .iter()
        .enumerate()
        .filter_map(|(index, removal)| Some((removal.node?, index)))
        .collect();
    let mut placed = vec![false; gone.len()];
    for (parent, members) in by_parent(tree, &wanted, gone) {
        for (index, _) in &members {
            placed[*index] = true;
        }
        remove_from(tree.lang(), parent, &members, lines, gone, &mut pieces);
        commas.extend(comma_of_one(tree.lang(), parent, &members, source, gone));
    }
    for (removal, placed) in gone.iter().zip(placed) {
        if !placed {
            pieces.push((tidy(lines, removal.range.clone()), removal.op));
        }
    }
    // Items that each left something on a line may together have left nothing.
    let joined = join(pieces).into_iter();
    let tidied =
        joined.map(|(range, op, several)| (if several { tidy(lines, range) } else { range }, op));
    let edit = |range, text: &str, op| Edit { range, text: text.to_owned(), op };
    let pieces = join(tidied.collect()).into_iter().map(|(range, op, _)| edit(range, "", op));
    let mut edits: Vec<Edit> = pieces.collect();
    for (at, op) in commas {
        // The comma stands there already, or what is left touches what goes.
        match edits.iter_mut().find(|edit| edit.range.start == at) {
            Some(behind) => behind.text = ",".to_owned(),
            None => edits.push(edit(at..at, ",", op)),
        }
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Where a comma has to stand behind the one item that is left of a tuple, where none is left there.
fn comma_of_one(
    lang: Lang,
    parent: Node<'_>,
    members: &[(usize, usize)],
    source: &str,
    gone: &[Removal],
) -> Option<(usize, usize)> {
    if !lang.has_comma_of_one(parent.kind()) {
        return None;
    }
    let mut cursor = parent.walk();
    let children: Vec<Node<'_>> = parent.children(&mut cursor).collect();
    let is_gone = |child: &Node<'_>| members.iter().any(|(_, id)| *id == child.id());
    let mut left =
        children.iter().filter(|child| child.is_named() && !child.is_extra() && !is_gone(child));
    let (Some(last), None) = (left.next(), left.next()) else { return None };
    // A trailing comma stays.
    let inner = source[..parent.end_byte()].trim_end_matches([')', ' ', '\t', '\r', '\n']);
    let trails = children.iter().rev().find(|child| child.kind() != ")" && !child.is_extra());
    if trails.is_some_and(|child| child.kind() == ",") || inner.ends_with(',') {
        return None;
    }
    Some((last.end_byte(), gone[members.first()?.0].op))
}

/// Sorts the pieces and puts those together that touch; tells which were several.
fn join(mut pieces: Vec<(Range<usize>, usize)>) -> Vec<(Range<usize>, usize, bool)> {
    pieces.sort_by_key(|(range, _)| (range.start, range.end));
    let mut joined: Vec<(Range<usize>, usize, bool)> = Vec::with_capacity(pieces.len());
    for (range, op) in pieces {
        match joined.last_mut() {
            Some((last, _, several)) if range.start <= last.end => {
                last.end = last.end.max(range.end);
                *several = true;
            }
            Some(_) | None => joined.push((range, op, false)),
        }
    }
    joined
}

/// The removed nodes by the parent that they are items of. A node that is all of its parent (but
/// for a terminator) stands for the parent.
fn by_parent<'t>(
    tree: &'t Tree,
    wanted: &HashMap<usize, usize>,
    gone: &[Removal],
) -> Vec<(Node<'t>, Vec<(usize, usize)>)> {
    let mut groups: Vec<(Node<'t>, Vec<(usize, usize)>)> = Vec::new();
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    let mut path: Vec<Node<'t>> = Vec::new();
    let mut left = wanted.len();
    let mut cursor: TreeCursor<'t> = tree.cursor();
    loop {
        let node = cursor.node();
        if let Some(index) = wanted.get(&node.id())
            && node.byte_range() == gone[*index].range
        {
            left -= 1;
            let mut member = node;
            let mut level = path.len();
            while level > 1 && stands_for(path[level - 1], member) {
                level -= 1;
                member = path[level];
            }
            if level > 0 {
                let parent = path[level - 1];
                let group = *group_of.entry(parent.id()).or_insert_with(|| {
                    groups.push((parent, Vec::new()));
                    groups.len() - 1
                });
                groups[group].1.push((*index, member.id()));
            }
        }
        if left == 0 {
            return groups;
        }
        if cursor.goto_first_child() {
            path.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if path.pop().is_none() || !cursor.goto_parent() {
                return groups;
            }
        }
    }
}

/// Whether `parent` is nothing but `node`, terminators aside.
fn stands_for(parent: Node<'_>, node: Node<'_>) -> bool {
    if is_head_of(parent, node) {
        return true;
    }
    if parent.byte_range() == node.byte_range() {
        // Separators beside the node make it an item of this very parent.
        return parent.child_count() == 1;
    }
    if parent.start_byte() != node.start_byte() || parent.child_count() > 3 {
        return false;
    }
    let mut cursor = parent.walk();
    parent.children(&mut cursor).all(|child| child.id() == node.id() || child.kind() == ";")
}

/// Whether `parent` is `node` with a head that is nothing without it, and would go over to what
/// follows: decorators, `export`, `declare`, `template <…>`.
fn is_head_of(parent: Node<'_>, node: Node<'_>) -> bool {
    let field = |name: &str| parent.child_by_field_name(name) == Some(node);
    let is_last = || {
        let last = parent.named_child_count().checked_sub(1);
        last.and_then(|at| parent.named_child(u32::try_from(at).unwrap_or(u32::MAX)))
            .is_some_and(|last| last == node)
    };
    match parent.kind() {
        "decorated_definition" => field("definition"),
        "export_statement" => {
            let value = matches!(
                node.kind(),
                "class" | "function_expression" | "generator_function" | "arrow_function"
            );
            field("declaration") || (field("value") && value)
        }
        "ambient_declaration" | "template_declaration" => is_last(),
        _ => false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Comma,
    Semicolon,
    Comment,
    /// An attribute that belongs to the item after it.
    Attribute,
    /// A comment that documents the item after it.
    Doc(Doc),
    Item,
}

struct Child<'t> {
    class: Class,
    range: Range<usize>,
    /// Index of the removal, where this child is one.
    gone: Option<usize>,
    kind: &'t str,
}

fn remove_from(
    lang: Lang,
    parent: Node<'_>,
    members: &[(usize, usize)],
    lines: &Lines<'_>,
    gone: &[Removal],
    pieces: &mut Vec<(Range<usize>, usize)>,
) {
    let source = lines.source;
    let members: HashMap<usize, usize> = members.iter().map(|(index, id)| (*id, *index)).collect();
    let mut cursor = parent.walk();
    let children: Vec<Child<'_>> = parent
        .children(&mut cursor)
        .map(|child| Child {
            class: match child.kind() {
                "," => Class::Comma,
                ";" => Class::Semicolon,
                "attribute_item" | "decorator" | "annotation" | "marker_annotation" => {
                    Class::Attribute
                }
                _ => match doc_of(lang, child, source) {
                    Some(doc) => Class::Doc(doc),
                    None if child.is_extra() => Class::Comment,
                    None => Class::Item,
                },
            },
            range: child.byte_range(),
            gone: members.get(&child.id()).copied(),
            kind: child.kind(),
        })
        .collect();
    // Comments and attributes stand between items without separating them.
    let solid: Vec<usize> = (0..children.len())
        .filter(|at| {
            !matches!(children[*at].class, Class::Comment | Class::Attribute | Class::Doc(_))
                || children[*at].gone.is_some()
        })
        .collect();
    let class = |place: Option<usize>| {
        place.and_then(|place| solid.get(place)).map(|at| children[*at].class)
    };
    let mut place = 0;
    while place < solid.len() {
        let Some(index) = children[solid[place]].gone else {
            place += 1;
            continue;
        };
        let op = gone[index].op;
        let in_list = class(Some(place + 1)) == Some(Class::Comma)
            || class(place.checked_sub(1)) == Some(Class::Comma);
        if in_list {
            place = remove_run(lines, &children, &solid, place, op, pieces);
        } else {
            if only_name_of_import(parent, &children, &solid, place) {
                pieces.push((tidy(lines, parent.byte_range()), op));
            } else {
                let mut range = with_attributes(lines, &children, solid[place]);
                if let Some(next) = solid.get(place + 1).map(|at| &children[*at])
                    && next.class == Class::Semicolon
                    && source[range.end..next.range.start]
                        .bytes()
                        .all(|byte| matches!(byte, b' ' | b'\t'))
                {
                    range.end = next.range.end;
                }
                pieces.push((tidy(lines, range), op));
            }
            place += 1;
        }
    }
    // All names of an import that cannot be empty.
    let first = solid.iter().position(|at| children[*at].gone.is_some());
    if let Some(first) = first
        && only_name_of_import(parent, &children, &solid, first)
        && solid[first..].iter().all(|at| children[*at].gone.is_some() || !is_name(&children[*at]))
        && let Some(index) = children[solid[first]].gone
    {
        pieces.push((tidy(lines, parent.byte_range()), gone[index].op));
    }
}

fn is_name(child: &Child<'_>) -> bool {
    child.class == Class::Item && child.kind != ")"
}

/// Whether the item at `place` is the first name of an import that may not be without names.
fn only_name_of_import(
    parent: Node<'_>,
    children: &[Child<'_>],
    solid: &[usize],
    place: usize,
) -> bool {
    let statement = matches!(
        parent.kind(),
        "import_from_statement" | "import_statement" | "import_declaration"
    );
    let before = place.checked_sub(1).map(|before| children[solid[before]].kind);
    statement
        && matches!(before, Some("import" | "("))
        && solid[place + 1..]
            .iter()
            .all(|at| children[*at].gone.is_some() || !is_name(&children[*at]))
}

/// The child's bytes with the attributes and the comments before it that belong to it.
fn with_attributes(lines: &Lines<'_>, children: &[Child<'_>], at: usize) -> Range<usize> {
    let mut start = children[at].range.start;
    for before in children[..at].iter().rev() {
        let belongs = before.gone.is_none()
            && match before.class {
                Class::Attribute => true,
                Class::Doc(doc) => doc.is_of(lines, &before.range, start, children[at].kind),
                Class::Comment | Class::Comma | Class::Semicolon | Class::Item => false,
            };
        if !belongs {
            break;
        }
        start = before.range.start;
    }
    start..children[at].range.end
}

/// Removes the run of list items that begins at `place`; answers the place behind it.
fn remove_run(
    lines: &Lines<'_>,
    children: &[Child<'_>],
    solid: &[usize],
    place: usize,
    op: usize,
    pieces: &mut Vec<(Range<usize>, usize)>,
) -> usize {
    let child = |place: usize| solid.get(place).map(|at| &children[*at]);
    let is_comma = |place: usize| child(place).is_some_and(|child| child.class == Class::Comma);
    let mut items = vec![place];
    let mut last = place;
    while is_comma(last + 1) && child(last + 2).is_some_and(|child| child.gone.is_some()) {
        last += 2;
        items.push(last);
    }
    let trailing = is_comma(last + 1);
    let kept_before = place >= 2 && is_comma(place - 1);
    let only_space = |from: usize, to: usize| is_blank(&lines.source[from..to]);
    let range_of = |place: usize| with_attributes(lines, children, solid[place]);
    let mut run: Option<Range<usize>> = None;
    let mut add = |range: Range<usize>, pieces: &mut Vec<_>| match &mut run {
        // Items with nothing but space between them go as one.
        Some(run) if only_space(run.end, range.start) => run.end = range.end,
        Some(run) => pieces.push((tidy(lines, std::mem::replace(run, range)), op)),
        None => run = Some(range),
    };
    // Of an array with holes the commas count.
    let before_comma = place.checked_sub(2).and_then(child);
    let hole = before_comma
        .is_none_or(|child| child.class == Class::Comma || matches!(child.kind, "[" | "("));
    if !trailing && kept_before && !hole {
        // The last of a list: the comma before goes, and comments behind that comma stay.
        add(children[solid[place - 1]].range.clone(), pieces);
    }
    for item in &items {
        add(range_of(*item), pieces);
        if is_comma(item + 1) {
            add(children[solid[item + 1]].range.clone(), pieces);
        }
    }
    if let Some(run) = run {
        pieces.push((tidy(lines, run), op));
    }
    last + 1
}

/// The whole lines of a removal, where nothing else is on them.
fn whole_lines(lines: &Lines<'_>, range: &Range<usize>) -> Option<Range<usize>> {
    let source = lines.source;
    let bytes = source.as_bytes();
    let (line_start, line_end) = (lines.start(range.start), lines.end(range.end));
    if !is_blank(&source[line_start..range.start]) {
        return None;
    }
    // A match may end with its own line break (some grammars count it in).
    if source[range.clone()].ends_with('\n') {
        return Some(line_start..range.end);
    }
    if !is_blank(&source[range.end..line_end]) {
        return None;
    }
    if line_end < bytes.len() {
        return Some(line_start..line_end + 1);
    }
    // The last line, without a line break of its own: the one before it goes.
    let break_length = match &bytes[..line_start] {
        before if before.ends_with(b"\r\n") => 2,
        before if before.ends_with(b"\n") => 1,
        _ => 0,
    };
    let whole_end = range.end == bytes.len();
    Some(line_start - if whole_end { break_length } else { 0 }..bytes.len())
}

/// Widens a removal to its whole lines where nothing else is on them, or over the space that would
/// be left doubled or dangling.
fn tidy(lines: &Lines<'_>, range: Range<usize>) -> Range<usize> {
    if let Some(whole) = whole_lines(lines, &range) {
        return whole;
    }
    let source = lines.source;
    let bytes = source.as_bytes();
    let (line_start, line_end) = (lines.start(range.start), lines.end(range.end));
    let blank_before = is_blank(&source[line_start..range.start]);
    let blank_after = is_blank(&source[range.end..line_end]);
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
    let mut range = range;
    if blank_after && is_space(before) && !blank_before {
        while is_space(range.start.checked_sub(1).and_then(|at| bytes.get(at))) {
            range.start -= 1;
        }
    } else if is_space(bytes.get(range.end))
        && (is_space(before) || blank_before || matches!(before, Some(b'(' | b'[' | b'{' | b'<')))
    {
        while is_space(bytes.get(range.end)) {
            range.end += 1;
        }
    } else if is_space(before)
        && matches!(bytes.get(range.end), Some(b')' | b']' | b'}' | b'>' | b',' | b';'))
    {
        while is_space(range.start.checked_sub(1).and_then(|at| bytes.get(at))) {
            range.start -= 1;
        }
    }
    range
}
