//! What two lines differ in, named: white space, quotes, normalisation, case.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_canonical;

/// A kind of difference between a line of the old text and one of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Difference {
    /// White space at the beginning.
    Indentation,
    /// White space at the end.
    TrailingSpace,
    /// White space between words.
    Spacing,
    /// A no-break or another space where the other side has a plain one.
    SpaceCharacter,
    /// Typographic and plain quotes.
    Quotes,
    /// Typographic dashes or dots and plain ones.
    Dashes,
    /// Characters that cannot be seen.
    Invisible,
    /// The same characters, composed on one side and decomposed on the other.
    Normalisation,
    /// Upper and lower case.
    Case,
    /// Other text.
    Text,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Indentation => "indentation",
            Difference::TrailingSpace => "white space at the end of the line",
            Difference::Spacing => "white space within the line",
            Difference::SpaceCharacter => "the kind of space (no-break or other)",
            Difference::Quotes => "the form of quotes",
            Difference::Dashes => "the form of dashes or dots",
            Difference::Invisible => "invisible characters",
            Difference::Normalisation => "Unicode normalisation only (composed or decomposed)",
            Difference::Case => "upper and lower case",
            Difference::Text => "text",
        })
    }
}

/// The differences that can be folded away, each with what folds it.
const FOLDS: [Difference; 7] = [
    Difference::Normalisation,
    Difference::Case,
    Difference::Invisible,
    Difference::Dashes,
    Difference::Quotes,
    Difference::SpaceCharacter,
    Difference::Spacing,
];

/// Names what `old` and `file` differ in; nothing where they are equal.
pub(crate) fn differences(old: &str, file: &str) -> Vec<Difference> {
    if old == file {
        return Vec::new();
    }
    let (old, file) = (Parts::of(old), Parts::of(file));
    let mut kinds = Vec::new();
    if old.lead != file.lead {
        kinds.push(Difference::Indentation);
    }
    if old.trail != file.trail {
        kinds.push(Difference::TrailingSpace);
    }
    if old.core == file.core {
        return kinds;
    }
    let folded = |text: &str, but: Option<Difference>| {
        FOLDS
            .iter()
            .filter(|fold| Some(**fold) != but)
            .fold(text.to_owned(), |text, f| fold(&text, *f))
    };
    if folded(old.core, None) != folded(file.core, None) {
        kinds.push(Difference::Text);
        return kinds;
    }
    let before = kinds.len();
    kinds.extend(
        FOLDS
            .into_iter()
            .filter(|but| folded(old.core, Some(*but)) != folded(file.core, Some(*but))),
    );
    if kinds.len() == before {
        // Two kinds cover for each other, such as a wide space where there is none.
        kinds.extend(FOLDS.into_iter().filter(|one| fold(old.core, *one) == fold(file.core, *one)));
    }
    kinds.sort_unstable();
    kinds
}

/// A line as its white space at both ends and the rest.
struct Parts<'a> {
    lead: &'a str,
    core: &'a str,
    trail: &'a str,
}

impl<'a> Parts<'a> {
    fn of(line: &'a str) -> Self {
        let core = line.trim_start();
        let lead = &line[..line.len() - core.len()];
        let trimmed = core.trim_end();
        Self { lead, core: trimmed, trail: &core[trimmed.len()..] }
    }
}

fn fold(text: &str, kind: Difference) -> String {
    match kind {
        Difference::Normalisation => text.nfd().collect(),
        Difference::Case => text.chars().flat_map(char::to_lowercase).collect(),
        Difference::Invisible => text.chars().filter(|c| !xd_protocol::is_invisible(*c)).collect(),
        Difference::Dashes => text.chars().map(plain_dash).collect::<String>().replace('…', "..."),
        Difference::Quotes => text.chars().map(plain_quote).collect(),
        Difference::SpaceCharacter => {
            text.chars().map(|c| if is_other_space(c) { ' ' } else { c }).collect()
        }
        Difference::Spacing => text.chars().filter(|c| !matches!(c, ' ' | '\t')).collect(),
        Difference::Indentation => text.trim_start().to_owned(),
        Difference::TrailingSpace => text.trim_end().to_owned(),
        Difference::Text => String::new(),
    }
}

