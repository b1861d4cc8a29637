//! Themes: what each role looks like on which kind of terminal.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style as Look};

use crate::style::{Role, Style};

/// How roles look. Which theme suits the terminal is the caller's to know: this crate reads no
/// environment (`NO_COLOR` and a pipe mean [`Theme::none`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// None for plain text.
    looks: Option<[Look; Role::ALL.len()]>,
    links: bool,
}

impl Theme {
    /// For a dark background and 256 colours.
    #[must_use]
    pub const fn dark() -> Self {
        Self::of([
            Look::new(),
            indexed(245),
            Look::new().bold(),
            indexed(114),
            indexed(179),
            indexed(203),
            indexed(114),
            indexed(203),
            indexed(157).bg_color(Some(Color::Ansi256(Ansi256Color(22)))),
            indexed(217).bg_color(Some(Color::Ansi256(Ansi256Color(52)))),
            indexed(73),
            indexed(75),
        ])
    }

    /// For a light background and 256 colours.
    #[must_use]
    pub const fn light() -> Self {
        Self::of([
            Look::new(),
            indexed(242),
            Look::new().bold(),
            indexed(28),
            indexed(130),
            indexed(160),
            indexed(28),
            indexed(160),
            indexed(22).bg_color(Some(Color::Ansi256(Ansi256Color(194)))),
            indexed(88).bg_color(Some(Color::Ansi256(Ansi256Color(224)))),
            indexed(30),
            indexed(25),
        ])
    }

    /// For a dark background and every colour there is.
    #[must_use]
    pub const fn true_dark() -> Self {
        Self::of([
            Look::new(),
            rgb(0x8b949e),
            Look::new().bold(),
            rgb(0x7ee787),
            rgb(0xe3b341),
            rgb(0xff7b72),
            rgb(0x7ee787),
            rgb(0xffa198),
            rgb(0xaff5b4).bg_color(Some(true_color(0x1c5a32))),
            rgb(0xffdcd7).bg_color(Some(true_color(0x7d2a2a))),
            rgb(0x79c0ff),
            rgb(0x79c0ff),
        ])
    }

    /// For a light background and every colour there is.
    #[must_use]
    pub const fn true_light() -> Self {
        Self::of([
            Look::new(),
            rgb(0x656d76),
            Look::new().bold(),
            rgb(0x116329),
            rgb(0x9a6700),
            rgb(0xcf222e),
            rgb(0x116329),
            rgb(0xa40e26),
            rgb(0x0a3a17).bg_color(Some(true_color(0xaceebb))),
            rgb(0x5e0a15).bg_color(Some(true_color(0xffc1c0))),
            rgb(0x0550ae),
            rgb(0x0550ae),
        ])
    }

    /// For terminals of 16 colours, whatever those are set to. Differences that would need more
    /// colours are made by bold and underline.
    #[must_use]
    pub const fn ansi16() -> Self {
        Self::of([
            Look::new(),
            Look::new().dimmed(),
            Look::new().bold(),
            basic(AnsiColor::Green),
            basic(AnsiColor::Yellow),
            basic(AnsiColor::Red),
            basic(AnsiColor::Green),
            basic(AnsiColor::Red),
            basic(AnsiColor::Green).bold().underline(),
            basic(AnsiColor::Red).bold().underline(),
            basic(AnsiColor::Cyan),
            basic(AnsiColor::Blue),
        ])
    }

    /// Plain text: no escape sequence at all.
    #[must_use]
    pub const fn none() -> Self {
        Self { looks: None, links: false }
    }

    /// The same theme with hyperlinks on or off. They are off at first, and [`none`](Self::none)
    /// never has them.
    #[must_use]
    pub const fn with_links(self, links: bool) -> Self {
        Self { links, ..self }
    }

    /// The same theme with another look for `role`. [`none`](Self::none) stays plain.
    #[must_use]
    pub fn with_look(mut self, role: Role, look: Look) -> Self {
        if let Some(looks) = &mut self.looks {
            looks[role as usize] = look;
        }
        self
    }

    /// What `style` looks like; none in plain text.
    pub(crate) fn look(&self, style: Style) -> Option<Look> {
        let mut look = self.looks.as_ref()?[style.role as usize];
        for (on, effect) in [
            (style.bold, Effects::BOLD),
            (style.italic, Effects::ITALIC),
            (style.inverse, Effects::INVERT),
        ] {
            if on {
                look = look.effects(look.get_effects() | effect);
            }
        }
        Some(look)
    }

    pub(crate) fn draws_links(&self) -> bool {
        self.links && self.looks.is_some()
    }

    /// The looks in the order of [`Role::ALL`], which is the order of the variants.
    const fn of(looks: [Look; Role::ALL.len()]) -> Self {
        Self { looks: Some(looks), links: false }
    }
}

const fn indexed(index: u8) -> Look {
    Look::new().fg_color(Some(Color::Ansi256(Ansi256Color(index))))
}

const fn rgb(color: u32) -> Look {
    Look::new().fg_color(Some(true_color(color)))
}

const fn true_color(color: u32) -> Color {
    let [_, red, green, blue] = color.to_be_bytes();
    Color::Rgb(RgbColor(red, green, blue))
}

const fn basic(color: AnsiColor) -> Look {
    Look::new().fg_color(Some(Color::Ansi(color)))
}
