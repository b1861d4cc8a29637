//! Themes: what each role looks like on which kind of terminal.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style as Look};

use crate::highlight::Syntax;
use crate::style::{Role, Style};

/// How roles look. Which theme suits the terminal is the caller's to know: this crate reads no
/// environment (`NO_COLOR` and a pipe mean [`Theme::none`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// None for plain text.
    looks: Option<[Look; Role::ALL.len()]>,
    code: Code,
    links: bool,
}

/// How code looks, where somebody tells what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Code {
    /// In the order of [`Syntax::ALL`], which is the order of the variants.
    looks: [Look; Syntax::ALL.len()],
    /// What lies behind changed lines; none where there are too few colours for that. Then changed
    /// lines keep the colour of their role, and code differs by weight alone.
    grounds: Option<Grounds>,
}

/// The backgrounds of changed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Grounds {
    added: Color,
    removed: Color,
    added_word: Color,
    removed_word: Color,
}

impl Theme {
    /// For a dark background and 256 colours.
    #[must_use]
    pub const fn dark() -> Self {
        Self::of(
            [
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
            ],
            Code {
                looks: [
                    Look::new(),
                    indexed(248).italic(),
                    indexed(176),
                    indexed(150),
                    indexed(215),
                    indexed(80),
                    indexed(117),
                    indexed(152),
                    indexed(250),
                ],
                grounds: Some(Grounds {
                    added: Color::Ansi256(Ansi256Color(22)),
                    removed: Color::Ansi256(Ansi256Color(52)),
                    added_word: Color::Ansi256(Ansi256Color(28)),
                    removed_word: Color::Ansi256(Ansi256Color(88)),
                }),
            },
        )
    }

    /// For a light background and 256 colours.
    #[must_use]
    pub const fn light() -> Self {
        Self::of(
            [
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
            ],
            Code {
                looks: [
                    Look::new(),
                    indexed(242).italic(),
                    indexed(90),
                    indexed(22),
                    indexed(130),
                    indexed(24),
                    indexed(25),
                    indexed(30),
                    indexed(240),
                ],
                grounds: Some(Grounds {
                    added: Color::Ansi256(Ansi256Color(194)),
                    removed: Color::Ansi256(Ansi256Color(224)),
                    added_word: Color::Ansi256(Ansi256Color(157)),
                    removed_word: Color::Ansi256(Ansi256Color(217)),
                }),
            },
        )
    }

    /// For a dark background and every colour there is.
    #[must_use]
    pub const fn true_dark() -> Self {
        Self::of(
            [
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
            ],
            Code {
                looks: [
                    Look::new(),
                    rgb(0x8f9aa8).italic(),
                    rgb(0xf08d9b),
                    rgb(0xa8d8b9),
                    rgb(0xe8b57a),
                    rgb(0x7fd0d8),
                    rgb(0x8fb8ff),
                    rgb(0xb9c8dc),
                    rgb(0xa9b4c2),
                ],
                grounds: Some(Grounds {
                    added: true_color(0x10281c),
                    removed: true_color(0x331719),
                    added_word: true_color(0x1d5a36),
                    removed_word: true_color(0x7a2a2e),
                }),
            },
        )
    }

    /// For a light background and every colour there is.
    #[must_use]
    pub const fn true_light() -> Self {
        Self::of(
            [
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
            ],
            Code {
                looks: [
                    Look::new(),
                    rgb(0x667080).italic(),
                    rgb(0xa3195b),
                    rgb(0x1f6b35),
                    rgb(0x9a5200),
                    rgb(0x0f6674),
                    rgb(0x1d4fb8),
                    rgb(0x3a5470),
                    rgb(0x4d5866),
                ],
                grounds: Some(Grounds {
                    added: true_color(0xe4f8e9),
                    removed: true_color(0xfdeaea),
                    added_word: true_color(0xaeebbd),
                    removed_word: true_color(0xffc4c4),
                }),
            },
        )
    }

    /// For terminals of 16 colours, whatever those are set to. Differences that would need more
    /// colours are made by bold and underline.
    #[must_use]
    pub const fn ansi16() -> Self {
        Self::of(
            [
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
            ],
            Code {
                looks: [
                    Look::new(),
                    Look::new().dimmed(),
                    Look::new().bold(),
                    Look::new(),
                    Look::new(),
                    Look::new(),
                    Look::new(),
                    Look::new(),
                    Look::new(),
                ],
                grounds: None,
            },
        )
    }

    /// Plain text: no escape sequence at all.
    #[must_use]
    pub const fn none() -> Self {
        let code = Code { looks: [Look::new(); Syntax::ALL.len()], grounds: None };
        Self { looks: None, code, links: false }
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
        if let Some(syntax) = style.syntax {
            look = self.code.look(style.role, syntax, look);
        }
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
    const fn of(looks: [Look; Role::ALL.len()], code: Code) -> Self {
        Self { looks: Some(looks), code, links: false }
    }
}

impl Code {
    /// The look of code in a line whose role has the look `plain`.
    fn look(&self, role: Role, syntax: Syntax, plain: Look) -> Look {
        let own = self.looks[syntax as usize];
        let ground = |grounds: &Grounds| match role {
            Role::Added => Some(grounds.added),
            Role::Removed => Some(grounds.removed),
            Role::AddedWord => Some(grounds.added_word),
            Role::RemovedWord => Some(grounds.removed_word),
            Role::Text
            | Role::Muted
            | Role::Title
            | Role::Success
            | Role::Warning
            | Role::Error
            | Role::Hunk
            | Role::Path => None,
        };
        match &self.grounds {
            Some(grounds) => own.bg_color(ground(grounds)),
            None => plain.effects(plain.get_effects() | own.get_effects()),
        }
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
