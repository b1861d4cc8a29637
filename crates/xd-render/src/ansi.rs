//! Lines written out: as plain text, or with the escape sequences of a theme.

use anstyle::{AnsiColor, Color, Effects, Style as Look};

use crate::Theme;
use crate::style::Line;

/// The effects that a theme may use: the code that turns one on and the code that turns it off.
const EFFECTS: [(Effects, &str, &str); 6] = [
    (Effects::BOLD, "1", "22"),
    (Effects::DIMMED, "2", "22"),
    (Effects::ITALIC, "3", "23"),
    (Effects::UNDERLINE, "4", "24"),
    (Effects::INVERT, "7", "27"),
    (Effects::STRIKETHROUGH, "9", "29"),
];

/// `lines` with the escape sequences of `theme`, each ended by `\n`.
///
/// **Invariant N2:** inside a line nothing is reset: a change of style turns off only what the next
/// piece has not, so an inverse block stays whole from edge to edge (`CONTRACT V2`). Every line
/// ends in the terminal's plain state.
#[must_use]
pub fn to_ansi(lines: &[Line], theme: &Theme) -> String {
    let mut out = String::new();
    for line in lines {
        let mut now = Look::new();
        for span in line.spans() {
            let next = theme.look(span.style()).unwrap_or_default();
            change(now, next, &mut out);
            now = next;
            match span.link().filter(|_| theme.draws_links()) {
                Some(link) => {
                    out.push_str("\u{1b}]8;;");
                    out.push_str(link.uri());
                    out.push_str("\u{1b}\\");
                    out.push_str(span.text());
                    out.push_str("\u{1b}]8;;\u{1b}\\");
                }
                None => out.push_str(span.text()),
            }
        }
        if now != Look::new() {
            out.push_str("\u{1b}[0m");
        }
        out.push('\n');
    }
    out
}

/// `lines` without styles, each ended by `\n`. Blanks at the end of a line are dropped.
#[must_use]
pub fn to_plain(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        out.push_str(line.text().trim_end_matches(' '));
        out.push('\n');
    }
    out
}

/// Appends the sequence that leads from one look to the next, if they differ.
fn change(from: Look, to: Look, out: &mut String) {
    let (had, has) = (from.get_effects(), to.get_effects());
    let mut codes: Vec<String> = Vec::new();
    let mut on = had;
    for (effect, _, off) in EFFECTS {
        if on.contains(effect) && !has.contains(effect) {
            codes.push(off.to_owned());
            // Bold and dim share the code that ends them.
            let ended = if off == "22" { Effects::BOLD | Effects::DIMMED } else { effect };
            on = on.remove(ended);
        }
    }
    for (effect, code, _) in EFFECTS {
        if has.contains(effect) && !on.contains(effect) {
            codes.push(code.to_owned());
        }
    }
    if from.get_fg_color() != to.get_fg_color() {
        codes.push(to.get_fg_color().map_or("39".to_owned(), |color| code_of(color, 30)));
    }
    if from.get_bg_color() != to.get_bg_color() {
        codes.push(to.get_bg_color().map_or("49".to_owned(), |color| code_of(color, 40)));
    }
    if !codes.is_empty() {
        out.push_str("\u{1b}[");
        out.push_str(&codes.join(";"));
        out.push('m');
    }
}

/// The code of a colour; `base` is 30 for the foreground, 40 for the background.
fn code_of(color: Color, base: u16) -> String {
    match color {
        Color::Ansi(basic) => {
            let index = u16::from(anstyle::Ansi256Color::from_ansi(basic).index());
            let bright = AnsiColor::is_bright(basic);
            (if bright { base + 60 + index - 8 } else { base + index }).to_string()
        }
        Color::Ansi256(color) => format!("{};5;{}", base + 8, color.index()),
        Color::Rgb(color) => format!("{};2;{};{};{}", base + 8, color.r(), color.g(), color.b()),
    }
}
