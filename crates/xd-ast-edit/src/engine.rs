//! The rewriter itself: a source in, edits out. No files, no clock, no recursion over the tree.
//!
//! One parse and one walk serve all operations of a language. Each node is offered only to the
//! operations whose pattern has its kind.

use std::collections::HashMap;
use std::ops::Range;

use ast_grep_core::{Node, NodeMatch};

use crate::around::{Around, Change};
use crate::dropped::{DroppedComment, comments_in, dropped};
use crate::expand::{Expansion, FileStyle, expand};
use crate::indent::Lines;
use crate::op::{CompiledOp, Finder, Program};
use crate::refusal::{Refusal, site};
use crate::removal::{Removal, removals};
use crate::tree::{Doc, Tree, Walk, glimpse, line_of, place_of, walk};
use crate::uncaptured::uncaptured;

/// One replacement of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the source that go.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
    /// Index of the operation in the caller's list.
    pub op: usize,
}

/// What a rewrite of one source came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The edits, sorted and apart from each other. A removal may need two.
    pub edits: Vec<Edit>,
    /// How many matches are replaced: the number that preview, label and result show.
    pub replacements: usize,
    /// The same for each operation, by its index.
    pub by_op: Vec<usize>,
    /// Matches inside replaced ones, left as they are (`CONTRACT A5`).
    pub nested: usize,
    /// Matches whose replacement is the text that stands there already.
    pub unchanged: usize,
    /// Replaced places that already read as an earlier run of the same operation left them.
    pub regrown: usize,
    /// How many comments the replacements take away.
    pub dropped: usize,
    /// The first of these, with their places.
    pub dropped_comments: Vec<DroppedComment>,
    /// Rules, by index, that match inside what they have written here: a second run would rewrite
    /// it again.
    pub regrowing: Vec<usize>,
    /// Whether there were more matches than the limit allows.
    pub capped: bool,
}

/// A match that is to be replaced.
struct Replacement {
    op: usize,
    node: usize,
    whole_node: bool,
    range: Range<usize>,
    text: String,
    kept: Vec<Range<usize>>,
    /// The bytes of the matched node.
    unit: Range<usize>,
    /// Where the captures are in `text`.
    captures: Vec<Range<usize>>,
    /// Where the lines of `text` begin that were indented otherwise.
    moved: Vec<usize>,
}

/// Rewrites `source` by all operations of `program`, at most `limit` replacements from the start.
///
/// Matching, comparing and parsing need a stack for trees of 10,000 levels; callers that take
/// sources from elsewhere run this on a thread with 64 MiB.
///
/// **Invariant A3:** the edits of a result are sorted and never overlap.
/// **Invariant A4:** where the source parses, so does the result, or there is none.
///
/// # Errors
/// See [`Refusal`]. The first two leave a file alone; the others refuse the whole call.
pub fn rewrite(program: &Program, source: &str, limit: usize) -> Result<Rewritten, Refusal> {
    rewrite_for(program, source, limit, |_| true, &|| false)
}

