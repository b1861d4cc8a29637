//! What the caller knows about the terminal and wants of the drawing.

use std::path::PathBuf;

use crate::{Cells, Highlighting, Theme};

/// The width, the measure and the bounds to lay out for, and the theme to write with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal. 0 counts as 1.
    pub width: usize,
    /// How the terminal measures text.
    pub cells: Cells,
    /// How it looks. Layout does not depend on it.
    pub theme: Theme,
    /// The most lines of a body (a diff, a result's text) that are drawn before the rest is only
    /// counted. `None` draws all.
    pub max_lines: Option<usize>,
    /// The most lines that are drawn of a file's content while a write of it streams: the last ones
    /// that are whole. 0, the default, draws none.
    pub live_lines: usize,
    /// The absolute folder that paths are relative to, for themes that draw links.
    pub link_root: Option<PathBuf>,
    /// Who tells what code is made of.
    pub highlighting: Highlighting,
}

impl Options {
    /// Plain text in `width` columns, bodies of at most 40 lines.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            cells: Cells::default(),
            theme: Theme::none(),
            max_lines: Some(40),
            live_lines: 0,
            link_root: None,
            highlighting: Highlighting::none(),
        }
    }

    /// The same with another theme.
    #[must_use]
    pub fn with_theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// The same with another measure.
    #[must_use]
    pub fn with_cells(self, cells: Cells) -> Self {
        Self { cells, ..self }
    }

    /// The same with another bound on bodies.
    #[must_use]
    pub fn with_max_lines(self, max_lines: Option<usize>) -> Self {
        Self { max_lines, ..self }
    }

    /// The same with another number of lines of a file's content while it streams.
    #[must_use]
    pub fn with_live_lines(self, live_lines: usize) -> Self {
        Self { live_lines, ..self }
    }

    /// The same with the absolute folder that paths are relative to.
    #[must_use]
    pub fn with_link_root(self, root: impl Into<PathBuf>) -> Self {
        Self { link_root: Some(root.into()), ..self }
    }

    /// The same with another teller of what code is made of.
    #[must_use]
    pub fn with_highlighting(self, highlighting: Highlighting) -> Self {
        Self { highlighting, ..self }
    }

    /// The width, at least 1.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(1)
    }
}
