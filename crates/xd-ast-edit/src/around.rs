//! What edits do to the code around them, read off the tree of the result: nothing that was kept may
//! be read otherwise than before.
//!
//! A result can parse and still be wrong: the statement behind a removed body becomes the body, the
//! line behind a removed operand becomes the operand, a decorator slides to the next function, a
//! comment hides what stood behind it. All of these change the extent of a node that was kept, or
//! make a node that was not there.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use tree_sitter::Node;

use crate::engine::Edit;
use crate::indent::fixed_ranges;
use crate::language::Lang;
use crate::refusal::{Refusal, site};
use crate::tree::{Tree, Walk, glimpse, line_of, walk};

/// An edit with what is known of it.
#[derive(Debug)]
pub(crate) struct Change<'e> {
    /// The edit.
    pub(crate) edit: &'e Edit,
    /// The matched node; of a removal, the bytes of the edit.
    pub(crate) unit: Range<usize>,
    /// Where in the edit's text the captures stand.
    pub(crate) captures: &'e [Range<usize>],
    /// Where in the edit's text the lines begin that were indented otherwise.
    pub(crate) moved: &'e [usize],
}

/// Both trees, and the edits between them.
pub(crate) struct Around<'c> {
    source: &'c str,
    before: &'c Tree,
    after: &'c Tree,
    changes: &'c [Change<'c>],
    /// Where each edit's text stands in the result.
    written: Vec<Range<usize>>,
    /// How many of the edits before each are removals.
    removals: Vec<usize>,
    /// The comments of the result in all nodes that an edit touches.
    comments: Vec<Range<usize>>,
}

/// A node of the source that has to be in the result.
struct Wanted<'t> {
    node: Node<'t>,
    span: (usize, usize),
    change: usize,
    /// Whether it has to be of its kind still: something was taken out of it.
    same_kind: bool,
}

/// The nodes of the source that hold an edit and have to be there still, and the spans in the result
/// of all that hold one.
type Kept<'t> = (Vec<Wanted<'t>>, HashSet<(usize, usize), SpanHash>);

