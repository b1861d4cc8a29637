//! `bash`: output, status, time, environment, and what becomes of what it started.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::json;
use xd_resolve::ToolCall;
use xd_write::CallScope;

use crate::Room;

#[tokio::test]
async fn output_and_status_come_back_from_the_workspace() {
    let room = Room::new(&[("a.txt", "hello\n")]);
    let ran = room.text("bash", json!({ "command": "cat a.txt; echo no >&2; pwd" })).await;
    let here = fs::canonicalize(room.path()).unwrap();
    assert_eq!(ran, format!("hello\nno\n{}\n", here.display()));
    let failed = room.fault("bash", json!({ "command": "echo out; exit 3" })).await;
    assert_eq!(failed, "out\nExit status 3.");
    let silent = room.text("bash", json!({ "command": "true" })).await;
    assert_eq!(silent, "It ended well and said nothing.");
    let killed = room.fault("bash", json!({ "command": "kill -9 $$" })).await;
    assert_eq!(killed, "Ended by signal 9.");
    assert!(room.fault("bash", json!({ "command": " " })).await.contains("empty"));
    // There is no input to wait for.
    assert_eq!(room.text("bash", json!({ "command": "cat; echo end" })).await, "end\n");
}

// Invariant G9
#[tokio::test]
async fn g9_a_command_sees_the_given_environment_alone() {
    let room = Room::new(&[]);
    let seen = room.text("bash", json!({ "command": "env | cut -d= -f1 | sort" })).await;
    let names: Vec<&str> = seen.lines().collect();
    assert_eq!(names, ["PATH", "PWD", "SEEN", "SHLVL", "TERM", "_"]);
}

// Invariant G8
#[tokio::test]
async fn g8_long_output_keeps_its_begin_and_its_end() {
    let room = Room::new(&[]);
    let long = room.text("bash", json!({ "command": "seq 1 200000" })).await;
    assert!(long.starts_with("1\n2\n") && long.ends_with("199999\n200000\n"), "{}", long.len());
    assert!(long.len() < 40_000 && long.contains("bytes left out here"), "{}", long.len());
}

/// Whether the process whose id stands in the file is there.
fn runs(room: &Room, file: &str) -> bool {
    let id = fs::read_to_string(room.path().join(file)).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    // A dead process that nobody has waited for yet runs no more.
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

async fn until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it never came");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

// Invariant G9
#[tokio::test]
async fn g9_what_a_command_started_ends_with_it() {
    let room = Room::new(&[]);
    let begun = Instant::now();
    let left = json!({ "command": "sleep 60 & echo $! > id; echo done" });
    assert_eq!(room.text("bash", left).await, "done\n");
    until(|| !runs(&room, "id")).await;
    // Out of time.
    let slow = json!({ "command": "sleep 60 & echo $! > slow; echo begun; wait", "timeout_s": 1 });
    let fault = room.fault("bash", slow).await;
    assert!(fault.starts_with("begun\nNot done after 1 s"), "{fault}");
    until(|| !runs(&room, "slow")).await;
    assert!(begun.elapsed() < Duration::from_secs(30));
}

// Invariant G9, CONTRACT G12
#[tokio::test]
async fn g9_a_cancelled_command_ends_with_its_group() {
    let room = Room::new(&[]);
    let scope = CallScope::model();
    let command = json!({ "command": "(sleep 60; echo x) & echo $! > id; mv id ready; wait" });
    let call = ToolCall::new("1", "bash", command);
    let ready = room.path().join("ready");
    let calls = [call];
    let (results, ()) = tokio::join!(room.host.run_batch(&calls, &scope), async {
        until(|| ready.exists()).await;
        scope.cancel.cancel();
    });
    assert!(results[0].is_error && results[0].joined().contains("Aborted"), "{results:?}");
    until(|| !runs(&room, "ready")).await;
}
