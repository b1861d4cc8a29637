//! The conversation on a terminal: prompts, commands behind a slash, Ctrl-C.

use std::path::PathBuf;

use tokio::signal::unix::Signal;
use xd_agent::Stop;
use xd_protocol::{Reason, Selection, StageNumber, Verdict};
use xd_render::{Line, Role, draw_preview};
use xd_resolve::{ActionState, Decider, PlanMode};

use super::{
    desk::Notices,
    front::{Front, Manner},
    person::{Typed, decide},
    run::{self, Ended},
    seat::Seat,
    show::Show,
};
use crate::{
    arguments::number_and_reason,
    command::preview,
    failure::{Failure, Status},
};

/// The history of prompts, in the workspace.
const HISTORY: &str = ".xd/history";

const HELP: &str = "\
/status            what is pending
/show [N]          the whole preview of a staged action; without a number, of the last
/resolve [N] WHY   apply a staged action
/reject [N] WHY    discard one
/plan              turn plan mode on or off
/help              this list
/quit              leave; xd agent --resume goes on
Ctrl-C cancels what runs, twice leaves. Everything else is said to the model.";

/// Holds the conversation until the person leaves.
pub(crate) async fn hold(
    seat: &mut Seat,
    first: Option<String>,
    notices: &mut Notices,
    interrupts: &mut Signal,
    front: &mut Front<'_>,
) -> Result<Status, Failure> {
    let history: PathBuf = seat.host.workspace().path().join(HISTORY);
    if let Some(person) = &mut front.person {
        person.remember(&history);
    }
    greet(seat, front);
    let mut dialogue = Dialogue { leaving: false };
    let mut next = first;
    loop {
        let line = match next.take() {
            Some(line) => line,
            None => match dialogue.read(seat, front, &history) {
                Ok(line) => line,
                Err(status) => return Ok(status),
            },
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(command) = line.strip_prefix('/') {
            if dialogue.command(command, seat, front).await {
                return Ok(Status::Done);
            }
            continue;
        }
        let prompt = seat.told.with_news(line);
        front.manner = Manner::Whole(Box::new(Show::new()));
        let ended = run::prompt(&mut seat.agent, prompt, notices, interrupts, front).await;
        seat.told.all();
        match ended {
            Ok(Ended::Stopped(stop)) => {
                // Who pressed Ctrl-C once for this leaves with the next one.
                dialogue.leaving = stop == Stop::Aborted;
                if let Some(words) = run::ending(stop, &seat.name) {
                    front.screen.lines(&[Line::of(&words, Role::Warning)]);
                }
            }
            Ok(Ended::Left) => return Ok(Status::Aborted),
            // The conversation goes on: the next prompt may be well.
            Err(error) => {
                front.screen.fail(&run::failure(&error, &seat.name));
            }
        }
    }
}

fn greet(seat: &Seat, front: &mut Front<'_>) {
    let pending = seat.host.session().actions().pending_count();
    let messages = match seat.messages {
        0 => String::new(),
        n => format!(", {n} messages"),
    };
    let pending = match pending {
        0 => String::new(),
        n => format!(", {n} pending"),
    };
    let model = xd_agent::Model::id(seat.agent.model()).to_owned();
    let words =
        format!("{model}, session {}{messages}{pending}. /help tells the commands.", seat.name);
    front.screen.lines(&[Line::of(&xd_render::clean_line(&words), Role::Muted)]);
}

struct Dialogue {
    /// Whether Ctrl-C was pressed once, and nothing typed since.
    leaving: bool,
}

impl Dialogue {
    /// Reads the next line; how the conversation ends where the person leaves.
    fn read(
        &mut self,
        seat: &Seat,
        front: &mut Front<'_>,
        history: &std::path::Path,
    ) -> Result<String, Status> {
        loop {
            let prompt = prompt_of(seat);
            let person = front.person.as_mut().ok_or(Status::Done)?;
            match person.line(&prompt, "") {
                Typed::Line(line) => {
                    self.leaving = false;
                    if !line.trim().is_empty() {
                        person.keep(&line, history);
                    }
                    return Ok(line);
                }
                Typed::Interrupted if !self.leaving => {
                    self.leaving = true;
                    front.screen.text("Ctrl-C again leaves; so do Ctrl-D and /quit.");
                }
                Typed::Interrupted => return Err(Status::Aborted),
                Typed::Ended => return Err(Status::Done),
            }
        }
    }

    /// Carries a command out. True where the person leaves.
    async fn command(&mut self, command: &str, seat: &mut Seat, front: &mut Front<'_>) -> bool {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match word {
            "quit" | "exit" | "q" => return true,
            "help" | "?" => front.screen.text(HELP),
            "status" => status(seat, front),
            "show" => show(rest, seat, front),
            "plan" => plan(seat, front),
            "resolve" => decide_here(Verdict::Apply, rest, seat, front).await,
            "reject" => decide_here(Verdict::Discard, rest, seat, front).await,
            _ => front.screen.text(&format!("There is no command /{word}.\n{HELP}")),
        }
        false
    }
}

