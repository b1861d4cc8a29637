//! The names of drafts, which lead nowhere but to drafts.

use std::fmt;

use xd_protocol::{MAX_SLUG_CHARS, PlanSlug};

/// The longest name, in bytes.
const MAX_BYTES: usize = 128;

/// The name of a draft: ASCII letters, digits, `_`, `-` and `.`, at most 128 of them, no `.` at its
/// beginning. One name is one file of one folder, on every system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DraftName(String);

/// A text is no draft's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftFault;

impl fmt::Display for DraftFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a draft's name is one word of letters, digits, '_', '-' and '.', at most {MAX_BYTES} \
             characters. Example: local://rename-client-plan.md"
        )
    }
}

impl std::error::Error for DraftFault {}

impl DraftName {
    /// Checks `name`; nothing is trimmed or changed.
    ///
    /// # Errors
    /// [`DraftFault`].
    pub fn new(name: &str) -> Result<Self, DraftFault> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let is_name = !name.is_empty()
            && name.len() <= MAX_BYTES
            && !name.starts_with('.')
            && name.bytes().all(allowed);
        if is_name { Ok(Self(name.to_owned())) } else { Err(DraftFault) }
    }

    /// The name of a plan's draft: `<slug>-plan.md`.
    #[must_use]
    pub fn of_plan(slug: PlanSlug<'_>) -> Self {
        Self(slug.draft().to_string())
    }

    /// A name of a plan's draft made of the words of `hint`, the `n`th of its kind.
    pub(crate) fn made_of(hint: &str, n: usize) -> Self {
        let hint = hint.trim();
        let hint = hint.strip_suffix(".md").unwrap_or(hint);
        let mut slug = String::new();
        for c in hint.chars() {
            match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => slug.push(c),
                _ if slug.is_empty() || slug.ends_with('-') => {}
                _ => slug.push('-'),
            }
        }
        let count = if n > 1 { format!("-{n}") } else { String::new() };
        slug.truncate(MAX_SLUG_CHARS - count.len());
        let words = slug.trim_end_matches('-');
        let words = words.strip_suffix("-plan").unwrap_or(words).trim_end_matches('-');
        let words = if words.is_empty() { "plan" } else { words };
        Self(format!("{words}{count}-plan.md"))
    }

    /// The name as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The slug that submits this draft, where it is a plan's.
    #[must_use]
    pub fn slug(&self) -> Option<PlanSlug<'_>> {
        PlanSlug::of_draft(&self.0)
    }

    /// The draft's address: `local://<name>`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("local://{}", self.0)
    }
}

impl fmt::Display for DraftName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT P4
    #[test]
    fn p4_names_lead_nowhere_but_to_drafts() {
        for name in ["a", "a-plan.md", "A_1.txt", "a..b", "-", &"x".repeat(MAX_BYTES)] {
            assert_eq!(DraftName::new(name).map(|it| it.to_string()), Ok(name.to_owned()));
        }
        let long = "x".repeat(MAX_BYTES + 1);
        for name in [
            "",
            ".",
            "..",
            "../a",
            "a/b",
            "/a",
            "a\\b",
            ".hidden",
            "a b",
            " a",
            "a\n",
            "a:1",
            "a?",
            "a#b",
            "C:",
            "\u{e4}",
            "a\u{200b}",
            "a\0",
            "%2e%2e",
            &long,
        ] {
            assert_eq!(DraftName::new(name), Err(DraftFault), "{name:?}");
        }
    }

    // CONTRACT P4
    #[test]
    fn p4_a_name_is_made_of_any_hint_and_can_be_submitted() {
        for (hint, n, expect) in [
            ("rename-plan.md", 1, "rename-plan.md"),
            ("PLAN.md", 1, "PLAN-plan.md"),
            ("my plan.md", 1, "my-plan.md"),
            ("-plan.md", 1, "plan-plan.md"),
            ("# Rename the client!", 1, "Rename-the-client-plan.md"),
            ("a.rs", 2, "a-rs-2-plan.md"),
            ("", 1, "plan-plan.md"),
            ("\u{8a08}\u{753b}", 3, "plan-3-plan.md"),
        ] {
            assert_eq!(DraftName::made_of(hint, n).as_str(), expect, "{hint:?}");
        }
        for hint in ["x".repeat(500), "x-".repeat(500), "\u{1b}[2J/../".repeat(50)] {
            for n in [1, 2, 99] {
                let name = DraftName::made_of(&hint, n);
                assert!(name.slug().is_some(), "{name}");
                assert_eq!(DraftName::new(name.as_str()).as_ref(), Ok(&name));
            }
        }
    }
}