fn is_other_space(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
}

fn plain_dash(c: char) -> char {
    if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}') {
        '-'
    } else {
        c
    }
}

fn plain_quote(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}' | '`' | '\u{b4}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2036}' | '\u{ab}' | '\u{bb}' | '\u{ff02}' => '"',
        c => c,
    }
}

/// Calls `each` with every character of the bare form of `line`, in which all differences but
/// those of text are folded away, and the offset of the character that it comes from.
pub(crate) fn bare(line: &str, mut each: impl FnMut(char, usize)) {
    for (at, c) in line.char_indices() {
        if c.is_ascii() {
            if !c.is_ascii_whitespace() {
                each(plain_quote(c.to_ascii_lowercase()), at);
            }
            continue;
        }
        if c.is_whitespace() || xd_protocol::is_invisible(c) {
            continue;
        }
        if c == '…' {
            (0..3).for_each(|_| each('.', at));
            continue;
        }
        let c = plain_quote(plain_dash(c));
        decompose_canonical(c, |part| part.to_lowercase().for_each(|part| each(part, at)));
    }
}

/// The piece of `file` whose bare form is that of `old`, where there is one.
pub(crate) fn piece<'a>(old: &str, file: &'a str) -> Option<&'a str> {
    let mut needle = String::new();
    bare(old, |c, _| needle.push(c));
    if needle.is_empty() {
        return None;
    }
    let (mut hay, mut from) = (String::new(), Vec::new());
    bare(file, |c, at| {
        hay.push(c);
        from.extend(std::iter::repeat_n(at, c.len_utf8()));
    });
    let found = hay.find(&needle)?;
    let (start, last) = (from[found], from[found + needle.len() - 1]);
    let mut end = last + file[last..].chars().next().map_or(0, char::len_utf8);
    // Marks and white space that the old text has at its ends belong to the piece as well.
    let same = |c: char| crate::wording::is_combining(c) || xd_protocol::is_invisible(c);
    end += file[end..].chars().take_while(|c| same(*c)).map(char::len_utf8).sum::<usize>();
    let lead = old.len() - old.trim_start().len();
    let trail = old.len() - old.trim_end().len();
    let space = |c: &char| c.is_whitespace();
    let start = match lead {
        0 => start,
        _some => {
            start - file[..start].chars().rev().take_while(space).map(char::len_utf8).sum::<usize>()
        }
    };
    if trail > 0 {
        end += file[end..].chars().take_while(space).map(char::len_utf8).sum::<usize>();
    }
    Some(&file[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_named_alone() {
        for (old, file, kind) in [
            ("    x = 1", "\tx = 1", Difference::Indentation),
            ("x = 1", "x = 1  ", Difference::TrailingSpace),
            ("x = 1", "x  =\t1", Difference::Spacing),
            ("a b", "a\u{a0}b", Difference::SpaceCharacter),
            ("say \"it's\"", "say “it’s”", Difference::Quotes),
            ("a - b...", "a – b…", Difference::Dashes),
            ("ab", "a\u{200b}b", Difference::Invisible),
            ("caf\u{e9}", "cafe\u{301}", Difference::Normalisation),
            ("Foo", "foo", Difference::Case),
            ("foo", "bar", Difference::Text),
        ] {
            assert_eq!(differences(old, file), [kind], "{old:?} {file:?}");
            assert_eq!(differences(file, old), [kind], "{file:?} {old:?}");
        }
        assert!(differences("a", "a").is_empty());
    }

    #[test]
    fn several_are_named_together() {
        let kinds = differences("  say \"A\"", "\tsay “a” ");
        assert_eq!(
            kinds,
            [
                Difference::Indentation,
                Difference::TrailingSpace,
                Difference::Quotes,
                Difference::Case
            ]
        );
    }

    #[test]
    fn a_piece_of_a_line_is_found_through_its_differences() {
        assert_eq!(piece("caf\u{e9} x", "the cafe\u{301}  X;"), Some("cafe\u{301}  X"));
        assert_eq!(piece(" b", "a\u{a0}b c"), Some("\u{a0}b"));
        assert_eq!(piece("zz", "a"), None);
        assert_eq!(piece(" ", "a"), None);
    }
}
