//! What is answered where the command line itself is wrong, or asks for help.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::{failure::Failure, screen::Screen};

/// Prints help and version as they are, and a mistake as text or, where `--json` is among the
/// arguments, as JSON.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    // The arguments could not be read, so this looks at them as they came.
    let json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Screen::plain(false).help(error),
        _ if json => {
            let mut screen = Screen::plain(true);
            let status = screen.fail(&failure(&error.render().to_string()));
            screen.finish(status)
        }
        _ => {
            // Nobody is left to tell where standard error is gone.
            let _ = error.print();
            crate::failure::Status::Refused.into()
        }
    }
}

/// What is wrong and what to do, from the parser's own text: what stands before the usage is the
/// mistake, tips and usage are the way out.
fn failure(text: &str) -> Failure {
    const USAGE: &str = "Usage: ";
    const TIP: &str = "tip: ";
    let mut what = Vec::new();
    let mut hint = Vec::new();
    let mut usage = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(line) = line.strip_prefix(USAGE) {
            usage.get_or_insert(line);
        } else if let Some(tip) = line.strip_prefix(TIP) {
            hint.push(format!("{tip}."));
        } else if usage.is_none() {
            what.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    match usage {
        Some(usage) => hint.push(format!("{USAGE}{usage}")),
        None => hint.push("`xd --help` lists the commands and their arguments.".to_owned()),
    }
    Failure::new(what.join(" "), hint.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser as _;

    #[test]
    fn every_mistake_has_a_cause_and_a_way_out() {
        for (arguments, what, hint) in [
            (&["xd", "edit", "-p", "a()", "."][..], "--rewrite", "Usage: xd edit"),
            (&["xd", "edit"], "<PATH>", "Usage: xd edit"),
            (&["xd", "frobnicate"], "'frobnicate'", "Usage: xd"),
            (&["xd", "statu"], "'statu'", "'status'"),
            (&["xd", "show", "0"], "numbers count from 1", "`xd --help`"),
            (&["xd", "status", "--colour"], "'--colour'", "'--color'"),
        ] {
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            let failure = failure(&error.render().to_string());
            assert!(failure.what.contains(what), "{arguments:?}: {failure:?}");
            assert!(!failure.what.starts_with("error"), "{arguments:?}: {failure:?}");
            assert!(failure.hint.contains(hint), "{arguments:?}: {failure:?}");
        }
    }
}
