//! What was left half done and settled, in words and as JSON.

use serde_json::{Value, json};
use xd_changeset::{Recovery, RecoveryOutcome};
use xd_resolve::ActionState;
use xd_write::{Restored, Settled};

/// What a command found half done when it began, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The interrupted commit.
    pub(crate) commit: Option<Recovery>,
    /// The actions whose end the log did not tell.
    pub(crate) actions: Vec<Settled>,
    /// Why something could not be settled.
    pub(crate) trouble: Option<String>,
}

impl Recovered {
    /// What a restart settled.
    pub(crate) fn of(restored: &Restored) -> Self {
        Self {
            commit: restored.recovered.clone(),
            actions: restored.settled.clone(),
            trouble: None,
        }
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.commit.is_none() && self.actions.is_empty() && self.trouble.is_none()
    }

    /// All of it in one line.
    pub(crate) fn line(&self) -> String {
        let commit = self.commit.iter().map(|commit| {
            let files = match commit.files.len() {
                0 => "change".to_owned(),
                1 => "change of 1 file".to_owned(),
                n => format!("change of {n} files"),
            };
            match commit.outcome {
                RecoveryOutcome::TakenBack => {
                    format!("an interrupted {files} was taken back, every file is as it was before")
                }
                RecoveryOutcome::Completed => format!("an interrupted {files} had been complete"),
                RecoveryOutcome::NotBegun => format!("an interrupted {files} had written nothing"),
            }
        });
        let actions = self.actions.iter().map(|settled| {
            format!("@{} is {}: {}", settled.number, word(settled.state), settled.why)
        });
        let settled: Vec<String> = commit.chain(actions).collect();
        let mut told = Vec::new();
        if !settled.is_empty() {
            told.push(format!("Settled: {}.", settled.join("; ").trim_end_matches('.')));
        }
        if let Some(why) = &self.trouble {
            told.push(format!("Not settled: {}.", why.trim_end_matches('.')));
        }
        told.join(" ")
    }

    /// The same for a program.
    pub(crate) fn json(&self) -> Value {
        let actions: Vec<Value> = self
            .actions
            .iter()
            .map(|settled| {
                let (number, state) = (settled.number.get(), word(settled.state));
                json!({ "number": number, "state": state, "why": settled.why })
            })
            .collect();
        json!({ "commit": self.commit, "actions": actions, "trouble": self.trouble })
    }
}

fn word(state: ActionState) -> &'static str {
    match state {
        ActionState::Pending => "pending again",
        ActionState::Taken(_) => "being resolved",
        ActionState::Applied => "applied",
        ActionState::Discarded => "discarded",
        ActionState::Void => "void",
        ActionState::Withdrawn => "withdrawn",
    }
}
