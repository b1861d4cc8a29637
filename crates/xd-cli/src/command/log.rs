//! `xd log`: every decision, oldest first (`CONTRACT L1`).

use std::path::Path;

use serde_json::json;
use xd_render::{Line, Role};
use xd_resolve::{Decider, DispatchAction, Outcome};
use xd_write::{LogEvent, LogLine, PlanEvent, PlanRecord};

use crate::{
    arguments::SessionArgument,
    failure::{Failure, Status},
    place::{View, state_failure},
    screen::Screen,
};

/// Prints the decisions; as JSON Lines, one object each with everything that is known.
pub(crate) fn run(
    directory: &Path,
    session: &SessionArgument,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open_in(directory, session, screen)?;
    let lines = match &view.state {
        Some(state) => state.log().map_err(state_failure)?,
        None => Vec::new(),
    };
    let mut decided = 0;
    for line in &lines {
        let row = match &line.event {
            LogEvent::Decided { .. } => row(line),
            LogEvent::Declined { .. } => declined_row(line),
            LogEvent::Approved { .. } => approved_row(line),
            LogEvent::Plan { record } => plan_row(&line.time, record),
            LogEvent::Staged { .. } | LogEvent::Taken { .. } => continue,
        };
        decided += 1;
        if screen.is_json() {
            screen.json(&json!(line));
        } else {
            screen.lines(&row);
        }
    }
    if decided == 0 && !screen.is_json() {
        screen.text("Nothing was decided yet.");
    }
    Ok(Status::Done)
}

fn row(line: &LogLine) -> Vec<Line> {
    let LogEvent::Decided { number, label, action, reason, who, outcome, .. } = &line.event else {
        return Vec::new();
    };
    let (word, role) = match outcome {
        Outcome::Applied => ("applied", Role::Success),
        Outcome::Discarded => ("discarded", Role::Warning),
        Outcome::Failed { .. } => match action {
            Some(DispatchAction::Discard) => ("discard failed", Role::Error),
            Some(DispatchAction::Apply) | None => ("apply failed", Role::Error),
        },
        Outcome::Late { .. } => ("late", Role::Warning),
        Outcome::Void => ("void", Role::Muted),
        Outcome::Withdrawn => ("withdrawn", Role::Muted),
    };
    let mut head = Line::of(&format!("{}  @{number}  ", shown(&line.time)), Role::Muted);
    head.add(word, role);
    head.add(&format!(" by {}  ", by(*who)), Role::Muted);
    head.add(label, Role::Text);
    let mut lines = vec![head];
    if !reason.is_empty() {
        lines.push(Line::of(&format!("    {reason}"), Role::Muted));
    }
    if let Outcome::Failed { message } = outcome {
        lines.push(Line::of(
            &format!("    {}", message.lines().next().unwrap_or_default()),
            Role::Error,
        ));
    }
    lines
}

/// A person's no: what the confirm would have done and its reason, then what was said to it.
fn declined_row(line: &LogLine) -> Vec<Line> {
    let LogEvent::Declined { number, label, action, reason, words, who, .. } = &line.event else {
        return Vec::new();
    };
    let word = match action {
        DispatchAction::Apply => "apply refused",
        DispatchAction::Discard => "discard refused",
    };
    let mut head = Line::of(&format!("{}  @{number}  ", shown(&line.time)), Role::Muted);
    head.add(word, Role::Warning);
    head.add(&format!(" by {}  ", by(*who)), Role::Muted);
    head.add(label, Role::Text);
    let mut lines = vec![head];
    for said in [reason, words].into_iter().filter(|said| !said.is_empty()) {
        lines.push(Line::of(&format!("    {said}"), Role::Muted));
    }
    lines
}

/// A person's yes for a reason of their own: the confirm's reason, then theirs.
fn approved_row(line: &LogLine) -> Vec<Line> {
    let LogEvent::Approved { number, label, action, reason, instead, who, .. } = &line.event else {
        return Vec::new();
    };
    let word = match action {
        DispatchAction::Apply => "apply approved",
        DispatchAction::Discard => "discard approved",
    };
    let mut head = Line::of(&format!("{}  @{number}  ", shown(&line.time)), Role::Muted);
    head.add(word, Role::Success);
    head.add(&format!(" by {}  ", by(*who)), Role::Muted);
    head.add(label, Role::Text);
    let instead = format!("{instead} (instead of: {reason})");
    vec![head, Line::of(&format!("    {instead}"), Role::Muted)]
}

fn plan_row(time: &str, PlanRecord { event, who, reason }: &PlanRecord) -> Vec<Line> {
    let (word, role, plan) = match event {
        PlanEvent::Entered => ("plan mode entered", Role::Muted, None),
        PlanEvent::Left => ("plan mode left", Role::Muted, None),
        PlanEvent::Proposed { slug, digest } => {
            ("plan submitted", Role::Muted, Some((slug, digest)))
        }
        PlanEvent::Approved { slug, approved, .. } => {
            ("plan approved", Role::Success, Some((slug, approved)))
        }
        PlanEvent::Refused { slug, digest } => {
            ("plan refused", Role::Warning, Some((slug, digest)))
        }
        PlanEvent::Dismissed { slug, digest } => {
            ("plan not decided", Role::Warning, Some((slug, digest)))
        }
        PlanEvent::Withdrawn { slug, digest } => {
            ("plan withdrawn", Role::Muted, Some((slug, digest)))
        }
        PlanEvent::Void { slug, digest } => {
            ("plan approval void", Role::Warning, Some((slug, digest)))
        }
        _ => ("plan mode changed", Role::Muted, None),
    };
    let mut head = Line::of(&format!("{}  ", shown(time)), Role::Muted);
    head.add(word, role);
    head.add(&format!(" by {}", by(*who)), Role::Muted);
    if let Some((slug, digest)) = plan {
        head.add(&format!("  {slug} ({})", digest.short()), Role::Text);
    }
    let mut lines = vec![head];
    if !reason.is_empty() {
        lines.push(Line::of(&format!("    {reason}"), Role::Muted));
    }
    lines
}

fn by(who: Decider) -> &'static str {
    match who {
        Decider::Model => "a model",
        Decider::Person => "a person",
        Decider::Host => "the host",
    }
}

fn shown(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}
