//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Staged edits: show what a change would do, then apply it whole or drop it.
#[derive(Debug, Parser)]
#[command(name = "xd", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Work in this folder; paths count from it, and its .xd/ holds what is staged.
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = ".", global = true)]
    pub(crate) directory: PathBuf,

    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colour.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit status: 0 done (staged, applied, discarded, shown); 1 nothing to do (nothing matched, nothing \
pending); 2 an error, and nothing was changed.
The variable XD_LOG=debug logs to standard error; NO_COLOR=1 turns colour off.";

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a scripted agent stage and finalize changes on a scratch project.
    Demo(DemoArguments),
    /// Stage a structural rewrite and print its preview.
    Edit(EditArguments),
    /// List what is pending.
    Status,
    /// Show the whole preview of a staged action; without a number, of the most recent.
    Show {
        /// The action's number.
        #[arg(value_parser = number)]
        number: Option<u64>,
        /// Print a plain unified diff, for patch or git apply.
        #[arg(long)]
        diff: bool,
    },
    /// Apply a staged action.
    Resolve(DecisionArguments),
    /// Discard a staged action.
    Reject(DecisionArguments),
    /// Print every decision made in this workspace.
    Log,
    /// List what is mounted under xd://; with --json, all that is known of each device.
    Devices,
    /// Read an xd:// address: the protocol's own form, for an agent with a shell.
    Read {
        /// xd://, xd://TOOL, xd://resolve@N.
        address: String,
    },
    /// Write to an xd:// address: the protocol's own form, for an agent with a shell.
    Write {
        /// xd://resolve, xd://reject, xd://resolve@N, xd://TOOL.
        address: String,
        /// The reason, or the tool's JSON arguments; - reads standard input.
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
}

/// What `xd demo` takes.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Show the hidden messages and what each request carries.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Leave the scratch copies and say where they are.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// What `xd edit` takes.
#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    /// The pattern: oldApi($A). $A is one node, $$$ARGS any number, $_ anything.
    #[arg(
        short = 'p',
        long = "pattern",
        value_name = "PATTERN",
        required = true,
        allow_hyphen_values = true
    )]
    pub(crate) patterns: Vec<String>,
    /// What the pattern before it becomes; '' deletes. Repeat -p and -r for several.
    #[arg(
        short = 'r',
        long = "rewrite",
        value_name = "TEMPLATE",
        required = true,
        allow_hyphen_values = true
    )]
    pub(crate) rewrites: Vec<String>,
    /// Only files of this language.
    #[arg(short = 'l', long = "lang", value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Files, folders or globs.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
}

/// What `xd resolve` and `xd reject` take.
#[derive(Debug, Args)]
pub(crate) struct DecisionArguments {
    /// The action's number (the most recent without one), then the reason in a sentence. A reason
    /// that begins with a dash goes behind --.
    #[arg(value_name = "[N] REASON", required = true)]
    pub(crate) words: Vec<String>,
}

impl DecisionArguments {
    /// The number, if the first word is one, and the reason.
    pub(crate) fn split(&self) -> (Option<u64>, String) {
        match self.words.split_first() {
            Some((first, rest)) => match number(first) {
                Ok(number) => (Some(number), rest.join(" ")),
                Err(_) => (None, self.words.join(" ")),
            },
            None => (None, String::new()),
        }
    }
}

/// A staged action's number, with or without `@`.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    match digits.parse::<u64>() {
        Ok(number) if number > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        Ok(_) | Err(_) => Err("numbers count from 1; `xd status` lists what is pending".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_number_before_the_reason_is_taken_as_one() {
        let split = |words: &[&str]| {
            DecisionArguments { words: words.iter().map(|w| (*w).to_owned()).collect() }.split()
        };
        assert_eq!(split(&["3", "It is right."]), (Some(3), "It is right.".to_owned()));
        assert_eq!(split(&["@3", "It", "is", "right."]), (Some(3), "It is right.".to_owned()));
        assert_eq!(split(&["It is right."]), (None, "It is right.".to_owned()));
        assert_eq!(split(&["3"]), (Some(3), String::new()));
        assert_eq!(split(&["0", "x"]), (None, "0 x".to_owned()));
    }
}
