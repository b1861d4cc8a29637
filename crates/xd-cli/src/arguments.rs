//! What can be said on the command line.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use xd_protocol::is_invisible;

use crate::agent::arguments::{AgentArguments, RecordArguments};

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

    #[command(flatten)]
    pub(crate) look: Look,

    /// Do not send long output through a pager.
    #[arg(long, global = true, help_heading = LOOK)]
    pub(crate) no_pager: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit status: 0 done (staged, applied, discarded, undone, shown); 1 nothing to do (nothing matched, \
nothing pending, nothing to undo or recover); 2 an error, and nothing was changed. status, log and devices only report: 0 also where \
there is nothing to list. Where the work was done and only its output could not be written, the \
status is 2 and the message says so. agent and record end with 1 where the run ended before the \
model's last word, and with 130 where it was aborted.
With --json a command prints one JSON object, an error {\"v\":1,\"error\":…,\"hint\":…}; log, demo, \
agent and record print JSON Lines, one object a line.
The variable XD_LOG=debug logs to standard error; NO_COLOR=1 turns colour off, CLICOLOR_FORCE=1 on; \
XD_THEME, XD_AMBIGUOUS and XD_PAGER are as --theme, --ambiguous and the command of the pager. \
docs/CLI.md says more.";

/// The heading of the options about how things look.
const LOOK: &str = "How it looks";

/// How output looks.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Look {
    /// When to use colour: auto is on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = LOOK)]
    pub(crate) color: When,
    /// The colours: for a dark or a light background, or the terminal's own 16. Without it XD_THEME,
    /// then what the terminal says of itself.
    #[arg(long, value_name = "THEME", global = true, help_heading = LOOK)]
    pub(crate) theme: Option<Mode>,
    /// When paths are hyperlinks: auto is on a terminal that is known to have them.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = LOOK)]
    pub(crate) links: When,
    /// The cells of characters of ambiguous width. Without it XD_AMBIGUOUS, then 1.
    #[arg(long, value_name = "CELLS", global = true, help_heading = LOOK,
        value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) ambiguous: Option<u8>,
    /// Print a picture, as SVG, of what a terminal of 100 columns would show.
    #[arg(long, global = true, help_heading = LOOK, conflicts_with = "json")]
    pub(crate) svg: bool,
}

/// Which colours to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// What the terminal says of itself.
    Auto,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// The terminal's own 16.
    #[value(name = "16")]
    Ansi16,
}

