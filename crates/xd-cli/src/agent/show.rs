//! A run on a terminal, as it comes: text by whole lines, calls while they stream and run, results.

use std::collections::BTreeMap;

use xd_agent::{Delta, Event};
use xd_render::{Break, CallView, Line, Phase, Renderers, Role, clean_line, to_ansi};
use xd_resolve::ToolCall;

use super::spinner::Spinner;
use crate::screen::Screen;

/// The most lines of what is under way that are drawn over.
const LIVE_LINES: usize = 8;

/// What is drawn of a run.
pub(crate) struct Show {
    spinner: Spinner,
    renderers: Renderers,
    /// The last line of the text so far, which is not whole yet.
    line: String,
    /// Whether text of this turn has come in pieces.
    streamed: bool,
    /// The last line of what the model thinks.
    thought: String,
    /// The calls that stream, by their place in the answer.
    streaming: BTreeMap<usize, CallView>,
    /// The calls that have no result yet, in their order.
    running: Vec<(ToolCall, CallView)>,
    /// Whether anything was printed since the last empty line.
    apart: bool,
}

impl Show {
    /// Nothing is drawn yet.
    pub(crate) fn new() -> Self {
        Self {
            spinner: Spinner::new(),
            renderers: Renderers::new(),
            line: String::new(),
            streamed: false,
            thought: String::new(),
            streaming: BTreeMap::new(),
            running: Vec::new(),
            apart: true,
        }
    }

    /// Draws what happened.
    pub(crate) fn event(&mut self, event: &Event, screen: &mut Screen) {
        match event {
            Event::Prompt { .. } => self.spinner = Spinner::new(),
            Event::Stopped { .. } => return,
            Event::Turn { forced, .. } => {
                self.streamed = false;
                self.spinner.note(if *forced { " · asked to decide" } else { "" });
            }
            // Reminders are between the session and the model; what is gone concerns a person.
            Event::Hidden { custom_type, text } if custom_type == "resolve-void" => {
                self.print(screen, &[Line::of(&clean_line(text), Role::Warning)]);
            }
            Event::Delta { delta } => self.delta(delta, screen),
            Event::Withdrawn => {
                self.line.clear();
                self.streaming.clear();
                if std::mem::take(&mut self.streamed) {
                    let words = "(the answer broke off and begins anew)";
                    self.print(screen, &[Line::of(words, Role::Warning)]);
                }
            }
            Event::Usage { usage, .. } => self.spinner.spend(*usage),
            Event::Text { text } => self.text(text, screen),
            Event::Call { call } => {
                self.flush(screen);
                self.streaming.clear();
                let mut view = CallView::of(call);
                view.set_phase(Phase::Running);
                self.running.push((call.clone(), view));
            }
            Event::Result { call_id, executed, result } => {
                let at = self.running.iter().position(|(call, _)| call.id == *call_id);
                if let Some((call, _)) = at.map(|at| self.running.remove(at)) {
                    let options = screen.options().clone().with_max_lines(Some(40));
                    let mut lines = self.renderers.draw(&call, result, &options);
                    if !executed {
                        lines.push(Line::of("  (not executed)", Role::Muted));
                    }
                    lines.push(Line::new());
                    self.gap(screen);
                    self.print(screen, &lines);
                    self.apart = true;
                }
            }
            Event::ForcingUnavailable { tool } => {
                let tool = tool.as_ref().map_or("a tool".to_owned(), |tool| format!("`{tool}`"));
                let words = format!("This model cannot be made to call {tool}; it is asked to.");
                self.print(screen, &[Line::of(&clean_line(&words), Role::Muted)]);
            }
            Event::ToolUnavailable { tool } => {
                let words = format!("`{tool}` is no active tool, so it was not forced.");
                self.print(screen, &[Line::of(&clean_line(&words), Role::Warning)]);
            }
            _ => {}
        }
        self.redraw(screen);
    }