/// The same with the operations alone that are `wanted`. Where `stop` says yes, the result means
/// nothing.
pub(crate) fn rewrite_for(
    program: &Program,
    source: &str,
    limit: usize,
    wanted: impl Fn(&CompiledOp) -> bool,
    stop: &dyn Fn() -> bool,
) -> Result<Rewritten, Refusal> {
    let is_active = |op: &CompiledOp| wanted(op) && op.may_match(source.as_bytes());
    let active: Vec<bool> = program.ops.iter().map(is_active).collect();
    let mut result = Rewritten { by_op: vec![0; op_count(program)], ..Rewritten::default() };
    if !active.contains(&true) {
        return Ok(result);
    }
    let tree = Tree::parse_sound(source, program.lang, stop).map_err(|at| {
        let (line, column) = place_of(source, at);
        Refusal::SourceDoesNotParse { line, column }
    })?;
    let running = program.ops.iter().zip(&active).filter(|(_, active)| **active);
    let deepest = running.map(|(op, _)| op.deepest()).min().unwrap_or(usize::MAX);
    if deepest < usize::MAX {
        let depth = tree.depth();
        if depth > deepest {
            return Err(Refusal::TooDeep { depth, deepest });
        }
    }
    let replacements = find(program, &active, &tree, source, limit, &mut result)?;
    refuse_overlaps(&replacements, source)?;
    result.edits = edits_of(&tree, source, &replacements)?;
    result.replacements = replacements.len();
    for replacement in &replacements {
        result.by_op[replacement.op] += 1;
    }
    let kept = replacements.iter().flat_map(|replacement| &replacement.kept);
    let comments = comments_in(&tree, &result.edits, &program.comments);
    (result.dropped, result.dropped_comments) = dropped(kept, &result.edits, &comments, source);
    if let Some(after) = parsed_result(program, &tree, source, &result.edits, &replacements)? {
        result.regrowing = regrowing_rules(program, &after, &result.edits);
    }
    Ok(result)
}

/// Applies sorted, separate edits in one pass.
#[must_use]
pub fn assemble(source: &str, edits: &[Edit]) -> String {
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = String::with_capacity(source.len() + grown);
    let mut at = 0;
    for edit in edits {
        out.push_str(&source[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&source[at..]);
    out
}

/// How many operations the caller gave, as far as the program knows.
fn op_count(program: &Program) -> usize {
    let compiled = program.ops.iter().map(|op| op.index);
    let failed = program.failures().iter().map(|(index, _)| *index);
    compiled.chain(failed).max().map_or(0, |last| last + 1)
}

/// How far an operation has got.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// End of the last replaced match: matches that begin before it are nested in it.
    covered: usize,
    /// End of the last place that reads like the operation's own result.
    regrown: usize,
}

/// Walks the tree once and collects the outermost matches of each operation.
///
/// What a match must hold is looked for in the bytes: where none of it stands, no node is visited.
fn find(
    program: &Program,
    active: &[bool],
    tree: &Tree,
    source: &str,
    limit: usize,
    result: &mut Rewritten,
) -> Result<Vec<Replacement>, Refusal> {
    let style = FileStyle::of(source);
    let lines = Lines::of(source);
    let mut progress = vec![Progress::default(); program.ops.len()];
    let mut found = Vec::new();
    let mut refusal = None;
    let mut places =
        program.places(active, source.as_bytes()).map(|places| places.into_iter().peekable());
    walk(tree.cursor(), |node, _| {
        if let Some(places) = &mut places {
            // Nodes come in the order of their beginnings.
            while places.next_if(|place| *place < node.start_byte()).is_some() {}
            if places.peek().is_none_or(|place| *place >= node.end_byte()) {
                return Walk::Over;
            }
        }
        let Some(ops) = program.by_kind.get(usize::from(node.kind_id())) else { return Walk::Into };
        for &place in ops.iter().filter(|place| active[**place]) {
            let op = &program.ops[place];
            let at = &mut progress[place];
            let node = tree.adopt(node);
            let Some((matched, range)) = matched(op, &node, style.crlf, at) else { continue };
            let Range { start, end } = range;
            if start < at.covered {
                result.nested += 1;
                continue;
            }
            let env = matched.get_env();
            if let Finder::Rule(rule) = &op.finder
                && let Some(name) = rule.unbound(env)
            {
                let site = Box::new(site(source, op.index, start..end));
                refusal = Some(Refusal::Unbound { site, name });
                return Walk::Stop;
            }
            let range = start..end;
            if let Finder::Pattern(finder) = &op.finder
                && let Some(lost) = uncaptured(&finder.pattern, &matched, &range, source)
            {
                let text = glimpse(source, lost.start, 60);
                let site = Box::new(site(source, op.index, range));
                refusal = Some(Refusal::Uncaptured { site, text });
                return Walk::Stop;
            }
            let mut expansion = expand(op.template(), env, &lines, start, program.lang, style);
            drop_doubled_terminator(&mut expansion.text, &source[range.clone()], &source[end..]);
            if expansion.text == source[range.clone()] {
                result.unchanged += 1;
                continue;
            }
            if found.len() == limit {
                result.capped = true;
                return Walk::Stop;
            }
            at.covered = end;
            result.regrown += usize::from(start < at.regrown);
            found.push(replacement(op.index, &node, range, expansion, source));
        }
        Walk::Into
    });
    refusal.map_or(Ok(found), Err)
}

/// The replacement of the match at `range` in `node`.
fn replacement(
    op: usize,
    node: &Node<'_, Doc>,
    range: Range<usize>,
    expansion: Expansion,
    source: &str,
) -> Replacement {
    let Range { start, end } = range;
    // A removal takes the separator that the grammar counts to the node (a match arm's comma).
    let Range { start: node_start, end: node_end } = node.range();
    let tail = source.get(end..node_end).map(str::trim);
    let whole_node = start == node_start
        && tail
            .is_some_and(|tail| tail.is_empty() || (tail.len() == 1 && tail.ends_with([',', ';'])));
    let gone = whole_node && expansion.text.trim().is_empty();
    let Expansion { text, kept, captures, moved } = expansion;
    Replacement {
        op,
        node: node.node_id(),
        whole_node,
        range: start..if gone { node_end } else { end },
        text,
        kept,
        unit: start.min(node_start)..end.max(node_end),
        captures,
        moved,
    }
}

/// Matches `node`: the match, and the bytes that it replaces.
fn matched<'t>(
    op: &CompiledOp,
    node: &Node<'t, Doc>,
    crlf: bool,
    at: &mut Progress,
) -> Option<(NodeMatch<'t, Doc>, Range<usize>)> {
    match &op.finder {
        Finder::Pattern(finder) => {
            let kind = node.kind_id();
            if let Some(regrown) =
                finder.regrows.as_ref().and_then(|regrows| regrows.result.as_ref())
                && regrown.kinds.contains(&kind)
                && let Some((_, end)) = regrown.matches(node, crlf)
            {
                at.regrown = at.regrown.max(end);
            }
            if !finder.pattern.kinds.contains(&kind) {
                return None;
            }
            let (found, end) = finder.pattern.matches(node, crlf)?;
            Some((found, node.range().start..end))
        }
        Finder::Rule(rule) => rule.matches(node),
    }
}

