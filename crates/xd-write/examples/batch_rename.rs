//! The batch-rename tool: stages renames of the files of a folder, and is finalized in both forms.
//!
//! `cargo run -p xd-write --example batch_rename`
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::{error::Error, fs, path::Path, sync::Arc};

use serde_json::{Value, json};
use xd_changeset::{ChangeSet, EntryKind};
use xd_resolve::{BoxFuture, ToolCall, ToolResult};
use xd_session::{Finalizer, Session};
use xd_write::{CallScope, Custom, CustomContext, CustomTool, Host, Proposed, Workspace};

/// Replaces the beginning of file names: `{folder, from, to}`.
struct BatchRename;

impl CustomTool for BatchRename {
    fn name(&self) -> &str {
        "batch_rename"
    }
    fn description(&self) -> &str {
        "Renames the files of a folder whose names begin with `from`, so that they begin with `to`."
    }
    fn parameters(&self) -> Value {
        let text = |least: u32| json!({ "type": "string", "minLength": least });
        json!({ "type": "object", "properties": { "folder": text(1), "from": text(1), "to": text(0) },
            "required": ["folder", "from", "to"], "additionalProperties": false })
    }
    fn only_stages(&self) -> bool {
        true
    }
    fn execute(
        &self,
        context: CustomContext,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, xd_write::ToolFailure>> {
        Box::pin(async move {
            let text = |key: &str| arguments[key].as_str().ok_or(format!("{key}: no string"));
            let (folder, from, to) = (text("folder")?, text("from")?, text("to")?);
            let root = context.workspace().root();
            let mut builder = ChangeSet::builder(root); // It refuses what stands in the way.
            for entry in root.list(root.relative_or_root(folder)?.as_ref())? {
                let name = entry.path.file_name();
                if let (EntryKind::File, Some(rest)) = (entry.kind, name.strip_prefix(from)) {
                    builder.rename(&entry.path, &root.relative(&format!("{folder}/{to}{rest}"))?);
                }
            }
            let change_set = builder.build()?;
            if change_set.is_empty() {
                return Ok(ToolResult::text(format!("No file of {folder} begins with {from}.")));
            }
            let plural = if change_set.len() == 1 { "" } else { "s" };
            let files = format!("{} file{plural}", change_set.len());
            let proposed = Proposed {
                label: format!("Batch Rename: {files}"),
                source_tool_name: self.name().to_owned(),
                success: format!("Renamed {files}."),
                notes: Vec::new(),
                preview: change_set.unified(0),
                change_set,
            };
            let request = proposed.into_request(context.workspace());
            let staged = context.push_pending_action(request).await?;
            Ok(ToolResult::text(staged.action().preview()))
        })
    }
}

/// The names of the files in `folder`, in order.
fn names(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let files = fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<_> = files.map(|file| file.file_name().display().to_string()).collect();
    names.sort();
    Ok(names)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for finalizer in [Finalizer::HiddenTool, Finalizer::Write] {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("old_a"), "a")?;
        fs::write(folder.path().join("old_b"), "b")?;
        let session = Arc::new(Session::new().with_finalizer(finalizer));
        let workspace = Workspace::open(folder.path())?;
        let host = Host::builder(session, workspace).tool(Custom::new(BatchRename)).build();
        let rename = |from, to| ("batch_rename", json!({ "folder": ".", "from": from, "to": to }));
        let decide = |action: &str, address| match finalizer {
            Finalizer::HiddenTool => ("resolve", json!({ "action": action, "reason": "Asked." })),
            Finalizer::Write => ("write", json!({ "path": address, "content": "Asked." })),
        };
        println!("\nDecided by `{}`. Before: {:?}", finalizer.tool_name(), names(folder.path())?);
        let (old, new) = (["old_a", "old_b"], ["new_a", "new_b"]);
        let staged = "Staged as a proposal — files NOT modified yet.";
        for ((tool, arguments), begins, after) in [
            (rename("old_", "bad_"), staged, old),
            (decide("discard", "xd://reject"), "Discarded: Batch Rename: 2 files.", old),
            (rename("old_", "new_"), staged, old),
            (decide("apply", "xd://resolve"), "Renamed 2 files.", new),
            (rename("old_", "new_"), "No file of . begins with old_.", new),
            (rename("new_b", "b"), staged, new),
            (decide("apply", "xd://resolve"), "Renamed 1 file.", ["b", "new_a"]),
        ] {
            println!("\n> {tool} {arguments}");
            let call = ToolCall::new("1", tool, arguments);
            let result = host.run_batch(&[call], &CallScope::model()).await.remove(0);
            let there = names(folder.path())?;
            println!("{}\nThe folder now: {there:?}", result.joined().trim_end());
            assert!(result.content[0].starts_with(begins) && !result.is_error, "{result:?}");
            assert_eq!(there, after);
        }
    }
    Ok(())
}

// CONTRACT D15: real files are renamed in both forms, and only once it is confirmed.
#[test]
fn d15_batch_rename() {
    main().unwrap();
}
