//! What the reviewer asks for, by the same doors as every other command.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use xd_changeset::{ChangeSet, Content, RelPath};
use xd_protocol::{Selection, StageNumber, Verdict};
use xd_resolve::{ActionState, Decider, StagedAction};
use xd_review::{Decision, Event, Item, Undoable};
use xd_write::{Direction, History, restage_edited};

use super::editing::Edited;
use crate::{
    arguments::{CommitArguments, SessionArgument},
    command::{block_on, decide, part, preview},
    failure::Failure,
    place::{Place, View},
    sessions::SessionName,
};

/// The workspace under review. Its lock is held while something is done, and not while somebody
/// looks.
pub(super) struct Desk {
    directory: PathBuf,
    session: SessionArgument,
    /// What was told last: numbers, labels and what is stale, and the end of the log.
    told: Option<Told>,
}

#[derive(PartialEq)]
struct Told {
    pending: Vec<(StageNumber, String, Option<String>)>,
    undoable: Option<Undoable>,
}

/// How long a decision waits for another process at work.
const PATIENCE: Duration = Duration::from_secs(3);

impl Desk {
    pub(super) fn new(directory: &Path, session: &SessionArgument) -> Self {
        Self { directory: directory.to_owned(), session: session.clone(), told: None }
    }

    /// What is pending now.
    pub(super) fn pending(&mut self) -> Result<Event, Failure> {
        let view = View::settle(&self.directory, SessionName::of(&self.session))?.0;
        Ok(self.of(&view))
    }

    /// The same, where it is something else than was told last.
    pub(super) fn news(&mut self) -> Result<Option<Event>, Failure> {
        let view = View::settle(&self.directory, SessionName::of(&self.session))?.0;
        if self.told.as_ref() == Some(&told(&view)) {
            return Ok(None);
        }
        Ok(Some(self.of(&view)))
    }

    fn of(&mut self, view: &View) -> Event {
        let told = told(view);
        let stale = |number: StageNumber| {
            told.pending.iter().find(|one| one.0 == number).and_then(|one| one.2.clone())
        };
        let items = view
            .actions()
            .pending()
            .iter()
            .map(|action| item(action, stale(action.number())))
            .collect();
        let undoable = told.undoable.clone();
        self.told = Some(told);
        Event::Pending { items, undoable }
    }

    /// Applies or discards, if what was shown still is what is pending.
    pub(super) fn decide(&mut self, decision: Decision) -> Result<Vec<Event>, Failure> {
        let done = self.decided(&decision);
        self.after(done)
    }

    fn decided(&self, decision: &Decision) -> Result<String, Failure> {
        let Decision { number, picks, verdict, reason, shown } = decision;
        let (number, verdict) = (*number, *verdict);
        let place = self.place()?;
        same(&place, number, shown.as_ref())?;
        if let Some(picks) = picks {
            return Ok(match part::decide(&place, verdict, (number, picks, reason))? {
                part::Decided::Part(decided) => part::said(&decided, verdict),
                part::Decided::Whole(text) => text,
            });
        }
        let selection = Selection::Numbered(number);
        let (_, result) = decide::confirm(&place, verdict, selection, reason)?;
        if result.is_error {
            let pending = Some(ActionState::Pending);
            return Err(decide::refusal(&place, verdict, number, pending, &result));
        }
        let said = result.content.first().cloned().unwrap_or_default();
        Ok(match verdict {
            Verdict::Apply => format!("@{number}: {said} u undoes it."),
            Verdict::Discard => format!("@{number}: {said}"),
        })
    }

    /// Puts an applied change back.
    pub(super) fn undo(&mut self, number: StageNumber) -> Result<Vec<Event>, Failure> {
        let done = self.undone(number);
        self.after(done)
    }

    fn undone(&self, number: StageNumber) -> Result<String, Failure> {
        let place = self.place()?;
        let target = (Direction::Undo, Some(number));
        let reason = "Undone in the review.";
        let actions = place.session.actions();
        let undo = place.state.undo(actions, &place.workspace, target, reason, Decider::Person);
        match block_on(undo)? {
            Ok(undone) => Ok(format!(
                "Undone: @{}, recorded as @{}; xd redo {} writes it again.",
                undone.change, undone.number, undone.change
            )),
            Err(error) => Err(Failure::new(error, "Nothing was written.")),
        }
    }

