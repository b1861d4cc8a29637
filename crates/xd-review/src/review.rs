//! The reviewer as a state machine: keys and news in, effects out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use xd_changeset::{Pick, RelPath};
use xd_protocol::{Reason, StageNumber, Verdict};
use xd_render::{Cells, Line};

use crate::{
    Decision, Effect, Event, Item, Key, Undoable,
    item::File,
    prompt::{Prompt, Typed},
    rows::{Place, Row},
};

/// What a key means just now.
#[derive(Debug, Clone)]
pub(crate) enum Mode {
    /// Moving about.
    Browse,
    /// Reading the keys, from this line on.
    Help(usize),
    /// Typing what to look for.
    Search(Prompt),
    /// Typing the reason of a decision.
    Reason { target: Target, verdict: Verdict, prompt: Prompt },
    /// Asked whether to undo.
    Undo(Undoable),
}

/// What a decision would be about: all of an action, a file, or a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Whole(StageNumber),
    File(StageNumber, usize),
    Hunk(StageNumber, usize, usize),
}

impl Target {
    fn number(self) -> StageNumber {
        match self {
            Self::Whole(number) | Self::File(number, _) | Self::Hunk(number, _, _) => number,
        }
    }
}

/// The last thing said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Nothing,
    Done(String),
    Failed(String),
}

/// A line of the screen: the row that it belongs to, and what it shows.
#[derive(Debug, Clone)]
pub(crate) struct ScreenLine {
    pub(crate) row: usize,
    pub(crate) line: Line,
}

/// The reviewer: what is pending, what of it is unfolded, where the cursor is, what is being typed.
///
/// It does nothing itself. [`update`](Self::update) takes what happened and answers what is to be
/// done.
#[derive(Debug, Clone)]
pub struct Review {
    pub(crate) items: Vec<Item>,
    pub(crate) undoable: Option<Undoable>,
    pub(crate) folded: BTreeSet<Place>,
    /// The files, and actions without one, that were unfolded as they are now.
    pub(crate) looked: BTreeSet<Place>,
    pub(crate) rows: Vec<Row>,
    pub(crate) lines: Vec<ScreenLine>,
    /// The row of the cursor.
    pub(crate) cursor: usize,
    /// The first line of the document on the screen.
    pub(crate) top: usize,
    pub(crate) mode: Mode,
    pub(crate) told: Told,
    pub(crate) search: String,
    pub(crate) size: (u16, u16),
    pub(crate) cells: Cells,
}

impl Review {
    /// One of nothing yet, on a screen of so many columns and rows.
    #[must_use]
    pub fn new(columns: u16, rows: u16) -> Self {
        Self {
            items: Vec::new(),
            undoable: None,
            folded: BTreeSet::new(),
            looked: BTreeSet::new(),
            rows: Vec::new(),
            lines: Vec::new(),
            cursor: 0,
            top: 0,
            mode: Mode::Browse,
            told: Told::Nothing,
            search: String::new(),
            size: (columns, rows),
            cells: Cells::default(),
        }
    }

    /// Takes what happened. Answers what is to be done outside, at most one thing.
    pub fn update(&mut self, event: Event) -> Option<Effect> {
        match event {
            Event::Key(key) => return self.key(key),
            Event::Paste(text) => match &mut self.mode {
                Mode::Search(prompt) | Mode::Reason { prompt, .. } => prompt.paste(&text),
                Mode::Browse | Mode::Help(_) | Mode::Undo(_) => {}
            },
            Event::Resize(columns, rows) => {
                self.size = (columns, rows);
                self.lay_out();
            }
            Event::Pending { items, undoable } => self.pending(items, undoable),
            Event::Show(number) => {
                self.folded.remove(&Place::Item(number));
                self.lay_out();
                self.go_to(Some(Place::Item(number)));
                self.show_below(self.cursor);
            }
            Event::Done(text) => self.told = Told::Done(text),
            Event::Failed(text) => self.told = Told::Failed(text),
        }
        None
    }

