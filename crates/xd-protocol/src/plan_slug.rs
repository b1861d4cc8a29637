//! The slug that names a plan (`CONTRACT P2`).

use core::fmt;

/// The longest slug, in characters (`CONTRACT P2`).
pub const MAX_SLUG_CHARS: usize = 80;

/// What the name of a plan's draft ends with: `rename-client-plan.md` for the slug `rename-client`.
const DRAFT_END: &str = "-plan.md";

/// The slug of a plan: one line of ASCII letters, digits, `_` and `-`, at most
/// [`MAX_SLUG_CHARS`] characters.
///
/// ```
/// use xd_protocol::{PlanSlug, SlugFault};
///
/// let slug = PlanSlug::new("rename-client.md\n").unwrap();
/// assert_eq!(slug.as_str(), "rename-client");
/// assert_eq!(slug.draft().to_string(), "rename-client-plan.md");
/// assert_eq!(PlanSlug::of_draft("rename-client-plan.md"), Some(slug));
/// assert_eq!(PlanSlug::new("# Rename\n\nFirst …"), Err(SlugFault::SeveralLines));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanSlug<'a>(&'a str);

impl<'a> PlanSlug<'a> {
    /// Takes the body of a write to `xd://propose`: surrounding white space and one `.md` at its
    /// end are no part of the slug. Nothing else is mended or guessed.
    ///
    /// # Errors
    /// [`SlugFault`], whose text shows what to write instead.
    pub fn new(body: &'a str) -> Result<Self, SlugFault> {
        let text = body.trim();
        let slug = text.strip_suffix(".md").unwrap_or(text);
        if slug.is_empty() {
            return Err(SlugFault::Empty);
        }
        if slug.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
            return Err(SlugFault::SeveralLines);
        }
        let chars = slug.chars().count();
        if chars > MAX_SLUG_CHARS {
            return Err(SlugFault::TooLong { chars });
        }
        match slug.chars().find(|&c| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            Some(c) => Err(SlugFault::Character(c)),
            None => Ok(Self(slug)),
        }
    }

    /// The slug of the plan whose draft is called `name`, where it is a plan's name at all.
    #[must_use]
    pub fn of_draft(name: &'a str) -> Option<Self> {
        let slug = Self::new(name.strip_suffix(DRAFT_END)?).ok()?;
        // Trimmed or shortened it would name another draft.
        (slug.0.len() + DRAFT_END.len() == name.len()).then_some(slug)
    }

    /// The slug as written, without `.md`.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// The name of the plan's draft: `<slug>-plan.md`. Its address is `local://` and this.
    #[must_use]
    pub const fn draft(self) -> PlanDraft<'a> {
        PlanDraft(self)
    }
}

impl fmt::Display for PlanSlug<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Displays the name of a plan's draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanDraft<'a>(PlanSlug<'a>);

impl fmt::Display for PlanDraft<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{DRAFT_END}", self.0)
    }
}

/// Why a text is no slug. Nothing is submitted, and no other plan is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlugFault {
    /// Nothing is left of it.
    Empty,
    /// It has several lines: it is a plan's text.
    SeveralLines,
    /// It has more than [`MAX_SLUG_CHARS`] characters.
    TooLong {
        /// How many it has.
        chars: usize,
    },
    /// It holds this character.
    Character(char),
}

impl fmt::Display for SlugFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nothing was submitted: ")?;
        match *self {
            Self::Empty => f.write_str("the content is empty.")?,
            Self::SeveralLines => {
                f.write_str(
                    "the content has several lines, so it is a text and not a plan's slug.",
                )?;
            }
            Self::TooLong { chars } => write!(
                f,
                "the content has {chars} characters; a plan's slug has at most {MAX_SLUG_CHARS}."
            )?,
            Self::Character(c) => {
                write!(f, "the content holds '{}'.", c.escape_default())?;
            }
        }
        write!(
            f,
            " Write the slug of local://<slug>-plan.md and nothing else: one line of letters, \
             digits, '_' and '-', at most {MAX_SLUG_CHARS} characters. Example: the draft \
             local://rename-client-plan.md is submitted by writing rename-client"
        )
    }
}

impl core::error::Error for SlugFault {}
