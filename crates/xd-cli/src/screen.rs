//! Where everything is printed.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use serde_json::{Value, json};
use xd_protocol::is_invisible;
use xd_render::{Line, Options, Theme, clean_line, to_ansi};

use crate::{
    arguments::{Arguments, When},
    failure::{Failure, Status},
};

/// Standard output and what it can show.
pub(crate) struct Screen {
    json: bool,
    options: Options,
    error_theme: Theme,
}

/// The width of what is no terminal.
const PIPED_WIDTH: usize = 100;
/// How many lines of a diff a terminal gets before the rest is only counted.
const TERMINAL_LINES: usize = 400;

impl Screen {
    /// What the arguments and the environment say of standard output.
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let terminal = io::stdout().is_terminal();
        let width = if terminal { terminal_width() } else { None };
        let theme = theme(arguments.color, terminal);
        let cut = if terminal { Some(TERMINAL_LINES) } else { None };
        let options =
            Options::new(width.unwrap_or(PIPED_WIDTH)).with_theme(theme).with_max_lines(cut);
        let error_theme = theme_of_errors(arguments.color);
        Self { json: arguments.json, options, error_theme }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// How to lay out.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The same, for what must be shown whole.
    pub(crate) fn whole(&self) -> Options {
        self.options.clone().with_max_lines(None)
    }

    /// Prints styled lines.
    pub(crate) fn lines(&mut self, lines: &[Line]) {
        self.raw(&to_ansi(lines, &self.options.theme));
    }

    /// Prints foreign text: every line as it is, but inert.
    pub(crate) fn text(&mut self, text: &str) {
        let mut out = String::with_capacity(text.len() + 1);
        for line in text.lines() {
            out.push_str(&clean_line(line));
            out.push('\n');
        }
        self.raw(&out);
    }

    /// Prints text for another program: to a terminal inert, to a pipe as it is.
    pub(crate) fn bytes(&mut self, text: &[u8]) {
        if io::stdout().is_terminal() {
            self.text(&String::from_utf8_lossy(text));
            return;
        }
        let mut out = io::stdout().lock();
        let _ = out.write_all(text).and_then(|()| out.flush());
    }

    /// Prints one line of JSON. What of its strings a terminal could act on is escaped, which leaves
    /// the value as it is.
    pub(crate) fn json(&mut self, value: &Value) {
        let mut out = String::new();
        for c in value.to_string().chars() {
            if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                out.push(c);
            }
        }
        out.push('\n');
        self.raw(&out);
    }

    /// Prints an error and answers the exit status.
    pub(crate) fn fail(&mut self, failure: &Failure) -> ExitCode {
        if self.json {
            self.json(&json!({ "v": 1, "error": failure.what, "hint": failure.hint }));
        } else {
            let mut what = Line::of("xd: ", xd_render::Role::Error);
            what.add(&clean_line(&failure.what), xd_render::Role::Text);
            let hint =
                Line::of(&format!("    {}", clean_line(&failure.hint)), xd_render::Role::Muted);
            let text = to_ansi(&[what, hint], &self.error_theme);
            // Nobody is left to tell where standard error is gone.
            let _ = io::stderr().write_all(text.as_bytes());
        }
        Status::Refused.into()
    }

    /// A reader that has seen enough closes the pipe: that ends the output, not the work.
    fn raw(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

fn theme(when: When, terminal: bool) -> Theme {
    let wanted = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            terminal && !is_set("NO_COLOR") && std::env::var("TERM").as_deref() != Ok("dumb")
        }
    };
    if !wanted {
        return Theme::none();
    }
    let term = std::env::var("TERM").unwrap_or_default();
    let many = term.contains("256color") || is_set("COLORTERM");
    // COLORFGBG ends in the background's number where a terminal sets it: 7 and 15 are light.
    let light = std::env::var("COLORFGBG").is_ok_and(|v| v.ends_with(";7") || v.ends_with(";15"));
    match (many, light) {
        (false, _) => Theme::ansi16(),
        (true, true) => Theme::light(),
        (true, false) => Theme::dark(),
    }
}

fn theme_of_errors(when: When) -> Theme {
    theme(when, io::stderr().is_terminal())
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
