//! `xd completions` and `xd man`: what the definition of the command line says, for shells and `man`.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::{
    arguments::Arguments,
    failure::{Failure, Status},
    screen::Screen,
};

/// Prints the completions of `shell`.
pub(super) fn completions(shell: Shell, screen: &mut Screen) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "xd", &mut script);
    if screen.is_json() {
        let script = String::from_utf8_lossy(&script);
        screen.json(&json!({ "v": 1, "shell": shell.to_string(), "script": script }));
    } else {
        screen.bytes(&script);
    }
    Status::Done
}

/// Prints one page: of `xd` itself, or of a command.
pub(super) fn page(name: Option<&str>, screen: &mut Screen) -> Result<Status, Failure> {
    let mut pages = all();
    let title = name.map_or("xd".to_owned(), |name| format!("xd-{name}"));
    let Some(at) = pages.iter().position(|(known, _)| *known == title) else {
        return Err(Failure::new(
            format!("'{}' is no command of xd", name.unwrap_or_default()),
            "`xd --help` lists the commands; `xd man` alone prints the page of xd.",
        ));
    };
    let text = rendered(pages.swap_remove(at).1)?;
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "page": title, "roff": String::from_utf8_lossy(&text) }));
    } else {
        screen.page();
        screen.bytes(&text);
    }
    Ok(Status::Done)
}

/// Writes every page into `folder`.
pub(super) fn pages(folder: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            format!("'{}' cannot be written: {error}", folder.display()),
            "Give a folder that you may write to: xd man --dir man/man1",
        )
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut names = Vec::new();
    for (title, page) in all() {
        let name = format!("{title}.1");
        std::fs::write(folder.join(&name), rendered(page)?).map_err(failed)?;
        names.push(name);
    }
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "pages": names }));
    } else {
        screen.text(&format!("{} pages in {}", names.len(), folder.display()));
    }
    Ok(Status::Done)
}

/// The pages with their titles: `xd`, then `xd-COMMAND` for each command that is shown.
fn all() -> Vec<(String, Command)> {
    let mut definition = Arguments::command().disable_help_subcommand(true);
    // Options that go everywhere reach the commands only once the definition is built.
    definition.build();
    let commands: Vec<Command> =
        definition.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let own = |command: Command| (format!("xd-{}", command.get_name()), command);
    std::iter::once(("xd".to_owned(), definition)).chain(commands.into_iter().map(own)).collect()
}

fn rendered(page: Command) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    Man::new(page)
        .render(&mut out)
        .map_err(|error| Failure::new(error, "The page could not be made; run it again."))?;
    Ok(out)
}