    /// What the file would become, as it was shown.
    pub(super) fn text_of(&self, path: &RelPath, shown: &ChangeSet) -> Result<Vec<u8>, String> {
        let change = shown.changes().iter().find(|change| change.path() == path);
        let after = change.and_then(|change| change.after());
        let after = after.ok_or_else(|| format!("'{path}' has no text to edit."))?;
        after
            .bytes()
            .map(|bytes| bytes.into_owned())
            .map_err(|error| format!("'{path}' cannot be read back: {error}."))
    }

    /// Stages what an editor left in place of the action.
    pub(super) fn edited(
        &mut self,
        number: StageNumber,
        path: &RelPath,
        shown: &Arc<ChangeSet>,
        edited: Edited,
    ) -> Result<Vec<Event>, Failure> {
        let mut staged = None;
        let done = match edited {
            Ok(None) => Ok("Nothing was changed.".to_owned()),
            Err(why) => Err(Failure::new(why, "")),
            Ok(Some(text)) => self.restaged(number, path, shown, text).map(|new| {
                staged = Some(new);
                format!("@{number} is @{new} now, as edited; look at it, then a accepts it.")
            }),
        };
        let mut events = self.after(done)?;
        events.splice(1..1, staged.map(Event::Show));
        Ok(events)
    }

    fn restaged(
        &self,
        number: StageNumber,
        path: &RelPath,
        shown: &Arc<ChangeSet>,
        text: Vec<u8>,
    ) -> Result<StageNumber, Failure> {
        let place = self.place()?;
        let action = same(&place, number, Some(shown))?;
        let actions = place.session.actions();
        let content = (path, Content::new(text));
        let staging = restage_edited(actions, &place.workspace, &action, content, Decider::Person);
        match block_on(staging)? {
            Ok(restaged) => Ok(restaged.staged.number()),
            Err(error) => Err(Failure::new(error, "Nothing was staged.")),
        }
    }

    fn place(&self) -> Result<Place, Failure> {
        Ok(Place::settle(&self.directory, &self.session, CommitArguments::default(), PATIENCE)?.0)
    }

    /// What is pending after something was done, then what came of it. Only where the state cannot
    /// be read at all the reviewer ends.
    fn after(&mut self, done: Result<String, Failure>) -> Result<Vec<Event>, Failure> {
        let pending = self.pending()?;
        let told = match done {
            Ok(text) => Event::Done(text),
            Err(Failure { what, hint }) => Event::Failed(format!("{what} {hint}")),
        };
        Ok(vec![pending, told])
    }
}

/// The pending action, if it still is what was shown: nothing is decided blindly.
fn same(
    place: &Place,
    number: StageNumber,
    shown: Option<&Arc<ChangeSet>>,
) -> Result<Arc<StagedAction>, Failure> {
    let found = place.session.actions().get(number);
    let Some((action, ActionState::Pending)) = found else {
        let state = found.map_or("unknown", |(_, state)| state.as_str());
        let what = format!("@{number} is {state} meanwhile; nothing was done.");
        return Err(Failure::new(what, "`xd log` says who decided it and why."));
    };
    if action.change_set() != shown {
        let what = format!("@{number} changed meanwhile; nothing was done.");
        return Err(Failure::new(what, "Look at it again."));
    }
    Ok(action)
}

fn told(view: &View) -> Told {
    let stale = |action: &StagedAction| {
        let set = action.change_set()?;
        set.check(view.workspace.root()).err().map(|stale| stale.to_string())
    };
    let pending = view.actions().pending();
    let pending = pending
        .iter()
        .map(|action| (action.number(), action.label().to_owned(), stale(action)))
        .collect();
    Told { pending, undoable: undoable(view) }
}

fn undoable(view: &View) -> Option<Undoable> {
    let log = view.state.as_ref()?.log().ok()?;
    let number = History::of(&log).target(Direction::Undo, None).ok()?.change;
    let label = view.actions().get(number)?.0.label().to_owned();
    Some(Undoable { number, label })
}

fn item(action: &StagedAction, stale: Option<String>) -> Item {
    let item = Item::new(action.number(), action.label(), action.source_tool_name());
    match action.change_set() {
        Some(set) => item
            .with_change_set(Arc::clone(set))
            .with_text(&preview::notes(action.details()).join("\n"))
            .with_stale(stale),
        None => item.with_text(&action.preview()),
    }
}
