//! The rows of the document: actions, their files, hunks and lines, as far as they are unfolded.

use std::collections::BTreeSet;

use xd_changeset::{DiffLine, FileDiff, Hunk, LineTag, Verb};
use xd_protocol::StageNumber;
use xd_render::{Line, Role, Span, Style};

use crate::item::{File, Item};

/// A place in what is pending. Files and hunks by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The heading of an action.
    Item(StageNumber),
    /// A line of its text.
    Text(StageNumber, usize),
    /// The heading of a file.
    File(StageNumber, usize),
    /// The heading of a hunk.
    Hunk(StageNumber, usize, usize),
    /// A line of a hunk.
    Line(StageNumber, usize, usize, usize),
}

impl Place {
    pub(crate) fn number(self) -> StageNumber {
        match self {
            Self::Item(number)
            | Self::Text(number, _)
            | Self::File(number, _)
            | Self::Hunk(number, _, _)
            | Self::Line(number, _, _, _) => number,
        }
    }

    pub(crate) fn file(self) -> Option<usize> {
        match self {
            Self::Item(_) | Self::Text(..) => None,
            Self::File(_, file) | Self::Hunk(_, file, _) | Self::Line(_, file, _, _) => Some(file),
        }
    }

    /// The heading that it stands under, itself where it is one: what folds there.
    pub(crate) fn heading(self) -> Self {
        match self {
            Self::Text(number, _) => Self::Item(number),
            Self::Line(number, file, hunk, _) => Self::Hunk(number, file, hunk),
            heading @ (Self::Item(_) | Self::File(..) | Self::Hunk(..)) => heading,
        }
    }

    /// The heading one level up.
    pub(crate) fn above(self) -> Self {
        match self {
            Self::Item(number) | Self::Text(number, _) | Self::File(number, _) => {
                Self::Item(number)
            }
            Self::Hunk(number, file, _) => Self::File(number, file),
            Self::Line(number, file, hunk, _) => Self::Hunk(number, file, hunk),
        }
    }
}

/// A row: where it is and what it shows.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) place: Place,
    pub(crate) line: Line,
}

/// The rows of `items`; below a folded heading there are none. Everything is unfolded with an empty
/// set.
pub(crate) fn rows(items: &[Item], folded: &BTreeSet<Place>) -> Vec<Row> {
    let mut rows = Vec::new();
    for item in items {
        let place = Place::Item(item.number);
        let open = !folded.contains(&place);
        rows.push(Row { place, line: item_line(item, open) });
        if !open {
            continue;
        }
        let stale = item.stale.iter().flat_map(|why| why.lines());
        let stale = stale.map(|text| (text, Role::Error));
        let text = item.text.iter().map(|text| (text.as_str(), Role::Muted));
        for (at, (text, role)) in stale.chain(text).enumerate() {
            let line = Line::of(&format!("  {text}"), role);
            rows.push(Row { place: Place::Text(item.number, at), line });
        }
        for (at, file) in item.files.iter().enumerate() {
            let place = Place::File(item.number, at);
            let open = !folded.contains(&place);
            rows.push(Row { place, line: file_line(file, open) });
            if open {
                hunk_rows(item.number, at, &file.diff, folded, &mut rows);
            }
        }
    }
    rows
}

fn hunk_rows(
    number: StageNumber,
    file: usize,
    diff: &FileDiff,
    folded: &BTreeSet<Place>,
    rows: &mut Vec<Row>,
) {
    let crlf = is_crlf(diff);
    for (at, hunk) in diff.hunks.iter().enumerate() {
        let place = Place::Hunk(number, file, at);
        let open = !folded.contains(&place);
        let count = (at + 1, diff.hunks.len());
        rows.push(Row { place, line: hunk_line(hunk, count, open) });
        if open {
            let wide = hunk.old_start.max(hunk.new_start) + hunk.lines.len();
            let digits = wide.to_string().len();
            for (n, line) in hunk.lines.iter().enumerate() {
                let place = Place::Line(number, file, at, n);
                rows.push(Row { place, line: diff_line(line, digits, crlf) });
            }
        }
    }
}