impl<'c> Around<'c> {
    /// Takes the tree of the source, the tree of the result and the edits, sorted; `is_comment` says
    /// for each kind of node whether it is a comment.
    pub(crate) fn new(
        source: &'c str,
        before: &'c Tree,
        after: &'c Tree,
        changes: &'c [Change<'c>],
        is_comment: &[bool],
    ) -> Self {
        let mut written = Vec::with_capacity(changes.len());
        let mut removals = vec![0];
        let mut shift = 0_isize;
        for Change { edit, .. } in changes {
            let start = edit.range.start.wrapping_add_signed(shift);
            written.push(start..start + edit.text.len());
            shift += edit.text.len().cast_signed() - edit.range.len().cast_signed();
            removals.push(removals[removals.len() - 1] + usize::from(edit.text.is_empty()));
        }
        let comments = comments_near(after, &written, is_comment);
        Self { source, before, after, changes, written, removals, comments }
    }

    /// Refuses a result in which a comment hides code that the edit did not mean to hide.
    ///
    /// # Errors
    /// [`Refusal::Hidden`] with the match.
    pub(crate) fn check_comments(&self) -> Result<(), Refusal> {
        let result = self.after.source();
        for (change, written) in self.changes.iter().zip(&self.written) {
            if written.is_empty() {
                continue;
            }
            let hidden = |from: usize| Refusal::Hidden {
                site: Box::new(site(self.source, change.edit.op, change.edit.range.clone())),
                text: glimpse(result, from, 60),
            };
            let first = self.comments.partition_point(|comment| comment.end <= written.start);
            for comment in
                self.comments[first..].iter().take_while(|comment| comment.start < written.end)
            {
                if comment.start >= written.start && comment.end > written.end {
                    let behind = result[written.end..comment.end].trim_start();
                    let at = self.original(comment.end - behind.len());
                    if !behind.trim().is_empty() && !self.was_comment(at) {
                        return Err(hidden(written.end));
                    }
                }
                for capture in change.captures {
                    let (start, end) = (written.start + capture.start, written.start + capture.end);
                    let text_behind = result.get(end..comment.end.min(written.end));
                    if (start..end).contains(&comment.start)
                        && text_behind.is_some_and(|text| !text.trim().is_empty())
                    {
                        return Err(hidden(end));
                    }
                    if comment.start < start && start < comment.end && comment.end < end {
                        return Err(hidden(start));
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses a result in which a line was indented otherwise that begins inside a string.
    ///
    /// # Errors
    /// [`Refusal::StringMoved`] with the match.
    pub(crate) fn check_strings(&self, lang: Lang) -> Result<(), Refusal> {
        if self.changes.iter().all(|change| change.moved.is_empty()) {
            return Ok(());
        }
        let result = self.after.source();
        let strings = fixed_ranges(self.after.cursor().node(), result, lang);
        for (change, written) in self.changes.iter().zip(&self.written) {
            for at in change.moved.iter().map(|at| written.start + at) {
                let next = strings.partition_point(|string| string.end <= at);
                if strings.get(next).is_some_and(|string| string.start < at) {
                    return Err(Refusal::StringMoved {
                        site: Box::new(site(
                            self.source,
                            change.edit.op,
                            change.edit.range.clone(),
                        )),
                        line: line_of(result, at),
                        text: glimpse(result, at, 60),
                    });
                }
            }
        }
        Ok(())
    }

    /// The place in the source of a place in the result that is not inside an edit.
    fn original(&self, at: usize) -> usize {
        let before = self.written.partition_point(|written| written.end <= at);
        match before.checked_sub(1) {
            Some(last) => self.changes[last].edit.range.end + (at - self.written[last].end),
            None => at,
        }
    }

    /// Whether a byte of the source is in a comment.
    fn was_comment(&self, at: usize) -> bool {
        self.before.node_spanning(at..at + 1).kind().contains("comment")
    }

    /// A removal that left a loop without its body where the grammar allows that and the language
    /// takes the next statement (Kotlin).
    fn emptied_body(&self, node: Node<'_>, change: usize) -> Option<Refusal> {
        let range = node.byte_range();
        let edit = self.changes[change].edit;
        let all = edit.range.start <= range.start && range.end <= edit.range.end;
        let gone = all && edit.text.trim().is_empty() && node.kind() == "control_structure_body";
        gone.then(|| self.otherwise(change, node.kind(), self.written[change].start))
    }

    /// Refuses a result in which kept code is read otherwise than in the source.
    ///
    /// # Errors
    /// [`Refusal::ReadOtherwise`] with the match.
    pub(crate) fn check_extents(&self) -> Result<(), Refusal> {
        let (wanted, known) = self.kept_nodes()?;
        let mut spans: HashMap<(usize, usize), Vec<&str>, SpanHash> =
            wanted.iter().map(|wanted| (wanted.span, Vec::new())).collect();
        let zones: Vec<(usize, usize)> = self
            .written
            .iter()
            .map(|written| (self.back(written.start), self.forward(written.end)))
            .collect();
        let mut fault = None;
        walk(self.after.cursor(), |node, _| {
            let range = node.byte_range();
            let near = zones.partition_point(|zone| zone.1 < range.start);
            if zones.get(near).is_none_or(|zone| zone.0 > range.end) || node.is_extra() {
                return Walk::Over;
            }
            let span = self.trimmed(&range);
            if node.is_named() {
                if let Some(kinds) = spans.get_mut(&span) {
                    kinds.push(node.kind());
                }
                if fault.is_none()
                    && !known.contains(&span)
                    && let Some(change) = self.regrouped(node, span, &zones)
                {
                    fault = Some(self.otherwise(change, node.kind(), range.start));
                }
            }
            Walk::Into
        });
        for wanted in &wanted {
            let kinds = spans.get(&wanted.span).map(Vec::as_slice).unwrap_or_default();
            let found = if wanted.same_kind {
                (kinds.contains(&wanted.node.kind()) && !self.is_tuple_of_one(wanted))
                    || self.is_list_of_one(wanted, kinds)
            } else {
                !kinds.is_empty()
            };
            if !found {
                return Err(self.otherwise(wanted.change, wanted.node.kind(), wanted.span.0));
            }
        }
        fault.map_or(Ok(()), Err)
    }

    /// Finds [`Kept`].
    fn kept_nodes(&self) -> Result<Kept<'_>, Refusal> {
        let mut emptied = None;
        let mut wanted: Vec<Wanted<'_>> = Vec::new();
        let mut known: HashSet<(usize, usize), SpanHash> = HashSet::default();
        walk(self.before.cursor(), |node, _| {
            let range = node.byte_range();
            let first = self.changes.partition_point(|change| change.edit.range.end <= range.start);
            let last = self.changes.partition_point(|change| change.edit.range.start < range.end);
            if first >= last {
                return Walk::Over;
            }
            let span =
                self.trimmed(&(self.mapped(range.start, false)..self.mapped(range.end, true)));
            known.insert(span);
            let Change { edit, unit, .. } = &self.changes[first];
            let within =
                |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
            if within(&edit.range) || span.0 >= span.1 {
                emptied = self.emptied_body(node, first);
                return if emptied.is_some() { Walk::Stop } else { Walk::Over };
            }
            let written = &self.written[first];
            let replaced = !written.is_empty() && written.start <= span.0 && span.1 <= written.end;
            if !replaced && (edit.text.is_empty() || !within(unit)) {
                let same_kind = self.removals[last] > self.removals[first];
                wanted.push(Wanted { node, span, change: first, same_kind });
            }
            Walk::Into
        });
        emptied.map_or(Ok((wanted, known)), Err)
    }

    /// The change that a new node of the result belongs to wrongly: it begins or ends inside of what
    /// the change wrote, and goes on beyond it, or it joins what a removal had between them.
    fn regrouped(
        &self,
        node: Node<'_>,
        span: (usize, usize),
        zones: &[(usize, usize)],
    ) -> Option<usize> {
        const TEXT: [&str; 6] = ["text", "content", "fragment", "string", "char", "scalar"];
        if node.child_count() == 0 && TEXT.iter().any(|part| node.kind().contains(part)) {
            return None;
        }
        // Begins inside, ends behind.
        let at = self.written.partition_point(|written| written.end <= span.0);
        if let Some(written) = self.written.get(at)
            && written.start <= span.0
            && zones[at].1 < span.1
        {
            let Change { edit, unit, .. } = &self.changes[at];
            // The rest of a node that was matched in part.
            let rest = unit.end > edit.range.end
                && self.back(self.mapped(unit.end, true)).max(written.end) == span.1;
            return (!rest).then_some(at);
        }
        // Begins before, ends inside.
        let at = self.written.partition_point(|written| written.end < span.1);
        if let Some(written) = self.written.get(at)
            && written.start < span.1
            && span.1 < self.back(written.end)
            && span.0 < zones[at].0
            && !is_associative(node)
        {
            return Some(at);
        }
        // Holds a removal.
        let at = zones.partition_point(|zone| zone.0 <= span.0);
        let end = zones.partition_point(|zone| zone.1 < span.1);
        (at < end && self.removals[end] > self.removals[at]).then(|| {
            let removal = |place: &usize| self.written[*place].is_empty();
            (at..end).find(removal).unwrap_or(at)
        })
    }

    /// Whether the node was a list between commas and the result has its one item that is left. A
    /// tuple without brackets is not: its one item alone is no tuple.
    fn is_list_of_one(&self, wanted: &Wanted<'_>, kinds: &[&str]) -> bool {
        let mut cursor = wanted.node.walk();
        let children: Vec<Node<'_>> = wanted.node.children(&mut cursor).collect();
        let tuple = matches!(
            wanted.node.kind(),
            "expression_list" | "pattern_list" | "left_assignment_list" | "right_assignment_list"
        );
        !tuple
            && children.iter().any(|child| child.kind() == ",")
            && children.iter().any(|child| {
                let start = self.mapped(child.start_byte(), false);
                let end = self.mapped(child.end_byte(), true);
                child.is_named()
                    && self.trimmed(&(start..end)) == wanted.span
                    && kinds.contains(&child.kind())
            })
    }

    /// Whether the node was a tuple in parentheses and the result has one item of it, which a grammar
    /// may go on calling a tuple and the language calls the item itself.
    fn is_tuple_of_one(&self, wanted: &Wanted<'_>) -> bool {
        let result = &self.after.source()[wanted.span.0..wanted.span.1];
        let Some(inside) = result.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
            return false;
        };
        let mut cursor = wanted.node.walk();
        let items = wanted.node.named_children(&mut cursor).filter(|child| !child.is_extra());
        let is_left = |item: &Node<'_>| {
            self.mapped(item.start_byte(), false) < self.mapped(item.end_byte(), true)
        };
        let (all, left) =
            items.fold((0, 0), |(all, left), item| (all + 1, left + usize::from(is_left(&item))));
        wanted.node.kind().contains("tuple")
            && all > 1
            && left == 1
            && !inside.trim_end().ends_with(',')
    }

    fn otherwise(&self, change: usize, kind: &str, at: usize) -> Refusal {
        let edit = self.changes[change].edit;
        Refusal::ReadOtherwise {
            site: Box::new(site(self.source, edit.op, edit.range.clone())),
            kind: kind.to_owned(),
            line: line_of(self.after.source(), at),
            near: glimpse(self.after.source(), at, 60),
        }
    }

    /// A place of the source in the result; inside an edit, its text's beginning or its end.
    fn mapped(&self, at: usize, is_end: bool) -> usize {
        let before = self.changes.partition_point(|change| change.edit.range.end <= at);
        if let Some(Change { edit, .. }) = self.changes.get(before)
            && edit.range.start < at
        {
            let written = &self.written[before];
            return if is_end { written.end } else { written.start };
        }
        match before.checked_sub(1) {
            Some(last) => self.written[last].end + (at - self.changes[last].edit.range.end),
            None => at,
        }
    }

    /// The span without the space, the comments and the separators at both of its ends.
    fn trimmed(&self, range: &Range<usize>) -> (usize, usize) {
        let start = self.forward(range.start);
        (start, self.back(range.end).max(start.min(range.end)))
    }

    fn forward(&self, mut at: usize) -> usize {
        let bytes = self.after.source().as_bytes();
        loop {
            while bytes.get(at).is_some_and(|byte| is_between(*byte)) {
                at += 1;
            }
            let next = self.comments.partition_point(|comment| comment.end <= at);
            match self.comments.get(next) {
                Some(comment) if comment.start <= at => at = comment.end,
                Some(_) | None => return at,
            }
        }
    }

    fn back(&self, mut at: usize) -> usize {
        let bytes = self.after.source().as_bytes();
        loop {
            while at > 0 && is_between(bytes[at - 1]) {
                at -= 1;
            }
            let next = self.comments.partition_point(|comment| comment.end < at);
            match self.comments.get(next) {
                Some(comment) if comment.start < at => at = comment.start,
                Some(_) | None => return at,
            }
        }
    }
}

/// The comments of a result in all nodes that touch what was written, the space around it included.
fn comments_near(after: &Tree, written: &[Range<usize>], is_comment: &[bool]) -> Vec<Range<usize>> {
    let bytes = after.source().as_bytes();
    let widened = |range: &Range<usize>| {
        let space = |byte: &&u8| is_between(**byte);
        let before = bytes[..range.start].iter().rev().take_while(space).count();
        let behind = bytes[range.end..].iter().take_while(space).count();
        range.start - before..range.end + behind
    };
    let near: Vec<Range<usize>> = written.iter().map(widened).collect();
    let mut comments = Vec::new();
    walk(after.cursor(), |node, _| {
        if is_comment.get(usize::from(node.kind_id())) == Some(&true) {
            comments.push(node.byte_range());
            return Walk::Over;
        }
        let next = near.partition_point(|range| range.end < node.start_byte());
        if near.get(next).is_some_and(|range| range.start <= node.end_byte()) {
            Walk::Into
        } else {
            Walk::Over
        }
    });
    comments
}

/// The hash of two offsets: they are no foreign input that could be made to collide on purpose.
#[derive(Default)]
struct SpanHasher(u64);

impl Hasher for SpanHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(26) ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type SpanHash = BuildHasherDefault<SpanHasher>;

/// Whether a byte stands between things and is none.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b';' | b',')
}

/// Whether a node is an operation that may be grouped either way.
fn is_associative(node: Node<'_>) -> bool {
    const OPERATORS: [&str; 8] = ["&&", "||", "and", "or", "??", "|>", "|", "&"];
    let operator = |node: Node<'_>| {
        let mut cursor = node.walk();
        let mut children = node.children(&mut cursor);
        children.find_map(|child| OPERATORS.iter().position(|operator| *operator == child.kind()))
    };
    let own = operator(node);
    own.is_some() && node.parent().is_some_and(|parent| operator(parent) == own)
}
