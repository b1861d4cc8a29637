//! Where everything is printed.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use serde_json::{Value, json};
use xd_protocol::is_invisible;
use xd_render::{
    Break, Cells, Ground, Line, Options, Picture, Role, Span, Theme, clean_line, to_ansi,
};

use crate::{
    arguments::{Arguments, Look, Mode, When},
    failure::{Failure, Status},
    pager::Pager,
    recovered::Recovered,
    terminal::{Surroundings, variable},
};

/// Standard output and what it can show.
pub(crate) struct Screen {
    json: bool,
    /// Whether lines are fitted into the width: to a pipe they go as long as they are.
    fits: bool,
    options: Options,
    error_theme: Theme,
    /// What became of standard output, where something did.
    output: Output,
    /// Whether long output may go through a pager.
    pages: bool,
    pager: Option<Pager>,
    /// What is gathered for a picture, and what it is drawn on.
    picture: Option<(Ground, Vec<Line>)>,
    /// What the next JSON has to say of what was half done.
    recovered: Option<Value>,
}

/// Whether what is printed still arrives.
enum Output {
    Open,
    /// A reader that has seen enough closed the pipe: that ends the output, not the work.
    Closed,
    /// It could not be written: the first error.
    Failed(io::Error),
}

/// The width of what is no terminal.
const PIPED_WIDTH: usize = 100;
/// How many lines of a diff a terminal gets before the rest is only counted.
const TERMINAL_LINES: usize = 400;
/// How many lines of a file are drawn while a model writes it.
const LIVE_LINES: usize = 5;