fn sign(open: bool) -> &'static str {
    if open { "- " } else { "+ " }
}

fn item_line(item: &Item, open: bool) -> Line {
    let mut line = Line::of(sign(open), Role::Muted);
    line.push(Span::new(&format!("@{} ", item.number), Style::new(Role::Title).bold()));
    if item.stale.is_some() {
        line.push(Span::new("STALE ", Style::new(Role::Error).bold()));
    }
    line.push(Span::new(&item.label, Style::new(Role::Title).bold()));
    line.add(&format!("  [{}]", item.source), Role::Muted);
    if !item.files.is_empty() {
        let files = if item.files.len() == 1 { "file" } else { "files" };
        line.add(&format!("  {} {files} ", item.files.len()), Role::Muted);
        let (added, removed) = item.counts();
        line.extend(counts(added, removed));
    }
    line
}

fn file_line(file: &File, open: bool) -> Line {
    let diff = &file.diff;
    let mut line = Line::of(&format!("  {}", sign(open)), Role::Muted);
    let verb = match diff.verb {
        Verb::Edit | Verb::Replace => None,
        Verb::Create | Verb::Delete | Verb::Move | Verb::SetMode => Some(diff.verb.to_string()),
    };
    if let Some(verb) = verb {
        line.add(&format!("{verb} "), Role::Warning);
    }
    if let Some(source) = &diff.source {
        line.add(&format!("{source} -> "), Role::Path);
    }
    line.push(Span::new(diff.path.as_ref(), Style::new(Role::Path).bold()));
    line.add("  ", Role::Text);
    if diff.binary {
        let text = format!("binary, {} -> {} bytes", diff.old_len, diff.new_len);
        line.add(&text, Role::Muted);
    } else {
        line.extend(counts(diff.added, diff.removed));
    }
    if is_crlf(diff) {
        line.add("  CRLF", Role::Muted);
    }
    if let (Some(old), Some(new)) = (diff.old_mode, diff.new_mode)
        && old != new
    {
        line.add(&format!("  mode {old:o} -> {new:o}"), Role::Warning);
    }
    line
}

fn counts(added: usize, removed: usize) -> Line {
    let mut line = Line::of(&format!("+{added}"), Role::Added);
    line.add(&format!(" -{removed}"), Role::Removed);
    line
}

fn hunk_line(hunk: &Hunk, (at, of): (usize, usize), open: bool) -> Line {
    let (old, new) = ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines));
    let text =
        format!("    {}change {at} of {of}  -{},{} +{},{}", sign(open), old.0, old.1, new.0, new.1);
    Line::of(&text, Role::Hunk)
}

/// Whether every line that has an end has that of DOS: then it is said once, and not in each line.
fn is_crlf(diff: &FileDiff) -> bool {
    let mut ended = diff
        .hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| !line.missing_newline)
        .peekable();
    ended.peek().is_some() && ended.all(|line| line.text.ends_with('\r'))
}

fn diff_line(line: &DiffLine, digits: usize, crlf: bool) -> Line {
    let (sign, role) = match line.tag {
        LineTag::Context => (' ', Role::Text),
        LineTag::Removed => ('-', Role::Removed),
        LineTag::Added => ('+', Role::Added),
    };
    let number = line.new_number.or(line.old_number).unwrap_or_default();
    let mut drawn = Line::of(&format!("    {number:>digits$} "), Role::Muted);
    let text = match line.text.strip_suffix('\r') {
        Some(text) if crlf && !line.missing_newline => text,
        Some(_) | None => &line.text,
    };
    drawn.add(&format!("{sign}{text}"), role);
    if line.missing_newline {
        drawn.add("  (no line feed at the end)", Role::Muted);
    }
    drawn
}
