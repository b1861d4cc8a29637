//! Diffs laid out: gutters, word marks, a stated cut.

use std::ops::Range;

use crate::cells::Break;
use crate::clean::clean_line_at;
use crate::diff::{Diff, FileChange, FileDiff, Hunk, HunkLine, Mark, Part};
use crate::highlight::{Syntax, Token};
use crate::icon;
use crate::link::Link;
use crate::options::Options;
use crate::style::{Line, Role, Span, Style};
use crate::word_marks::word_marks;

/// The width from which on line numbers are drawn.
const GUTTER_FROM: usize = 60;

impl Diff {
    /// One line a file: its path, what happens to it, lines added and removed (case 109).
    #[must_use]
    pub fn summary(&self, options: &Options) -> Vec<Line> {
        let cells = &options.cells;
        let widest = self.files().map(|file| path_line(file, options).width(cells)).max();
        let column = widest.unwrap_or(0).min(options.columns().saturating_sub(16));
        self.files()
            .flat_map(|file| {
                let mut line = path_line(file, options).pad(column, Role::Text, cells);
                line.add("  ", Role::Text);
                line.extend(counts(file));
                line.wrap(options.columns(), Break::Words, cells)
            })
            .collect()
    }

    /// The diff as lines, at most [`Options::max_lines`] lines of hunks; what is cut is counted, and
    /// `see_all` (`xd show 3`) says how to see it (case 107).
    #[must_use]
    pub fn lines(&self, options: &Options, see_all: Option<&str>) -> Vec<Line> {
        let mut all = Vec::new();
        self.draw(options, see_all, &mut |lines| all.extend(lines));
        all
    }

    /// The same in pieces, a file at a time: a large diff need not be in memory as lines.
    pub fn draw(&self, options: &Options, see_all: Option<&str>, print: &mut dyn FnMut(Vec<Line>)) {
        let bound = options.max_lines.unwrap_or(usize::MAX);
        let total = self.line_count();
        let mut shown = 0;
        for part in &self.parts {
            let mut out = Vec::new();
            match part {
                Part::Note(text) => {
                    let line = Line::of(&clean_line_at(text, &options.cells), Role::Muted);
                    out.extend(line.wrap(options.columns(), Break::Words, &options.cells));
                }
                // A file without a line that fits would be a bare name; the cut counts it.
                Part::File(file) if shown < bound || file.hunks.is_empty() => {
                    out.extend(file_header(file, options));
                    for hunk in &file.hunks {
                        let room = bound - shown;
                        if room == 0 {
                            break;
                        }
                        shown += hunk.lines.len().min(room);
                        hunk_lines(&file.path, hunk, room, options, &mut out);
                    }
                }
                Part::File(_) => {}
            }
            print(out);
        }
        if shown < total {
            let mut text = format!("… {} of {total} lines not shown", total - shown);
            if let Some(see_all) = see_all {
                text.push_str(&format!("; all of it: {see_all}"));
            }
            let line = Line::of(&text, Role::Warning);
            print(line.wrap(options.columns(), Break::Words, &options.cells));
        }
    }
}

fn file_header(file: &FileDiff, options: &Options) -> Vec<Line> {
    let mut line = path_line(file, options);
    line.add("  ", Role::Text);
    line.extend(counts(file));
    if let Some(note) = &file.note {
        line.add(&format!("  {note}"), Role::Muted);
    }
    if file.crlf {
        line.add("  CRLF", Role::Muted);
    }
    line.wrap(options.columns(), Break::Words, &options.cells)
}

fn path_line(file: &FileDiff, options: &Options) -> Line {
    let link = options.link_root.as_ref().and_then(|root| Link::file(&root.join(&file.path)));
    let mut line = Line::new();
    line.push(Span::new(&file.path, Style::new(Role::Path).bold()).linked(link));
    match &file.change {
        FileChange::Edited => {}
        FileChange::Created => line.add(" (new)", Role::Added),
        FileChange::Deleted => line.add(" (deleted)", Role::Removed),
        FileChange::Moved { from } => line.add(&format!(" (moved from {from})"), Role::Warning),
    }
    if !file.facts.is_empty() {
        line.add(&format!(" ({})", file.facts.join(", ")), Role::Warning);
    }
    line
}

