//! A parsed source: errors, depth and nodes, always walked with a cursor and never by recursion.

use std::ops::Range;

use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Node};
use ast_grep_language::SupportLang;
use tree_sitter::TreeCursor;

use crate::language::Lang;

/// The document type that all nodes here belong to.
pub(crate) type Doc = StrDoc<SupportLang>;

/// A source with its tree.
#[derive(Clone)]
pub(crate) struct Tree {
    root: AstGrep<Doc>,
    lang: Lang,
}

/// The parser gave no tree at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoTree;

/// What a walk does after a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Visits the node's children.
    Into,
    /// Goes on behind the node.
    Over,
    /// Ends the walk.
    Stop,
}

impl Tree {
    /// Parses `source`.
    pub(crate) fn parse(source: &str, lang: Lang) -> Result<Self, NoTree> {
        let doc = StrDoc::try_new(source, lang.grammar()).map_err(|_| NoTree)?;
        Ok(Self { root: AstGrep::doc(doc), lang })
    }

    /// The root node, for matching.
    pub(crate) fn root(&self) -> Node<'_, Doc> {
        self.root.root()
    }

    /// A cursor at the root.
    pub(crate) fn cursor(&self) -> TreeCursor<'_> {
        self.root.root().get_inner_node().walk()
    }

    /// The smallest node that spans the bytes of `range`.
    pub(crate) fn node_spanning(&self, range: Range<usize>) -> Node<'_, Doc> {
        let root = self.root.root().get_inner_node();
        let node = root.descendant_for_byte_range(range.start, range.end).unwrap_or(root);
        self.root.adopt(node)
    }

    /// Where the first syntax error is, in bytes; none for a source that parses.
    pub(crate) fn first_error(&self) -> Option<usize> {
        self.first_error_but(|_| false)
    }

    /// The same without the errors and missing tokens that `forgiven` accepts.
    pub(crate) fn first_error_but(
        &self,
        forgiven: impl Fn(tree_sitter::Node<'_>) -> bool,
    ) -> Option<usize> {
        let body = self.lang.body_that_needs_a_statement();
        let root = self.root.root().get_inner_node();
        if !root.has_error() && body.is_none() {
            return None;
        }
        let mut found = None;
        walk(self.cursor(), |node, _| {
            let empty = body == Some(node.kind()) && node.is_named() && is_empty_body(node);
            if node.is_error() || node.is_missing() || empty {
                if forgiven(node) {
                    return Walk::Over;
                }
                found = Some(node.start_byte());
                // An error that holds another one is told by the inner, which is nearer the cause.
                return if node.is_error() { Walk::Into } else { Walk::Stop };
            }
            let unfinished = found.is_none() && body.is_some();
            if node.has_error() || unfinished { Walk::Into } else { Walk::Over }
        });
        found
    }

    /// How many levels the tree has.
    pub(crate) fn depth(&self) -> usize {
        let mut deepest = 0;
        walk(self.cursor(), |_, depth| {
            deepest = deepest.max(depth + 1);
            Walk::Into
        });
        deepest
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").field("lang", &self.lang).finish_non_exhaustive()
    }
}

/// Whether a body holds nothing but comments.
fn is_empty_body(node: tree_sitter::Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).all(|child| child.is_extra())
}

/// Visits the node under `cursor` and all below it in order, with the depth below the start.
pub(crate) fn walk<'t>(
    mut cursor: TreeCursor<'t>,
    mut visit: impl FnMut(tree_sitter::Node<'t>, usize) -> Walk,
) {
    let mut depth = 0;
    loop {
        match visit(cursor.node(), depth) {
            Walk::Stop => return,
            Walk::Into if cursor.goto_first_child() => {
                depth += 1;
                continue;
            }
            Walk::Into | Walk::Over => {}
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
        if depth == 0 {
            return;
        }
    }
}

/// The line of a byte offset, counted from 1.
pub(crate) fn line_of(source: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &source.as_bytes()[..at.min(source.len())]).count() + 1
}

/// The line of a byte offset and its column in characters, both from 1.
pub(crate) fn place_of(source: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let line_start = source[..at].rfind('\n').map_or(0, |end| end + 1);
    (line_of(source, at), source[line_start..at].chars().count() + 1)
}

/// The first line from `at` on, at most `limit` characters, for messages.
pub(crate) fn glimpse(source: &str, at: usize, limit: usize) -> String {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let line = source[at..].lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let mut text: String =
        line.chars().take(limit).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() > limit {
        text.push('…');
    }
    text
}
