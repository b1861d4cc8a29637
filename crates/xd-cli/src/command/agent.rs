//! `xd agent`: a conversation on a terminal, one answer elsewhere.

use std::{
    io::{IsTerminal as _, Read as _},
    path::Path,
    sync::Arc,
};

use serde_json::json;
use xd_agent::Model as _;
use xd_write::Approver;

use super::block_on;
use crate::{
    agent::{
        arguments::{AgentArguments, ApprovalMode, RunArguments},
        config,
        desk::Desk,
        dialogue,
        front::{Front, Manner},
        model::{self, AnyModel},
        person::Person,
        run::{self, Ended},
        seat::{People, Seat, system},
        servers::{self, Servers},
        show::Show,
    },
    failure::{Failure, Status},
    place::workspace,
    screen::Screen,
};

/// Runs the agent.
pub(crate) fn run(
    directory: &Path,
    arguments: &AgentArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let terminal = is_terminal();
    let once = arguments.print || screen.is_json() || !terminal;
    let once = if once { Once::Yes } else { Once::No };
    start(directory, &arguments.run, &arguments.prompt, once, Ok, screen)
}

/// Whether one prompt is answered, or a conversation held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Once {
    Yes,
    No,
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Puts an agent together and runs it; `wrap` may put something around its model.
pub(super) fn start(
    directory: &Path,
    flags: &RunArguments,
    words: &[String],
    once: Once,
    wrap: impl FnOnce(AnyModel) -> Result<AnyModel, Failure>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let prompt = prompt(words, once)?;
    let environment = |name: &str| std::env::var(name).ok();
    let workspace = workspace(directory)?;
    let settings = config::settings(workspace.path(), flags, &environment)?;
    let specs = servers::read(&flags.mcp, workspace.path(), &environment)?;
    let model = wrap(model::make(&settings, &environment)?)?;
    let person = if is_terminal() && !screen.is_json() { Some(Person::new()?) } else { None };
    let usual = if person.is_some() { ApprovalMode::Ask } else { ApprovalMode::Write };
    let approval = settings.approval.unwrap_or(usual);
    let (desk, mut notices) = Desk::new();
    let approver = person.is_some().then(|| Arc::new(desk.clone()) as Arc<dyn Approver>);
    let people = People { approver, reviewer: Arc::new(desk.clone()) };
    let mut seat = Seat::take(directory, flags, &settings, approval, model, people, screen)?;
    if screen.is_json() {
        let model = seat.agent.model().id().to_owned();
        let session = &seat.name;
        screen.json(&json!({ "v": 1, "event": "session", "session": session, "model": model }));
    }
    // Held until the run has ended.
    let _servers = Servers::start(&specs, &seat.host, &settings, screen)?;
    if !specs.is_empty() {
        seat.agent = seat.agent.with_system(system(&seat.host));
    }
    seat.agent = seat.agent.on_event(move |event| desk.event(event));
    let manner = match once {
        _ if screen.is_json() => Manner::Json,
        Once::Yes => Manner::LastWord(String::new()),
        Once::No => Manner::Whole(Box::new(Show::new())),
    };
    let mut front = Front { screen, manner, person, host: Arc::clone(&seat.host), told: false };
    block_on(async {
        let mut interrupts = run::interrupts()?;
        if once == Once::No {
            let (notices, interrupts) = (&mut notices, &mut interrupts);
            return dialogue::hold(&mut seat, prompt, notices, interrupts, &mut front).await;
        }
        let prompt = seat.told.with_news(&prompt.unwrap_or_default());
        let ended =
            run::prompt(&mut seat.agent, prompt, &mut notices, &mut interrupts, &mut front).await;
        seat.told.all();
        let stop = match ended.map_err(|error| run::failure(&error, &seat.name))? {
            Ended::Stopped(stop) => stop,
            Ended::Left => return Ok(Status::Aborted),
        };
        if let Manner::LastWord(word) = &front.manner {
            let word = word.clone();
            if !word.is_empty() {
                front.screen.bytes(format!("{}\n", word.trim_end_matches('\n')).as_bytes());
            }
        }
        if let Some(words) = run::ending(stop, &seat.name) {
            front.screen.remark(&format!("xd: {words}"));
        }
        Ok(run::status(stop))
    })?
}

/// What the model is asked: the words of the command line, else standard input where that is no
/// terminal. None where a conversation begins without.
fn prompt(words: &[String], once: Once) -> Result<Option<String>, Failure> {
    let hint = "xd agent -p \"What does this project do?\", or send the prompt to standard input.";
    let said = words.join(" ");
    if !said.trim().is_empty() {
        return Ok(Some(said));
    }
    if once == Once::No {
        return Ok(None);
    }
    if std::io::stdin().is_terminal() {
        return Err(Failure::new("there is no prompt", hint));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("standard input cannot be read: {error}"), hint))?;
    match text.trim() {
        "" => Err(Failure::new("there is no prompt, and standard input is empty", hint)),
        text => Ok(Some(text.to_owned())),
    }
}
