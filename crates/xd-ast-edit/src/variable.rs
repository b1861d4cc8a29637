//! The notation for variables, read the same way in patterns and in templates.
//!
//! A variable is a run of dollars directly before a name. Upper-case names are variables
//! (`$A`, `$$$ARGS`, `$_`); a name with lower-case letters belongs to the code (`$scope`, `$name`).

use std::ops::Range;

/// What kind of name follows the dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `[A-Z_][A-Z0-9_]*`: a variable.
    Variable,
    /// A name with a lower-case letter: code of a language that has dollars in names.
    LowerCase,
}

/// A run of dollars with the name after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Occurrence<'s> {
    /// Byte offset of the first dollar.
    pub(crate) start: usize,
    /// How many dollars there are, at least one.
    pub(crate) dollars: usize,
    /// The name: all upper-case for [`Form::Variable`], the whole word otherwise.
    pub(crate) name: &'s str,
    /// How the word goes on behind an upper-case beginning; empty for [`Form::Variable`] words.
    ///
    /// `$Aid` has the name `Aid` and may also be read as `$A` followed by `id`: the reader knows
    /// which names are bound.
    pub(crate) upper: &'s str,
    /// What kind of name it is.
    pub(crate) form: Form,
}

impl Occurrence<'_> {
    /// The bytes of the dollars and the name.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.dollars + self.name.len()
    }
}

/// Every run of dollars that stands directly before a name, in order.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = Occurrence<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'$', bytes.get(at..)?)?;
            let dollars = bytes[start..].iter().take_while(|byte| **byte == b'$').count();
            let from = start + dollars;
            let rest = &text[from..];
            at = from;
            let word = rest.len()
                - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
            if word == 0 || rest.as_bytes()[0].is_ascii_digit() {
                continue;
            }
            let name = &rest[..word];
            let upper = &name
                [..name.len() - name.trim_start_matches(|c: char| !c.is_ascii_lowercase()).len()];
            let form = if upper.len() == name.len() { Form::Variable } else { Form::LowerCase };
            at = from + word;
            return Some(Occurrence { start, dollars, name, upper, form });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(usize, &str, Form)]) {
        let found: Vec<_> = variables(text).map(|v| (v.dollars, v.name, v.form)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a1_variables_are_upper_case_names_behind_dollars() {
        use Form::{LowerCase, Variable};
        check(
            "f($A, $$$ARGS, $_)",
            &[(1, "A", Variable), (3, "ARGS", Variable), (1, "_", Variable)],
        );
        check(
            "$name $A1 $Aid",
            &[(1, "name", LowerCase), (1, "A1", Variable), (1, "Aid", LowerCase)],
        );
        check("${x} $(y) $1 $ $$ é$B", &[(1, "B", Variable)]);
        check("$$", &[]);
        check("", &[]);
    }
}
