//! A parsed source: errors, depth and nodes, always walked with a cursor and never by recursion.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Node};
use ast_grep_language::{LanguageExt, SupportLang};
use tree_sitter::{InputEdit, ParseOptions, ParseState, Parser, Point, TreeCursor};

use crate::engine::Edit;
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

/// Larger sources, in bytes, are given up at an error.
const LARGE: usize = 16 * 1024;
/// All readings have to be in error this many times in a row, 100 steps of the parser apart: then
/// none of them has come through.
const SURE: usize = 4;

/// Runs `parse` with this thread's parser for `lang`, which keeps its tables and memory.
fn with_parser<T>(lang: Lang, parse: impl FnOnce(&mut Parser) -> Option<T>) -> Option<T> {
    thread_local! {
        static PARSERS: RefCell<HashMap<Lang, Parser>> = RefCell::new(HashMap::new());
    }
    // Taken out while in use: a parse that panics leaves no half-used parser behind.
    let parser = PARSERS.with_borrow_mut(|parsers| parsers.remove(&lang));
    let mut parser = match parser {
        Some(parser) => parser,
        None => {
            let mut parser = Parser::new();
            parser.set_language(&lang.grammar().get_ts_language()).ok()?;
            parser
        }
    };
    let result = parse(&mut parser);
    // A parse that was given up could otherwise be resumed by the next one.
    parser.reset();
    PARSERS.with_borrow_mut(|parsers| parsers.insert(lang, parser));
    result
}

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
        let tree = with_parser(lang, |parser| parser.parse(source, None)).ok_or(NoTree)?;
        let doc = StrDoc { src: source.to_owned(), lang: lang.grammar(), tree };
        Ok(Self { root: AstGrep::doc(doc), lang })
    }

    /// Parses a source that is to be without a syntax error.
    ///
    /// A large one is given up where it is sure to have one: to find the likeliest tree of a broken
    /// file takes a parser many times as long as a whole one, and that tree is not used.
    ///
    /// `stop` is asked while a large source is parsed; where it says yes, the answer is an error that
    /// means nothing.
    ///
    /// # Errors
    /// The place of the first error, in bytes; in a large source, the place where it was noticed.
    pub(crate) fn parse_sound(
        source: &str,
        lang: Lang,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, usize> {
        if source.len() <= LARGE {
            let tree = Self::parse(source, lang).map_err(|NoTree| 0_usize)?;
            return tree.first_error().map_or(Ok(tree), Err);
        }
        let mut broken = 0;
        let mut noticed = 0;
        let mut progress = |state: &ParseState| {
            if stop() {
                return ControlFlow::Break(());
            }
            if !state.has_error() {
                broken = 0;
                return ControlFlow::Continue(());
            }
            if broken == 0 {
                noticed = state.current_byte_offset();
            }
            broken += 1;
            if broken < SURE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let bytes = source.as_bytes();
        let mut rest = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let tree = with_parser(lang, |parser| {
            let options = ParseOptions::new().progress_callback(&mut progress);
            parser.parse_with_options(&mut rest, None, Some(options))
        });
        let Some(tree) = tree else { return Err(noticed) };
        let doc = StrDoc { src: source.to_owned(), lang: lang.grammar(), tree };
        let tree = Self { root: AstGrep::doc(doc), lang };
        tree.first_error().map_or(Ok(tree), Err)
    }

    /// The root node, for matching.
    pub(crate) fn root(&self) -> Node<'_, Doc> {
        self.root.root()
    }

    /// A cursor at the root.
    pub(crate) fn cursor(&self) -> TreeCursor<'_> {
        self.root.root().get_inner_node().walk()
    }

    /// A node of this tree, for matching.
    pub(crate) fn adopt<'t>(&'t self, node: tree_sitter::Node<'t>) -> Node<'t, Doc> {
        self.root.adopt(node)
    }

    /// The smallest node that spans the bytes of `range`.
    pub(crate) fn node_spanning(&self, range: Range<usize>) -> Node<'_, Doc> {
        let root = self.root.root().get_inner_node();
        self.adopt(root.descendant_for_byte_range(range.start, range.end).unwrap_or(root))
    }

    /// Whether the byte at `at` stands inside a string or a here-document.
    pub(crate) fn is_in_string(&self, at: usize) -> bool {
        let mut node = self.cursor().node().descendant_for_byte_range(at, at + 1);
        while let Some(here) = node {
            let kind = here.kind();
            let of_text = kind.contains("string") || kind.contains("heredoc");
            if of_text && here.start_byte() < at && here.end_byte() > at + 1 {
                return true;
            }
            node = here.parent();
        }
        false
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
        first_error_below(self.root.root().get_inner_node(), self.lang, forgiven)
    }

    /// The tree of `result`, which is this source with `edits` made; none where the parser fails.
    ///
    /// Parses again only around the edits: what is between them is taken from this tree.
    pub(crate) fn after(&self, edits: &[Edit], result: String) -> Option<Self> {
        let mut tree = self.root.root().get_doc().tree.clone();
        // From the last to the first, so that all places are those of the source.
        for edit in input_edits(self.root.source(), edits).iter().rev() {
            tree.edit(edit);
        }
        let tree = with_parser(self.lang, |parser| parser.parse(&result, Some(&tree)))?;
        let doc = StrDoc { src: result, lang: self.lang.grammar(), tree };
        Some(Self { root: AstGrep::doc(doc), lang: self.lang })
    }

    /// The language.
    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    /// The source.
    pub(crate) fn source(&self) -> &str {
        self.root.source()
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

fn first_error_below(
    root: tree_sitter::Node<'_>,
    lang: Lang,
    forgiven: impl Fn(tree_sitter::Node<'_>) -> bool,
) -> Option<usize> {
    let body = lang.body_that_needs_a_statement();
    if !root.has_error() && body.is_none() {
        return None;
    }
    let mut found = None;
    walk(root.walk(), |node, _| {
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

/// The edits as the parser wants them, each in the coordinates of the source. One pass.
fn input_edits(source: &str, edits: &[Edit]) -> Vec<InputEdit> {
    let mut at = 0;
    let mut point = Point::new(0, 0);
    let mut advance = |to: usize| {
        point = moved(point, &source[at..to]);
        at = to;
        point
    };
    edits
        .iter()
        .map(|edit| {
            let start_position = advance(edit.range.start);
            let old_end_position = advance(edit.range.end);
            InputEdit {
                start_byte: edit.range.start,
                old_end_byte: edit.range.end,
                new_end_byte: edit.range.start + edit.text.len(),
                start_position,
                old_end_position,
                new_end_position: moved(start_position, &edit.text),
            }
        })
        .collect()
}

/// The place behind `text` that begins at `from`; rows and columns in bytes, from 0.
fn moved(from: Point, text: &str) -> Point {
    match memchr::memrchr(b'\n', text.as_bytes()) {
        Some(last) => Point::new(
            from.row + memchr::memchr_iter(b'\n', text.as_bytes()).count(),
            text.len() - last - 1,
        ),
        None => Point::new(from.row, from.column + text.len()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::assemble;

    /// What a parse of the whole result says.
    fn whole(result: &str, lang: Lang) -> Option<usize> {
        Tree::parse(result, lang).unwrap().first_error()
    }

    #[test]
    fn a4_a_large_source_is_given_up_exactly_where_it_has_an_error() {
        let units = [
            (
                "typescript",
                "export class A<T> { f(x: number): T { return g(x as any, `${x}`)!; } }\n",
            ),
            (
                "rust",
                "impl<T> A<T> { fn f(&self, x: u32) -> T { match x { 0 => g::<T>(), _ => h(x) } } }\n",
            ),
            ("python", "class A:\n    def f(self, x):\n        return [g(y) for y in x if y]\n"),
        ];
        let (mut broken, mut fine) = (0, 0);
        for (name, unit) in units {
            let Ok(lang) = Lang::named(name) else { continue };
            let source = unit.repeat(2 * LARGE / unit.len());
            assert!(Tree::parse_sound(&source, lang, &|| false).is_ok(), "{name}");
            // One byte away at every third place of a unit, early and late in the source.
            for (number, at) in (0..unit.len()).step_by(3).enumerate() {
                let at = at + unit.len() * [1, source.len() / unit.len() - 1][number % 2];
                let mut cut = source.clone();
                cut.remove(at);
                let sound = Tree::parse_sound(&cut, lang, &|| false);
                assert_eq!(sound.is_err(), whole(&cut, lang).is_some(), "{name} without {at}");
                match sound {
                    Ok(_) => fine += 1,
                    Err(noticed) => {
                        broken += 1;
                        assert!(noticed <= cut.len(), "{name} without {at}: {noticed}");
                    }
                }
            }
        }
        assert!(broken > 10 && fine > 10, "{broken} {fine}");
    }

    #[test]
    fn a4_parsing_around_the_edits_finds_the_errors_that_parsing_all_finds() {
        let sources = [
            (
                "python",
                "def f(a):\n    if a:\n        g(1)\n    else:\n        h('x')\n\nclass C:\n    x = [1, 2]\n",
            ),
            (
                "javascript",
                "f(1);\nconst a = { b: [1, 2], c: `x${y}z` };\nif (a) { b() } else { c() }\n",
            ),
            (
                "rust",
                "fn f() -> u8 {\n    let x = \"a\\n\";\n    match y { A => 1, _ => { 2 } }\n}\n",
            ),
        ];
        let texts =
            ["", "x", " ", "a", "1", "(", ")", "\n", "'", "    x()\n", "é", " if ", "/*", "`"];
        let (mut broken, mut fine, mut seed) = (0, 0, 7_usize);
        let mut next = |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for (name, source) in sources {
            let Ok(lang) = Lang::named(name) else { continue };
            let tree = Tree::parse(source, lang).unwrap();
            for _ in 0..400 {
                let mut places = [next(source.len() - 2), next(source.len() - 2)];
                places.sort_unstable();
                let first = places[0]..places[0] + next(3);
                let second = places[1].max(first.end)
                    ..places[1].max(first.end) + next(2).min(source.len() - first.end);
                let mut edit =
                    |range| Edit { range, text: texts[next(texts.len())].to_owned(), op: 0 };
                let edits = [edit(first), edit(second)];
                let result = assemble(source, &edits);
                let (all, around) = (
                    whole(&result, lang),
                    tree.after(&edits, result.clone()).map_or(Some(0), |after| after.first_error()),
                );
                assert_eq!(all.is_some(), around.is_some(), "{name}: {edits:?}\n{result}");
                if all.is_some() { broken += 1 } else { fine += 1 }
            }
        }
        assert!(broken > 100 && fine > 50, "{broken} {fine}");
    }
}