/// Takes the last `;` or `,` off the replacement where the same stands right behind the match, and
/// the match itself did not end in one.
fn drop_doubled_terminator(text: &mut String, matched: &str, behind: &str) {
    for terminator in [';', ','] {
        if text.ends_with(terminator)
            && !matched.ends_with(terminator)
            && behind.trim_start_matches([' ', '\t']).starts_with(terminator)
        {
            text.pop();
        }
    }
}

/// Refuses matches of different operations that share bytes.
fn refuse_overlaps(replacements: &[Replacement], source: &str) -> Result<(), Refusal> {
    let mut order: Vec<&Replacement> = replacements.iter().collect();
    order.sort_by_key(|replacement| {
        (replacement.range.start, replacement.range.end, replacement.op)
    });
    for pair in order.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            return Err(Refusal::Overlap {
                first: Box::new(site(source, pair[0].op, pair[0].range.clone())),
                second: Box::new(site(source, pair[1].op, pair[1].range.clone())),
            });
        }
    }
    Ok(())
}

/// The edits for the matches: removals take their separators and lines with them.
fn edits_of(tree: &Tree, source: &str, replacements: &[Replacement]) -> Result<Vec<Edit>, Refusal> {
    let mut gone = Vec::new();
    let mut edits = Vec::with_capacity(replacements.len());
    for replacement in replacements {
        if replacement.text.trim().is_empty() {
            gone.push(Removal {
                op: replacement.op,
                node: replacement.whole_node.then_some(replacement.node),
                range: replacement.range.clone(),
            });
        } else {
            edits.push(Edit {
                range: replacement.range.clone(),
                text: replacement.text.clone(),
                op: replacement.op,
            });
        }
    }
    if !gone.is_empty() {
        edits.extend(removals(tree, source, &gone));
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    for pair in edits.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            return Err(Refusal::Overlap {
                first: Box::new(site(source, pair[0].op, pair[0].range.clone())),
                second: Box::new(site(source, pair[1].op, pair[1].range.clone())),
            });
        }
    }
    Ok(edits)
}

