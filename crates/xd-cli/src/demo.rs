//! `xd demo`: a scripted agent stages and finalizes changes on scratch copies of a sample project.

mod acts;
mod sample;
mod show;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_agent::{Agent, Event, ScriptedModel};
use xd_ast_edit::AstEditTool;
use xd_session::Session;
use xd_write::{Host, Workspace};

use self::{acts::Act, sample::Tree};
use crate::{
    arguments::DemoArguments,
    command::block_on,
    failure::{Failure, Status},
    screen::Screen,
};

/// Plays every act and checks how it ended.
pub(crate) fn run(arguments: &DemoArguments, screen: &mut Screen) -> Result<Status, Failure> {
    let acts = acts::acts();
    if let Some(act) = arguments.act.filter(|act| !(1..=acts.len()).contains(act)) {
        return Err(Failure::new(
            format!("there is no act {act}"),
            format!("The demonstration has {} acts, counted from 1.", acts.len()),
        ));
    }
    let scratch = tempfile::Builder::new().prefix("xd-demo-").tempdir().map_err(scratch_failure)?;
    let mut failed = Vec::new();
    for (index, act) in acts.into_iter().enumerate() {
        let number = index + 1;
        if arguments.act.is_some_and(|only| only != number) {
            continue;
        }
        let folder = scratch.path().join(format!("act-{number}"));
        if let Err(why) = play(number, act, &folder, arguments.verbose, screen)? {
            failed.push(format!("act {number}: {why}"));
        }
    }
    keep(scratch, arguments.keep, screen);
    if failed.is_empty() {
        return Ok(Status::Done);
    }
    Err(Failure::new(
        format!("the demonstration did not end as it should: {}", failed.join("; ")),
        "Run it with --verbose --keep to see what happened; this is a fault of xd.",
    ))
}

/// Plays one act. The inner result says whether it ended as it should.
fn play(
    number: usize,
    act: Act,
    folder: &Path,
    verbose: bool,
    screen: &mut Screen,
) -> Result<Result<(), String>, Failure> {
    let before = Tree::sample();
    fs::create_dir(folder).map_err(scratch_failure)?;
    before.write(folder).map_err(scratch_failure)?;
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "act": number, "event": "act", "title": act.title }));
    } else {
        show::title(screen, number, act.title);
    }
    let happenings = perform(&act, folder)?;
    let events: Vec<Event> = happenings.iter().filter_map(Happening::event).cloned().collect();
    let after = Tree::read(folder).map_err(scratch_failure)?;
    let diff = before.diff(&after);
    let outcome = match (act.expect)(&events) {
        Ok(()) if after == act.end => Ok(()),
        Ok(()) => Err("the files are not what they should be".to_owned()),
        Err(why) => Err(why),
    };
    if screen.is_json() {
        for happening in &happenings {
            let mut line = json!({ "v": 1, "act": number });
            if let (Some(line), Value::Object(happening)) =
                (line.as_object_mut(), happening.to_json())
            {
                line.extend(happening);
            }
            screen.json(&line);
        }
        screen.json(&json!({ "v": 1, "act": number, "event": "disk", "diff": diff }));
        screen.json(&json!({ "v": 1, "act": number, "event": "act_ended", "ok": outcome.is_ok() }));
    } else {
        show::happenings(screen, &happenings, verbose);
        show::disk(screen, &diff);
    }
    Ok(outcome)
}

/// What happens in an act.
#[derive(Debug)]
enum Happening {
    /// The agent said or did something.
    Agent(Event),
    /// Somebody else changed a file.
    Meddled {
        /// The file.
        path: &'static str,
    },
}

impl Happening {
    /// The agent's event, if it is one.
    fn event(&self) -> Option<&Event> {
        match self {
            Self::Agent(event) => Some(event),
            Self::Meddled { .. } => None,
        }
    }

    /// It as JSON, with its kind in `event`.
    fn to_json(&self) -> Value {
        match self {
            Self::Agent(event) => json!(event),
            Self::Meddled { path } => json!({ "event": "meddled", "path": path }),
        }
    }
}

/// Runs the agent and collects what happens. What meddles does so once something is staged.
fn perform(act: &Act, folder: &Path) -> Result<Vec<Happening>, Failure> {
    let workspace = Workspace::open(folder).map_err(scratch_failure)?;
    let host =
        Host::builder(Arc::new(Session::new()), workspace).tool(AstEditTool::default()).build();
    let happenings = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&happenings);
    let mut meddle = act.meddle.clone().map(|(path, text)| (path, folder.join(path), text));
    let mut agent =
        Agent::new(ScriptedModel::new(act.script.clone()), Arc::new(host)).on_event(move |event| {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(Happening::Agent(event.clone()));
            if let Event::Result { result, .. } = event
                && !result.is_error
                && let Some((path, file, text)) = meddle.take()
                // Where it fails nothing has happened: the act then ends otherwise than it should.
                && fs::write(file, text).is_ok()
            {
                heard.push(Happening::Meddled { path });
            }
        });
    block_on(agent.prompt(act.prompt))?
        .map_err(|error| Failure::new(error, "This is a fault of xd; run it with XD_LOG=debug."))?;
    drop(agent);
    let mut happenings = happenings.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *happenings))
}

fn keep(scratch: TempDir, keep: bool, screen: &mut Screen) {
    if !keep {
        return;
    }
    let path: PathBuf = scratch.keep();
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "event": "kept", "path": path }));
    } else {
        screen.text(&format!("\nThe scratch copies are in {}", path.display()));
    }
}

fn scratch_failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(
        format!("the scratch copy: {error}"),
        "Set TMPDIR to a folder that can be written.",
    )
}
