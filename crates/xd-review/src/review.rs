//! The reviewer as a state machine: keys and news in, effects out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use xd_changeset::{Pick, RelPath};
use xd_protocol::{Reason, StageNumber, Verdict};
use xd_render::{Break, Cells, Line};

use crate::{
    Decision, Effect, Event, Item, Key, Undoable,
    item::File,
    prompt::{Prompt, Typed},
    rows::{Place, Row, rows},
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
    folded: BTreeSet<Place>,
    /// The files, and actions without one, that were unfolded as they are now.
    looked: BTreeSet<Place>,
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
            if !known.contains(&item.number) && !(first && at == 0) {
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

    fn unfold(&mut self, place: Place) {
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

    /// Folds, unfolds, or does the other of both at the cursor.
    fn fold(&mut self, wanted: Option<bool>) {
        let Some(place) = self.place() else { return };
        let mut heading = place.heading();
        let is_folded = self.folded.contains(&heading);
        // What is folded folds what it is in.
        if wanted == Some(true) && is_folded {
            heading = heading.above();
        }
        if wanted.unwrap_or(!is_folded) {
            self.folded.insert(heading);
        } else {
            self.folded.remove(&heading);
        }
        self.lay_out();
        self.go_to(Some(heading));
    }

    fn fold_all(&mut self) {
        let place = self.place();
        if self.folded.is_empty() {
            self.folded = self.items.iter().map(|item| Place::Item(item.number)).collect();
        } else {
            self.folded.clear();
        }
        self.lay_out();
        self.go_to(place);
    }

    /// Moves the cursor by lines of the screen.
    fn scroll(&mut self, by: isize) {
        let line = self.lines.partition_point(|line| line.row < self.cursor);
        let mut to = line.saturating_add_signed(by).min(self.lines.len().saturating_sub(1));
        // A row of several lines is left by one step.
        while by == 1
            && self.lines.get(to).is_some_and(|line| line.row == self.cursor)
            && to + 1 < self.lines.len()
        {
            to += 1;
        }
        let row = self.lines.get(to).map_or(0, |line| line.row);
        // A row that is higher than the screen is scrolled through before it is left.
        if row == self.cursor && by > 0 {
            self.top = to.min(self.lines.len().saturating_sub(self.body_height()));
            return;
        }
        self.set_cursor(row);
    }

    fn jump(&mut self, on: bool, is: impl Fn(Place) -> bool) {
        let found = if on {
            let after = self.rows.iter().enumerate().skip(self.cursor + 1);
            after.filter(|(_, row)| is(row.place)).map(|(at, _)| at).next()
        } else {
            let before = self.rows.iter().enumerate().take(self.cursor);
            before.filter(|(_, row)| is(row.place)).map(|(at, _)| at).last()
        };
        match found {
            Some(row) => {
                self.set_cursor(row);
                self.show_below(row);
            }
            None => self.told = Told::Done("There is no further one.".to_owned()),
        }
    }

    /// Looks for what was searched, from the cursor on and around, in folded rows too.
    fn find(&mut self, on: bool) {
        if self.search.is_empty() {
            self.told = Told::Failed("Nothing was searched for yet; / does.".to_owned());
            return;
        }
        let all = rows(&self.items, &BTreeSet::new());
        let wanted = self.search.to_lowercase();
        let place = self.place();
        let at = all.iter().position(|row| Some(row.place) == place).unwrap_or(0);
        let count = all.len();
        let order = (1..=count).map(|step| match on {
            true => (at + step) % count,
            false => (at + count - step) % count,
        });
        let mut order = order;
        let found = order.find(|at| all[*at].line.text().to_lowercase().contains(&wanted));
        match found.and_then(|at| all.get(at)) {
            Some(row) => {
                self.unfold(row.place.above());
                self.lay_out();
                self.go_to(Some(row.place));
            }
            None => self.told = Told::Failed(format!("'{}' is nowhere.", self.search)),
        }
    }

    /// Puts the cursor to a place, or to the nearest that is still there.
    fn go_to(&mut self, place: Option<Place>) {
        let Some(place) = place else { return self.set_cursor(self.cursor) };
        let mut wanted = place;
        loop {
            if let Some(row) = self.rows.iter().position(|row| row.place == wanted) {
                return self.set_cursor(row);
            }
            if wanted == wanted.above() {
                break;
            }
            wanted = wanted.above();
        }
        self.set_cursor(self.cursor);
    }

    fn set_cursor(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        self.keep_in_view();
    }

    /// How many rows the document has on the screen.
    pub(crate) fn body_height(&self) -> usize {
        let rows = usize::from(self.size.1);
        match rows {
            0..=2 => rows,
            3..=5 => rows - 2,
            _ => rows - 3,
        }
    }

    fn keep_in_view(&mut self) {
        let height = self.body_height().max(1);
        let first = self.lines.partition_point(|line| line.row < self.cursor);
        let end = self.lines.partition_point(|line| line.row <= self.cursor);
        if first < self.top {
            self.top = first;
        } else if end > self.top + height {
            self.top = end.saturating_sub(height).min(first);
        }
        self.top = self.top.min(self.lines.len().saturating_sub(height.min(self.lines.len())));
    }

    /// Scrolls so that what stands below a heading is on the screen with it.
    fn show_below(&mut self, row: usize) {
        let height = self.body_height().max(1);
        let first = self.lines.partition_point(|line| line.row < row);
        if first + height / 2 > self.top + height {
            self.top = first.saturating_sub(height / 4);
        }
        self.keep_in_view();
    }

    /// Makes rows and lines anew, and notes what is unfolded now.
    fn lay_out(&mut self) {
        self.rows = rows(&self.items, &self.folded);
        let width = usize::from(self.size.0).max(1);
        self.lines = Vec::with_capacity(self.rows.len());
        for (row, line) in self.rows.iter().map(|row| &row.line).enumerate() {
            let lines = line.wrap(width, Break::Anywhere, &self.cells);
            self.lines.extend(lines.into_iter().map(|line| ScreenLine { row, line }));
        }
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        let open = |row: &Row| !self.folded.contains(&row.place);
        let looked: Vec<Place> =
            self.rows.iter().filter(|row| open(row)).map(|row| row.place).collect();
        let is_heading = |place: &Place| *place == place.heading();
        self.looked.extend(looked.into_iter().filter(is_heading));
        self.keep_in_view();
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
