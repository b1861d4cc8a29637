//! What `xd agent` and `xd record` take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

/// What `xd agent` takes.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AgentArguments {
    /// Print the model's last word and end; with --json every event, as JSON Lines.
    #[arg(short = 'p', long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// What to do. Without it a conversation begins on a terminal; elsewhere standard input is read.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

/// What `xd record` takes.
#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The script to write; it must not be there yet.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// What to do; without it standard input is read.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

/// How the agent runs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArguments {
    /// The model: PROVIDER/MODEL, or script:FILE to repeat a recorded run.
    #[arg(short = 'm', long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Where the provider is, instead of its usual address.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Begin in plan mode: nothing of the working tree changes until a plan is approved.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Which calls run unasked. Without it: ask on a terminal, write elsewhere.
    #[arg(long, value_name = "MODE")]
    pub(crate) approval: Option<ApprovalMode>,
    /// Stage what the tool write does to files, too, so that every change has a preview.
    #[arg(long)]
    pub(crate) stage_writes: bool,
    /// Go on with a session: the last one, or the named one (--resume=agent-3).
    #[arg(long, value_name = "SESSION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// At most so many turns for one prompt.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,
    /// Offer the tool bash, which runs commands.
    #[arg(long)]
    pub(crate) allow_bash: bool,
    /// Mount the tools of the MCP servers that this file names ({"mcpServers": …}) as xd:// devices.
    /// May be given several times. Nothing else starts servers: no file of the workspace does.
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp: Vec<PathBuf>,
    /// How the model thinks: default, off, minimal, low, medium, high, xhigh, max, or a number of
    /// tokens.
    #[arg(long, value_name = "HOW")]
    pub(crate) thinking: Option<String>,
}

/// Which calls run unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApprovalMode {
    /// Reading and staging; a person is asked before anything changes or runs.
    Ask,
    /// Reading, staging and changing files; a person is asked before a command runs.
    Write,
    /// Everything.
    Yolo,
}

const AFTER_HELP: &str = "\
In a conversation: /status lists what is pending, /show [N] shows one, /resolve [N] WHY and \
/reject [N] WHY decide, /plan turns plan mode on and off, /help lists these, /quit leaves. Ctrl-C \
cancels the turn, twice leaves; Ctrl-D leaves.
The session is kept in .xd/sessions/; xd agent --resume goes on with it, and what was pending is \
pending again.
Settings are taken from flags, then XD_MODEL, XD_BASE_URL, XD_APPROVAL and XD_THINKING, then .xd.toml of the workspace, then \
$XDG_CONFIG_HOME/xd/config.toml. Keys come from environment variables alone, such as \
ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY.
Exit status: 0 the model had its last word; 1 the run ended before (something stays pending, refused \
too often, cut, too many turns); 2 an error; 130 aborted.";