impl Screen {
    /// What the arguments and the environment say of standard output.
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let terminal = io::stdout().is_terminal();
        let picture = arguments.look.svg.then(|| match arguments.look.theme {
            Some(Mode::Light) => (Ground::Light, Vec::new()),
            Some(Mode::Auto | Mode::Dark | Mode::Ansi16) | None => (Ground::Dark, Vec::new()),
        });
        let width = if terminal && picture.is_none() { terminal_width() } else { None };
        let surroundings = Surroundings { terminal, variable: &variable };
        let look = &arguments.look;
        let cut = if terminal { Some(TERMINAL_LINES) } else { None };
        let options = Options::new(width.unwrap_or(PIPED_WIDTH))
            .with_theme(surroundings.theme(look))
            .with_cells(surroundings.cells(look))
            .with_max_lines(cut)
            .with_live_lines(if terminal { LIVE_LINES } else { 0 });
        let options = highlighted(options);
        let options = match std::path::absolute(&arguments.directory) {
            Ok(root) => options.with_link_root(root),
            Err(_) => options,
        };
        Self {
            json: arguments.json,
            fits: terminal || picture.is_some(),
            options,
            error_theme: theme_of_errors(look),
            output: Output::Open,
            pages: terminal && !arguments.json && !arguments.no_pager && picture.is_none(),
            pager: None,
            picture,
            recovered: None,
        }
    }

    /// A screen for what is said before the arguments are known.
    pub(crate) fn plain(json: bool) -> Self {
        let options = Options::new(PIPED_WIDTH).with_theme(Theme::none());
        let auto = When::Auto;
        let look = Look { color: auto, theme: None, links: auto, ambiguous: None, svg: false };
        Self {
            json,
            fits: false,
            options,
            error_theme: theme_of_errors(&look),
            output: Output::Open,
            pages: false,
            pager: None,
            picture: None,
            recovered: None,
        }
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

    /// What is printed from here on may be long: on a terminal it goes through the pager.
    pub(crate) fn page(&mut self) {
        if self.pages && self.pager.is_none() {
            self.pager = Pager::start();
        }
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.fits
    }

    /// Prints styled lines; on a terminal, those that are too wide in several.
    pub(crate) fn lines(&mut self, lines: &[Line]) {
        let text = if self.fits {
            let fitted: Vec<Line> = lines
                .iter()
                .flat_map(|line| fit(line, self.options.width, &self.options.cells))
                .collect();
            if let Some((_, gathered)) = &mut self.picture {
                gathered.extend(fitted);
                return;
            }
            to_ansi(&fitted, &self.options.theme)
        } else {
            to_ansi(lines, &self.options.theme)
        };
        self.raw(text.as_bytes());
    }

    /// Prints foreign text: every line as it is, but inert; on a terminal, those that are too wide
    /// in several.
    pub(crate) fn text(&mut self, text: &str) {
        let lines: Vec<Line> =
            text.lines().map(|line| Line::of(&clean_line(line), Role::Text)).collect();
        self.lines(&lines);
    }

    /// Prints text for another program: to a terminal inert, to a pipe as it is.
    pub(crate) fn bytes(&mut self, text: &[u8]) {
        if io::stdout().is_terminal() {
            self.text(&String::from_utf8_lossy(text));
            return;
        }
        self.raw(text);
    }

    /// Prints the help or version that the parser of the arguments answers.
    pub(crate) fn help(mut self, help: &clap::Error) -> ExitCode {
        let printed = help.print().and_then(|()| io::stdout().flush());
        self.heard(printed);
        self.finish(Status::Done)
    }

    /// What a picture is drawn on, where one is wanted.
    pub(crate) fn ground(&self) -> Option<Ground> {
        self.picture.as_ref().map(|(ground, _)| *ground)
    }

    /// Prints a picture, in place of one of what was gathered.
    pub(crate) fn draw(&mut self, svg: &str) {
        self.picture = None;
        self.raw(svg.as_bytes());
    }

    /// Whether colour is wanted on standard output.
    pub(crate) fn is_coloured(&self) -> bool {
        self.options.theme != Theme::none()
    }

    /// Prints one line of JSON. What of its strings a terminal could act on is escaped, which leaves
    /// the value as it is.
    pub(crate) fn json(&mut self, value: &Value) {
        let mut value = value.clone();
        if let Some(object) = value.as_object_mut()
            && let Some(recovered) = self.recovered.take()
        {
            object.insert("recovered".to_owned(), recovered);
        }
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
        self.raw(out.as_bytes());
    }

    /// Says what was found half done: one line on standard error, so that what a pipe reads stays
    /// what was asked for; as JSON, `recovered` in the object that comes next.
    pub(crate) fn recovered(&mut self, recovered: Recovered) {
        if recovered.is_empty() {
            return;
        }
        if self.json {
            self.recovered = Some(recovered.json());
            return;
        }
        let line = Line::of(&clean_line(&recovered.line()), Role::Warning);
        self.say_beside(&[line]);
    }

    /// Prints a remark on standard error; with JSON nothing, where the events say it.
    pub(crate) fn remark(&self, text: &str) {
        if !self.json {
            self.say_beside(&[Line::of(&clean_line(text), Role::Warning)]);
        }
    }

    /// Prints an error and answers how the command ended.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Status {
        if self.json {
            self.json(&json!({ "v": 1, "error": failure.what, "hint": failure.hint }));
        } else {
            self.complain(failure);
        }
        Status::Refused
    }

    /// The exit status of a command that ended so. Output that could not be written is an error.
    pub(crate) fn finish(mut self, status: Status) -> ExitCode {
        if self.recovered.is_some() {
            self.json(&json!({ "v": 1 }));
        }
        if let Some((ground, lines)) = self.picture.take() {
            let Options { width, theme, cells, .. } = &self.options;
            let picture = Picture::of(&lines, *width, theme, cells);
            self.raw(picture.to_svg("What xd prints", ground).as_bytes());
        }
        // Before anything is said on standard error: the pager has the terminal until then.
        self.unpage();
        let Output::Failed(error) = &self.output else { return status.into() };
        let hint = match status {
            Status::Done => {
                "The command itself was carried out; `xd status` and `xd log` say how things are."
            }
            Status::Nothing | Status::Refused => {
                "Nothing was changed. Free the output and run it again."
            }
            Status::Signalled(_) => "What is pending stays pending.",
            Status::Unfinished | Status::Aborted => {
                "The session is kept: `xd agent --resume` goes on with it."
            }
        };
        self.complain(&Failure::new(format!("standard output: {error}"), hint));
        Status::Refused.into()
    }

    /// Prints two lines on standard error: what, and what to do.
    fn complain(&mut self, failure: &Failure) {
        self.unpage();
        let mut what = Line::of("xd: ", Role::Error);
        what.add(&clean_line(&failure.what), Role::Text);
        let hint = Line::of(&format!("{HINT_INDENT}{}", clean_line(&failure.hint)), Role::Muted);
        self.say_beside(&[what, hint]);
    }

    /// Prints lines on standard error.
    fn say_beside(&self, lines: &[Line]) {
        let lines = match terminal_size::terminal_size_of(io::stderr()) {
            Some((width, _)) => lines
                .iter()
                .flat_map(|line| fit(line, usize::from(width.0), &self.options.cells))
                .collect(),
            None => lines.to_vec(),
        };
        // Nobody is left to tell where standard error is gone.
        let _ = io::stderr().write_all(to_ansi(&lines, &self.error_theme).as_bytes());
    }

    /// Waits for the pager, where there is one. Where it could not be run, what it was given is
    /// printed without it; true in that case.
    fn unpage(&mut self) -> bool {
        let Some(text) = self.pager.take().and_then(|mut pager| pager.finish()) else {
            return false;
        };
        self.pages = false;
        self.raw(&text);
        true
    }

    fn raw(&mut self, text: &[u8]) {
        if let Output::Open = self.output {
            if let Some(pager) = &mut self.pager {
                match pager.write(text) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        if !self.unpage() {
                            self.output = Output::Closed;
                        }
                    }
                    Err(error) => self.output = Output::Failed(error),
                }
                return;
            }
            let mut out = io::stdout().lock();
            let written = out.write_all(text).and_then(|()| out.flush());
            drop(out);
            self.heard(written);
        }
    }

    fn heard(&mut self, written: io::Result<()>) {
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.output = Output::Closed,
            Err(error) => self.output = Output::Failed(error),
        }
    }
}