fn counts(file: &FileDiff) -> Line {
    let mut line = Line::of(&format!("+{}", file.added), Role::Added);
    line.add(" ", Role::Text);
    line.add(&format!("-{}", file.removed), Role::Removed);
    line
}

/// Appends the first `room` lines of a hunk of the file at `path`.
fn hunk_lines(path: &str, hunk: &Hunk, room: usize, options: &Options, out: &mut Vec<Line>) {
    let header = Line::of(&clean_line_at(&hunk.header, &options.cells), Role::Hunk);
    out.push(header.cut(options.columns(), &options.cells));
    let last = hunk.old_start.max(hunk.new_start).saturating_add(hunk.lines.len());
    let gutter = Gutter::new(last, options);
    let lines = &hunk.lines[..hunk.lines.len().min(room)];
    let texts: Vec<String> =
        lines.iter().map(|line| clean_line_at(&line.text, &options.cells)).collect();
    let tokens = tokens_of(path, lines, &texts, options);
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut at = 0;
    while at < lines.len() {
        // A change is a run of removed lines and the run of added lines behind it.
        let run =
            |from: usize, mark| lines[from..].iter().take_while(|line| line.mark == mark).count();
        let news_at = at + run(at, Mark::Removed);
        let end = news_at + run(news_at, Mark::Added);
        if end == at {
            gutter.put(new, &lines[at], &texts[at], &[], tokens[at].as_deref(), out);
            (old, new) = (old.saturating_add(1), new.saturating_add(1));
            at += 1;
            continue;
        }
        let [old_marks, new_marks] = marks_of(&texts[at..news_at], &texts[news_at..end]);
        for (i, marks) in (at..end).zip(old_marks.iter().chain(&new_marks)) {
            let number = if i < news_at { &mut old } else { &mut new };
            gutter.put(*number, &lines[i], &texts[i], marks, tokens[i].as_deref(), out);
            *number = number.saturating_add(1);
        }
        at = end;
    }
}

/// What each line of a hunk is made of, where somebody tells. Each side is asked about once, as it
/// reads without the other; what both have is told by the new one.
fn tokens_of(
    path: &str,
    lines: &[HunkLine],
    texts: &[String],
    options: &Options,
) -> Vec<Option<Vec<Token>>> {
    let mut tokens = vec![None; lines.len()];
    for (mark, other) in [(Mark::Removed, Mark::Added), (Mark::Added, Mark::Removed)] {
        let of_side: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].mark != other).collect();
        // The old side of a hunk that only adds has nothing of its own to draw.
        if mark == Mark::Removed && lines.iter().all(|line| line.mark != mark) {
            continue;
        }
        let side: Vec<&str> = of_side.iter().map(|i| texts[*i].as_str()).collect();
        let Some(told) = options.highlighting.lines(path, &side) else { return tokens };
        for (i, told) in of_side.into_iter().zip(told) {
            tokens[i] = Some(told);
        }
    }
    tokens
}

type Marks = Vec<Vec<Range<usize>>>;

/// The word marks of a change, line by line. As many lines on both sides are compared one to one;
/// otherwise the two runs as a whole, so that a call broken over lines still shows what changed.
fn marks_of(olds: &[String], news: &[String]) -> [Marks; 2] {
    let mut marks = [vec![Vec::new(); olds.len()], vec![Vec::new(); news.len()]];
    if olds.is_empty() || news.is_empty() {
        return marks;
    }
    if olds.len() == news.len() {
        for (i, (old, new)) in olds.iter().zip(news).enumerate() {
            if let Some([a, b]) = word_marks(old, new) {
                marks[0][i] = a;
                marks[1][i] = b;
            }
        }
    } else if let Some([a, b]) = word_marks(&olds.join("\n"), &news.join("\n")) {
        marks = [by_line(olds, &a), by_line(news, &b)];
        // A line that is new or gone as a whole says so by its sign.
        for (marks, lines) in marks.iter_mut().zip([olds, news]) {
            for (marks, line) in marks.iter_mut().zip(lines) {
                if marks.as_slice() == std::slice::from_ref(&(0..line.len())) {
                    marks.clear();
                }
            }
        }
    }
    marks
}

