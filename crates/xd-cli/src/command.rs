//! One module a command.

mod address;
mod agent;
pub(crate) mod decide;
mod devices;
mod edit;
mod log;
mod look;
mod manual;
mod mcp;
mod operands;
pub(crate) mod part;
mod patch;
pub(crate) mod preview;
mod record;
mod recover;
mod restage;
mod review;
mod undo;

use std::{io::Read as _, path::Path};

use xd_protocol::Verdict;
use xd_write::Direction;

use crate::{
    arguments::{Arguments, Command, CommitArguments, DecisionArguments, RejectArguments},
    demo,
    failure::{Failure, Status},
    screen::Screen,
};

/// Runs what the arguments say.
pub(crate) fn run(arguments: &Arguments, screen: &mut Screen) -> Result<Status, Failure> {
    let directory = &arguments.directory;
    match &arguments.command {
        Command::Demo(demo) => demo::run(demo, screen),
        Command::Agent(agent) => agent::run(directory, agent, screen),
        Command::Record(record) => record::run(directory, record, screen),
        Command::Mcp(mcp) => mcp::run(directory, mcp, screen),
        Command::Edit(edit) => edit::run(directory, edit, screen),
        Command::Status(session) => look::status(directory, session, screen),
        Command::Show { number, diff: false, session } => {
            look::show(directory, session, *number, screen)
        }
        Command::Show { diff: true, .. } if screen.is_json() => Err(Failure::new(
            "--diff and --json do not go together: a diff is text",
            "`xd show --json` prints the change as data, `xd show --diff` a diff for git apply.",
        )),
        Command::Show { number, diff: true, session } => {
            look::diff(directory, session, *number, screen)
        }
        Command::Patch { file } => patch::run(directory, file, screen),
        Command::Review { session } => review::run(directory, session, screen),
        Command::Resolve(DecisionArguments { decision, session, part, commit }) => {
            decide::run(directory, session, Verdict::Apply, (decision, part), *commit, screen)
        }
        Command::Reject(RejectArguments { decision, session, part }) => {
            let commit = CommitArguments::default();
            decide::run(directory, session, Verdict::Discard, (decision, part), commit, screen)
        }
        Command::Undo(undo) => undo::run(directory, Direction::Undo, undo, screen),
        Command::Redo(redo) => undo::run(directory, Direction::Redo, redo, screen),
        Command::Restage { number, session } => restage::run(directory, session, *number, screen),
        Command::Recover { dry_run: true } => recover::look(directory, screen),
        Command::Recover { dry_run: false } => recover::run(directory, screen),
        Command::Log(session) => log::run(directory, session, screen),
        Command::Devices => devices::run(directory, screen),
        Command::Completions { shell } => Ok(manual::completions(*shell, screen)),
        Command::Man { page, dir: None } => manual::page(page.as_deref(), screen),
        Command::Man { dir: Some(dir), .. } => manual::pages(dir, screen),
        Command::Read { address } => address::read(directory, address, screen),
        Command::Write { address, text } => address::write(directory, address, text, screen),
    }
}

/// The text of the file at `path`, or of standard input for `-`, as bytes.
pub(crate) fn input(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| {
        Failure::new(
            format!("'{}' cannot be read: {error}", path.display()),
            "Give a file, from the folder that you are in, or - for standard input.",
        )
    })
}

/// Waits for `future` on a small runtime of this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(error, "The system gave no resources; try again."))?;
    Ok(runtime.block_on(future))
}
