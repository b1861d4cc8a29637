//! P4, U7, case 38: `local://` drafts, in memory and in files.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::{Arc, Barrier},
    thread,
};

use serde_json::json;
use xd_changeset::Hash;
use xd_session::Session;
use xd_write::{
    DraftName, DraftStore, Expected, FileDrafts, Host, MemoryDrafts, Put, StateFolder, Workspace,
};

use crate::scene::{Scene, run};

fn name(name: &str) -> DraftName {
    DraftName::new(name).unwrap()
}

fn files(folder: &std::path::Path) -> FileDrafts {
    StateFolder::open(&Workspace::open(folder).unwrap(), "s").unwrap().drafts()
}

// CONTRACT P4, U7; case 38
#[test]
fn p4_u7_case_038_drafts_are_written_read_and_listed_in_and_outside_plan_mode() {
    for planning in [false, true] {
        let scene = Scene::new();
        if planning {
            scene.enter();
        }
        let before = scene.picture();
        assert_eq!(scene.read("local://").joined(), "There are no drafts.\n");
        assert!(scene.read("local://a-plan.md").is_error);
        // The first draft of an empty store.
        let text = scene.write("local://a-plan.md", "one\ntwo\nthree\n").joined();
        let submit =
            if planning { " To submit it for approval, write a to xd://propose." } else { "" };
        assert_eq!(text, format!("Wrote local://a-plan.md (created, 14 bytes).{submit}"));
        assert!(scene.write("local://notes.txt", "x").joined().ends_with("(created, 1 byte)."));
        assert!(scene.write(" LOCAL://notes.txt ", "yz").joined().contains("(replaced, 2 bytes)"));
        assert_eq!(scene.read("local://a-plan.md").joined(), "one\ntwo\nthree\n");
        assert_eq!(scene.read("local://a-plan.md:2-3").joined(), "two\nthree\n");
        assert_eq!(scene.read("local://a-plan.md:raw").joined(), "one\ntwo\nthree\n");
        assert_eq!(scene.read("Local://notes.txt").joined(), "yz");
        let missing = scene.read("local://b-plan.md").joined();
        assert_eq!(
            missing,
            "read: there is no draft local://b-plan.md. 2 drafts:\nlocal://a-plan.md\n\
             local://notes.txt\n"
        );
        let no_text = json!({ "path": "local://a-plan.md", "content": { "a": 1 } });
        assert!(scene.call("write", no_text).joined().contains("`content` is missing"));
        // Nothing of it is in the working tree.
        assert_eq!(scene.picture(), before);
    }
}

// CONTRACT U7
#[test]
fn u7_a_slip_of_local_names_the_right_spelling_and_other_schemes_stay_foreign() {
    let scene = Scene::new();
    for (path, meant) in [
        ("local:/a-plan.md", "local://a-plan.md"),
        ("local:\\a-plan.md", "local://a-plan.md"),
        ("LOCAL:/../x", "local://<name>"),
    ] {
        let text = scene.write(path, "x").joined();
        assert_eq!(
            text,
            format!(
                "Unknown URI-like write target '{path}'. Did you mean '{meant}'? Prefix the path \
                 with './' to write it as a filesystem path."
            )
        );
        assert!(scene.read(path).is_error);
    }
    for path in ["locals://a", "loca://a", "file://a", "local+x://a"] {
        let text = scene.write(path, "x").joined();
        assert!(text.ends_with("Tool devices use 'xd://<tool>'."), "{text}");
    }
    assert_eq!(scene.read("local://").joined(), "There are no drafts.\n");
    // What is spelled as a path is one.
    assert!(!scene.write("./local/a.txt", "x").is_error);
    assert!(scene.picture().contains_key("local/a.txt"));
}

