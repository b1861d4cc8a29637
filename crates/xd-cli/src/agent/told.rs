//! What a person decided behind the model's back, for the model to hear of with the next prompt.

use std::{
    fs,
    path::{Path, PathBuf},
};

use xd_resolve::{Decider, Outcome};
use xd_write::{LogEvent, LogLine, StateFolder};

/// How many lines of the log the model knows of, in the session's folder.
const FILE: &str = "told";

/// What of a session's log its model knows: everything up to the last prompt's end. What a person
/// decides after that, here or with `xd resolve --session`, is said with the next prompt.
pub(crate) struct Told {
    state: StateFolder,
    path: PathBuf,
    lines: usize,
}

impl Told {
    /// What the model of the session in `folder` knows. `began` says whether it said anything yet;
    /// where nothing is kept of what it knows, it knows everything until now.
    pub(crate) fn open(state: StateFolder, folder: &Path, began: bool) -> Self {
        let path = folder.join(FILE);
        let kept = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        let mut told = Self { state, path, lines: kept.unwrap_or(0) };
        if kept.is_none() && began {
            told.lines = told.log().len();
        }
        told
    }

    /// `prompt`, with what the model does not know yet in front.
    pub(crate) fn with_news(&self, prompt: &str) -> String {
        let log = self.log();
        let news: Vec<String> = log.iter().skip(self.lines).filter_map(news).collect();
        match news.is_empty() {
            true => prompt.to_owned(),
            false => format!("{}\n\n{prompt}", news.join("\n")),
        }
    }

    /// The prompt has ended: everything until now is in the history. Where that cannot be kept, the
    /// model hears of it a second time.
    pub(crate) fn all(&mut self) {
        self.lines = self.log().len();
        let _ = fs::write(&self.path, format!("{}\n", self.lines));
    }

    /// A log that became unreadable since the run began tells nothing; whatever needs it says so.
    fn log(&self) -> Vec<LogLine> {
        self.state.log().unwrap_or_default()
    }
}

fn news(line: &LogLine) -> Option<String> {
    let LogEvent::Decided { number, label, reason, who: Decider::Person, outcome, .. } =
        &line.event
    else {
        return None;
    };
    let done = match outcome {
        Outcome::Applied => "applied",
        Outcome::Discarded => "discarded",
        Outcome::Failed { .. } | Outcome::Late { .. } | Outcome::Void | Outcome::Withdrawn => {
            return None;
        }
    };
    Some(format!("I {done} staged action @{number} ({label}) myself: {reason}"))
}
