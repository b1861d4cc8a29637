//! The reviewer as a picture, for documents: what the terminal would show.

use std::path::Path;

use anstyle::{AnsiColor, Effects, Style};
use ratatui_core::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::{Color, Modifier},
};
use xd_render::{Cells, Ground, Picture};
use xd_review::{Look, Review, draw};

use super::Desk;
use crate::{arguments::SessionArgument, failure::Failure};

/// A screen with room for a change of a few files.
const SIZE: (u16, u16) = (88, 26);

/// The reviewer of what is pending in `directory` as it opens, as SVG.
pub(crate) fn picture(
    directory: &Path,
    session: &SessionArgument,
    look: Look,
    ground: Ground,
) -> Result<String, Failure> {
    let (columns, rows) = SIZE;
    let mut review = Review::new(columns, rows);
    review.update(Desk::new(directory, session).pending()?);
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    // The cursor of typed text: nothing is typed here.
    let _ = draw(&review, look, &mut buffer);
    let mut picture = Picture::new(usize::from(columns));
    let cells = Cells::default();
    for (row, line) in buffer.content.chunks(usize::from(columns)).enumerate() {
        let mut next = 0;
        for (column, cell) in line.iter().enumerate() {
            // Behind a wide character stands a cell that is its second half.
            if column >= next {
                next = column + picture.put(row, column, cell.symbol(), style(cell), &cells).max(1);
            }
        }
    }
    Ok(picture.to_svg("What xd review shows", ground))
}

fn style(cell: &Cell) -> Style {
    let colour = match cell.fg {
        Color::Red => Some(AnsiColor::Red),
        Color::Green => Some(AnsiColor::Green),
        Color::Yellow => Some(AnsiColor::Yellow),
        Color::Blue => Some(AnsiColor::Blue),
        Color::Cyan => Some(AnsiColor::Cyan),
        // The reviewer draws with no other.
        _ => None,
    };
    let effects = [
        (Modifier::BOLD, Effects::BOLD),
        (Modifier::DIM, Effects::DIMMED),
        (Modifier::ITALIC, Effects::ITALIC),
        (Modifier::UNDERLINED, Effects::UNDERLINE),
        (Modifier::REVERSED, Effects::INVERT),
    ];
    let effects = effects
        .into_iter()
        .filter(|(modifier, _)| cell.modifier.contains(*modifier))
        .fold(Effects::new(), |all, (_, effect)| all | effect);
    Style::new().fg_color(colour.map(Into::into)).effects(effects)
}
