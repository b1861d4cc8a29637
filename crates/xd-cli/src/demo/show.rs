//! A run on the screen, as a terminal front end draws it.

use std::collections::HashMap;

use serde_json::Value;
use xd_agent::Event;
use xd_protocol::notice;
use xd_render::{Diff, Line, Renderers, Role, Style};
use xd_resolve::ToolCall;
use xd_session::ToolChoice;

use super::Happening;
use crate::screen::Screen;

/// Prints the title of an act.
pub(crate) fn title(screen: &mut Screen, number: usize, title: &str) {
    let mut line = Line::of(&format!("Act {number}  "), Role::Muted);
    line.add(title, Style::new(Role::Title).bold());
    screen.lines(&[Line::new(), line, Line::new()]);
}

/// Prints what happened in a run.
pub(super) fn happenings(screen: &mut Screen, happenings: &[Happening], verbose: bool) {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    for happening in happenings {
        let event = match happening {
            Happening::Agent(event) => event,
            Happening::Meddled { path } => {
                labelled(screen, "meanwhile", Role::Warning, &format!("somebody edits {path}"));
                continue;
            }
        };
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
            Event::ForcingUnavailable { tool } => {
                let tool = tool.as_deref().unwrap_or("a tool");
                labelled(screen, "note", Role::Warning, &format!("`{tool}` could not be forced"));
            }
            Event::ToolUnavailable { tool } => {
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

/// A call on one line, as a person reads it.
fn spelled(call: &ToolCall) -> String {
    let (name, arguments) = (&call.name, &call.arguments);
    match (call.str_argument("path"), call.str_argument("content"), arguments.get("ops")) {
        (Some(path), Some(content), _) => {
            let mut lines = content.lines();
            let first = lines.next().unwrap_or_default();
            match lines.count() {
                0 => format!("{name} {path}: {first}"),
                1 => format!("{name} {path}: {first} … and 1 more line"),
                more => format!("{name} {path}: {first} … and {more} more lines"),
            }
        }
        (_, _, Some(Value::Array(ops))) => {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let change = |op: &Value| match (text(&op["pat"]), text(&op["out"])) {
                (pat, out) if out.is_empty() => format!("{pat} is deleted"),
                (pat, out) => format!("{pat} becomes {out}"),
            };
            let changes: Vec<String> = ops.iter().map(change).collect();
            let paths: Vec<String> =
                arguments["paths"].as_array().into_iter().flatten().map(text).collect();
            format!("{name} in {}: {}", paths.join(", "), changes.join("; "))
        }
        _ => format!("{name} {arguments}"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_read_as_sentences() {
        for (name, arguments, wanted) in [
            (
                "write",
                json!({ "path": "xd://resolve", "content": "It's \"right\"." }),
                "write xd://resolve: It's \"right\".",
            ),
            (
                "write",
                json!({ "path": "a.md", "content": "# A\n- b\n" }),
                "write a.md: # A … and 1 more line",
            ),
            (
                "write",
                json!({ "path": "a.md", "content": "a\nb\nc" }),
                "write a.md: a … and 2 more lines",
            ),
            (
                "ast_edit",
                json!({ "ops": [{ "pat": "f($A)", "out": "g($A)" }, { "pat": "d()", "out": "" }], "paths": ["a", "b"] }),
                "ast_edit in a, b: f($A) becomes g($A); d() is deleted",
            ),
            ("grep", json!({ "for": "x" }), "grep {\"for\":\"x\"}"),
        ] {
            assert_eq!(spelled(&ToolCall::new("1", name, arguments)), wanted);
        }
    }
}