    /// Takes the place of what was pending. What is as it was keeps its folds, its being looked at
    /// and the cursor; of what changed nothing counts as seen (**Invariant K1**).
    fn pending(&mut self, items: Vec<Item>, undoable: Option<Undoable>) {
        let first = self.rows.is_empty();
        let cursor = self.place();
        let same = |number: StageNumber| {
            let find = |items: &[Item]| items.iter().find(|i| i.number == number).cloned();
            matches!((find(&self.items), find(&items)), (Some(a), Some(b)) if a.is_same(&b))
        };
        self.looked.retain(|place| same(place.number()));
        self.folded.retain(|place| same(place.number()));
        let known: BTreeSet<_> = self.items.iter().map(|item| item.number).collect();
        let changed = match &self.mode {
            Mode::Reason { target, .. } if !same(target.number()) => Some(target.number()),
            Mode::Reason { .. }
            | Mode::Browse
            | Mode::Help(_)
            | Mode::Search(_)
            | Mode::Undo(_) => None,
        };
        if let Some(number) = changed {
            let is_there = items.iter().any(|item| item.number == number);
            let what = if is_there { "changed" } else { "was decided" };
            self.mode = Mode::Browse;
            self.told = Told::Failed(format!("@{number} {what} meanwhile; nothing was done."));
        }
        if let Mode::Undo(asked) = &self.mode
            && undoable.as_ref() != Some(asked)
        {
            self.mode = Mode::Browse;
            self.told = Told::Failed("Something else was done meanwhile; look again.".to_owned());
        }
        // All but the newest begins folded: that is the list.
        for (at, item) in items.iter().enumerate() {
            let begins_open = first && at == 0;
            if !known.contains(&item.number) && !begins_open {
                self.folded.insert(Place::Item(item.number));
            }
        }
        (self.items, self.undoable) = (items, undoable);
        self.lay_out();
        self.go_to(cursor);
    }

    fn key(&mut self, key: Key) -> Option<Effect> {
        match (&mut self.mode, key) {
            (_, Key::Ctrl('z')) => return Some(Effect::Suspend),
            (_, Key::Ctrl('l')) => return Some(Effect::Redraw),
            (Mode::Browse, key) => return self.browse(key),
            (Mode::Help(from), key) => match key {
                Key::Down | Key::Char('j' | ' ') | Key::PageDown => *from += 1,
                Key::Up | Key::Char('k' | 'b') | Key::PageUp => *from = from.saturating_sub(1),
                Key::Ctrl('c') => return Some(Effect::Quit),
                _ => self.mode = Mode::Browse,
            },
            (Mode::Search(prompt), key) => match prompt.key(key) {
                Typed::More => {}
                Typed::Leave => self.mode = Mode::Browse,
                Typed::Enter => {
                    if !prompt.text().is_empty() {
                        self.search = prompt.text().to_owned();
                    }
                    self.mode = Mode::Browse;
                    self.find(true);
                }
            },
            (Mode::Reason { prompt, .. }, key) => match prompt.key(key) {
                Typed::More => {}
                Typed::Leave => {
                    self.mode = Mode::Browse;
                    self.told = Told::Done("Nothing was decided.".to_owned());
                }
                Typed::Enter => return self.decide(),
            },
            (Mode::Undo(undoable), key) => {
                let number = undoable.number;
                self.mode = Mode::Browse;
                match key {
                    Key::Char('y') => return Some(Effect::Undo(number)),
                    _ => self.told = Told::Done("Nothing was undone.".to_owned()),
                }
            }
        }
        None
    }

    /// Ends the typing of a reason (**Invariant K2**).
    fn decide(&mut self) -> Option<Effect> {
        let Mode::Reason { target, verdict, prompt } = &self.mode else { return None };
        let reason = match Reason::new(prompt.text()) {
            Ok(reason) => reason.as_str().to_owned(),
            Err(fault) => {
                self.told = Told::Failed(fault.to_string());
                return None;
            }
        };
        let (target, verdict) = (*target, *verdict);
        let decision = Decision {
            number: target.number(),
            picks: self.picks(target),
            verdict,
            reason,
            shown: self.item(target.number()).and_then(|item| item.change_set.clone()),
        };
        self.mode = Mode::Browse;
        self.told = Told::Nothing;
        Some(Effect::Decide(decision))
    }

