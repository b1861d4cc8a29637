//! A `write` of a file as a proposal: a change set with its preview, and the file as it was until
//! somebody confirms ([`FileWrites::Staged`](crate::FileWrites::Staged)).

use std::{fmt::Write as _, sync::Arc};

use serde_json::{Value, json};
use xd_changeset::{BuildError, Change, ChangeSet, Content, RelPath};
use xd_protocol::WRITE_TOOL;
use xd_resolve::ToolResult;

use super::counted;
use crate::{
    Proposed, ToolContext, Workspace, away::off_runtime, read::PREVIEW_STARTS, stage_change_set,
};

/// How much of a preview goes to the model, in bytes (`CONTRACT A3`).
const SHOWN: usize = 32 * 1024;
/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Stages the write of `content` to `path`.
///
/// # Cancel safety
/// Dropped while it compares, nothing is staged.
pub(super) async fn stage(context: &Arc<ToolContext>, path: &RelPath, content: &str) -> ToolResult {
    let (workspace, of, text) =
        (context.workspace().clone(), path.clone(), Content::new(content.as_bytes()));
    let prepare = move || Prepared::new(&workspace, of, text);
    // Reading and comparing may take long; on a runtime they must not hold up the other tasks.
    let Ok(prepared) = off_runtime(prepare).await else {
        return ToolResult::error(format!(
            "write: comparing {path} with the new text failed. Nothing was staged."
        ));
    };
    match prepared {
        Ok(prepared) => prepared.stage(context).await,
        Err(error) => ToolResult::error(format!("write: {error}. Nothing was staged.")),
    }
}

/// A write that was compared with what is on the disk.
struct Prepared {
    /// The path as it was given; a link's own.
    path: RelPath,
    text: Content,
    change_set: ChangeSet,
    notes: Vec<String>,
    /// The difference as text.
    diff: String,
}

impl Prepared {
    fn new(workspace: &Workspace, path: RelPath, text: Content) -> Result<Self, BuildError> {
        let root = workspace.root();
        let executable = text.as_utf8().is_some_and(|text| text.starts_with("#!"));
        let change_set = ChangeSet::builder(root).put(&path, text.clone(), executable).build()?;
        let mut notes = Vec::new();
        let mut diff = String::new();
        if let Some(change) = change_set.changes().first() {
            if *change.path() != path {
                notes.push(format!("{path} is a link: what changes is {}.", change.path()));
            }
            if change.before().is_some()
                && let Ok(metadata) = root.metadata(change.path())
                && metadata.links > 1
            {
                notes.push(format!(
                    "{} has {} names (hard links): it is written in place, and the change shows \
                     under all of them.",
                    change.path(),
                    metadata.links
                ));
            }
            if let Some(before) = change.before() {
                let before = before
                    .bytes()
                    .map_err(|source| BuildError::Io { path: change.path().clone(), source })?;
                notes.extend(what_is_lost(&before, &text));
            }
            diff = shown(change, &text);
        }
        Ok(Self { path, text, change_set, notes, diff })
    }

    async fn stage(mut self, context: &Arc<ToolContext>) -> ToolResult {
        let pending = self.pending_too(context);
        let Some(change) = self.change_set.changes().first() else {
            return self.nothing_to_do(&pending);
        };
        let (deed, done) = match change {
            Change::Create { .. } => ("create", "created"),
            Change::SetMode { .. } => ("make executable", "made executable"),
            Change::Edit { .. }
            | Change::Replace { .. }
            | Change::Delete { .. }
            | Change::Move { .. } => ("replace", "replaced"),
        };
        let created = change.source().is_none();
        let summary = self.change_set.files().into_iter().next();
        let (added, removed) = summary.map_or((0, 0), |file| (file.added, file.removed));
        if let [first, ..] = pending.as_slice() {
            let (all, these) = match pending.len() {
                1 => (format!("Staged action @{first} changes"), "the other"),
                _ => (format!("Staged actions {} change", numbers(&pending)), "the others"),
            };
            self.notes.push(format!(
                "{all} {} too. Each is previewed against the file as it is on the disk now: \
                 whichever is applied first makes {these} stale, to be staged anew.",
                change.path()
            ));
        }
        let preview = self.preview(deed, added, removed);
        let proposed = Proposed {
            label: format!("Write: {deed} {}", self.path),
            source_tool_name: WRITE_TOOL.to_owned(),
            success: wrote(&self.path, done, self.text.len()),
            notes: self.notes,
            preview: preview.clone(),
            change_set: self.change_set,
        };
        let staged = match stage_change_set(&**context, context.workspace(), proposed).await {
            Ok(staged) => staged,
            Err(error) => return ToolResult::error(error.to_string()),
        };
        let mut result = staged.result(&bounded(&preview, staged.number().get()));
        if let Some(Value::Object(details)) = &mut result.details {
            details.insert("path".to_owned(), json!(self.path));
            details.insert("bytes".to_owned(), json!(self.text.len()));
            details.insert("created".to_owned(), json!(created));
            details.insert("staged".to_owned(), json!(true));
        }
        result
    }

