//! What is known beforehand of models: how far their providers let a request force a tool, and
//! whether they think unless told otherwise (`CONTRACT G9`).
//!
//! The table is data, [`ROWS`]; whoever configures may put rows before it. What a provider refuses
//! at run time is learned by the session's gate, not here.

use serde::Deserialize;
use xd_session::{Forcing, Thinking};

mod rows;

pub use rows::ROWS;

/// One row of the table: what is known of the models of one provider that a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapabilityRow {
    /// The provider, as presets name it.
    pub provider: &'static str,
    /// Which models: `*` stands for any text, everything else for itself, in any letter case.
    pub models: &'static str,
    /// How far a request may force a tool.
    pub forcing: Forcing,
    /// Whether the model thinks in a request that says nothing of thinking.
    pub thinks: Thinking,
    /// Where it says so.
    pub source: &'static str,
}

/// A row of a configuration. It goes before the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityOverride {
    /// The provider; `*` for any.
    pub provider: String,
    /// Which models, as in [`CapabilityRow::models`].
    pub models: String,
    /// How far a request may force a tool; as the table says where it is left out.
    #[serde(default)]
    pub forcing: Option<Forcing>,
    /// Whether the model thinks in a request that says nothing of thinking; as the table says
    /// where it is left out.
    #[serde(default)]
    pub thinks: Option<bool>,
}

/// The table with what a configuration puts before it.
///
/// ```
/// use xd_agent::CapabilityTable;
/// use xd_session::{Forcing, Thinking};
///
/// let table = CapabilityTable::default();
/// assert_eq!(table.forcing("anthropic", "claude-sonnet-4-5"), Forcing::NamedUnlessThinking);
/// assert_eq!(table.forcing("ollama", "qwen3:8b"), Forcing::AutoOnly);
/// assert_eq!(table.thinks("deepseek", "deepseek-v4-pro"), Thinking::On);
/// // Nobody knows this one, so it is not forced.
/// assert_eq!(table.forcing("custom", "my-model"), Forcing::Unknown);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapabilityTable {
    overrides: Vec<CapabilityOverride>,
}

impl CapabilityTable {
    /// A table with these rows before it; the first that matches and says something decides.
    #[must_use]
    pub fn with_overrides(overrides: Vec<CapabilityOverride>) -> Self {
        Self { overrides }
    }

    /// The built-in row of a model.
    #[must_use]
    pub fn row(provider: &str, model: &str) -> Option<&'static CapabilityRow> {
        ROWS.iter().find(|row| row.provider == provider && matches(row.models, model))
    }

    /// How far a request may force a tool. A model that nobody knows counts as not forceable.
    #[must_use]
    pub fn forcing(&self, provider: &str, model: &str) -> Forcing {
        self.overriding(provider, model)
            .find_map(|row| row.forcing)
            .or_else(|| Self::row(provider, model).map(|row| row.forcing))
            .unwrap_or(Forcing::Unknown)
    }

    /// Whether the model thinks in a request that says nothing of thinking.
    #[must_use]
    pub fn thinks(&self, provider: &str, model: &str) -> Thinking {
        let said = self.overriding(provider, model).find_map(|row| row.thinks);
        match said {
            Some(true) => Thinking::On,
            Some(false) => Thinking::Off,
            None => Self::row(provider, model).map_or(Thinking::Off, |row| row.thinks),
        }
    }

    fn overriding<'a>(
        &'a self,
        provider: &'a str,
        model: &'a str,
    ) -> impl Iterator<Item = &'a CapabilityOverride> {
        let fits = move |row: &&CapabilityOverride| {
            matches(&row.provider, provider) && matches(&row.models, model)
        };
        self.overrides.iter().filter(fits)
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for any text. Linear but for the last star
/// seen, so at worst the product of the lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|byte| byte.eq_ignore_ascii_case(&text[t])) {
            p += 1;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g9_patterns_match_whole_ids_in_any_case() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("*", "anything", true),
            ("claude-*", "Claude-opus-5", true),
            ("claude-*", "my-claude-x", false),
            ("kimi-*thinking*", "kimi-k2-thinking-turbo", true),
            ("kimi-*thinking*", "kimi-k3", false),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} on {text}");
        }
    }

    // CONTRACT G9; case 65
    #[test]
    fn case_065_every_row_has_a_source_and_none_hides_another() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(row.source.starts_with("https://"), "{row:?}");
            assert_ne!(row.forcing, Forcing::Unknown, "{row:?} says nothing");
            let sample = row.models.replace('*', "x");
            let found = CapabilityTable::row(row.provider, &sample).expect("the row itself");
            assert_eq!(found, row, "row {index} is hidden by {found:?}");
        }
    }

    // CONTRACT G9: what never can be forced is no member of a family that can.
    #[test]
    fn g9_newer_members_of_a_family_have_rows_of_their_own() {
        let table = CapabilityTable::default();
        for (provider, model, forcing) in [
            ("anthropic", "claude-opus-5-5", Forcing::AutoOnly),
            ("anthropic", "claude-opus-5-5-20260901", Forcing::AutoOnly),
            ("anthropic", "claude-fable-5-1", Forcing::AutoOnly),
            ("anthropic", "claude-fable-5", Forcing::NamedUnlessThinking),
            ("anthropic", "claude-opus-5", Forcing::NamedUnlessThinking),
            ("openrouter", "anthropic/claude-opus-5.5", Forcing::AutoOnly),
            ("openrouter", "anthropic/claude-opus-5", Forcing::NamedUnlessThinking),
            ("mistral", "magistral-medium-latest", Forcing::AutoOnly),
            ("mistral", "devstral-medium-latest", Forcing::Named),
        ] {
            assert_eq!(table.forcing(provider, model), forcing, "{provider}/{model}");
        }
        assert_eq!(table.thinks("openrouter", "anthropic/claude-opus-5"), Thinking::On);
        assert_eq!(table.thinks("openrouter", "anthropic/claude-opus-4.6"), Thinking::Off);
    }

    #[test]
    fn g9_a_configuration_goes_before_the_table() {
        let row = |models: &str, forcing, thinks| CapabilityOverride {
            provider: "*".into(),
            models: models.into(),
            forcing,
            thinks,
        };
        let table = CapabilityTable::with_overrides(vec![
            row("qwen*", Some(Forcing::SomeTool), None),
            row("*", None, Some(true)),
        ]);
        assert_eq!(table.forcing("ollama", "qwen3:8b"), Forcing::SomeTool);
        assert_eq!(table.forcing("ollama", "llama3"), Forcing::AutoOnly);
        assert_eq!(table.thinks("ollama", "llama3"), Thinking::On);
    }
}
