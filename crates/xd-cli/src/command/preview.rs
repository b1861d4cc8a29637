//! A staged action as a block on the screen.

use serde_json::{Value, json};
use xd_changeset::{ChangeSet, FileSummary};
use xd_render::{Line, Link, Options, Preview, PreviewState, Role, Span, draw_preview};
use xd_resolve::{ActionState, Staged, StagedAction};
use xd_write::{Proposed, stage_change_set};

use super::block_on;
use crate::{
    failure::{Failure, Status},
    place::Place,
    screen::Screen,
};

/// How many unchanged lines are shown around a change.
pub(crate) const CONTEXT_LINES: usize = 3;

/// The drawing of a pending `action`: its remarks, then the diff of its change set, or the preview
/// that its producer wrote where it has none.
pub(crate) fn of(action: &StagedAction, stale: Option<String>, see_all: Option<String>) -> Preview {
    let text = match action.change_set() {
        Some(change_set) => text(action.details(), change_set),
        None => action.preview(),
    };
    Preview {
        number: Some(action.number().get()),
        label: Some(action.label().to_owned()),
        source: Some(action.source_tool_name().to_owned()),
        state: PreviewState::Pending,
        stale,
        text,
        see_all,
    }
}

/// Stages a proposal and prints its preview.
pub(super) fn stage(
    place: &Place,
    proposed: Proposed,
    summary: &Value,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let files = proposed.change_set.files();
    let preview = proposed.preview.clone();
    let staged = block_on(stage_change_set(&*place.session, &place.workspace, proposed))?
        .map_err(|error| Failure::new(error, "Nothing was staged; mend this and run it again."))?;
    if screen.is_json() {
        screen.json(&json!({
            "v": 1,
            "staged": {
                "number": staged.number().get(),
                "id": staged.action().id(),
                "label": staged.action().label(),
                "files": files,
                "summary": summary,
                "preview": preview,
            }
        }));
    } else {
        self::staged(&staged, screen);
    }
    Ok(Status::Done)
}

/// Prints what was just staged, and how to decide about it.
pub(super) fn staged(staged: &Staged, screen: &mut Screen) {
    let number = staged.number();
    let preview = of(staged.action(), None, Some(format!("xd show {number}")));
    let options = screen.options().clone();
    draw_preview(&preview, &options, &mut |lines| screen.lines(&lines));
    screen.text(&format!(
        "\nStaged as @{number}; no file is changed yet.\n  apply:   xd resolve {number} \"why\"\n  \
         discard: xd reject {number} \"why\""
    ));
}

/// The remarks among `details`, then the diff of the change: what is shown is what is applied.
pub(crate) fn text(details: Option<&Value>, change_set: &ChangeSet) -> String {
    let notes = notes(details);
    let gap = if notes.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}{}", notes.join("\n"), change_set.unified(CONTEXT_LINES))
}

/// The remarks among `details`.
pub(crate) fn notes(details: Option<&Value>) -> Vec<&str> {
    let notes = details.and_then(|details| details.get("notes")).and_then(Value::as_array);
    notes.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first of `files`, a line each behind `indent`, and how many more there are. Verbs, paths and
/// counts stand in columns; `options` are those of the screen.
pub(crate) fn files(files: &[FileSummary], indent: &str, options: &Options) -> Vec<Line> {
    /// How many files are named.
    const NAMED: usize = 3;
    let named = &files[..files.len().min(NAMED)];
    let cells = &options.cells;
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let verbs = widest(&mut named.iter().map(|file| file.verb.to_string().len()));
    let paths: Vec<Line> = named.iter().map(|file| path(file, options)).collect();
    // A column wider than the screen would push the counts into lines of their own.
    let room = options.width.saturating_sub(indent.len() + verbs + 12);
    let column = widest(&mut paths.iter().map(|path| path.width(cells))).min(room);
    let added = widest(&mut named.iter().map(|file| file.added.to_string().len()));
    let mut lines = Vec::new();
    for (file, path) in named.iter().zip(paths) {
        let mut line = Line::of(&format!("{indent}{:verbs$} ", file.verb.to_string()), Role::Muted);
        line.extend(path.pad(column, Role::Muted, cells));
        let count = format!("+{}", file.added);
        line.add(&format!("  {count:>width$}", width = added + 1), Role::Added);
        line.add(&format!(" -{}", file.removed), Role::Removed);
        lines.push(line);
    }
    if files.len() > NAMED {
        let rest = match files.len() - NAMED {
            1 => format!("{indent}and 1 more file"),
            more => format!("{indent}and {more} more files"),
        };
        lines.push(Line::of(&rest, Role::Muted));
    }
    lines
}

/// The path of a file; of a move, where it comes from too.
fn path(file: &FileSummary, options: &Options) -> Line {
    let target = options.link_root.as_ref().map(|root| root.join(file.path.as_str()));
    let link = target.and_then(|target| Link::file(&target));
    let mut line = Line::new();
    line.push(Span::new(file.path.as_str(), Role::Muted).linked(link));
    if let Some(source) = &file.source {
        line.add(&format!(" (from {source})"), Role::Muted);
    }
    line
}

/// What is drawn of `state`.
pub(crate) fn state(state: ActionState) -> PreviewState {
    match state {
        ActionState::Pending => PreviewState::Pending,
        ActionState::Taken(_) => PreviewState::BeingResolved,
        ActionState::Applied => PreviewState::Applied,
        ActionState::Discarded => PreviewState::Discarded,
        ActionState::Void => PreviewState::Void,
        ActionState::Withdrawn => PreviewState::Withdrawn,
    }
}
