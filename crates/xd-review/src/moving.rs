//! Folding, the cursor, searching, and what of the document is on the screen.

use std::collections::BTreeSet;

use xd_render::Break;

use crate::{
    Review,
    review::{ScreenLine, Told},
    rows::{Place, Row, rows},
};

impl Review {
    /// Folds, unfolds, or does the other of both at the cursor.
    pub(crate) fn fold(&mut self, wanted: Option<bool>) {
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

    pub(crate) fn fold_all(&mut self) {
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
    pub(crate) fn scroll(&mut self, by: isize) {
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

    pub(crate) fn jump(&mut self, on: bool, is: impl Fn(Place) -> bool) {
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
    pub(crate) fn find(&mut self, on: bool) {
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
    pub(crate) fn go_to(&mut self, place: Option<Place>) {
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

    pub(crate) fn set_cursor(&mut self, row: usize) {
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

    pub(crate) fn keep_in_view(&mut self) {
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
    pub(crate) fn show_below(&mut self, row: usize) {
        let height = self.body_height().max(1);
        let first = self.lines.partition_point(|line| line.row < row);
        if first + height / 2 > self.top + height {
            self.top = first.saturating_sub(height / 4);
        }
        self.keep_in_view();
    }

    /// Makes rows and lines anew, and notes what is unfolded now.
    pub(crate) fn lay_out(&mut self) {
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
}