// CONTRACT P4
#[test]
fn p4_both_stores_keep_the_same_rules() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Box<dyn DraftStore>; 2] =
        [Box::new(MemoryDrafts::new()), Box::new(files(folder.path()))];
    for store in stores {
        let a = name("a-plan.md");
        assert_eq!(store.read(&a).unwrap(), None);
        assert_eq!(store.names().unwrap(), []);
        assert_eq!(store.put(&a, "x", Expected::Text(Hash::of(b"x"))).unwrap(), Put::Differs);
        assert_eq!(store.names().unwrap(), []);
        assert_eq!(store.put(&a, "x", Expected::Nothing).unwrap(), Put::Created);
        assert_eq!(store.put(&a, "y", Expected::Nothing).unwrap(), Put::Differs);
        assert_eq!(store.read(&a).unwrap().as_deref(), Some("x"));
        assert_eq!(store.put(&a, "y", Expected::Text(Hash::of(b"z"))).unwrap(), Put::Differs);
        assert_eq!(store.read(&a).unwrap().as_deref(), Some("x"));
        assert_eq!(store.put(&a, "y", Expected::Text(Hash::of(b"x"))).unwrap(), Put::Replaced);
        assert_eq!(store.put(&a, "", Expected::Anything).unwrap(), Put::Replaced);
        assert_eq!(store.read(&a).unwrap().as_deref(), Some(""));
        assert_eq!(store.put(&name("B"), "b", Expected::Anything).unwrap(), Put::Created);
        assert_eq!(store.names().unwrap(), [name("B"), name("a-plan.md")]);
    }
}

// CONTRACT P4, E2; case 38
#[test]
fn p4_e2_case_038_drafts_outlive_the_process_and_are_their_sessions_own() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let host = |session: &str| {
        let state = StateFolder::open(&workspace, session).unwrap();
        Host::builder(Arc::new(Session::new()), workspace.clone())
            .drafts(Arc::new(state.drafts()))
            .build()
    };
    // The folder of the drafts is made by the first, not by looking.
    let read = |host: &Host| run(host, "read", json!({ "path": "local://a-plan.md" }));
    assert!(read(&host("one")).is_error);
    assert!(!folder.path().join(".xd/sessions/one/local").exists());
    let write = json!({ "path": "local://a-plan.md", "content": "one's\n" });
    assert!(!run(&host("one"), "write", write).is_error);
    assert_eq!(read(&host("one")).joined(), "one's\n");
    assert!(read(&host("two")).is_error);
    // Only the draft is left, nothing half written.
    let left: Vec<_> = fs::read_dir(folder.path().join(".xd/sessions/one/local"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["a-plan.md"]);
}

// CONTRACT P4, W3; case 143
#[test]
fn p4_w3_case_143_no_link_leads_a_draft_out_of_its_folder() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let drafts = files(folder.path());
    drafts.put(&name("first"), "x", Expected::Anything).unwrap();
    let local = folder.path().join(".xd/sessions/s/local");
    // A link in the place of a draft: not read through, and replaced, never followed.
    symlink(&secret, local.join("a")).unwrap();
    symlink(outside.path().join("made"), local.join("dangling")).unwrap();
    assert!(drafts.read(&name("a")).is_err());
    for link in ["a", "dangling"] {
        assert_eq!(drafts.put(&name(link), "x", Expected::Nothing).unwrap(), Put::Differs);
        assert_eq!(drafts.put(&name(link), "mine", Expected::Anything).unwrap(), Put::Replaced);
        assert_eq!(drafts.read(&name(link)).unwrap().as_deref(), Some("mine"));
    }
    // A link in the place of the folder.
    fs::remove_dir_all(&local).unwrap();
    symlink(outside.path(), &local).unwrap();
    assert!(drafts.read(&name("secret")).is_err());
    assert!(drafts.put(&name("secret"), "x", Expected::Anything).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

// CONTRACT P2, P4
#[test]
fn p4_of_many_writers_that_expect_nothing_one_wins_and_readers_see_whole_texts() {
    const WRITERS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let a = name(&format!("r{round}"));
        let barrier = Barrier::new(WRITERS + 1);
        let wins: usize = thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|n| {
                    // Stores of their own, as other processes have.
                    let (drafts, a, barrier) = (files(folder.path()), &a, &barrier);
                    scope.spawn(move || {
                        let text = n.to_string().repeat(10_000);
                        barrier.wait();
                        drafts.put(a, &text, Expected::Nothing).unwrap()
                    })
                })
                .collect();
            let drafts = files(folder.path());
            barrier.wait();
            for _ in 0..50 {
                if let Some(text) = drafts.read(&a).unwrap() {
                    assert_eq!(text.len(), 10_000);
                }
            }
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .filter(|&put| put == Put::Created)
                .count()
        });
        assert_eq!(wins, 1, "round {round}");
    }
}
