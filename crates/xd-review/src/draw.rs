//! The reviewer drawn into a buffer of cells (**Invariant K3**).

use ratatui_core::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
};
use xd_protocol::Verdict;
use xd_render::{Break, Cells, Line, Role, Span, clean_line};

use crate::{
    KEYS, Review,
    review::{Mode, Told},
};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The sixteen colours that every terminal has.
    Colour,
    /// No colour: bold, dim and reversed text (`NO_COLOR`).
    Plain,
}

impl Look {
    fn of(self, style: xd_render::Style) -> Style {
        let (colour, modifier) = match style.role {
            Role::Text => (None, Modifier::empty()),
            Role::Muted => (None, Modifier::DIM),
            Role::Title => (None, Modifier::BOLD),
            Role::Success | Role::Added => (Some(Color::Green), Modifier::empty()),
            Role::Warning => (Some(Color::Yellow), Modifier::empty()),
            Role::Error | Role::Removed => (Some(Color::Red), Modifier::empty()),
            Role::AddedWord => (Some(Color::Green), Modifier::BOLD.union(Modifier::UNDERLINED)),
            Role::RemovedWord => (Some(Color::Red), Modifier::BOLD.union(Modifier::UNDERLINED)),
            Role::Hunk => (Some(Color::Cyan), Modifier::empty()),
            Role::Path => (Some(Color::Blue), Modifier::empty()),
        };
        let mut look = Style::new().add_modifier(modifier);
        if let (Self::Colour, Some(colour)) = (self, colour) {
            look = look.fg(colour);
        }
        for (on, modifier) in [
            (style.bold, Modifier::BOLD),
            (style.italic, Modifier::ITALIC),
            (style.inverse, Modifier::REVERSED),
        ] {
            if on {
                look = look.add_modifier(modifier);
            }
        }
        look
    }
}

/// Draws the reviewer over all of `buffer`, which should be of the size that the reviewer was last
/// told. At any size nothing is drawn outside. Answers where the terminal's cursor belongs while
/// text is typed.
pub fn draw(review: &Review, look: Look, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let area = buffer.area;
    buffer.reset();
    let mut canvas = Canvas { buffer, area, look };
    let height = usize::from(area.height);
    let body = review.body_height().min(height);
    let first = usize::from(height >= 6);
    if first == 1 {
        canvas.line(0, &title(review), Some(Modifier::REVERSED));
    }
    match &review.mode {
        Mode::Help(from) => help(review, *from, &mut canvas, first, body),
        Mode::Browse | Mode::Search(_) | Mode::Reason { .. } | Mode::Undo(_) => {
            document(review, &mut canvas, first, body);
        }
    }
    let mut cursor = None;
    if height >= 3 {
        cursor = status(review, &mut canvas, height - 2);
        canvas.line(height - 1, &keys(review, usize::from(area.width)), None);
    }
    cursor
}

/// How many rows a message may take.
const MESSAGE_ROWS: usize = 4;

struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    look: Look,
}

impl Canvas<'_> {
    /// Draws a line so that it ends at row `y`, over several rows where it is long.
    fn bottom(&mut self, y: usize, line: &Line, cells: &Cells) {
        let width = usize::from(self.area.width).max(1);
        let mut lines = line.wrap(width, Break::Words, cells);
        lines.truncate(MESSAGE_ROWS.min(y + 1));
        let first = y + 1 - lines.len();
        for (at, line) in lines.iter().enumerate() {
            self.line(first + at, &line.clone().pad(width, Role::Text, cells), None);
        }
    }

    /// Draws a line that fits at row `y`; `with` marks the whole row.
    fn line(&mut self, y: usize, line: &Line, with: Option<Modifier>) {
        let Ok(y) = u16::try_from(y) else { return };
        if y >= self.area.height {
            return;
        }
        let y = self.area.y + y;
        let end = self.area.right();
        let mut x = self.area.x;
        for span in line.spans() {
            if x >= end {
                break;
            }
            let room = usize::from(end - x);
            let style = self.look.of(span.style());
            (x, _) = self.buffer.set_stringn(x, y, span.text(), room, style);
        }
        if let Some(modifier) = with {
            let row = Rect::new(self.area.x, y, self.area.width, 1);
            self.buffer.set_style(row, Style::new().add_modifier(modifier));
        }
    }
}

fn title(review: &Review) -> Line {
    let width = usize::from(review.size.0);
    let count = match review.items.len() {
        0 => "nothing is pending".to_owned(),
        1 => "1 staged action is pending".to_owned(),
        n => format!("{n} staged actions are pending"),
    };
    let stale = review.items.iter().filter(|item| item.stale.is_some()).count();
    let stale = if stale > 0 { format!(", {stale} stale") } else { String::new() };
    let of = review.lines.len();
    let seen = (review.top + review.body_height()).min(of) * 100;
    let at = seen.checked_div(of).map(|at| format!("  {at}%")).unwrap_or_default();
    let text = format!(" xd review  {count}{stale}{at}");
    Line::of(&text, Role::Text).cut(width, &review.cells)
}

