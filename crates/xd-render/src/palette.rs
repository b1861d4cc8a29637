//! The colours behind the numbers of terminals, for pictures.

use anstyle::{Ansi256Color, Color, RgbColor};

/// What a picture is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ground {
    /// Light text on a dark ground.
    Dark,
    /// Dark text on a light ground.
    Light,
}

impl Ground {
    /// The colour of what has none of its own.
    pub(crate) const fn foreground(self) -> RgbColor {
        match self {
            Self::Dark => RgbColor(0xd4, 0xda, 0xe2),
            Self::Light => RgbColor(0x24, 0x2a, 0x32),
        }
    }

    /// The colour of the ground.
    pub(crate) const fn background(self) -> RgbColor {
        match self {
            Self::Dark => RgbColor(0x14, 0x18, 0x1f),
            Self::Light => RgbColor(0xfb, 0xfb, 0xfa),
        }
    }
}

/// The first 16 on a dark ground; terminals differ in these, so these are ours.
const DARK: [u32; 16] = [
    0x2b303a, 0xe06c75, 0x7ec699, 0xd9b26f, 0x6fa8f5, 0xc38fe0, 0x63bfc9, 0xc5ccd6, 0x6a7383,
    0xf08590, 0x98dbae, 0xecc987, 0x8fbdff, 0xd8abf0, 0x82d6de, 0xf2f5f8,
];

/// The same on a light one.
const LIGHT: [u32; 16] = [
    0x242a32, 0xb42334, 0x1f7a3d, 0x925a00, 0x1d53b8, 0x852b9c, 0x0f6d78, 0x5c6672, 0x6c7683,
    0xc83646, 0x2c8d4c, 0xa86c0a, 0x2f67cf, 0x9a41b1, 0x1c808c, 0x1a1f26,
];

/// The colour that a terminal shows for `color`.
pub(crate) fn rgb_of(color: Color, ground: Ground) -> RgbColor {
    match color {
        Color::Rgb(rgb) => rgb,
        Color::Ansi(basic) => indexed(Ansi256Color::from_ansi(basic).index(), ground),
        Color::Ansi256(Ansi256Color(index)) => indexed(index, ground),
    }
}

/// 16 of the terminal's own, a cube of 6 × 6 × 6, and 24 greys.
fn indexed(index: u8, ground: Ground) -> RgbColor {
    let step = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => {
            let palette = match ground {
                Ground::Dark => DARK,
                Ground::Light => LIGHT,
            };
            let [_, red, green, blue] = palette[usize::from(index)].to_be_bytes();
            RgbColor(red, green, blue)
        }
        16..232 => {
            let at = index - 16;
            RgbColor(step(at / 36), step(at / 6 % 6), step(at % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            RgbColor(grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_mean_what_terminals_make_of_them() {
        for (index, wanted) in [
            (16, RgbColor(0, 0, 0)),
            (22, RgbColor(0, 95, 0)),
            (52, RgbColor(95, 0, 0)),
            (231, RgbColor(255, 255, 255)),
            (232, RgbColor(8, 8, 8)),
            (255, RgbColor(238, 238, 238)),
        ] {
            assert_eq!(indexed(index, Ground::Dark), wanted, "{index}");
            assert_eq!(indexed(index, Ground::Light), wanted, "{index}");
        }
    }
}
