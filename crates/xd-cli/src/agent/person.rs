//! The person at the terminal: what they are asked, and what they type.

use std::{path::Path, sync::Arc};

use rustyline::{Config, DefaultEditor, error::ReadlineError};
use serde_json::json;
use xd_changeset::ChangeSet;
use xd_protocol::{Address, Confirm, Reason, Selection, Verdict, WRITE_TOOL, classify};
use xd_render::{CallView, Line, Phase, Preview, PreviewState, Renderers, Role, draw_preview};
use xd_resolve::{Decider, StagedAction, ToolCall};
use xd_session::{PlanAnswer, PlanReview};
use xd_write::{Approval, ApprovalRequest, Host};

use crate::{
    command::preview::{self, CONTEXT_LINES},
    failure::Failure,
    screen::Screen,
};

/// Who is at the terminal.
pub(crate) struct Person {
    editor: DefaultEditor,
}

/// What came of a question about a call.
pub(crate) enum Answered {
    /// It runs, or not.
    Approval(Approval),
    /// They cancel the run.
    Cancelled,
}

/// What was typed.
pub(crate) enum Typed {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Ended,
}

/// The most prompts that the history keeps.
const HISTORY: usize = 1_000;

impl Person {
    /// The person at this process' terminal.
    pub(crate) fn new() -> Result<Self, Failure> {
        let config = Config::builder().max_history_size(HISTORY);
        let config = config.and_then(|config| config.history_ignore_dups(true));
        let editor = config.and_then(|config| DefaultEditor::with_config(config.build()));
        let editor = editor.map_err(|error| {
            Failure::new(error, "The terminal cannot be used; -p PROMPT needs none.")
        })?;
        Ok(Self { editor })
    }

    /// Lets the person go back to what they typed in earlier runs. A history that cannot be read
    /// is an empty one.
    pub(crate) fn remember(&mut self, history: &Path) {
        let _ = self.editor.load_history(history);
    }

    /// Keeps `line` for later runs. That it could not be written costs nothing but the history.
    pub(crate) fn keep(&mut self, line: &str, history: &Path) {
        if self.editor.add_history_entry(line).is_ok_and(|added| added) {
            let _ = self.editor.save_history(history);
        }
    }

    /// Reads a line behind `prompt`, in which `initial` stands already.
    pub(crate) fn line(&mut self, prompt: &str, initial: &str) -> Typed {
        match self.editor.readline_with_initial(prompt, (initial, "")) {
            Ok(line) => Typed::Line(line),
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::Ended,
        }
    }

    /// Asks about a call, a confirm with its whole change in view (`CONTRACT W6`).
    pub(crate) fn ask(
        &mut self,
        request: &ApprovalRequest,
        host: &Arc<Host>,
        screen: &mut Screen,
    ) -> Answered {
        match &request.action {
            Some(action) => self.ask_to_apply(request, action, host, screen),
            None => self.ask_to_run(&request.call, host, screen),
        }
    }

    fn ask_to_apply(
        &mut self,
        request: &ApprovalRequest,
        action: &StagedAction,
        host: &Host,
        screen: &mut Screen,
    ) -> Answered {
        let stale = action.change_set().and_then(|set| set.check(host.workspace().root()).err());
        let drawing = preview::of(action, stale.map(|stale| stale.to_string()), None);
        let options = screen.whole();
        draw_preview(&drawing, &options, &mut |lines| screen.lines(&lines));
        let call = &request.call;
        let reason = call.str_argument("content").or_else(|| call.str_argument("reason"));
        let reason = reason.unwrap_or_default().trim();
        screen.text(&format!("The model's reason: {reason}"));
        let number = action.number();
        loop {
            let question = format!("Apply @{number}? [y]es, [n]o, [e]dit the reason: ");
            match self.choice(&question) {
                Choice::Word("y") => return Answered::Approval(Approval::Granted),
                Choice::Word("n") => return self.refusal(),
                Choice::Word("e") => match self.line("Your reason: ", reason) {
                    Typed::Line(own) if own.trim() == reason => {
                        return Answered::Approval(Approval::Granted);
                    }
                    Typed::Line(own) => match Reason::new(&own) {
                        Ok(_) => {
                            return Answered::Approval(Approval::GrantedBecause { reason: own });
                        }
                        Err(fault) => screen.text(&fault.to_string()),
                    },
                    Typed::Interrupted => return Answered::Cancelled,
                    Typed::Ended => {}
                },
                Choice::Word(_) => screen.text("Type y, n or e."),
                Choice::Ended => return refused(""),
                Choice::Interrupted => return Answered::Cancelled,
            }
        }
    }

