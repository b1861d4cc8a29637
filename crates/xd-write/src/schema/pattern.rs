//! Patterns of JSON Schema, which are ECMAScript's, as regular expressions of linear time.

use std::iter::Peekable;

use regex::{Regex, RegexBuilder};

use super::Pattern;

/// How large a compiled pattern may be, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// Compiles `source`, or says why it cannot be.
pub(super) fn compile(source: &str) -> Result<Pattern, String> {
    let regex: Regex = RegexBuilder::new(&translate(source)?)
        .size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())?;
    Ok(Pattern { source: source.to_owned(), regex })
}

/// White space of ECMAScript.
const SPACE: &str = r"\t\n\x0b\x0c\r\x{a0}\x{feff}\p{Zs}\x{2028}\x{2029}";

/// Writes `source` so that the same words mean the same: classes are of ASCII, a bracket within a
/// class stands for itself, and what means something here alone is refused.
fn translate(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, in_class, &mut out)?,
            '[' if in_class => out.push_str(r"\["),
            '[' => {
                in_class = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if chars.peek() == Some(&']') {
                    return Err("an empty class".to_owned());
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            '-' if in_class && chars.peek() == Some(&'-') => {
                return Err("`--` within a class".to_owned());
            }
            '.' if !in_class => out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            '(' if !in_class && chars.peek() == Some(&'?') => {
                out.push('(');
                group(&chars)?;
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

/// What follows a backslash.
fn escape(
    chars: &mut Peekable<std::str::Chars<'_>>,
    in_class: bool,
    out: &mut String,
) -> Result<(), String> {
    let Some(c) = chars.next() else { return Err("a backslash at its end".to_owned()) };
    match (c, in_class) {
        ('d', _) => out.push_str("[0-9]"),
        ('D', _) => out.push_str("[^0-9]"),
        ('w', _) => out.push_str("[0-9A-Za-z_]"),
        ('W', _) => out.push_str("[^0-9A-Za-z_]"),
        ('s', _) => out.push_str(&format!("[{SPACE}]")),
        ('S', _) => out.push_str(&format!("[^{SPACE}]")),
        ('b', false) => out.push_str(r"(?-u:\b)"),
        ('b', true) => out.push_str(r"\x08"),
        ('0', _) if !chars.peek().is_some_and(char::is_ascii_digit) => out.push_str(r"\x00"),
        ('v', _) => out.push_str(r"\x0b"),
        ('n' | 'r' | 't' | 'f' | 'p' | 'P' | 'x' | 'u', _) => {
            out.push('\\');
            out.push(c);
        }
        (c, _) if c.is_ascii_alphanumeric() => return Err(format!("`\\{c}`")),
        (c, _) if c.is_ascii_punctuation() => {
            out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])))
        }
        (c, _) => out.push(c),
    }
    Ok(())
}

/// What follows `(`: only groups that both know.
fn group(chars: &Peekable<std::str::Chars<'_>>) -> Result<(), String> {
    let mut ahead = chars.clone();
    ahead.next();
    match (ahead.next(), ahead.next()) {
        (Some(':'), _) => Ok(()),
        (Some('='), _) | (Some('!'), _) | (Some('<'), Some('=' | '!')) => {
            Err("looking ahead or behind".to_owned())
        }
        (Some('<'), _) => Ok(()),
        (_, _) => Err("a group that begins with `(?` in another way".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}")).regex.is_match(text)
    }

    // CONTRACT R3: a pattern means what it means to its author.
    #[test]
    fn r3_patterns_mean_what_ecmascript_says() {
        for (pattern, yes, no) in [
            (r"^\d{3}$", "123", "١٢٣"),
            (r"^\w+$", "a_1", "é"),
            (r"^[\d_]+$", "1_2", "a"),
            (r"^[^\d]$", "a", "1"),
            (r"^[^\D]$", "1", "a"),
            (r"^\s$", "\u{feff}", "\u{85}"),
            (r"^.$", "a", "\r"),
            (r"b", "abc", "ac"),
            (r"^a$", "a", "a\n"),
            (r"^[[]$", "[", "a"),
            (r"^[a&&b]+$", "&", "c"),
            (r"^\/api\/[a-z-]+$", "/api/a-b", "/api/A"),
            (r"^\u0041$", "A", "B"),
            (r"^\p{L}+$", "é", "1"),
            (r"\bfoo\b", "a foo b", "afoob"),
            (r"^(?:a|b)(?<name>c)$", "ac", "cc"),
            (r"^#[0-9a-f]{6}$", "#00ff00", "#00ff0"),
            (r"^[\]\-]$", "]", "a"),
            (r"^a b#c$", "a b#c", "ab"),
        ] {
            assert!(matches(pattern, yes), "{pattern} on {yes:?}");
            assert!(!matches(pattern, no), "{pattern} on {no:?}");
        }
    }

    // CONTRACT R3: what is not supported is refused, never taken for something else.
    #[test]
    fn r3_other_patterns_are_refused() {
        for pattern in [
            "(",
            "[",
            "a{",
            "(?=a)b",
            "(?!a)b",
            "(?<=a)b",
            "(?<!a)b",
            r"(a)\1",
            r"\A",
            r"\z",
            r"\B",
            r"\cJ",
            "(?i)a",
            "(?P<n>a)",
            "[a--b]",
            "[]",
            "[^]",
            "\\",
            r"\k<n>",
            "(?x) a",
            "(a{1000}){1000}",
        ] {
            let why = compile(pattern).expect_err(pattern);
            assert!(!why.is_empty(), "{pattern}");
        }
    }
}