/// `/resolve` and `/reject`.
async fn decide_here(verdict: Verdict, rest: &str, seat: &Seat, front: &mut Front<'_>) {
    let words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
    let (number, reason) = match number_and_reason(&words) {
        Ok(said) => said,
        Err(error) => {
            return front.screen.text(&format!("{error}. /status lists the numbers."));
        }
    };
    if let Err(fault) = Reason::new(&reason) {
        return front.screen.text(&fault.to_string());
    }
    let head = seat.host.session().actions().head().map(|head| head.number());
    let Some(number) = number.and_then(StageNumber::new).or(head) else {
        return front.screen.text("Nothing is pending.");
    };
    decide(&seat.host, verdict, Selection::Numbered(number), &reason, front.screen).await;
}

/// `xd plan @2 @1> `: plan mode and what is pending, the last first.
fn prompt_of(seat: &Seat) -> String {
    /// How many numbers are named.
    const NAMED: usize = 4;
    let session = seat.host.session();
    let mut prompt = "xd".to_owned();
    if session.plan_mode() == PlanMode::On {
        prompt.push_str(" plan");
    }
    let pending = session.actions().pending();
    for action in pending.iter().take(NAMED) {
        prompt.push_str(&format!(" @{}", action.number()));
    }
    if pending.len() > NAMED {
        prompt.push_str(&format!(" +{}", pending.len() - NAMED));
    }
    prompt.push_str("> ");
    prompt
}

fn status(seat: &Seat, front: &mut Front<'_>) {
    let pending = seat.host.session().actions().pending();
    let mode = match seat.host.session().plan_mode() {
        PlanMode::On => " Plan mode is on.",
        PlanMode::Off => "",
    };
    let count = match pending.len() {
        0 => "Nothing is pending.".to_owned(),
        1 => "1 staged action is pending.".to_owned(),
        n => format!("{n} staged actions are pending, the last first."),
    };
    front.screen.text(&format!("{count}{mode}"));
    for action in pending {
        let mut line = Line::of(&format!("  @{}  ", action.number()), Role::Title);
        line.add(action.label(), Role::Text);
        front.screen.lines(&[line]);
        let files = action.change_set().map(|set| set.files()).unwrap_or_default();
        let lines = preview::files(&files, "      ", front.screen.options());
        front.screen.lines(&lines);
        let root = seat.host.workspace().root();
        if let Some(stale) = action.change_set().and_then(|set| set.check(root).err()) {
            for part in stale.to_string().lines() {
                front.screen.lines(&[Line::of(&format!("      {part}"), Role::Error)]);
            }
        }
    }
}

fn show(rest: &str, seat: &Seat, front: &mut Front<'_>) {
    let actions = seat.host.session().actions();
    let found = match rest {
        "" => actions.head().map(|head| (head, ActionState::Pending)),
        number => match crate::arguments::number(number) {
            Ok(number) => StageNumber::new(number).and_then(|number| actions.get(number)),
            Err(fault) => return front.screen.text(&fault),
        },
    };
    let Some((action, state)) = found else {
        return front.screen.text("There is no such staged action; /status lists what is pending.");
    };
    let drawing =
        xd_render::Preview { state: preview::state(state), ..preview::of(&action, None, None) };
    let options = front.screen.whole();
    draw_preview(&drawing, &options, &mut |lines| front.screen.lines(&lines));
}

fn plan(seat: &Seat, front: &mut Front<'_>) {
    let why = "The person asked for it.";
    let said = match seat.host.session().plan_mode() {
        PlanMode::On => {
            seat.host.leave_plan(Decider::Person, why);
            "Plan mode is off.".to_owned()
        }
        PlanMode::Off => match seat.host.enter_plan(Decider::Person, why) {
            Ok(_) => "Plan mode is on: nothing changes until a plan is approved.".to_owned(),
            Err(error) => error.to_string(),
        },
    };
    front.screen.text(&said);
}
