//! What the terminal can show, as far as the arguments and the environment tell.
//!
//! A terminal is not asked anything: an answer could be late, and then it is typed into the shell.
//! What follows from which variable is written here once, and in `docs/CLI.md` for people.

use xd_render::{Cells, Theme};

use crate::arguments::{Look, Mode, When};

/// Where output goes, and how variables are looked up.
pub(crate) struct Surroundings<'a> {
    /// Whether it is a terminal.
    pub(crate) terminal: bool,
    /// A variable that is set and not empty.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The variable `name` of this process, unless it is empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Surroundings<'_> {
    /// The theme to write with.
    pub(crate) fn theme(&self, look: &Look) -> Theme {
        if look.svg {
            // A picture looks the same wherever it is made.
            return match look.theme.unwrap_or(Mode::Auto) {
                Mode::Auto | Mode::Dark => Theme::true_dark(),
                Mode::Light => Theme::true_light(),
                Mode::Ansi16 => Theme::ansi16(),
            };
        }
        if !self.wants_color(look.color) {
            return Theme::none();
        }
        let mode = look.theme.or_else(|| self.named_mode()).unwrap_or(Mode::Auto);
        let light = match mode {
            Mode::Ansi16 => return Theme::ansi16(),
            Mode::Light => true,
            Mode::Dark => false,
            Mode::Auto => self.is_light(),
        };
        match (self.depth(), light) {
            // A theme that is asked for by name is not taken back for a modest terminal.
            (Depth::Sixteen, _) if mode == Mode::Auto => Theme::ansi16(),
            (Depth::Sixteen | Depth::Indexed, false) => Theme::dark(),
            (Depth::Sixteen | Depth::Indexed, true) => Theme::light(),
            (Depth::True, false) => Theme::true_dark(),
            (Depth::True, true) => Theme::true_light(),
        }
        .with_links(self.wants_links(look.links))
    }

    /// How the terminal measures text.
    pub(crate) fn cells(&self, look: &Look) -> Cells {
        let wide = match look.ambiguous {
            Some(width) => width == 2,
            None => (self.variable)("XD_AMBIGUOUS").as_deref() == Some("2"),
        };
        Cells { ambiguous_wide: wide, split_emoji: false }
    }

    /// `--color`; then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`; then whether it is a terminal that
    /// can do more than type.
    fn wants_color(&self, when: When) -> bool {
        let set = |name| (self.variable)(name);
        match when {
            When::Always => true,
            When::Never => false,
            When::Auto if set("NO_COLOR").is_some() => false,
            When::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            When::Auto if set("CLICOLOR").is_some_and(|value| value == "0") => false,
            When::Auto => self.terminal && set("TERM").as_deref() != Some("dumb"),
        }
    }

    /// `--links`; then `FORCE_HYPERLINK`; then whether the terminal is known to have them. Never by
    /// itself where output is no terminal, over a network, where the paths are those of another
    /// machine than the one with the screen, and inside a multiplexer, which may drop them.
    fn wants_links(&self, when: When) -> bool {
        let set = |name| (self.variable)(name);
        match when {
            When::Always => true,
            When::Never => false,
            When::Auto => match set("FORCE_HYPERLINK") {
                Some(value) => value != "0",
                None => {
                    let remote = set("SSH_CONNECTION").is_some() || set("SSH_TTY").is_some();
                    let inside = set("TMUX").is_some() || set("STY").is_some();
                    self.terminal && !remote && !inside && self.knows_links()
                }
            },
        }
    }

    /// Whether this is one of the terminals that are known to have hyperlinks.
    fn knows_links(&self) -> bool {
        const TERMS: [&str; 5] = ["xterm-kitty", "alacritty", "foot", "xterm-ghostty", "contour"];
        const PROGRAMS: [&str; 6] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby"];
        let set = |name| (self.variable)(name);
        let at_least = |name, least: u32| {
            set(name)
                .and_then(|value| value.parse().ok())
                .is_some_and(|version: u32| version >= least)
        };
        at_least("VTE_VERSION", 5000)
            || at_least("KONSOLE_VERSION", 201_200)
            || set("WT_SESSION").is_some()
            || set("TERM_PROGRAM").is_some_and(|program| PROGRAMS.contains(&program.as_str()))
            || set("TERM").is_some_and(|term| TERMS.iter().any(|known| term.starts_with(known)))
    }

    fn named_mode(&self) -> Option<Mode> {
        match (self.variable)("XD_THEME")?.as_str() {
            "dark" => Some(Mode::Dark),
            "light" => Some(Mode::Light),
            "16" => Some(Mode::Ansi16),
            _ => None,
        }
    }

    fn depth(&self) -> Depth {
        let term = (self.variable)("TERM").unwrap_or_default();
        match (self.variable)("COLORTERM").as_deref() {
            Some("truecolor" | "24bit") => Depth::True,
            _ if term.ends_with("-direct") => Depth::True,
            Some(_) => Depth::Indexed,
            None if term.contains("256color") => Depth::Indexed,
            None => Depth::Sixteen,
        }
    }

    /// `COLORFGBG` ends in the background's number where a terminal sets it: 7 and 15 are light.
    fn is_light(&self) -> bool {
        (self.variable)("COLORFGBG").is_some_and(|v| v.ends_with(";7") || v.ends_with(";15"))
    }
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Sixteen,
    Indexed,
    True,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(terminal: bool, look: &Look, set: &[(&str, &str)]) -> Theme {
        let variable = |name: &str| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Surroundings { terminal, variable: &variable }.theme(look)
    }

    fn look(color: When) -> Look {
        Look { color, theme: None, links: When::Auto, ambiguous: None, svg: false }
    }

    // CONTRACT V4
    #[test]
    fn v4_colour_is_a_matter_of_flag_then_variables_then_terminal() {
        const TERM: (&str, &str) = ("TERM", "xterm");
        for (terminal, when, set, wanted) in [
            (true, When::Auto, &[TERM][..], true),
            (false, When::Auto, &[TERM], false),
            (true, When::Auto, &[("TERM", "dumb")], false),
            (true, When::Auto, &[TERM, ("NO_COLOR", "1")], false),
            (false, When::Auto, &[TERM, ("CLICOLOR_FORCE", "1")], true),
            (false, When::Auto, &[TERM, ("CLICOLOR_FORCE", "0")], false),
            (true, When::Auto, &[TERM, ("CLICOLOR", "0")], false),
            (true, When::Auto, &[TERM, ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
            (false, When::Always, &[("NO_COLOR", "1")], true),
            (true, When::Never, &[TERM, ("CLICOLOR_FORCE", "1")], false),
        ] {
            let drawn = theme(terminal, &look(when), set);
            assert_eq!(drawn != Theme::none(), wanted, "{terminal} {when:?} {set:?}");
        }
    }

    #[test]
    fn v4_the_theme_fits_the_colours_and_the_background() {
        for (set, wanted) in [
            (&[("TERM", "xterm")][..], Theme::ansi16()),
            (&[("TERM", "xterm-256color")], Theme::dark()),
            (&[("TERM", "xterm"), ("COLORTERM", "yes")], Theme::dark()),
            (&[("TERM", "xterm"), ("COLORTERM", "truecolor")], Theme::true_dark()),
            (&[("TERM", "xterm-direct")], Theme::true_dark()),
            (&[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")], Theme::light()),
            (&[("COLORTERM", "24bit"), ("COLORFGBG", "0;7")], Theme::true_light()),
            (&[("TERM", "xterm-256color"), ("XD_THEME", "light")], Theme::light()),
            (&[("TERM", "xterm"), ("XD_THEME", "light")], Theme::light()),
            (&[("COLORTERM", "24bit"), ("XD_THEME", "16")], Theme::ansi16()),
            (&[("TERM", "xterm-256color"), ("XD_THEME", "plaid")], Theme::dark()),
        ] {
            assert_eq!(theme(true, &look(When::Auto), set), wanted, "{set:?}");
        }
        let light = Look { theme: Some(Mode::Light), ..look(When::Auto) };
        let set = [("TERM", "xterm-256color"), ("XD_THEME", "dark")];
        assert_eq!(theme(true, &light, &set), Theme::light(), "the flag wins");
    }

    #[test]
    fn links_are_for_terminals_that_have_them_on_this_machine() {
        const KITTY: (&str, &str) = ("TERM", "xterm-kitty");
        let linked = |terminal, links, set: &[(&str, &str)]| {
            let look = Look { links, ..look(When::Always) };
            let drawn = theme(terminal, &look, set);
            drawn == drawn.clone().with_links(true)
        };
        for (terminal, when, set, wanted) in [
            (true, When::Auto, &[KITTY][..], true),
            (true, When::Auto, &[("VTE_VERSION", "7600")], true),
            (true, When::Auto, &[("VTE_VERSION", "4000")], false),
            (true, When::Auto, &[("TERM_PROGRAM", "WezTerm")], true),
            (true, When::Auto, &[("TERM_PROGRAM", "Apple_Terminal")], false),
            (true, When::Auto, &[("TERM", "xterm-256color")], false),
            (false, When::Auto, &[KITTY], false),
            (true, When::Auto, &[KITTY, ("SSH_CONNECTION", "a")], false),
            (true, When::Auto, &[KITTY, ("TMUX", "a")], false),
            (true, When::Auto, &[KITTY, ("FORCE_HYPERLINK", "0")], false),
            (false, When::Auto, &[("FORCE_HYPERLINK", "1")], true),
            (false, When::Always, &[], true),
            (true, When::Never, &[KITTY], false),
        ] {
            let set: Vec<_> = set.iter().copied().chain([("COLORTERM", "truecolor")]).collect();
            assert_eq!(linked(terminal, when, &set), wanted, "{terminal} {when:?} {set:?}");
        }
    }

    #[test]
    fn v3_ambiguous_characters_are_as_wide_as_said() {
        let wide = |ambiguous, value: Option<&str>| {
            let variable = |name: &str| value.filter(|_| name == "XD_AMBIGUOUS").map(str::to_owned);
            let surroundings = Surroundings { terminal: true, variable: &variable };
            surroundings.cells(&Look { ambiguous, ..look(When::Auto) }).ambiguous_wide
        };
        assert!(!wide(None, None) && !wide(None, Some("1")) && wide(None, Some("2")));
        assert!(wide(Some(2), Some("1")) && !wide(Some(1), Some("2")));
    }
}
