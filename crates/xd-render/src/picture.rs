//! A screen as a picture: SVG that looks as the terminal does, for documents.

use std::fmt::Write as _;

use anstyle::{Color, Effects, RgbColor, Style as Look};
use unicode_segmentation::UnicodeSegmentation;

use crate::clean::clean_line;
use crate::palette::{Ground, rgb_of};
use crate::style::Line;
use crate::{Cells, Theme};

/// A grid of cells with what stands in them.
///
/// Filled from [lines](Picture::of), or cell by cell by whoever has a screen of another kind: what a
/// full-screen program has in its buffer is [put](Picture::put) in as it is there. The same content
/// gives the same bytes, on every machine.
///
/// ```
/// use xd_render::{Cells, Ground, Line, Picture, Role, Theme};
///
/// let theme = Theme::true_dark();
/// let picture = Picture::of(&[Line::of("1 < 2", Role::Success)], 20, &theme, &Cells::default());
/// let svg = picture.to_svg("A comparison", Ground::Dark);
/// assert!(svg.starts_with("<svg ") && svg.contains(">1 &lt; 2</text>"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    columns: usize,
    rows: Vec<Vec<Piece>>,
}

/// Text in one look, from a column on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    column: usize,
    width: usize,
    text: String,
    look: Look,
}

/// A cell in the picture, in its units: monospaced fonts are six tenths as wide as high.
const CELL: (usize, usize) = (9, 19);
const FONT_SIZE: usize = 15;
/// From the cell's upper edge to the line that letters stand on.
const BASELINE: usize = 14;
/// The margin around everything.
const MARGIN: usize = 14;

impl Picture {
    /// An empty screen of so many columns; rows come as they are needed.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns: columns.max(1), rows: Vec::new() }
    }

    /// `lines` as they are drawn with `theme`, one a row.
    #[must_use]
    pub fn of(lines: &[Line], columns: usize, theme: &Theme, cells: &Cells) -> Self {
        let mut picture = Self::new(columns);
        for (row, line) in lines.iter().enumerate() {
            let mut column = 0;
            picture.row(row);
            for span in line.spans() {
                let look = theme.look(span.style()).unwrap_or_default();
                column += picture.put(row, column, span.text(), look, cells);
            }
        }
        picture
    }

    /// Puts `text`, cleaned, into a row from a column on, and answers how many cells it takes. What
    /// is put beyond the last column is cut.
    pub fn put(
        &mut self,
        row: usize,
        column: usize,
        text: &str,
        look: Look,
        cells: &Cells,
    ) -> usize {
        let text = clean_line(text);
        let (mut kept, mut width) = (String::new(), 0);
        for cluster in text.graphemes(true) {
            let next = width + cells.width(cluster);
            if column + next > self.columns {
                break;
            }
            kept.push_str(cluster);
            width = next;
        }
        let pieces = self.row(row);
        match pieces.last_mut() {
            Some(last) if last.column + last.width == column && last.look == look => {
                last.text.push_str(&kept);
                last.width += width;
            }
            Some(_) | None if width > 0 => pieces.push(Piece { column, width, text: kept, look }),
            Some(_) | None => {}
        }
        width
    }

    /// The picture, with `title` for who cannot see it.
    #[must_use]
    pub fn to_svg(&self, title: &str, ground: Ground) -> String {
        let (width, height) =
            (self.columns * CELL.0 + 2 * MARGIN, self.rows.len() * CELL.1 + 2 * MARGIN);
        let title = escaped(&clean_line(title));
        let (fore, back) = (hex(ground.foreground()), hex(ground.background()));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{back}\"/>\n\
             <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', \
             monospace\" font-size=\"{FONT_SIZE}\" fill=\"{fore}\" xml:space=\"preserve\">\n"
        );
        for (row, pieces) in self.rows.iter().enumerate() {
            let y = MARGIN + row * CELL.1;
            for piece in pieces {
                piece.draw(y, ground, &mut out);
            }
        }
        out.push_str("</g>\n</svg>\n");
        out
    }

    fn row(&mut self, row: usize) -> &mut Vec<Piece> {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Vec::new());
        }
        &mut self.rows[row]
    }
}

impl Piece {
    fn draw(&self, y: usize, ground: Ground, out: &mut String) {
        let effects = self.look.get_effects();
        let rgb = |color: Option<Color>| color.map(|color| rgb_of(color, ground));
        let (mut fore, mut back) = (rgb(self.look.get_fg_color()), rgb(self.look.get_bg_color()));
        if effects.contains(Effects::INVERT) {
            let swapped = fore.unwrap_or(ground.foreground());
            fore = Some(back.unwrap_or(ground.background()));
            back = Some(swapped);
        }
        let (x, width) = (MARGIN + self.column * CELL.0, self.width * CELL.0);
        // Writing to a string cannot fail.
        if let Some(back) = back {
            let (height, back) = (CELL.1, hex(back));
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{back}\"/>"
            );
        }
        let text = self.text.trim_end_matches(' ');
        let lead = text.len() - text.trim_start_matches(' ').len();
        if text.len() == lead && !effects.contains(Effects::UNDERLINE) {
            return;
        }
        // Blanks around the text are left to the position: not every viewer keeps them.
        let x = x + lead * CELL.0;
        let width = width - (lead + self.text.len() - text.len()) * CELL.0;
        let y = y + BASELINE;
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\"");
        if let Some(fore) = fore {
            let _ = write!(out, " fill=\"{}\"", hex(fore));
        }
        for (effect, attribute) in [
            (Effects::BOLD, "font-weight=\"bold\""),
            (Effects::ITALIC, "font-style=\"italic\""),
            (Effects::UNDERLINE, "text-decoration=\"underline\""),
            (Effects::STRIKETHROUGH, "text-decoration=\"line-through\""),
            (Effects::DIMMED, "opacity=\"0.7\""),
        ] {
            if effects.contains(effect) {
                let _ = write!(out, " {attribute}");
            }
        }
        let _ = writeln!(out, ">{}</text>", escaped(&text[lead..]));
    }
}

fn hex(RgbColor(red, green, blue): RgbColor) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// `text` as XML has it. It is clean: no control character is left that XML has no form for.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}
