//! Styled text: spans of inert text in semantic roles, and lines of spans.

use crate::cells::{Break, Cells};
use crate::clean::clean_line;
use crate::highlight::Syntax;
use crate::link::Link;

/// What a piece of text means. A [`Theme`](crate::Theme) says how that looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text of less weight: hints, counts, line numbers.
    Muted,
    /// A title.
    Title,
    /// Something went through.
    Success,
    /// Something was turned down or needs a look.
    Warning,
    /// Something failed.
    Error,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
    /// The part of an added line that its removed counterpart has not.
    AddedWord,
    /// The part of a removed line that its added counterpart has not.
    RemovedWord,
    /// A hunk's header.
    Hunk,
    /// A path.
    Path,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Muted,
        Self::Title,
        Self::Success,
        Self::Warning,
        Self::Error,
        Self::Added,
        Self::Removed,
        Self::AddedWord,
        Self::RemovedWord,
        Self::Hunk,
        Self::Path,
    ];
}

/// A role and the emphasis on top of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Style {
    /// What the text means.
    pub role: Role,
    /// Heavier strokes.
    pub bold: bool,
    /// Slanted.
    pub italic: bool,
    /// Foreground and background swapped, for blocks.
    pub inverse: bool,
    /// What it is in the code that it is part of; none where it is no code, or none that anything
    /// is known of.
    pub syntax: Option<Syntax>,
}

impl Style {
    /// `role` without further emphasis.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self { role, bold: false, italic: false, inverse: false, syntax: None }
    }

    /// The same in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same in italics.
    #[must_use]
    pub const fn italic(self) -> Self {
        Self { italic: true, ..self }
    }

    /// The same inverse.
    #[must_use]
    pub const fn inverse(self) -> Self {
        Self { inverse: true, ..self }
    }

    /// The same as a piece of code.
    #[must_use]
    pub const fn code(self, syntax: Syntax) -> Self {
        Self { syntax: Some(syntax), ..self }
    }
}

impl From<Role> for Style {
    fn from(role: Role) -> Self {
        Self::new(role)
    }
}

/// A piece of text in one style.
///
/// **Invariant N1:** no span holds a control, line-breaking, bidirectional or invisible character,
/// so nothing built of spans can make a terminal do anything but draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    text: String,
    style: Style,
    link: Option<Link>,
}

impl Span {
    /// `text` in `style`, [cleaned](clean_line).
    #[must_use]
    pub fn new(text: &str, style: impl Into<Style>) -> Self {
        Self { text: clean_line(text), style: style.into(), link: None }
    }

    /// The same with a target that terminals which can will open.
    #[must_use]
    pub fn linked(self, link: Option<Link>) -> Self {
        Self { link, ..self }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The style.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The link.
    #[must_use]
    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Text that comes out of a span already.
    fn piece(&self, text: &str) -> Self {
        Self { text: text.to_owned(), style: self.style, link: self.link.clone() }
    }
}

/// One line of styled text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    spans: Vec<Span>,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of one span.
    #[must_use]
    pub fn of(text: &str, style: impl Into<Style>) -> Self {
        Self { spans: vec![Span::new(text, style)] }
    }

    /// The spans, in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Appends a span. Empty ones are left out.
    pub fn push(&mut self, span: Span) {
        if !span.text.is_empty() {
            self.spans.push(span);
        }
    }

    /// Appends `text`, cleaned, in `style`.
    pub fn add(&mut self, text: &str, style: impl Into<Style>) {
        self.push(Span::new(text, style));
    }

    /// Appends another line's spans.
    pub fn extend(&mut self, other: Self) {
        self.spans.extend(other.spans);
    }

    /// The text without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    /// The cells that the line takes. Measured as a whole: a cluster may cross spans.
    #[must_use]
    pub fn width(&self, cells: &Cells) -> usize {
        match self.spans.as_slice() {
            [] => 0,
            [only] => cells.width(&only.text),
            _ => cells.width(&self.text()),
        }
    }

    /// The line, cut to `width` cells with an ellipsis where it is longer.
    #[must_use]
    pub fn cut(self, width: usize, cells: &Cells) -> Self {
        let text = self.text();
        let Some(end) = cells.cut_at(&text, width) else { return self };
        let mut line = self.slice(0, end);
        if width > 0
            && let Some(last) = self.spans.last()
        {
            let style = line.spans.last().map_or(last.style, Span::style);
            line.add(cells.ellipsis(), style);
        }
        line
    }

    /// The line with blanks in `style` up to `width` cells.
    #[must_use]
    pub fn pad(mut self, width: usize, style: impl Into<Style>, cells: &Cells) -> Self {
        let missing = width.saturating_sub(self.width(cells));
        self.push(Span { text: " ".repeat(missing), style: style.into(), link: None });
        self
    }

    /// The lines that this one becomes at `width` cells, at least one.
    #[must_use]
    pub fn wrap(&self, width: usize, at: Break, cells: &Cells) -> Vec<Self> {
        if let [span] = self.spans.as_slice()
            && span.text.len() <= width
            && cells.width(&span.text) <= width
        {
            return vec![self.clone()];
        }
        let text = self.text();
        let style = self.spans.first().map_or(Style::new(Role::Text), Span::style);
        cells
            .wrap(&text, width, at)
            .into_iter()
            .map(|range| {
                if range.is_empty() && !text.is_empty() {
                    // A cluster of two cells in a terminal of one: say that something is there.
                    return Self::of("?", style);
                }
                self.slice(range.start, range.end)
            })
            .collect()
    }

    /// The bytes `from..to` of the text, with their styles.
    fn slice(&self, from: usize, to: usize) -> Self {
        let mut line = Self::new();
        let mut offset = 0;
        for span in &self.spans {
            let (start, end) = (offset, offset + span.text.len());
            if start >= to {
                break;
            }
            if end > from {
                let (a, b) = (from.max(start) - start, to.min(end) - start);
                line.push(span.piece(&span.text[a..b]));
            }
            offset = end;
        }
        line
    }
}