/// Parses the result of `edits`; none where there are none.
fn parsed_result(
    program: &Program,
    tree: &Tree,
    source: &str,
    edits: &[Edit],
    replacements: &[Replacement],
) -> Result<Option<Tree>, Refusal> {
    if edits.is_empty() {
        return Ok(None);
    }
    let after = tree.after(edits, assemble(source, edits));
    let place = after.as_ref().map_or(Some(0), Tree::first_error);
    if let Some(after) = &after {
        let matches: HashMap<usize, &Replacement> =
            replacements.iter().map(|replacement| (replacement.range.start, replacement)).collect();
        let change = |edit| change_of(edit, &matches);
        let changes: Vec<Change<'_>> = edits.iter().map(change).collect();
        let around = Around::new(source, tree, after, &changes, &program.comments);
        // Before the error: a comment that hides a bracket is the cause, and has a place.
        around.check_comments()?;
        around.check_strings(program.lang)?;
        if place.is_none() && !program.lang.is_prose() {
            around.check_extents()?;
        }
    }
    let Some(place) = place else { return Ok(after) };
    let assembled;
    let result = match &after {
        Some(after) => after.source(),
        None => {
            assembled = assemble(source, edits);
            &assembled
        }
    };
    // The change that is nearest before the error, or the first one.
    let mut shift = 0_isize;
    let mut cause = &edits[0];
    for edit in edits {
        let start = edit.range.start.wrapping_add_signed(shift);
        if start > place {
            break;
        }
        cause = edit;
        shift += edit.text.len().cast_signed() - edit.range.len().cast_signed();
    }
    Err(Refusal::ResultDoesNotParse {
        line: line_of(result, place),
        near: glimpse(result, place, 60),
        source_line: line_of(source, cause.range.start),
        op: cause.op,
    })
}

/// An edit with the match that it comes from.
fn change_of<'e>(edit: &'e Edit, matches: &HashMap<usize, &'e Replacement>) -> Change<'e> {
    match matches.get(&edit.range.start) {
        Some(replacement) if !edit.text.is_empty() => {
            let Replacement { captures, moved, unit, .. } = replacement;
            Change { edit, unit: unit.clone(), captures, moved }
        }
        Some(_) | None => Change { edit, unit: edit.range.clone(), captures: &[], moved: &[] },
    }
}

/// The rules that match inside what they have written.
fn regrowing_rules(program: &Program, after: &Tree, edits: &[Edit]) -> Vec<usize> {
    let mut regrowing = Vec::new();
    for op in &program.ops {
        let Finder::Rule(rule) = &op.finder else { continue };
        let mut shift = 0_isize;
        let mut written: Vec<Range<usize>> = Vec::new();
        for edit in edits {
            let start = edit.range.start.wrapping_add_signed(shift);
            if edit.op == op.index && !edit.text.is_empty() {
                written.push(start..start + edit.text.len());
            }
            shift += edit.text.len().cast_signed() - edit.range.len().cast_signed();
        }
        let inside = |range: &Range<usize>| {
            let before = written.partition_point(|written| written.start <= range.start);
            before.checked_sub(1).is_some_and(|at| range.end <= written[at].end)
        };
        let again = !written.is_empty()
            && after.root().dfs().any(|node| {
                inside(&node.range())
                    && rule.kinds.contains(&node.kind_id())
                    && rule.matches(&node).is_some()
            });
        if again {
            regrowing.push(op.index);
        }
    }
    regrowing
}

impl std::fmt::Debug for Replacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replacement")
            .field("op", &self.op)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}
