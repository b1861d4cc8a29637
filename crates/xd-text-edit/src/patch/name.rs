//! File names in patches: quoted, with prefixes, with timestamps behind them.

/// A name as a header gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    /// Whether the header says that there is no file on this side.
    pub(super) none: bool,
}

/// Prefixes that git sets before the old and the new name.
const OLD: [&str; 6] = ["a/", "i/", "c/", "o/", "w/", "1/"];
const NEW: [&str; 6] = ["b/", "w/", "i/", "c/", "o/", "2/"];

/// Reads what follows `--- ` or `+++ `.
pub(super) fn after_marks(text: &[u8]) -> Option<Named> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_suffix('\r').unwrap_or(text);
    let (name, stamp) = match text.strip_prefix('"') {
        Some(_) => {
            let (name, rest) = quoted(text)?;
            (name, rest)
        }
        None => {
            let cut = text.find('\t').or_else(|| stamp(text)).unwrap_or(text.len());
            (text[..cut].trim_end().to_owned(), &text[cut..])
        }
    };
    let stamp = stamp.trim();
    // What `diff -N` gives for a file that is not there.
    let epoch = stamp.starts_with("1970-01-01 ") || stamp.starts_with("1969-12-31 ");
    let none = name == "/dev/null" || epoch;
    (!name.is_empty()).then_some(Named { name, none })
}

/// Where a timestamp that no tab precedes begins.
fn stamp(text: &str) -> Option<usize> {
    text.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at).find(|at| {
        let digits = |text: &str, pattern: &str| {
            text.len() >= pattern.len()
                && text.bytes().zip(pattern.bytes()).all(|(byte, like)| match like {
                    b'0' => byte.is_ascii_digit(),
                    like => byte == like,
                })
        };
        digits(text[*at..].trim_start(), "0000-00-00 00:00:00")
    })
}

/// Reads a name in quotes; answers it and what follows.
pub(super) fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut at = 0;
    let raw = body.as_bytes();
    loop {
        match raw.get(at)? {
            b'"' => break,
            b'\\' => {
                at += 1;
                let escape = *raw.get(at)?;
                bytes.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let octal = body.get(at..at + 3)?;
                        at += 2;
                        u8::from_str_radix(octal, 8).ok()?
                    }
                    _other => return None,
                });
            }
            byte => bytes.push(*byte),
        }
        at += 1;
    }
    Some((String::from_utf8(bytes).ok()?, &body[at + 1..]))
}

/// Both names of a `diff --git` line.
pub(super) fn git_pair(text: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.starts_with('"') {
        let (old, rest) = quoted(text)?;
        let rest = rest.strip_prefix(' ')?;
        let new = if rest.starts_with('"') { quoted(rest)?.0 } else { rest.to_owned() };
        return Some((old, new));
    }
    if text.ends_with('"') {
        let cut = text.find(" \"")?;
        return Some((text[..cut].to_owned(), quoted(&text[cut + 1..])?.0));
    }
    // A name may hold blanks; where no header below names the file, both names are the same.
    let blanks = text.match_indices(' ').map(|(at, _)| at);
    let pair = |at: usize| (&text[..at], &text[at + 1..]);
    let mut pairs = blanks.map(pair).filter(|(old, new)| !old.is_empty() && !new.is_empty());
    let same = |(old, new): &(&str, &str)| bare(old, new).0 == bare(old, new).1;
    let (old, new) = pairs.clone().find(same).or_else(|| pairs.next())?;
    Some((old.to_owned(), new.to_owned()))
}

/// Both names without git's prefixes, where both have one and not the same.
pub(super) fn bare<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    let prefix = |name: &'a str, known: &[&'static str]| {
        known.iter().find(|prefix| name.len() > prefix.len() && name.starts_with(**prefix)).copied()
    };
    match (prefix(old, &OLD), prefix(new, &NEW)) {
        (Some(one), Some(other)) if one != other => (&old[one.len()..], &new[other.len()..]),
        (Some("a/"), None) if new == "/dev/null" => (&old[2..], new),
        (None, Some("b/")) if old == "/dev/null" => (old, &new[2..]),
        (_, _) => (old, new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> (String, bool) {
        let named = after_marks(text.as_bytes()).unwrap();
        (named.name, named.none)
    }

    #[test]
    fn names_come_with_tabs_timestamps_quotes_and_blanks() {
        assert_eq!(name("a/x y.txt\t2026-01-02 03:04:05.6 +0000"), ("a/x y.txt".into(), false));
        assert_eq!(name("a.txt 2026-01-02 03:04:05.6 +0000"), ("a.txt".into(), false));
        assert_eq!(name("a b 2026.txt"), ("a b 2026.txt".into(), false));
        assert_eq!(name("x\t1970-01-01 00:00:00.000000000 +0000"), ("x".into(), true));
        assert_eq!(name("/dev/null"), ("/dev/null".into(), true));
        assert_eq!(name(r#""b/\303\244\t\"\\.txt""#), ("b/ä\t\"\\.txt".into(), false));
        for bad in ["", "\"x", "\"\\q\"", "\"\\377\""] {
            assert!(after_marks(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn prefixes_go_where_both_sides_have_them() {
        assert_eq!(bare("a/x", "b/x"), ("x", "x"));
        assert_eq!(bare("a/x", "a/x"), ("a/x", "a/x"));
        assert_eq!(bare("x", "x"), ("x", "x"));
        assert_eq!(bare("/dev/null", "b/x"), ("/dev/null", "x"));
        assert_eq!(bare("a/x", "/dev/null"), ("x", "/dev/null"));
        assert_eq!(bare("i/x", "w/x"), ("x", "x"));
        assert_eq!(git_pair(b"a/x y b/x y"), Some(("a/x y".into(), "b/x y".into())));
        assert_eq!(git_pair(br#""a/\t" "b/\t""#), Some(("a/\t".into(), "b/\t".into())));
        assert_eq!(git_pair(b"nothing"), None);
    }
}
