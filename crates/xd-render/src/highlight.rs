//! What code is made of, and who tells.

use std::{fmt, ops::Range, sync::Arc};

/// A piece of source text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Token {
    /// The bytes that it takes.
    pub range: Range<usize>,
    /// What it is.
    pub syntax: Syntax,
}

/// What a piece of source text is. A [`Theme`](crate::Theme) says how that looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Syntax {
    /// Nothing in particular: names, blanks.
    Plain,
    /// A comment.
    Comment,
    /// A word of the language.
    Keyword,
    /// Text between quotes.
    String,
    /// A number or another value that the language knows: `true`, `null`.
    Constant,
    /// A type.
    Type,
    /// A function where it is called or defined.
    Function,
    /// A key, a field, an attribute.
    Property,
    /// Brackets, operators.
    Punctuation,
}

impl Syntax {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Plain,
        Self::Comment,
        Self::Keyword,
        Self::String,
        Self::Constant,
        Self::Type,
        Self::Function,
        Self::Property,
        Self::Punctuation,
    ];
}

/// Tells what source text is made of.
///
/// This crate knows no language: it asks, once for each side of each hunk that is drawn, and draws
/// what it is told. An answer that is wrong can colour text wrongly and nothing else: ranges that
/// overlap, run backwards, or end outside the text or inside a character are passed over.
pub trait Highlighter: Send + Sync {
    /// The tokens of `source`, part of the file at `path`, in order; what lies between them is
    /// [`Syntax::Plain`]. None where nothing is known of the file's language.
    fn tokens(&self, path: &str, source: &str) -> Option<Vec<Token>>;
}

/// Who is asked what code is made of: nobody, unless one is set.
#[derive(Clone, Default)]
pub struct Highlighting(Option<Arc<dyn Highlighter>>);

impl Highlighting {
    /// Code is drawn as any other text.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// `highlighter` is asked.
    #[must_use]
    pub fn by(highlighter: impl Highlighter + 'static) -> Self {
        Self(Some(Arc::new(highlighter)))
    }

    /// The tokens of `lines` joined by line feeds, line by line, each covering its whole line
    /// without a gap. None where code is drawn plainly.
    pub(crate) fn lines(&self, path: &str, lines: &[&str]) -> Option<Vec<Vec<Token>>> {
        let highlighter = self.0.as_ref()?;
        let source = lines.join("\n");
        let mut tokens = highlighter.tokens(path, &source)?.into_iter().peekable();
        let mut start = 0;
        let mut all = Vec::with_capacity(lines.len());
        for line in lines {
            let end = start + line.len();
            let mut of_line = Vec::new();
            let mut at = start;
            while let Some(token) = tokens.peek() {
                if token.range.start >= end && token.range.end > end {
                    break;
                }
                let (from, to) = (token.range.start.max(at), token.range.end.min(end));
                let sound =
                    from < to && source.is_char_boundary(from) && source.is_char_boundary(to);
                if sound {
                    if at < from {
                        of_line
                            .push(Token { range: at - start..from - start, syntax: Syntax::Plain });
                    }
                    of_line.push(Token { range: from - start..to - start, syntax: token.syntax });
                    at = to;
                }
                if token.range.end > end {
                    break;
                }
                tokens.next();
            }
            if at < end {
                of_line.push(Token { range: at - start..end - start, syntax: Syntax::Plain });
            }
            all.push(of_line);
            start = end + 1;
        }
        Some(all)
    }
}

/// The same highlighter, or none on both sides.
impl PartialEq for Highlighting {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl Eq for Highlighting {}

impl fmt::Debug for Highlighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Highlighting(by one)" } else { "Highlighting(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<Token>);

    impl Highlighter for Fixed {
        fn tokens(&self, _: &str, _: &str) -> Option<Vec<Token>> {
            Some(self.0.clone())
        }
    }

    fn lines(tokens: &[(Range<usize>, Syntax)], source: &[&str]) -> Vec<Vec<(String, Syntax)>> {
        let token = |(range, syntax): &(Range<usize>, Syntax)| Token {
            range: range.clone(),
            syntax: *syntax,
        };
        let by = Highlighting::by(Fixed(tokens.iter().map(token).collect()));
        let of_lines = by.lines("a.rs", source).unwrap();
        source
            .iter()
            .zip(of_lines)
            .map(|(line, tokens)| {
                tokens.into_iter().map(|t| (line[t.range].to_owned(), t.syntax)).collect()
            })
            .collect()
    }

    #[test]
    fn tokens_are_cut_at_line_ends_and_cover_every_line() {
        use Syntax::{Comment, Keyword, Plain};
        let drawn = lines(&[(0..2, Keyword), (5..12, Comment)], &["fn a", "b /* c", "", "d */"]);
        let wanted: Vec<Vec<(&str, Syntax)>> = vec![
            vec![("fn", Keyword), (" a", Plain)],
            vec![("b /* c", Comment)],
            vec![],
            vec![("d */", Plain)],
        ];
        let owned = |lines: Vec<Vec<(&str, Syntax)>>| -> Vec<Vec<(String, Syntax)>> {
            let of_line = |line: Vec<(&str, Syntax)>| {
                line.into_iter().map(|(text, syntax)| (text.to_owned(), syntax)).collect()
            };
            lines.into_iter().map(of_line).collect()
        };
        assert_eq!(drawn, owned(wanted));
    }

    // CONTRACT V4: an answer that is wrong colours wrongly and does nothing else.
    #[test]
    fn v4_wrong_tokens_lose_no_text() {
        use Syntax::{Keyword, String};
        let source = ["é漢", "", "abc"];
        for tokens in [
            vec![(1..3, Keyword)],
            vec![(0..100, Keyword)],
            vec![(7..9, Keyword), (0..2, String)],
            vec![(0..4, Keyword), (2..9, String)],
            vec![(Range { start: 9, end: 2 }, Keyword), (50..60, String)],
        ] {
            for (line, drawn) in source.iter().zip(lines(&tokens, &source)) {
                let text: std::string::String = drawn.into_iter().map(|(text, _)| text).collect();
                assert_eq!(text, *line, "{tokens:?}");
            }
        }
    }
}
