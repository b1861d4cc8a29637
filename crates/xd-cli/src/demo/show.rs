//! A run on the screen, as a terminal front end draws it.

use std::collections::HashMap;

use serde_json::Value;
use xd_agent::Event;
use xd_protocol::notice;
use xd_render::{Diff, Line, Renderers, Role, Style};
use xd_resolve::ToolCall;
use xd_session::ToolChoice;

use crate::screen::Screen;

/// Prints the title of an act.
pub(crate) fn title(screen: &mut Screen, number: usize, title: &str) {
    let mut line = Line::of(&format!("Act {number}  "), Role::Muted);
    line.add(title, Style::new(Role::Title).bold());
    screen.lines(&[Line::new(), line, Line::new()]);
}

/// Prints what happened in a run.
pub(crate) fn events(screen: &mut Screen, events: &[Event], verbose: bool) {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    for event in events {
        match event {
            Event::Prompt { text } => labelled(screen, "user", Role::Title, text),
            Event::Text { text } => labelled(screen, "model", Role::Title, text),
            Event::Call { call } => {
                calls.insert(&call.id, call);
                labelled(screen, "call", Role::Title, &spelled(call));
            }
            Event::Result { call_id, executed, result } => {
                if let Some(call) = calls.get(call_id.as_str()) {
                    if let Some(text) =
                        result.content.first().filter(|text| text.starts_with(notice::STAGED))
                    {
                        let notice = text.split("\n\n").next().unwrap_or_default();
                        screen.lines(&wrapped(screen, notice, Role::Warning));
                    }
                    let options = screen.options().clone();
                    screen.lines(&Renderers::new().draw(call, result, &options));
                    if !executed {
                        screen.lines(&[Line::of(
                            "  (the call was skipped; no file was touched)",
                            Role::Muted,
                        )]);
                    }
                }
                screen.lines(&[Line::new()]);
            }
            Event::Turn { turn, tool_choice, forced } if *forced || verbose => {
                let choice = match tool_choice {
                    ToolChoice::Auto => "auto".to_owned(),
                    ToolChoice::Required => "any tool".to_owned(),
                    ToolChoice::None => "none".to_owned(),
                    ToolChoice::Named(tool) => tool.clone(),
                };
                let forced = if *forced { "  forced, for this turn alone" } else { "" };
                let role = if forced.is_empty() { Role::Muted } else { Role::Warning };
                screen.lines(&[Line::of(
                    &format!("turn {turn}: tool_choice = {choice}{forced}"),
                    role,
                )]);
            }
            Event::Hidden { custom_type, text } if verbose => {
                labelled(screen, &format!("hidden message ({custom_type})"), Role::Muted, text);
            }
            Event::ForcingUnavailable { tool } | Event::ToolUnavailable { tool } => {
                labelled(screen, "note", Role::Warning, &format!("`{tool}` could not be forced"));
            }
            _ => {}
        }
    }
}

/// Prints what changed on the disk.
pub(crate) fn disk(screen: &mut Screen, diff: &str) {
    let options = screen.options().clone();
    screen.lines(&[Line::of("On disk afterwards:", Role::Title)]);
    if diff.is_empty() {
        screen.lines(&[Line::of("  nothing changed", Role::Muted)]);
    } else {
        screen.lines(&Diff::parse(diff).lines(&options, None));
    }
}

/// A call on one line, as the model made it.
fn spelled(call: &ToolCall) -> String {
    let arguments = &call.arguments;
    match (call.str_argument("path"), call.str_argument("content"), arguments.get("ops")) {
        (Some(path), Some(content), _) => format!("{} {path}  {content:?}", call.name),
        (_, _, Some(Value::Array(ops))) => {
            let ops: Vec<String> =
                ops.iter().map(|op| format!("{} becomes {}", op["pat"], op["out"])).collect();
            format!("{} {}  in {}", call.name, ops.join(", "), arguments["paths"])
        }
        _ => format!("{} {arguments}", call.name),
    }
}

fn labelled(screen: &mut Screen, label: &str, role: Role, text: &str) {
    let mut line = Line::of(&format!("{label}: "), role);
    let mut rest = text.lines();
    line.add(rest.next().unwrap_or_default(), Role::Text);
    let options = screen.options().clone();
    let mut lines = line.wrap(options.width, xd_render::Break::Words, &options.cells);
    for text in rest {
        lines.extend(wrapped(screen, text, Role::Text));
    }
    lines.push(Line::new());
    screen.lines(&lines);
}

fn wrapped(screen: &Screen, text: &str, role: Role) -> Vec<Line> {
    let options = screen.options();
    Line::of(text, role).wrap(options.width, xd_render::Break::Words, &options.cells)
}
