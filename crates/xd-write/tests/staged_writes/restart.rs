//! A staged write outlives the process, and its decision is in the log.

use std::{sync::Arc, time::Duration};

use xd_session::Session;
use xd_write::{Host, Policy, StateFolder, Workspace};

use crate::desk::Desk;

// CONTRACT E3, L1 — Invariant W5
#[tokio::test]
async fn e3_l1_a_staged_write_is_offered_again_after_a_restart_and_lands_under_its_number() {
    let folder = Desk::new(&[("a.txt", "one\n"), ("stale", "one\n")]).folder;
    let open = || {
        let workspace = Workspace::open(folder.path()).unwrap();
        let state = StateFolder::open(&workspace, "main").unwrap();
        let lock = state.lock(Duration::from_secs(1)).unwrap();
        let recorder = Arc::new(state.clone());
        let session = Session::with_store(|store| store.with_recorder(recorder));
        state.restore(&workspace, session.actions(), Some(&lock)).unwrap();
        let session = Arc::new(session);
        let host = Host::builder(session, workspace).policy(Policy::default().stage_writes());
        (host.build(), state, lock)
    };
    let call = async |host: &Host, path: &str, content: &str| {
        let arguments = serde_json::json!({ "path": path, "content": content });
        let call = xd_resolve::ToolCall::new("1", "write", arguments);
        host.run_batch(&[call], &xd_write::CallScope::model()).await.pop().unwrap()
    };
    {
        let (host, ..) = open();
        call(&host, "a.txt", "two\n").await;
        call(&host, "stale", "two\n").await;
    }
    std::fs::write(folder.path().join("stale"), "by hand\n").unwrap();
    let (host, state, _lock) = open();
    assert_eq!(host.session().actions().pending_count(), 2);
    let stale = call(&host, "xd://resolve@2", "Go on.").await;
    assert!(stale.is_error && stale.joined().contains("'stale' changed since"), "{stale:?}");
    let applied = call(&host, "xd://resolve@1", "It is right.").await;
    assert_eq!(applied.content, ["Wrote a.txt (replaced, 4 bytes)."]);
    assert_eq!(std::fs::read(folder.path().join("a.txt")).unwrap(), b"two\n");
    assert_eq!(std::fs::read(folder.path().join("stale")).unwrap(), b"by hand\n");

    let log = serde_json::to_string(&state.log().unwrap()).unwrap();
    for part in
        ["Write: replace a.txt", "\"source_tool_name\":\"write\"", "It is right.", "applied"]
    {
        assert!(log.contains(part), "{part}: {log}");
    }
}
