//! What stands between a run and the person: it shows what happens and answers what is asked.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_agent::Event;
use xd_session::{PlanAnswer, PlanReview};
use xd_write::{Approval, ApprovalRequest, Host};

use super::{
    person::{Answered, Person},
    show::Show,
};
use crate::screen::Screen;

/// How a run is shown.
pub(crate) enum Manner {
    /// Every event, as JSON Lines.
    Json,
    /// Only the last word of the model.
    LastWord(String),
    /// Everything, as it comes.
    Whole(Box<Show>),
}

/// The front of one run.
pub(crate) struct Front<'s> {
    pub(crate) screen: &'s mut Screen,
    pub(crate) manner: Manner,
    /// Who is there; none without a terminal.
    pub(crate) person: Option<Person>,
    pub(crate) host: Arc<Host>,
    /// Whether it was said that a call would have needed a person.
    pub(crate) told: bool,
}

/// How a result begins where a person would have had to be asked and none is there.
const NOBODY: &str = "Not executed: refused: nobody is there to approve it";
/// What to do about it.
const UNATTENDED: &str = "a call needs a person's approval, and nobody is at a terminal; \
                          --approval write lets changes of files run unasked, --approval yolo \
                          everything";

impl Front<'_> {
    /// Something happened.
    pub(crate) fn event(&mut self, event: &Event) {
        self.draw(event);
        if let Event::Result { result, .. } = event
            && result.is_error
            && result.content.first().is_some_and(|text| text.starts_with(NOBODY))
            && !std::mem::replace(&mut self.told, true)
        {
            if self.screen.is_json() {
                let hint = json!({ "v": 1, "event": "unattended", "hint": UNATTENDED });
                self.screen.json(&hint);
            }
            self.screen.remark(&format!("xd: {UNATTENDED}."));
        }
    }

    fn draw(&mut self, event: &Event) {
        match &mut self.manner {
            Manner::Json => self.screen.json(&versioned(&json!(event))),
            Manner::LastWord(word) => match event {
                Event::Turn { .. } => word.clear(),
                Event::Text { text } => text.clone_into(word),
                _ => {}
            },
            Manner::Whole(show) => show.event(event, self.screen),
        }
    }

    /// Asks about a call. None where the person cancels the run instead.
    pub(crate) fn ask(&mut self, request: ApprovalRequest) -> Option<Approval> {
        // Without a person the policy asks nobody, and refuses by itself.
        let person = self.person.as_mut()?;
        if let Manner::Whole(show) = &mut self.manner {
            show.pause();
        }
        let answered = person.ask(&request, &self.host, self.screen);
        let approval = match answered {
            Answered::Approval(approval) => Some(approval),
            Answered::Cancelled => None,
        };
        if let Manner::Whole(show) = &mut self.manner {
            show.go_on();
        }
        approval
    }

    /// Asks about a plan. None where the person cancels the run instead.
    pub(crate) fn review(&mut self, review: PlanReview) -> Option<PlanAnswer> {
        let Some(person) = &mut self.person else {
            let name = &review.slug;
            self.screen.remark(&format!(
                "xd: the plan '{name}' waits for a person; `xd agent --resume` on a terminal reviews it."
            ));
            return Some(PlanAnswer::Dismissed);
        };
        if let Manner::Whole(show) = &mut self.manner {
            show.pause();
        }
        let answer = person.review(review, self.screen);
        if let Manner::Whole(show) = &mut self.manner {
            show.go_on();
        }
        answer
    }

    /// Ctrl-C was heard.
    pub(crate) fn cancelling(&mut self) {
        if let Manner::Whole(show) = &mut self.manner {
            show.cancelling();
        }
    }

    /// The run is over.
    pub(crate) fn ended(&mut self) {
        match &mut self.manner {
            Manner::Json | Manner::LastWord(_) => {}
            Manner::Whole(show) => show.ended(self.screen),
        }
    }
}

/// The same object with the version in front.
pub(crate) fn versioned(value: &Value) -> Value {
    let mut line = json!({ "v": 1 });
    if let (Some(line), Some(object)) = (line.as_object_mut(), value.as_object()) {
        line.extend(object.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    line
}