    fn browse(&mut self, key: Key) -> Option<Effect> {
        self.told = Told::Nothing;
        let page = self.body_height().saturating_sub(1).max(1);
        match key {
            Key::Char('q') | Key::Ctrl('c') => return Some(Effect::Quit),
            Key::Char('?') => self.mode = Mode::Help(0),
            Key::Char('/') => self.mode = Mode::Search(Prompt::default()),
            Key::Char('n') => self.find(true),
            Key::Char('N') => self.find(false),
            Key::Char('j') | Key::Down => self.scroll(1),
            Key::Char('k') | Key::Up => self.scroll(-1),
            Key::Char(' ') | Key::PageDown | Key::Ctrl('f' | 'd') => self.scroll(page as isize),
            Key::Char('b') | Key::PageUp | Key::Ctrl('b' | 'u') => self.scroll(-(page as isize)),
            Key::Char('g') | Key::Home => self.set_cursor(0),
            Key::Char('G') | Key::End => self.set_cursor(usize::MAX),
            Key::Char(']') => self.jump(true, |place| matches!(place, Place::Hunk(..))),
            Key::Char('[') => self.jump(false, |place| matches!(place, Place::Hunk(..))),
            Key::Char('}') => self.jump(true, |place| matches!(place, Place::File(..))),
            Key::Char('{') => self.jump(false, |place| matches!(place, Place::File(..))),
            Key::Tab => self.jump(true, |place| matches!(place, Place::Item(_))),
            Key::BackTab => self.jump(false, |place| matches!(place, Place::Item(_))),
            Key::Enter | Key::Char('o') => self.fold(None),
            Key::Left => self.fold(Some(true)),
            Key::Right => self.fold(Some(false)),
            Key::Char('z') => self.fold_all(),
            Key::Char('R') => return Some(Effect::Refresh),
            Key::Char('a') => self.ask(Verdict::Apply),
            Key::Char('r') => self.ask(Verdict::Discard),
            Key::Char('e') => return self.edit(),
            Key::Char('u') => match &self.undoable {
                Some(undoable) => self.mode = Mode::Undo(undoable.clone()),
                None => self.told = Told::Failed("Nothing is there to be undone.".to_owned()),
            },
            Key::Char(_) | Key::Ctrl(_) | Key::Esc | Key::Backspace => {}
        }
        None
    }

    /// Asks for the reason of a decision, once what it is about was unfolded (**Invariant K1**).
    fn ask(&mut self, verdict: Verdict) {
        let Some(target) = self.target() else {
            self.told = Told::Failed("Nothing is pending.".to_owned());
            return;
        };
        let unseen = match verdict {
            Verdict::Apply => self.unseen(target),
            Verdict::Discard => Vec::new(),
        };
        if !unseen.is_empty() {
            for place in unseen {
                self.unfold(place);
            }
            self.lay_out();
            let what = self.said(target);
            self.told = Told::Failed(format!("Unfolded: look at {what}, then press a again."));
            return;
        }
        self.mode = Mode::Reason { target, verdict, prompt: Prompt::default() };
    }

    /// What of the target was never unfolded as it is now.
    fn unseen(&self, target: Target) -> Vec<Place> {
        let number = target.number();
        let Some(item) = self.item(number) else { return Vec::new() };
        let places: Vec<Place> = match target {
            Target::Whole(_) if item.files.is_empty() => vec![Place::Item(number)],
            Target::Whole(_) => {
                let file = |(at, file): (usize, &File)| -> Vec<Place> {
                    match file.diff.hunks.len() {
                        0 => vec![Place::File(number, at)],
                        n => (0..n).map(|hunk| Place::Hunk(number, at, hunk)).collect(),
                    }
                };
                item.files.iter().enumerate().flat_map(file).collect()
            }
            Target::File(_, at) => match item.files.get(at).map_or(0, |f| f.diff.hunks.len()) {
                0 => vec![Place::File(number, at)],
                n => (0..n).map(|hunk| Place::Hunk(number, at, hunk)).collect(),
            },
            Target::Hunk(_, file, hunk) => vec![Place::Hunk(number, file, hunk)],
        };
        places.into_iter().filter(|place| !self.looked.contains(place)).collect()
    }