/// Ranges in the joined lines, as ranges in each line.
fn by_line(lines: &[String], ranges: &[Range<usize>]) -> Marks {
    let mut offset = 0;
    let mut next = 0;
    lines
        .iter()
        .map(|line| {
            let (start, end) = (offset, offset + line.len());
            offset = end + 1;
            let mut marks = Vec::new();
            while let Some(range) = ranges.get(next).filter(|range| range.start < end) {
                let (from, to) = (range.start.max(start), range.end.min(end));
                if from < to {
                    marks.push(from - start..to - start);
                }
                if range.end > end {
                    break;
                }
                next += 1;
            }
            marks
        })
        .collect()
}

/// The columns left of a line: its number, where there is room, and its mark.
struct Gutter<'a> {
    digits: usize,
    options: &'a Options,
}

impl<'a> Gutter<'a> {
    fn new(last: usize, options: &'a Options) -> Self {
        let digits = if options.columns() >= GUTTER_FROM { last.to_string().len() } else { 0 };
        Self { digits, options }
    }

    /// Appends one line of a hunk, wrapped under its own gutter. Nothing of it is dropped.
    fn put(
        &self,
        number: usize,
        line: &HunkLine,
        text: &str,
        marks: &[Range<usize>],
        tokens: Option<&[Token]>,
        out: &mut Vec<Line>,
    ) {
        let (sign, base, marked) = match line.mark {
            Mark::Context => (" ", Role::Text, Role::Text),
            Mark::Added => ("+", Role::Added, Role::AddedWord),
            Mark::Removed => ("-", Role::Removed, Role::RemovedWord),
        };
        let mut body = Line::new();
        let whole = [Token { range: 0..text.len(), syntax: Syntax::Plain }];
        for token in tokens.unwrap_or(&whole) {
            let style = |role| match tokens {
                Some(_) => Style::new(role).code(token.syntax),
                None => Style::new(role),
            };
            let Range { start, end } = token.range;
            let mut at = start;
            for mark in marks.iter().filter(|mark| mark.start < end && mark.end > start) {
                let (from, to) = (mark.start.max(at), mark.end.min(end));
                body.add(&text[at..from], style(base));
                body.add(&text[from..to], style(marked));
                at = to;
            }
            body.add(&text[at..end], style(base));
        }
        // What is coloured behind is coloured up to the edge.
        let ground = tokens
            .filter(|_| line.mark != Mark::Context)
            .map(|_| Style::new(base).code(Syntax::Plain));
        self.rows(&number.to_string(), Line::of(sign, base), &body, ground, out);
        if line.ends_file {
            let note = Line::of("no newline at end of file", Role::Muted);
            self.rows("", Line::of("\\", Role::Muted), &note, None, out);
        }
    }

    /// Appends `body` in as many rows as it needs; those after the first carry a sign of their own.
    fn rows(
        &self,
        number: &str,
        sign: Line,
        body: &Line,
        ground: Option<Style>,
        out: &mut Vec<Line>,
    ) {
        let width = self.options.columns();
        let signs = usize::from(width > 2);
        let numbers = if self.digits > 0 { self.digits + 1 } else { 0 };
        let room = width.saturating_sub(numbers + signs).max(1);
        let cells = &self.options.cells;
        let (mut number, mut sign) = (number, sign);
        for piece in body.wrap(room, Break::Anywhere, cells) {
            let mut row = Line::new();
            if numbers > 0 {
                row.add(&format!("{number:>digits$} ", digits = self.digits), Role::Muted);
            }
            if signs > 0 {
                row.extend(sign);
            }
            row.extend(piece);
            if let Some(ground) = ground {
                row = row.pad(width, ground, cells);
            }
            out.push(row);
            (number, sign) = ("", Line::of(icon::CONTINUED, Role::Muted));
        }
    }
}
