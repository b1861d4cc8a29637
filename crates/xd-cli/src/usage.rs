//! What is answered where the command line itself is wrong, or asks for help.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::{
    failure::{Failure, Status},
    screen::Screen,
};

/// Prints help and version as they are, and a mistake as every other error: two lines of text or,
/// where `--json` is among the arguments, JSON.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    // The arguments could not be read, so this looks at them as they came.
    let json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Screen::plain(false).help(error),
        // Without a command the help is the answer.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !json => {
            // Nobody is left to tell where standard error is gone.
            let _ = error.print();
            Status::Refused.into()
        }
        _ => {
            let mut screen = Screen::plain(json);
            let status = screen.fail(&failure(&error.render().to_string()));
            screen.finish(status)
        }
    }
}

/// What is wrong and what to do, from the parser's own text: what stands before the usage is the
/// mistake, tips and usage are the way out.
fn failure(text: &str) -> Failure {
    const USAGE: &str = "Usage: ";
    const TIP: &str = "tip: ";
    const MORE: &str = "For more information";
    let mut what = Vec::new();
    let mut hint = Vec::new();
    let mut usage = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(line) = line.strip_prefix(USAGE) {
            usage.get_or_insert(line);
        } else if let Some(tip) = line.strip_prefix(TIP) {
            hint.push(format!("{tip}."));
        } else if usage.is_none() && !line.starts_with(MORE) {
            what.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    match usage {
        Some(usage) => {
            // The parser writes a required argument of any number so; its name says it already.
            let usage = usage.replace("<[N] REASON>...", "[N] REASON");
            hint.push(format!("usage: {usage}; `{}` says more.", help_of(&usage)));
        }
        None => hint.push("`xd --help` lists the commands and their arguments.".to_owned()),
    }
    let what = what.join(" ").replace("<[N] REASON>...", "[N] REASON");
    Failure::new(what, hint.join(" "))
}

/// The command that explains what `usage` is the usage of.
fn help_of(usage: &str) -> String {
    match usage.split_whitespace().nth(1) {
        Some(command) if command.bytes().all(|b| b.is_ascii_lowercase()) => {
            format!("xd help {command}")
        }
        Some(_) | None => "xd --help".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser as _;

    #[test]
    fn every_mistake_has_a_cause_and_a_way_out() {
        for (arguments, what, hint) in [
            (&["xd", "edit", "-p", "a()", "."][..], "--rewrite", "usage: xd edit"),
            (&["xd", "edit"], "<PATH>", "`xd help edit`"),
            (&["xd", "frobnicate"], "'frobnicate'", "`xd --help`"),
            (&["xd", "statu"], "'statu'", "'status'"),
            (&["xd", "show", "0"], "numbers count from 1", "`xd --help`"),
            (&["xd", "resolve"], "[N] REASON", "usage: xd resolve [N] REASON; `xd help resolve`"),
            (&["xd", "-C"], "'--directory <DIR>'", "`xd --help`"),
            (&["xd", "status", "--colour"], "'--colour'", "'--color'"),
        ] {
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            let failure = failure(&error.render().to_string());
            assert!(failure.what.contains(what), "{arguments:?}: {failure:?}");
            assert!(!failure.what.starts_with("error"), "{arguments:?}: {failure:?}");
            assert!(!failure.what.contains("For more"), "{arguments:?}: {failure:?}");
            assert!(failure.hint.contains(hint), "{arguments:?}: {failure:?}");
        }
    }
}