/// How far a hint is indented below what it is about.
const HINT_INDENT: &str = "    ";

/// `line` in as many lines as `width` wants. What continues it begins below its first word, as long
/// as that leaves it more than half the width.
pub(crate) fn fit(line: &Line, width: usize, cells: &Cells) -> Vec<Line> {
    if line.width(cells) <= width {
        return vec![line.clone()];
    }
    let blanks = line.text().chars().take_while(|&c| c == ' ').count();
    if blanks == 0 || blanks * 2 >= width {
        return line.wrap(width, Break::Words, cells);
    }
    let mut body = Line::new();
    let mut skip = blanks;
    for span in line.spans() {
        let from = skip.min(span.text().len());
        skip -= from;
        body.push(Span::new(&span.text()[from..], span.style()).linked(span.link().cloned()));
    }
    let indented = |rest: Line| {
        let mut line = Line::of(&" ".repeat(blanks), Role::Text);
        line.extend(rest);
        line
    };
    body.wrap(width - blanks, Break::Words, cells).into_iter().map(indented).collect()
}

/// The theme for standard error, which may be a terminal where standard output is none.
fn theme_of_errors(look: &Look) -> Theme {
    Surroundings { terminal: io::stderr().is_terminal(), variable: &variable }.theme(look)
}

/// With colours in code, where there are colours at all and the build has them. Nothing is loaded
/// before code is drawn.
fn highlighted(options: Options) -> Options {
    #[cfg(feature = "highlight")]
    if options.theme != Theme::none() {
        let by = xd_render::Highlighting::by(xd_highlight::GrammarHighlighter);
        return options.with_highlighting(by);
    }
    options
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT V4: nothing is wider than the terminal, and nothing is lost.
    #[test]
    fn v4_a_line_is_fitted_into_any_width() {
        let cells = Cells::default();
        let mut log = Line::of("    2026-01-01 10:00:00  @12  ", Role::Muted);
        log.add("applied", Role::Success);
        log.add(" by a person  AST Edit: 1 replacement in 日本語/ファイル.ts", Role::Text);
        for line in [log, Line::of("Staged as @1; no file is changed yet.", Role::Text)] {
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            for width in 2..120 {
                let fitted = fit(&line, width, &cells);
                assert!(fitted.iter().all(|line| line.width(&cells) <= width), "{width}");
                let text: String = fitted.iter().map(Line::text).collect();
                assert_eq!(squeezed(&text), squeezed(&line.text()), "{width}");
            }
            assert_eq!(fit(&line, 200, &cells), std::slice::from_ref(&line));
        }
    }

    #[test]
    fn what_continues_an_indented_line_is_indented_too() {
        let line = Line::of("  apply:   xd resolve 1 \"why\"", Role::Text);
        let fitted = fit(&line, 20, &Cells::default());
        assert!(fitted.len() > 1 && fitted.iter().all(|line| line.text().starts_with("  ")));
    }
}
