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
    let entries: Vec<(&LogLine, Entry)> =
        lines.iter().filter_map(|line| Some((line, entry(line)?))).collect();
    if screen.is_json() {
        for (line, _) in &entries {
            screen.json(&json!(line));
        }
        return Ok(Status::Done);
    }
    if entries.is_empty() {
        screen.text("Nothing was decided yet.");
        return Ok(Status::Done);
    }
    screen.page();
    let columns = Columns::of(entries.iter().map(|(_, entry)| entry));
    for (_, entry) in &entries {
        screen.lines(&entry.lines(&columns));
    }
    Ok(Status::Done)
}

/// A decision as it is shown: a line in columns, and what was said below it.
struct Entry {
    time: String,
    number: Option<u64>,
    /// What was done and by whom.
    deed: String,
    role: Role,
    what: String,
    said: Vec<(String, Role)>,
}

/// How wide the columns of all entries are, in characters; none of them holds foreign text.
struct Columns {
    number: usize,
    deed: usize,
}

impl Columns {
    fn of<'e>(entries: impl Iterator<Item = &'e Entry>) -> Self {
        entries.fold(Self { number: 0, deed: 0 }, |columns, entry| Self {
            number: columns.number.max(entry.mark().len()),
            deed: columns.deed.max(entry.deed.len()),
        })
    }
}

impl Entry {
    fn mark(&self) -> String {
        self.number.map(|number| format!("@{number}")).unwrap_or_default()
    }

    fn lines(&self, columns: &Columns) -> Vec<Line> {
        let mut head = Line::of(&format!("{}  ", self.time), Role::Muted);
        if columns.number > 0 {
            head.add(&format!("{:>width$}  ", self.mark(), width = columns.number), Role::Title);
        }
        let gap = if self.what.is_empty() { 0 } else { columns.deed };
        head.add(&format!("{:gap$}", self.deed), self.role);
        if !self.what.is_empty() {
            head.add(&format!("  {}", self.what), Role::Text);
        }
        let said = self.said.iter().filter(|(text, _)| !text.is_empty());
        std::iter::once(head)
            .chain(said.map(|(text, role)| Line::of(&format!("    {text}"), *role)))
            .collect()
    }
}

/// What is shown of a line of the log; nothing of a step on the way to a decision.
fn entry(line: &LogLine) -> Option<Entry> {
    let time = shown(&line.time);
    match &line.event {
        LogEvent::Decided { number, label, action, reason, who, outcome, .. } => {
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
            let mut said = vec![(reason.clone(), Role::Muted)];
            if let Outcome::Failed { message } = outcome {
                said.push((message.lines().next().unwrap_or_default().to_owned(), Role::Error));
            }
            let deed = format!("{word} by {}", by(*who));
            Some(Entry { time, number: Some(*number), deed, role, what: label.clone(), said })
        }
        // A person's no: what the confirm would have done and its reason, then what was said to it.
        LogEvent::Declined { number, label, action, reason, words, who, .. } => {
            let word = match action {
                DispatchAction::Apply => "apply refused",
                DispatchAction::Discard => "discard refused",
            };
            let said = [reason, words].map(|said| (said.clone(), Role::Muted)).to_vec();
            Some(Entry {
                time,
                number: Some(*number),
                deed: format!("{word} by {}", by(*who)),
                role: Role::Warning,
                what: label.clone(),
                said,
            })
        }
        // A person's yes for a reason of their own: theirs, then the confirm's.
        LogEvent::Approved { number, label, action, reason, instead, who, .. } => {
            let word = match action {
                DispatchAction::Apply => "apply approved",
                DispatchAction::Discard => "discard approved",
            };
            let instead = format!("{instead} (instead of: {reason})");
            Some(Entry {
                time,
                number: Some(*number),
                deed: format!("{word} by {}", by(*who)),
                role: Role::Success,
                what: label.clone(),
                said: vec![(instead, Role::Muted)],
            })
        }
        LogEvent::Plan { record } => Some(plan_entry(time, record)),
        LogEvent::Staged { .. } | LogEvent::Taken { .. } => None,
    }
}

fn plan_entry(time: String, PlanRecord { event, who, reason }: &PlanRecord) -> Entry {
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
    let what = plan.map(|(slug, digest)| format!("{slug} ({})", digest.short()));
    Entry {
        time,
        number: None,
        deed: format!("{word} by {}", by(*who)),
        role,
        what: what.unwrap_or_default(),
        said: vec![(reason.clone(), Role::Muted)],
    }
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