    fn delta(&mut self, delta: &Delta, screen: &mut Screen) {
        match delta {
            Delta::Text { text } => {
                self.thought.clear();
                self.streamed = true;
                self.line.push_str(text);
                if let Some(end) = self.line.rfind('\n') {
                    let rest = self.line.split_off(end + 1);
                    let whole = std::mem::replace(&mut self.line, rest);
                    self.say(&whole, screen);
                }
            }
            Delta::Thinking { text } => {
                self.thought.push_str(text);
                if let Some(end) = self.thought.trim_end().rfind('\n') {
                    self.thought.drain(..=end);
                }
            }
            Delta::CallStarted { index, name, .. } => {
                self.thought.clear();
                self.streaming.insert(*index, CallView::new(name.clone()));
            }
            Delta::CallArguments { index, fragment } => {
                if let Some(view) = self.streaming.get_mut(index) {
                    view.push(fragment.as_bytes());
                }
            }
            Delta::Waiting { attempt, after_ms, reason } => {
                let seconds = after_ms.div_ceil(1_000);
                let words = format!("{reason}; attempt {attempt} in {seconds} s");
                self.print(screen, &[Line::of(&clean_line(&words), Role::Warning)]);
            }
            _ => {}
        }
    }

    /// The whole text of a turn; its pieces may have been drawn already.
    fn text(&mut self, text: &str, screen: &mut Screen) {
        if self.streamed {
            self.flush(screen);
        } else {
            self.say(text, screen);
        }
    }

    /// Prints the last line of the text, whole or not.
    fn flush(&mut self, screen: &mut Screen) {
        let rest = std::mem::take(&mut self.line);
        if !rest.is_empty() {
            self.say(&rest, screen);
        }
    }

    fn say(&mut self, text: &str, screen: &mut Screen) {
        self.spinner.above(|| screen.text(text));
        self.apart = text.ends_with("\n\n");
    }

    fn print(&mut self, screen: &mut Screen, lines: &[Line]) {
        self.spinner.above(|| screen.lines(lines));
        self.apart = false;
    }

    /// An empty line, where something stands right above.
    fn gap(&mut self, screen: &mut Screen) {
        if !self.apart {
            self.print(screen, &[Line::new()]);
            self.apart = true;
        }
    }

    /// Draws what is under way over what was drawn of it.
    fn redraw(&mut self, screen: &Screen) {
        let options = screen.options().clone();
        let width = options.width.saturating_sub(1).max(1);
        let mut lines: Vec<Line> = Vec::new();
        if !self.line.is_empty() {
            let line = Line::of(&clean_line(&self.line), Role::Text);
            lines.extend(line.wrap(width, Break::Words, &options.cells));
        } else if !self.thought.trim().is_empty() {
            let thought = clean_line(self.thought.trim());
            lines.push(Line::of(&thought, Role::Muted).cut(width, &options.cells));
        }
        let views = self.streaming.values_mut();
        for view in views.chain(self.running.iter_mut().map(|(_, view)| view)) {
            lines.extend(
                view.lines(&options).iter().map(|line| line.clone().cut(width, &options.cells)),
            );
        }
        let hidden = lines.len().saturating_sub(LIVE_LINES);
        let text = to_ansi(&lines[hidden..], &options.theme);
        self.spinner.draw(text.trim_end_matches('\n'));
    }

    /// A person is about to be asked.
    pub(crate) fn pause(&mut self) {
        self.spinner.clear();
    }

    /// The person has answered.
    pub(crate) fn go_on(&mut self) {
        self.spinner.draw("");
    }

    /// Ctrl-C was heard.
    pub(crate) fn cancelling(&mut self) {
        self.spinner.note(" · cancelling; Ctrl-C again leaves");
    }

    /// The run is over: nothing moves any more.
    pub(crate) fn ended(&mut self, screen: &mut Screen) {
        self.flush(screen);
        self.spinner.clear();
        self.streaming.clear();
        self.running.clear();
        if let Some(cost) = self.spinner.cost() {
            self.gap(screen);
            self.print(screen, &[Line::of(&cost, Role::Muted)]);
        }
        self.gap(screen);
    }
}