    fn ask_to_run(&mut self, call: &ToolCall, host: &Host, screen: &mut Screen) -> Answered {
        let options = screen.whole();
        match file_change(call, host) {
            Some(preview) => draw_preview(&preview, &options, &mut |lines| screen.lines(&lines)),
            None => {
                let mut view = CallView::of(call);
                view.set_phase(Phase::Queued);
                screen.lines(view.lines(&options));
                // A command is shown whole: what is cut cannot be judged.
                if let Some(command) = call.str_argument("command") {
                    for line in command.lines() {
                        screen.text(&format!("  $ {line}"));
                    }
                }
            }
        }
        loop {
            let question = "Run it? [y]es, [n]o, [a]lways in this session: ";
            match self.choice(question) {
                Choice::Word("y") => return Answered::Approval(Approval::Granted),
                Choice::Word("a") => return Answered::Approval(Approval::GrantedForSession),
                Choice::Word("n") => return self.refusal(),
                Choice::Word(_) => screen.text("Type y, n or a."),
                Choice::Ended => return refused(""),
                Choice::Interrupted => return Answered::Cancelled,
            }
        }
    }

    /// Asks what the model is to hear of a refusal.
    fn refusal(&mut self) -> Answered {
        match self.line("What should the model know? ", "") {
            Typed::Line(words) => refused(words.trim()),
            Typed::Ended => refused(""),
            Typed::Interrupted => Answered::Cancelled,
        }
    }

    /// Shows a plan and asks about it. None where the person cancels the run instead.
    pub(crate) fn review(&mut self, review: PlanReview, screen: &mut Screen) -> Option<PlanAnswer> {
        screen.lines(&[Line::new(), Line::of(&format!("Plan {}", review.slug), Role::Title)]);
        screen.text(&review.text);
        loop {
            match self.choice("Carry it out? [y]es, [n]o, [l]ater: ") {
                Choice::Word("y") => return Some(PlanAnswer::Approved { text: review.text }),
                Choice::Word("l") | Choice::Ended => return Some(PlanAnswer::Dismissed),
                Choice::Word("n") => {
                    return match self.line("What should the model know? ", "") {
                        Typed::Line(words) => Some(PlanAnswer::Refused { words }),
                        Typed::Ended => Some(PlanAnswer::Refused { words: String::new() }),
                        Typed::Interrupted => None,
                    };
                }
                Choice::Word(_) => screen.text("Type y, n or l."),
                Choice::Interrupted => return None,
            }
        }
    }

    fn choice(&mut self, question: &str) -> Choice {
        match self.line(question, "") {
            Typed::Line(word) => match word.trim().to_lowercase().as_str() {
                "y" | "yes" => Choice::Word("y"),
                "n" | "no" => Choice::Word("n"),
                "e" | "edit" => Choice::Word("e"),
                "a" | "always" => Choice::Word("a"),
                "l" | "later" => Choice::Word("l"),
                _ => Choice::Word(""),
            },
            Typed::Interrupted => Choice::Interrupted,
            Typed::Ended => Choice::Ended,
        }
    }
}

enum Choice {
    /// One of the letters, or an empty text for anything else.
    Word(&'static str),
    Interrupted,
    Ended,
}

fn refused(words: &str) -> Answered {
    Answered::Approval(Approval::Refused { words: words.to_owned() })
}

/// Carries a person's decision out and prints what came of it. It takes the way of every confirm
/// but for the question, which the person has answered.
pub(crate) async fn decide(
    host: &Host,
    verdict: Verdict,
    selection: Selection,
    reason: &str,
    screen: &mut Screen,
) {
    let batch = host.session().actions().begin_batch();
    let confirm = Confirm { verdict, selection };
    let result = host.session().confirm(&batch, confirm, reason, Decider::Person).await;
    let path = match selection {
        Selection::Head => format!("xd://{}", verdict.device()),
        Selection::Numbered(number) => format!("xd://{}@{number}", verdict.device()),
    };
    let call = ToolCall::new("person", WRITE_TOOL, json!({ "path": path, "content": reason }));
    screen.lines(&Renderers::new().draw(&call, &result, screen.options()));
}

/// What a `write` would do to a file, as a preview; none for any other call, and where it cannot be
/// told.
fn file_change(call: &ToolCall, host: &Host) -> Option<Preview> {
    if call.name != WRITE_TOOL {
        return None;
    }
    let content = call.str_argument("content")?;
    let Address::Path(path) = classify(call.str_argument("path")?) else { return None };
    let root = host.workspace().root();
    let path = root.relative(path).ok()?;
    let bytes = content.as_bytes().to_vec();
    let change =
        ChangeSet::builder(root).put(&path, bytes, content.starts_with("#!")).build().ok()?;
    Some(Preview {
        number: None,
        label: Some(format!("Write: {path}")),
        source: Some(WRITE_TOOL.to_owned()),
        state: PreviewState::Pending,
        stale: None,
        text: change.unified(CONTEXT_LINES),
        see_all: None,
    })
}