    pub(crate) fn unfold(&mut self, place: Place) {
        let mut place = place;
        loop {
            self.folded.remove(&place);
            if place == place.above() {
                return;
            }
            place = place.above();
        }
    }

    fn edit(&mut self) -> Option<Effect> {
        let place = self.place()?;
        let item = self.item(place.number())?;
        let only = if item.files.len() == 1 { Some(0) } else { None };
        let Some(at) = place.file().or(only) else {
            self.told = Told::Failed("Move to the file that is to be edited.".to_owned());
            return None;
        };
        let (file, shown) = (item.files.get(at)?, item.change_set.clone()?);
        if !file.edits {
            self.told = Told::Failed("There is no text to edit in what becomes of it.".to_owned());
            return None;
        }
        let path: RelPath = file.diff.path.clone();
        Some(Effect::Edit { number: item.number, path, shown })
    }

    /// What a decision would be about at the cursor.
    pub(crate) fn target(&self) -> Option<Target> {
        let place = self.place()?;
        let number = place.number();
        let item = self.item(number)?;
        let target = match place.heading() {
            Place::Item(_) | Place::Text(..) => Target::Whole(number),
            Place::File(_, file) => Target::File(number, file),
            Place::Hunk(_, file, hunk) | Place::Line(_, file, hunk, _) => {
                let divided = item.files.get(file).filter(|file| file.divides);
                match divided.is_some_and(|file| file.diff.hunks.len() > 1) {
                    true => Target::Hunk(number, file, hunk),
                    false => Target::File(number, file),
                }
            }
        };
        // The only file is the whole.
        Some(match target {
            Target::File(..) if item.files.len() == 1 => Target::Whole(number),
            target => target,
        })
    }

    fn picks(&self, target: Target) -> Option<BTreeMap<RelPath, Pick>> {
        let item = self.item(target.number())?;
        let path = |file: usize| item.files.get(file).map(|file| file.diff.path.clone());
        match target {
            Target::Whole(_) => None,
            Target::File(_, file) => Some(BTreeMap::from([(path(file)?, Pick::Whole)])),
            Target::Hunk(_, file, hunk) => {
                Some(BTreeMap::from([(path(file)?, Pick::Hunks([hunk + 1].into()))]))
            }
        }
    }

    /// The target in words.
    pub(crate) fn said(&self, target: Target) -> String {
        let number = target.number();
        let item = self.item(number);
        let path = |file: usize| {
            let file = item.and_then(|item| item.files.get(file));
            file.map(|file| file.diff.path.to_string()).unwrap_or_default()
        };
        match target {
            Target::Whole(_) => format!("all of @{number}"),
            Target::File(_, file) => format!("{} of @{number}", path(file)),
            Target::Hunk(_, file, hunk) => {
                format!("change {} of {} of @{number}", hunk + 1, path(file))
            }
        }
    }

    pub(crate) fn item(&self, number: StageNumber) -> Option<&Item> {
        self.items.iter().find(|item| item.number == number)
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.rows.get(self.cursor).map(|row| row.place)
    }

    /// The actions that are pending, newest first.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether `shown` is what action `number` was last shown as.
    #[must_use]
    pub fn shows(&self, number: StageNumber, shown: &Arc<xd_changeset::ChangeSet>) -> bool {
        let item = self.item(number).and_then(|item| item.change_set.as_ref());
        item.is_some_and(|set| Arc::ptr_eq(set, shown) || set == shown)
    }
}
