//! The rows of the capability table. The first that matches decides.

use xd_session::{
    Forcing::{self, AutoOnly, Named, NamedUnlessThinking, SomeTool},
    Thinking::{self, Off, On},
};

use super::CapabilityRow;

/// Which models of Anthropic think by default, and that forcing a tool is refused while they do.
const ANTHROPIC_DEFAULTS: &str =
    "https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting";
/// "Thinking may not be enabled when tool_choice forces tool use."
const ANTHROPIC_THINKING: &str = "https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#extended-thinking-with-tool-use";
/// Forcing is refused always, and thinking cannot be switched off.
const ANTHROPIC_NEVER: &str =
    "https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5";
/// The same through the gateway, under its own names.
const OPENROUTER_NEVER: &str =
    "https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/opus-5-5";
/// A forced choice makes the gateway drop the thinking without a word.
const OPENROUTER_THINKING: &str = "https://github.com/pydantic/pydantic-ai/pull/6957";
const OPENAI: &str = "https://platform.openai.com/docs/guides/function-calling#tool-choice";
/// "Thinking mode does not support this tool_choice", with the measured forms.
const DEEPSEEK: &str = "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376";
/// Which form each Kimi model accepts, probed.
const KIMI: &str = "https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152";
/// "The tool_choice parameter does not support being set to required or object in thinking mode."
const QWEN: &str = "https://github.com/cloudwego/eino/issues/994";
/// `auto` is the one choice that there is.
const GLM: &str = "https://docs.z.ai/api-reference/llm/chat-completion";
const MISTRAL: &str =
    "https://docs.rs/crate/mistral-openapi-client/latest/source/src/models/tool_choice.rs";
/// `required` is read and answered with text.
const MAGISTRAL: &str = "https://github.com/mistralai/client-python/issues/419";
const XAI: &str = "https://docs.x.ai/developers/tools/function-calling";
/// Any tool can be forced; a named one is not documented for the compatible endpoint.
const GEMINI: &str = "https://ai.google.dev/gemini-api/docs/openai";

const fn row(
    provider: &'static str,
    models: &'static str,
    forcing: Forcing,
    thinks: Thinking,
    source: &'static str,
) -> CapabilityRow {
    CapabilityRow { provider, models, forcing, thinks, source }
}

/// The table. Where sources disagree the row says the less that can be asked for: a reminder costs
/// nothing, a refused request costs a turn.
pub const ROWS: &[CapabilityRow] = &[
    row("anthropic", "claude-opus-5-5*", AutoOnly, On, ANTHROPIC_NEVER),
    row("anthropic", "claude-fable-5-1*", AutoOnly, On, ANTHROPIC_NEVER),
    row("anthropic", "claude-*mythos*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("anthropic", "claude-*fable*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("anthropic", "claude-opus-5*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("anthropic", "claude-sonnet-5*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("anthropic", "claude-*", NamedUnlessThinking, Off, ANTHROPIC_THINKING),
    row("openai", "gpt-5*", Named, On, OPENAI),
    row("openai", "o1*", Named, On, OPENAI),
    row("openai", "o3*", Named, On, OPENAI),
    row("openai", "o4*", Named, On, OPENAI),
    row("openai", "gpt-*", Named, Off, OPENAI),
    row("openai", "chatgpt-*", Named, Off, OPENAI),
    row("deepseek", "deepseek-chat", NamedUnlessThinking, Off, DEEPSEEK),
    row("deepseek", "deepseek-*", NamedUnlessThinking, On, DEEPSEEK),
    row("moonshot", "kimi-k3*", SomeTool, On, KIMI),
    row("moonshot", "kimi-*", NamedUnlessThinking, On, KIMI),
    row("dashscope", "qwen*", NamedUnlessThinking, On, QWEN),
    row("zai", "glm-*", AutoOnly, On, GLM),
    row("mistral", "magistral-*", AutoOnly, On, MAGISTRAL),
    row("mistral", "*", Named, Off, MISTRAL),
    row("xai", "grok-*", Named, Off, XAI),
    row("gemini", "gemini-*", SomeTool, On, GEMINI),
    row("groq", "*", Named, Off, "https://console.groq.com/docs/tool-use"),
    // It passes requests on to whoever serves the model, whose rules hold.
    row("openrouter", "anthropic/claude-opus-5.5*", AutoOnly, On, OPENROUTER_NEVER),
    row("openrouter", "anthropic/claude-fable-5.1*", AutoOnly, On, OPENROUTER_NEVER),
    row("openrouter", "anthropic/claude-*mythos*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("openrouter", "anthropic/claude-*fable*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("openrouter", "anthropic/claude-opus-5*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("openrouter", "anthropic/claude-sonnet-5*", NamedUnlessThinking, On, ANTHROPIC_DEFAULTS),
    row("openrouter", "anthropic/*", NamedUnlessThinking, Off, OPENROUTER_THINKING),
    row("openrouter", "openai/*", Named, On, OPENAI),
    row("openrouter", "deepseek/*", NamedUnlessThinking, On, DEEPSEEK),
    row("openrouter", "moonshotai/kimi-k3*", SomeTool, On, KIMI),
    row("openrouter", "moonshotai/*", NamedUnlessThinking, On, KIMI),
    row("openrouter", "qwen/*", NamedUnlessThinking, On, QWEN),
    row("openrouter", "z-ai/*", AutoOnly, On, GLM),
    row("openrouter", "mistralai/magistral-*", AutoOnly, On, MAGISTRAL),
    row("openrouter", "mistralai/*", Named, Off, MISTRAL),
    row("openrouter", "x-ai/*", Named, Off, XAI),
    row("openrouter", "google/*", SomeTool, On, GEMINI),
    // The choice is read and dropped, by its compatible endpoints too.
    row("ollama", "*", AutoOnly, Off, "https://github.com/ollama/ollama/issues/17921"),
    // A named choice falls back to `auto` without a word; `required` is enforced by grammar.
    row("llamacpp", "*", SomeTool, Off, "https://github.com/ggml-org/llama.cpp/issues/26535"),
    row("vllm", "*", Named, Off, "https://docs.vllm.ai/en/latest/features/tool_calling/"),
];