/// When to do something that a terminal may not be able to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// Where it is known to work.
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
    /// Work with a model in this folder: a conversation on a terminal, one answer elsewhere or with
    /// -p. What it stages is finalized before anything changes.
    Agent(AgentArguments),
    /// Run the agent once and write what its model answers into a script, which
    /// `xd agent --model script:FILE` repeats without a model.
    Record(RecordArguments),
    /// Serve this folder to another agent or editor, by the Model Context Protocol: on standard
    /// input and output, or over HTTP. docs/MCP.md says how to add it to a client.
    Mcp(McpArguments),
    /// Stage a structural rewrite and print its preview.
    Edit(EditArguments),
    /// Stage a patch and print its preview: a unified diff, git's, or between *** Begin Patch and
    /// *** End Patch. All of it or nothing; lines must match exactly, wherever they are by now.
    Patch {
        /// The file of the patch; - or none reads standard input.
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
    },
    /// List what is pending, and which other sessions have something pending. It only reports: the
    /// exit status is 0 whether anything is pending or not.
    Status(SessionArgument),
    /// Show the whole preview of a staged action; without a number, of the most recent.
    Show {
        /// The action's number.
        #[arg(value_parser = number)]
        number: Option<u64>,
        /// Print a plain unified diff, for patch or git apply; not together with --json.
        #[arg(long)]
        diff: bool,
        #[command(flatten)]
        session: SessionArgument,
    },
    /// Look through what is pending on the whole screen: fold, search, accept or reject actions,
    /// single files and single changes for a reason, edit, undo. It needs a terminal.
    Review {
        #[command(flatten)]
        session: SessionArgument,
    },
    /// Apply a staged action, or some of its files or changes; the others stay pending under its
    /// number.
    Resolve(DecisionArguments),
    /// Discard a staged action, or some of its files or changes; the others stay pending under its
    /// number.
    Reject(RejectArguments),
    /// Put back what an applied action wrote, where the files still are as it left them. Without a
    /// number, the change that was written last. It is an action of its own, with a line in the log.
    Undo(UndoArguments),
    /// Write again what was undone, where the files still are as the undo left them. Without a
    /// number, the change that was undone last.
    Redo(UndoArguments),
    /// Stage a stale action anew against the present files, under a new number that supersedes the
    /// old one. It is refused where its edits touch what changed.
    Restage {
        /// The action's number; without one, the most recent.
        #[arg(value_parser = number)]
        number: Option<u64>,
        #[command(flatten)]
        session: SessionArgument,
    },
    /// Finish or take back a change that was interrupted, and say what became of it. Every other
    /// command does so too when it meets one.
    Recover {
        /// Only say what would be done.
        #[arg(long)]
        dry_run: bool,
    },
    /// Print every decision made in this workspace, oldest first; with --json as JSON Lines, one
    /// object a decision.
    Log(SessionArgument),
    /// List what is mounted under xd://; with --json, all that is known of each device.
    Devices,
    /// Print the completions of a shell: xd completions bash > ~/.local/share/bash-completion/completions/xd
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page; of a command, where one is named.
    Man {
        /// The command that the page is about.
        #[arg(value_name = "COMMAND")]
        page: Option<String>,
        /// Write all pages into this folder instead, which is made if need be.
        #[arg(long, value_name = "DIR", conflicts_with = "page")]
        dir: Option<PathBuf>,
    },
    /// Read an xd:// address: the protocol's own form, for an agent with a shell. What it answers is
    /// on standard output, refusals too.
    Read {
        /// xd://, xd://TOOL, xd://resolve@N.
        address: String,
    },
    /// Write to an xd:// address: the protocol's own form, for an agent with a shell. What it answers
    /// is on standard output, refusals too.
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
    /// Show the hidden messages and the tool choice of each turn.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Leave the scratch copies and say where they are.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Play this act alone, counted from 1.
    #[arg(long, value_name = "N")]
    pub(crate) act: Option<usize>,
}

/// What `xd edit` takes.
#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    /// The pattern: oldApi($A). $A is one node, $$$ARGS any number, $_ anything.
    #[arg(
        short = 'p',
        long = "pattern",
        value_name = "PATTERN",
        required_unless_present = "rules",
        requires = "rewrites",
        allow_hyphen_values = true
    )]
    pub(crate) patterns: Vec<String>,
    /// What the pattern before it becomes; '' deletes. Repeat -p and -r for several.
    #[arg(
        short = 'r',
        long = "rewrite",
        value_name = "TEMPLATE",
        requires = "patterns",
        allow_hyphen_values = true
    )]
    pub(crate) rewrites: Vec<String>,
    /// A file of rules with a fix, as ast-grep has them: YAML, one or several documents; - reads
    /// standard input. Beside patterns or instead of them.
    #[arg(long = "rule", value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Only files of this language.
    #[arg(short = 'l', long = "lang", value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Change at most so many files; 0 is no limit. Reaching it is said.
    #[arg(long, value_name = "N", default_value_t = xd_ast_edit::Limits::default().files)]
    pub(crate) max_files: usize,
    /// Make at most so many replacements; 0 is no limit. Reaching it is said.
    #[arg(long, value_name = "N", default_value_t = xd_ast_edit::Limits::default().replacements)]
    pub(crate) max_replacements: usize,
    /// Files, folders or globs.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
}