    /// The pending actions that change the same file, newest first.
    fn pending_too(&self, context: &ToolContext) -> Vec<u64> {
        let real = self.change_set.changes().first().map_or(&self.path, Change::path);
        let pending = context.session().actions().pending();
        let touching = pending.iter().filter(|action| {
            action.change_set().is_some_and(|other| other.paths().contains(&real))
        });
        touching.map(|action| action.number().get()).collect()
    }

    /// The answer to a write of what is there already (`CONTRACT S6`, case 25).
    fn nothing_to_do(&self, pending: &[u64]) -> ToolResult {
        let mut text = format!(
            "No change needed: {} holds exactly this already ({}). Nothing was staged and nothing \
             was written.",
            self.path,
            counted(self.text.len(), "byte")
        );
        if let [first, ..] = pending {
            let _ = write!(
                text,
                " To keep it so, discard what is pending for it (@{first}{}).",
                if pending.len() > 1 { " and older ones" } else { "" }
            );
        }
        ToolResult::text(text).with_details(json!({
            "path": self.path, "bytes": self.text.len(), "created": false, "staged": false,
        }))
    }

    /// The whole preview: what is done, what there is to remark, the difference.
    fn preview(&self, deed: &str, added: usize, removed: usize) -> String {
        let mut preview = format!("{}: {deed} (+{added} -{removed})\n", self.path);
        for note in &self.notes {
            preview.push_str(note);
            preview.push('\n');
        }
        preview.push('\n');
        preview.push_str(&self.diff);
        preview
    }
}

/// What an applied write answers, staged or not.
pub(super) fn wrote(path: &RelPath, done: &str, bytes: u64) -> String {
    format!("Wrote {path} ({done}, {}).", counted(bytes, "byte"))
}

/// What the new text does away with that nobody sees in a difference at first sight: for a whole
/// file the text that is given decides (case 135), but not silently.
fn what_is_lost(before: &[u8], after: &Content) -> Option<String> {
    const MARK: char = '\u{feff}';
    let Ok(old) = std::str::from_utf8(before) else {
        return Some(format!(
            "What is there is not UTF-8 text ({}), and the new text is: all of it is replaced.",
            counted(before.len() as u64, "byte")
        ));
    };
    let new = after.as_utf8().unwrap_or_default();
    let mut lost = Vec::new();
    if old.starts_with(MARK) && !new.starts_with(MARK) {
        lost.push("The byte-order mark at its begin goes: the new text has none.");
    }
    if old.contains("\r\n") && new.contains('\n') && !new.contains("\r\n") {
        lost.push("Its CRLF line endings become LF, as the new text has them.");
    }
    (!lost.is_empty()).then(|| lost.join(" "))
}

/// The difference, and where it cannot be said in lines the new text in full (`CONTRACT A3`).
fn shown(change: &Change, text: &Content) -> String {
    let diff = change.diff(CONTEXT);
    let mut shown = diff.to_string();
    if diff.binary && change.before().is_some() {
        let made = Change::Create {
            path: change.path().clone(),
            kind: diff.kind,
            after: text.clone(),
            mode: diff.new_mode.unwrap_or_default(),
        };
        let hunks = made.diff(CONTEXT).hunks;
        if !hunks.is_empty() {
            shown.push_str("The new text in full:\n");
            hunks.iter().for_each(|hunk| shown.push_str(&hunk.to_string()));
        }
    }
    shown
}

/// As much of a preview as a model gets, in whole lines; the cut says where the rest is.
fn bounded(preview: &str, number: u64) -> String {
    if preview.len() <= SHOWN {
        return preview.to_owned();
    }
    let end = preview.as_bytes()[..SHOWN].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let (head, rest) = preview.split_at(end);
    let (shown, all) = (head.lines().count(), head.lines().count() + rest.lines().count());
    format!(
        "{head}[Cut here: {shown} of {all} lines are shown. Read the rest at \
         xd://resolve@{number}:{}-.]\n",
        PREVIEW_STARTS + shown
    )
}

fn numbers(numbers: &[u64]) -> String {
    let named: Vec<String> = numbers.iter().map(|number| format!("@{number}")).collect();
    named.join(", ")
}
