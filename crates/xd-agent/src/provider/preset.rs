//! Providers by name: where they are, which wire they speak, and in what dialect.

use super::Wire;

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The name, in the first part of a model's id: `openrouter`.
    pub name: &'static str,
    /// Whose rows of the capability table hold.
    pub rules: &'static str,
    /// The wire.
    pub wire: Wire,
    /// Where requests go, unless a configuration says otherwise; empty where it has to.
    pub base_url: &'static str,
    /// The environment variable in which people keep its key; none where no key is needed.
    pub key_variable: Option<&'static str>,
    pub(crate) dialect: Dialect,
}

/// How a provider's chat completions differ from the others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The field that limits an answer.
    pub(crate) limit: &'static str,
    /// How thinking is asked for.
    pub(crate) thinking: ThinkingDialect,
    /// Whether usage has to be asked for.
    pub(crate) asks_for_usage: bool,
    /// Whether it is strict as Mistral is: a user's message may not follow a tool's, so that an
    /// assistant's goes between (<https://github.com/avante-corp/avante.nvim/pull/2695>), and the
    /// ids of calls are nine letters or digits.
    pub(crate) strict: bool,
    /// Whether models of Anthropic are behind it, whose prompts are cached only where marked.
    pub(crate) marks: bool,
    /// Whether a thinking model wants thinking with every call of the history, also with one that
    /// another model made.
    pub(crate) wants_thinking: bool,
}

/// How thinking is asked for in chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingDialect {
    /// `reasoning_effort`.
    Effort,
    /// `reasoning: {effort | max_tokens | enabled}`.
    Reasoning,
    /// `thinking: {type}`.
    Switch,
    /// `enable_thinking`, `thinking_budget`.
    Enable,
}

const CHAT: Dialect = Dialect {
    limit: "max_tokens",
    thinking: ThinkingDialect::Effort,
    asks_for_usage: true,
    strict: false,
    marks: false,
    wants_thinking: false,
};

const fn chat(
    name: &'static str,
    base_url: &'static str,
    key_variable: Option<&'static str>,
    dialect: Dialect,
) -> Preset {
    Preset { name, rules: name, wire: Wire::ChatCompletions, base_url, key_variable, dialect }
}

const fn thinking(thinking: ThinkingDialect) -> Dialect {
    Dialect { thinking, ..CHAT }
}

const PRESETS: &[Preset] = &[
    Preset {
        wire: Wire::AnthropicMessages,
        ..chat("anthropic", "https://api.anthropic.com", Some("ANTHROPIC_API_KEY"), CHAT)
    },
    Preset {
        wire: Wire::OpenaiResponses,
        ..chat("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), CHAT)
    },
    Preset {
        rules: "openai",
        ..chat(
            "openai-chat",
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
            Dialect { limit: "max_completion_tokens", ..CHAT },
        )
    },
    chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        Some("OPENROUTER_API_KEY"),
        Dialect { marks: true, ..thinking(ThinkingDialect::Reasoning) },
    ),
    chat(
        "deepseek",
        "https://api.deepseek.com",
        Some("DEEPSEEK_API_KEY"),
        Dialect { wants_thinking: true, ..thinking(ThinkingDialect::Switch) },
    ),
    chat(
        "moonshot",
        "https://api.moonshot.ai/v1",
        Some("MOONSHOT_API_KEY"),
        Dialect { wants_thinking: true, ..thinking(ThinkingDialect::Switch) },
    ),
    chat(
        "zai",
        "https://api.z.ai/api/paas/v4",
        Some("ZAI_API_KEY"),
        Dialect { asks_for_usage: false, ..thinking(ThinkingDialect::Switch) },
    ),
    chat(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        Some("DASHSCOPE_API_KEY"),
        thinking(ThinkingDialect::Enable),
    ),
    chat(
        "mistral",
        "https://api.mistral.ai/v1",
        Some("MISTRAL_API_KEY"),
        Dialect { asks_for_usage: false, strict: true, ..CHAT },
    ),
    chat("xai", "https://api.x.ai/v1", Some("XAI_API_KEY"), CHAT),
    chat(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        Some("GEMINI_API_KEY"),
        CHAT,
    ),
    chat("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), CHAT),
    chat("ollama", "http://localhost:11434/v1", None, CHAT),
    chat("llamacpp", "http://localhost:8080/v1", None, CHAT),
    chat("vllm", "http://localhost:8000/v1", None, CHAT),
];

impl Preset {
    /// All presets.
    #[must_use]
    pub fn all() -> &'static [Self] {
        PRESETS
    }

    /// The preset of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// A provider that nobody here knows, named `custom`; the configuration says where it is. Its
    /// models count as not forceable until the configuration says more.
    #[must_use]
    pub const fn custom(wire: Wire) -> Self {
        Self { wire, ..chat("custom", "", None, CHAT) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::ROWS;

    // case 65
    #[test]
    fn case_065_every_preset_has_rows_and_every_row_a_preset() {
        for preset in PRESETS {
            assert!(ROWS.iter().any(|row| row.provider == preset.rules), "{}", preset.name);
            assert_eq!(Preset::find(preset.name), Some(preset));
        }
        for row in ROWS {
            assert!(PRESETS.iter().any(|preset| preset.rules == row.provider), "{row:?}");
        }
    }
}