/// Whose staged actions are meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SessionArgument {
    /// The session: one of xd agent, by the name that it gives (agent-1), instead of the one that
    /// shell commands share. `xd status` names those that have something pending.
    #[arg(long = "session", value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// What `xd resolve` takes.
#[derive(Debug, Args)]
pub(crate) struct DecisionArguments {
    #[command(flatten)]
    pub(crate) decision: NumberAndReason,
    #[command(flatten)]
    pub(crate) session: SessionArgument,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) commit: CommitArguments,
}

/// What `xd reject` takes.
#[derive(Debug, Args)]
pub(crate) struct RejectArguments {
    #[command(flatten)]
    pub(crate) decision: NumberAndReason,
    #[command(flatten)]
    pub(crate) session: SessionArgument,
    #[command(flatten)]
    pub(crate) part: PartArguments,
}

/// What of an action.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PartArguments {
    /// Only these files of the action. It stands behind the reason. What is decided so gets a number
    /// of its own.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) files: Vec<String>,
    /// Only these changes of a file, counted from 1 as `xd review` and the hunks of `xd show --diff`
    /// have them: src/a.rs:1,3-4
    #[arg(long, value_name = "PATH:N,N", num_args = 1..)]
    pub(crate) hunks: Vec<String>,
}

/// Which action, and why.
#[derive(Debug, Args)]
pub(crate) struct NumberAndReason {
    /// The action's number (the most recent without one), then the reason in a sentence.
    ///
    /// A first word that looks like a number must be one: 2 or @2, counted from 1. A reason that
    /// itself begins like a number is quoted whole, as one word: xd resolve "2 callers remain." A
    /// reason that begins with a dash goes behind --.
    #[arg(value_name = "[N] REASON", required = true)]
    pub(crate) words: Vec<String>,
}

/// What `xd mcp` takes.
#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Serve over HTTP at this address instead of standard input and output: 127.0.0.1:7777. Its
    /// address and token are printed.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// The token that clients over HTTP must show; without it one is made up for this run. The
    /// variable XD_MCP_TOKEN does the same and is seen by nobody who lists processes.
    #[arg(long, value_name = "TOKEN", requires = "http")]
    pub(crate) token: Option<String>,
    /// Who confirms: the client's model, a person in the client where it can ask one, or only a
    /// person.
    #[arg(long, value_name = "WHO", default_value = "model")]
    pub(crate) ask: Confirmer,
    /// Stage what `write` does to files too, so that every change waits for a confirm.
    #[arg(long)]
    pub(crate) stage_writes: bool,
    /// Begin in plan mode: nothing changes through this server until a person has approved a plan
    /// in the client.
    #[arg(long)]
    pub(crate) plan: bool,
}

/// Who confirms what a client stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Confirmer {
    /// The model alone.
    Model,
    /// A person, where the client can ask one.
    Able,
    /// Only a person.
    Person,
}

/// How files are written.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct CommitArguments {
    /// Do not force the change to the disk: faster, still all files or none if the process dies,
    /// but not if the power goes.
    #[arg(long)]
    pub(crate) no_durable: bool,
}

/// What `xd undo` and `xd redo` take.
#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The action's number (the last change without one), then the reason in a sentence, which may
    /// be left out.
    #[arg(value_name = "[N] [REASON]")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgument,
    #[command(flatten)]
    pub(crate) commit: CommitArguments,
}

/// Why the first word of a decision cannot be told for a number or for a part of the reason. To take
/// it for the reason would decide about the most recent action where another one was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FirstWord {
    /// It looks like a number and is none.
    #[error("'{0}' is not the number of a staged action")]
    NoNumber(String),
    /// It is blank, as a variable of a shell is that was never set.
    #[error("the first word is blank: it is neither a number nor a reason")]
    Blank,
}

