//! `xd agent` and `xd record`, with models that say what a script tells them.

mod approval;
mod once;
mod outside;
mod record;
mod servers;
mod sessions;
mod settings;
mod terminal;
mod tmux;
mod wire;

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Folder, Run};

/// A folder with a file to change and a script to run.
pub(crate) fn folder(replies: &[Value]) -> Folder {
    let folder = Folder::new(&[("motto.txt", "move fast\n")]);
    folder.put("home/xd/config.toml", "");
    script(&folder, "script.jsonl", replies);
    folder
}

/// Writes a script of these replies.
pub(crate) fn script(folder: &Folder, file: &str, replies: &[Value]) {
    let lines: Vec<String> =
        replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
    folder.put(file, &lines.join("\n"));
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "text": text })
}

pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// Stages a change of the motto.
pub(crate) fn edit(old: &str, new: &str) -> Value {
    let edits = json!([{ "path": "motto.txt", "old_text": old, "new_text": new }]);
    call("edit", json!({ "edits": edits }))
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    call("write", json!({ "path": path, "content": content }))
}

/// The command in an environment that says nothing of models, keys and settings.
pub(crate) fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    for (name, _) in std::env::vars() {
        if name.starts_with("XD_")
            || name.ends_with("_API_KEY")
            || name.to_lowercase().ends_with("_proxy")
        {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", folder.path().join("home"));
    command
}

/// Runs `xd agent` with the script.
pub(crate) fn agent(folder: &Folder, arguments: &[&str]) -> Run {
    let mut all = vec!["agent", "--model", "script:script.jsonl"];
    all.extend(arguments);
    Run::of(command(folder, &all).output().unwrap())
}

/// The same with something on standard input.
pub(crate) fn piped(folder: &Folder, arguments: &[&str], input: &str) -> Run {
    use std::io::Write as _;
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::of(child.wait_with_output().unwrap())
}

/// The lines of a run with `--json`.
pub(crate) fn events(run: &Run) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let events: Vec<Value> = run.out.lines().map(parse).collect();
    assert!(events.iter().all(|event| event["v"] == 1), "{run:?}");
    events
}

/// The results among the events of a run.
pub(crate) fn results(run: &Run) -> Vec<String> {
    let all = events(run);
    let results = all.iter().filter(|event| event["event"] == "result");
    let text = |event: &Value| {
        let parts = event["result"]["content"].as_array().unwrap();
        parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
    };
    results.map(text).collect()
}
