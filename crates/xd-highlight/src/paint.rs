//! The walk over a syntax tree that says what each byte is.

use std::path::Path;

use tree_sitter::{Node, Parser};
use xd_ast_edit::Lang;
use xd_render::{Highlighter, Syntax, Token};

use crate::kind::{self, Place};

/// The most bytes that are looked at. A hunk that is longer is data, and is drawn without colours.
pub const LONGEST: usize = 256 * 1024;

/// Tells what code is made of by the grammar for its file's name.
///
/// ```
/// use xd_render::{Highlighter as _, Syntax};
///
/// let tokens = xd_highlight::GrammarHighlighter.tokens("notes.unknown", "fn main() {}");
/// assert_eq!(tokens, None, "there is no grammar for such a name");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GrammarHighlighter;

impl Highlighter for GrammarHighlighter {
    fn tokens(&self, path: &str, source: &str) -> Option<Vec<Token>> {
        if source.len() > LONGEST {
            return None;
        }
        let lang = Lang::of_path(Path::new(path))?;
        let mut parser = Parser::new();
        parser.set_language(&lang.language()).ok()?;
        let tree = parser.parse(source, None)?;
        let mut painting = vec![Syntax::Plain; source.len()];
        paint(tree.root_node(), source, &mut painting);
        Some(runs(source, &painting))
    }
}

/// Says of every byte of `source` what it is. Without recursion: code may nest as deep as it likes.
fn paint(root: Node<'_>, source: &str, painting: &mut [Syntax]) {
    let mut cursor = root.walk();
    let mut above: Vec<Above<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        let field = cursor.field_name();
        let around = above.last();
        let place = Place {
            parent: around.map_or("", |above| above.kind),
            field,
            outer_field: around.and_then(|above| above.field),
            outer: above
                .len()
                .checked_sub(2)
                .and_then(|at| above.get(at))
                .map_or("", |above| above.kind),
        };
        let range = node.byte_range();
        let mut inside = around.and_then(|above| above.inside);
        if inside.is_some() && kind::is_code_in_text(node.kind()) {
            inside = None;
            fill(painting, range.clone(), Syntax::Plain);
        }
        if inside.is_none() {
            inside = kind::of_node(node, place);
            if let Some(syntax) = inside {
                fill(painting, range.clone(), syntax);
            } else if node.child_count() == 0
                && let Some(text) = source.get(range.clone())
                && let Some(syntax) = kind::of_leaf(node, place, text)
            {
                fill(painting, range, syntax);
            }
        } else if node.kind() == "escape_sequence" {
            fill(painting, range, Syntax::Constant);
        }
        let into = Above { kind: node.kind(), field, inside };
        if inside != Some(Syntax::Comment) && cursor.goto_first_child() {
            above.push(into);
            continue;
        }
        while !cursor.goto_next_sibling() {
            above.pop();
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// A node that the walk is in.
struct Above<'t> {
    kind: &'t str,
    field: Option<&'t str>,
    /// What all of it is, where that is settled.
    inside: Option<Syntax>,
}

fn fill(painting: &mut [Syntax], range: std::ops::Range<usize>, syntax: Syntax) {
    if let Some(part) = painting.get_mut(range) {
        part.fill(syntax);
    }
}

/// The runs of equal bytes, as tokens; what is nothing in particular is left out.
fn runs(source: &str, painting: &[Syntax]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (at, c) in source.char_indices() {
        let syntax = painting[at];
        if syntax == Syntax::Plain {
            continue;
        }
        let end = at + c.len_utf8();
        match tokens.last_mut() {
            Some(last) if last.range.end == at && last.syntax == syntax => last.range.end = end,
            Some(_) | None => tokens.push(Token { range: at..end, syntax }),
        }
    }
    tokens
}