fn document(review: &Review, canvas: &mut Canvas<'_>, first: usize, body: usize) {
    if review.items.is_empty() {
        let text = "Nothing is pending. q quits, u undoes what was applied last.";
        canvas.line(first, &Line::of(text, Role::Text), None);
        return;
    }
    for (at, line) in review.lines.iter().skip(review.top).take(body).enumerate() {
        let marked = (line.row == review.cursor).then_some(Modifier::REVERSED);
        canvas.line(first + at, &line.line, marked);
    }
}

fn help(review: &Review, from: usize, canvas: &mut Canvas<'_>, first: usize, body: usize) {
    let width = usize::from(review.size.0).max(1);
    let lines: Vec<Line> = KEYS
        .iter()
        .flat_map(|key| {
            let mut line = Line::new();
            line.push(Span::new(&format!("{:<11}", key.keys), Role::Title));
            line.add(key.does, Role::Text);
            line.wrap(width, Break::Words, &review.cells)
        })
        .collect();
    let from = from.min(lines.len().saturating_sub(body));
    for (at, line) in lines.iter().skip(from).take(body).enumerate() {
        canvas.line(first + at, line, None);
    }
}

/// What is typed or said, or what a decision would be about. Answers where the cursor belongs.
fn status(review: &Review, canvas: &mut Canvas<'_>, y: usize) -> Option<(u16, u16)> {
    let width = usize::from(canvas.area.width);
    let cells = &review.cells;
    let typed = match &review.mode {
        Mode::Search(prompt) => Some(("Search: ".to_owned(), prompt)),
        Mode::Reason { verdict, target, prompt } => {
            let verb = match verdict {
                Verdict::Apply => "Accept",
                Verdict::Discard => "Reject",
            };
            Some((format!("{verb} {}, because: ", review.said(*target)), prompt))
        }
        Mode::Browse | Mode::Help(_) | Mode::Undo(_) => None,
    };
    if let Some((label, prompt)) = typed {
        if let Told::Failed(text) = &review.told
            && y > 1
        {
            canvas.bottom(y - 1, &Line::of(text, Role::Error), cells);
        }
        // The end of what is typed stays in view; half the line at least is for it.
        let label = clean_line(&label);
        let label = cells.cut(&label, width / 2).into_owned();
        let room = width.saturating_sub(cells.width(&label) + 1);
        let text = clean_line(prompt.text());
        let text = cells.cut_start(&text, room).into_owned();
        let mut line = Line::of(&label, Role::Title);
        line.add(&text, Role::Text);
        let x = line.width(cells).min(width.saturating_sub(1));
        canvas.line(y, &line, None);
        let column = canvas.area.x + u16::try_from(x).unwrap_or(0);
        return Some((column, canvas.area.y + u16::try_from(y).unwrap_or(0)));
    }
    let line = match (&review.mode, &review.told) {
        (Mode::Undo(undoable), _) => {
            let text = format!("Undo @{} ({})? y undoes it", undoable.number, undoable.label);
            Line::of(&text, Role::Warning)
        }
        (_, Told::Failed(text)) => Line::of(text, Role::Error),
        (_, Told::Done(text)) => Line::of(text, Role::Success),
        (_, Told::Nothing) => match review.target() {
            Some(target) => Line::of(&format!("Here: {}", review.said(target)), Role::Muted),
            None => Line::new(),
        },
    };
    canvas.bottom(y, &line, cells);
    None
}

/// The keys that fit, each whole.
fn keys(review: &Review, width: usize) -> Line {
    let entries: Vec<(&str, &str)> = match &review.mode {
        Mode::Browse => {
            KEYS.iter().filter_map(|key| key.word.map(|word| (key.keys, word))).collect()
        }
        Mode::Help(_) => vec![("?", "close"), ("j k", "scroll")],
        Mode::Search(_) => vec![("enter", "search"), ("esc", "leave")],
        Mode::Reason { .. } => vec![("enter", "decide"), ("esc", "leave"), ("ctrl-u", "clear")],
        Mode::Undo(_) => vec![("y", "undo"), ("n", "leave")],
    };
    let mut line = Line::new();
    for (key, word) in entries {
        let mut entry = Line::new();
        entry.push(Span::new(key, Role::Title));
        entry.add(&format!(" {word}  "), Role::Muted);
        if line.width(&review.cells) + entry.width(&review.cells) > width {
            break;
        }
        line.extend(entry);
    }
    line
}
