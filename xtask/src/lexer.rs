//! Rust sources as tokens: comments, literals, words and marks, with lines.
//!
//! It knows just enough of the language never to take a string for a comment
//! or a lifetime for a character, which is what the checks need and what a
//! search for text would get wrong. Input that is not Rust gives tokens that
//! mean little, but never a panic.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A line or block comment, documentation included.
    Comment,
    /// A string, byte string, C string or character, with its quotes.
    Literal,
    /// An identifier, keyword, number or lifetime.
    Word,
    /// Any other single character.
    Mark,
}

/// A piece of source text. Whitespace is between tokens and in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// The text as it stands in the source.
    pub text: &'a str,
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// The line on which it ends.
    pub end_line: usize,
}

/// Splits a source into its tokens. Linear in the length of the source.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(first) = source[at..].chars().next() {
        if first.is_whitespace() {
            line += usize::from(first == '\n');
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = measure(&source[at..], first);
        let text = &source[at..at + length];
        let end_line = line + text.matches('\n').count();
        found.push(Token { kind, text, line, end_line });
        line = end_line;
        at += length;
    }
    found
}

/// The kind and the length in bytes of the token that `rest` begins with.
fn measure(rest: &str, first: char) -> (TokenKind, usize) {
    if rest.starts_with("//") {
        return (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (TokenKind::Comment, block_comment(rest));
    }
    if let Some(length) = literal(rest) {
        return (TokenKind::Literal, length);
    }
    if first == '\'' {
        return (TokenKind::Word, 1 + word(&rest[1..]));
    }
    if is_word(first) {
        let raw = usize::from(rest.starts_with("r#")) * 2;
        return (TokenKind::Word, raw + word(&rest[raw..]));
    }
    (TokenKind::Mark, first.len_utf8())
}

fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of the literal that `rest` begins with, if it does.
fn literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""]
        .into_iter()
        .find(|prefix| {
            rest.strip_prefix(prefix)
                .is_some_and(|after| after.starts_with(['"', '\'']) || prefix.ends_with('r'))
        })
        .unwrap_or_default();
    let after = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let body = after[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", &after[..hashes]);
        let length = body.find(&close).map_or(body.len(), |end| end + close.len());
        return Some(prefix.len() + hashes + 1 + length);
    }
    if let Some(body) = after.strip_prefix('"') {
        return Some(prefix.len() + 1 + quoted(body, '"'));
    }
    let body = after.strip_prefix('\'')?;
    let mut letters = body.chars();
    let first = letters.next()?;
    // A lifetime has no closing quote right after its first letter.
    (first == '\\' || letters.next() == Some('\'')).then(|| prefix.len() + 1 + quoted(body, '\''))
}

/// The length of `body` up to and with its closing quote.
fn quoted(body: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, letter) in body.char_indices() {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == close {
            return at + letter.len_utf8();
        }
    }
    body.len()
}

fn word(rest: &str) -> usize {
    rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[(TokenKind, &str)]) {
        let found: Vec<_> = tokens(source).iter().map(|token| (token.kind, token.text)).collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn strings_hide_comments_and_comments_hide_strings() {
        use TokenKind::{Comment, Literal, Mark, Word};
        check(r#"a"//b"//c"#, &[(Word, "a"), (Literal, r#""//b""#), (Comment, "//c")]);
        check(
            r#""\"//" /* " /* ' */ */x"#,
            &[(Literal, r#""\"//""#), (Comment, "/* \" /* ' */ */"), (Word, "x")],
        );
        check("r#\"a\"//\"#;", &[(Literal, "r#\"a\"//\"#"), (Mark, ";")]);
        check("br\"\\\"x", &[(Literal, "br\"\\\""), (Word, "x")]);
        check("b\"//\" b'\\''", &[(Literal, "b\"//\""), (Literal, "b'\\''")]);
    }

    #[test]
    fn lifetimes_are_no_characters_and_raw_names_no_strings() {
        use TokenKind::{Literal, Mark, Word};
        check("&'a str", &[(Mark, "&"), (Word, "'a"), (Word, "str")]);
        check(
            "'a' 'é' '\\n' '\"'",
            &[(Literal, "'a'"), (Literal, "'é'"), (Literal, "'\\n'"), (Literal, "'\"'")],
        );
        check("r#fn r", &[(Word, "r#fn"), (Word, "r")]);
    }

    #[test]
    fn lines_are_counted_through_tokens_of_several_lines() {
        let found = tokens("a\n\"b\nc\" /* d\n*/ e");
        let lines: Vec<_> = found.iter().map(|token| (token.line, token.end_line)).collect();
        assert_eq!(lines, [(1, 1), (2, 3), (3, 4), (4, 4)]);
    }

    #[test]
    fn broken_input_ends() {
        for source in ["\"", "'", "r#\"", "/*", "b'", "'\\", "r#", "🙂'🙂"] {
            let length: usize = tokens(source).iter().map(|token| token.text.len()).sum();
            assert_eq!(length, source.len(), "{source}");
        }
    }
}
