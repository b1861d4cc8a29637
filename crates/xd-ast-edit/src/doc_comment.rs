//! Comments that document the item behind them: left alone they would document the next one.

use std::ops::Range;

use ast_grep_language::SupportLang;
use tree_sitter::Node;

use crate::indent::{Lines, is_blank};
use crate::language::Lang;

/// How far a comment reaches that documents what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doc {
    /// The language itself hangs it on the next item, whatever is between them.
    Bound,
    /// It documents what begins on the next line.
    Adjacent,
    /// The same, where that is a declaration: the language has no sign for such comments.
    Declaration,
}

/// What a node between items documents, where it is such a comment (or, in Elixir, an attribute).
pub(crate) fn doc_of(lang: Lang, node: Node<'_>, source: &str) -> Option<Doc> {
    use SupportLang as L;
    let text = source.get(node.byte_range())?;
    let lang = lang.grammar();
    if lang == L::Elixir && node.kind() == "unary_operator" {
        const OF_NEXT: [&str; 6] = ["doc", "spec", "impl", "deprecated", "since", "typedoc"];
        let name = text.strip_prefix('@')?;
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        return OF_NEXT.contains(&&name[..end]).then_some(Doc::Bound);
    }
    if !node.is_extra() && !node.kind().contains("comment") && node.kind() != "haddock" {
        return None;
    }
    let block = text.starts_with("/**") && !text.starts_with("/***") && !text.starts_with("/**/");
    let line = text.starts_with("///") && !text.starts_with("////");
    let behind = ["///<", "/**<", "/*!<", "//!<"].iter().any(|sign| text.starts_with(sign));
    match lang {
        L::Rust => (block || line).then_some(Doc::Bound),
        L::Zig => line.then_some(Doc::Bound),
        L::C | L::Cpp => {
            let own = block || line || text.starts_with("/*!") || text.starts_with("//!");
            (own && !behind).then_some(Doc::Adjacent)
        }
        L::CSharp | L::Dart | L::Swift | L::Solidity => {
            ((block || line) && !behind).then_some(Doc::Adjacent)
        }
        L::Java | L::JavaScript | L::Kotlin | L::Php | L::Scala | L::Tsx | L::TypeScript => {
            block.then_some(Doc::Adjacent)
        }
        L::Haskell => (node.kind() == "haddock").then_some(Doc::Adjacent),
        L::Go | L::Ruby | L::Lua => Some(Doc::Declaration),
        L::Bash
        | L::Css
        | L::Elixir
        | L::Hcl
        | L::Html
        | L::Json
        | L::Markdown
        | L::Nix
        | L::Python
        | L::Yaml => None,
    }
}

impl Doc {
    /// Whether a comment at `comment` belongs to the item of `kind` whose bytes begin at `item`.
    pub(crate) fn is_of(
        self,
        lines: &Lines<'_>,
        comment: &Range<usize>,
        item: usize,
        kind: &str,
    ) -> bool {
        const DECLARED: [&str; 10] = [
            "declaration",
            "function",
            "method",
            "class",
            "module",
            "spec",
            "elem",
            "field",
            "singleton",
            "definition",
        ];
        let Some(between) = lines.source.get(comment.end..item) else { return false };
        // Some grammars count the line break to the comment.
        let inner = usize::from(lines.source[comment.clone()].ends_with('\n'));
        let breaks = between.matches('\n').count() + inner;
        // On a line with something before it, it is about that, unless the item is there too.
        let begins_line = is_blank(&lines.source[lines.start(comment.start)..comment.start]);
        is_blank(between)
            && (begins_line || breaks == 0)
            && match self {
                Self::Bound => true,
                Self::Adjacent => breaks <= 1,
                Self::Declaration => {
                    breaks <= 1
                        && kind != "expression_statement"
                        && DECLARED.iter().any(|part| kind.contains(part))
                        && !kind.contains("call")
                }
            }
    }
}