/// The number, if the first of the words is one, and the reason.
pub(crate) fn number_and_reason(words: &[String]) -> Result<(Option<u64>, String), FirstWord> {
    let Some((first, rest)) = words.split_first() else {
        return Ok((None, String::new()));
    };
    if let Ok(number) = number(first) {
        return Ok((Some(number), rest.join(" ")));
    }
    if !rest.is_empty() && !first.contains(is_visible) {
        return Err(FirstWord::Blank);
    }
    if begins_like_a_number(first) && !(rest.is_empty() && is_a_sentence(first)) {
        return Err(FirstWord::NoNumber(first.clone()));
    }
    Ok((None, words.join(" ")))
}

fn is_visible(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !is_invisible(c)
}

/// Whether `word` can be a slip for a number: behind signs and brackets stands a digit of any script
/// (`#1`, `+1`, `(2)`, `１`), or it is the sign for a number and nothing else.
fn begins_like_a_number(word: &str) -> bool {
    match word.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().next() {
        Some(first) => first.is_numeric(),
        None => {
            let mut visible = word.chars().filter(|&c| is_visible(c)).peekable();
            visible.peek().is_some() && visible.all(|c| matches!(c, '@' | '#' | '＠' | '＃' | '№'))
        }
    }
}

/// Whether one argument holds several words with letters: whoever quoted them meant a sentence.
fn is_a_sentence(word: &str) -> bool {
    word.split_whitespace().nth(1).is_some() && word.chars().any(char::is_alphabetic)
}

/// A staged action's number, with or without `@`.
pub(crate) fn number(text: &str) -> Result<u64, String> {
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

    fn split(words: &[&str]) -> Result<(Option<u64>, String), FirstWord> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        number_and_reason(&words)
    }

    #[test]
    fn a_number_before_the_reason_is_taken_as_one() {
        for (words, number, reason) in [
            (&["3", "It is right."][..], Some(3), "It is right."),
            (&["@3", "It", "is", "right."], Some(3), "It is right."),
            (&["18446744073709551615", "x"], Some(u64::MAX), "x"),
            (&["It is right."], None, "It is right."),
            (&["It", "is", "1", "line."], None, "It is 1 line."),
            (&["3"], Some(3), ""),
            (&["  "], None, "  "),
            (&["2 callers remain."], None, "2 callers remain."),
            (&["#12 asks for it."], None, "#12 asks for it."),
            (&["@alice", "asked."], None, "@alice asked."),
            (&["--", "fine"], None, "-- fine"),
            (&["v2", "is", "out."], None, "v2 is out."),
        ] {
            assert_eq!(split(words), Ok((number, reason.to_owned())), "{words:?}");
        }
    }

    // A slip in a number must never decide about the head.
    #[test]
    fn what_looks_like_a_number_and_is_none_is_refused() {
        for word in [
            "0",
            "@0",
            "00",
            "18446744073709551616",
            "#1",
            "+1",
            "-1",
            "1.",
            "1,",
            "1:",
            "1st",
            "1x",
            "@@1",
            "@+1",
            "１",
            "＃1",
            "²",
            "①",
            "Ⅳ",
            "٣",
            "½",
            "(1)",
            "[2]",
            "'1'",
            "№1",
            "\u{200b}1",
            " 1",
            "1 ",
            "1\u{a0}2",
            "@",
            "#",
            "0x1",
            "1e3",
            "−1",
            "1..2",
        ] {
            let wanted = Err(FirstWord::NoNumber(word.to_owned()));
            assert_eq!(split(&[word]), wanted, "{word:?} alone");
            assert_eq!(split(&[word, "It is right."]), wanted, "{word:?}");
        }
        // A sentence that begins so is one only where it is everything that is said.
        assert!(split(&["2 callers", "remain."]).is_err());
        for blank in ["", " ", "\t", "\u{200b}"] {
            assert_eq!(split(&[blank, "It is right."]), Err(FirstWord::Blank), "{blank:?}");
        }
    }
}
