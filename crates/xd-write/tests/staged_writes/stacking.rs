//! Several staged writes, and a disk that goes on without them.

use std::fs;

use serde_json::json;
use xd_resolve::{ActionState, ToolCall};

use crate::desk::Desk;

// CONTRACT F7, F2
#[tokio::test]
async fn f7_a_second_write_is_made_against_the_disk_and_goes_stale_with_the_first() {
    let desk = Desk::new(&[("a.txt", "one\ntwo\n")]);
    let first = desk.staged("a.txt", "1\ntwo\n").await;
    assert!(!first.contains("too. Each is previewed"), "{first}");
    let second = desk.staged("a.txt", "one\n2\n").await;
    assert!(
        second.contains(
            "Staged action @1 changes a.txt too. Each is previewed against the file as it is on \
             the disk now: whichever is applied first makes the other stale, to be staged anew."
        ),
        "{second}"
    );
    assert!(second.contains(" one\n-two\n+2\n"), "against the disk: {second}");

    let applied = desk.resolve().await;
    assert_eq!(applied.content[0], "Wrote a.txt (replaced, 6 bytes).");
    assert!(applied.content[1].starts_with("Staged action @1 is stale now"), "{applied:?}");
    let stale = desk.resolve().await;
    assert!(stale.is_error && stale.joined().contains("The preview is stale"), "{stale:?}");
    assert_eq!(desk.bytes("a.txt"), b"one\n2\n");
    assert_eq!(desk.states(), [ActionState::Pending, ActionState::Applied]);
    desk.write("xd://reject", "It is stale.").await;

    let third = desk.staged("a.txt", "1\n2\n").await;
    assert!(!third.contains("too. Each"), "what is decided is not in the way: {third}");
    desk.resolve().await;
    assert_eq!(desk.bytes("a.txt"), b"1\n2\n");
}

// CONTRACT F7: also where the file does not exist yet, and by another name of it.
#[tokio::test]
async fn f7_two_creations_of_one_file_and_two_names_of_one() {
    let desk = Desk::new(&[("real", "old\n")]);
    desk.staged("new/a.txt", "first\n").await;
    let second = desk.staged("./new//a.txt", "second\n").await;
    assert!(second.contains("Staged action @1 changes new/a.txt too."), "{second}");
    let third = desk.staged("new/a.txt", "third\n").await;
    assert!(third.contains("Staged actions @2, @1 change new/a.txt too."), "{third}");
    assert!(third.contains("makes the others stale"), "{third}");
    desk.write("xd://resolve@1", "The first is right.").await;
    for number in [2, 3] {
        let stale = desk.write(&format!("xd://resolve@{number}"), "Also this.").await;
        assert!(stale.is_error && stale.joined().contains("'new/a.txt' exists now"), "{stale:?}");
    }
    assert_eq!(desk.bytes("new/a.txt"), b"first\n");

    std::os::unix::fs::symlink("real", desk.at("link")).unwrap();
    desk.staged("real", "by name\n").await;
    let by_link = desk.staged("link", "by link\n").await;
    assert!(by_link.contains("changes real too."), "{by_link}");
}

// Two files of one new folder do not hinder each other.
#[tokio::test]
async fn f3_files_of_one_new_folder_land_one_after_the_other() {
    let desk = Desk::new(&[]);
    desk.staged("new/deep/a", "a\n").await;
    let second = desk.staged("new/deep/b", "b\n").await;
    assert!(!second.contains("too. Each"), "{second}");
    assert!(!desk.resolve().await.is_error);
    assert!(!desk.resolve().await.is_error);
    assert_eq!(
        (desk.bytes("new/deep/a"), desk.bytes("new/deep/b")),
        (b"a\n".to_vec(), b"b\n".to_vec())
    );
}

// CONTRACT F2; cases 5, 17
#[tokio::test]
async fn f2_cases_005_017_what_changed_on_the_disk_meanwhile_survives() {
    let desk = Desk::new(&[("edited", "one\n"), ("gone", "one\n"), ("mode", "one\n")]);
    let change: [(&str, &dyn Fn()); 5] = [
        ("edited", &|| fs::write(desk.at("edited"), "one\nby hand\n").unwrap()),
        ("gone", &|| fs::remove_file(desk.at("gone")).unwrap()),
        ("appears", &|| fs::write(desk.at("appears"), "by hand\n").unwrap()),
        ("mode", &|| {
            fs::remove_file(desk.at("mode")).unwrap();
            fs::create_dir(desk.at("mode")).unwrap();
        }),
        ("way/in", &|| fs::write(desk.at("way"), "a file\n").unwrap()),
    ];
    for (path, meanwhile) in change {
        desk.staged(path, "mine\n").await;
        meanwhile();
        let before = desk.picture();
        let stale = desk.resolve().await;
        assert!(stale.is_error, "{path}: {stale:?}");
        assert!(stale.joined().contains(&format!("'{path}'")), "{path}: {stale:?}");
        assert_eq!((desk.picture(), desk.pending()), (before, 1), "{path}");
        desk.write("xd://reject", "It is stale.").await;
    }
}

// Case 145: the way is looked at again when it is applied.
#[tokio::test]
async fn case_145_a_folder_swapped_for_a_link_after_staging_leads_nowhere() {
    let outside = tempfile::TempDir::new().unwrap();
    let desk = Desk::new(&[("dir/a.txt", "one\n")]);
    desk.staged("dir/a.txt", "two\n").await;
    desk.staged("dir/b.txt", "two\n").await;
    fs::rename(desk.at("dir"), desk.at("was")).unwrap();
    std::os::unix::fs::symlink(outside.path(), desk.at("dir")).unwrap();
    for number in [1, 2] {
        let refused = desk.write(&format!("xd://resolve@{number}"), "Go on.").await;
        assert!(refused.is_error, "{refused:?}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(desk.bytes("was/a.txt"), b"one\n");
}

// Case 151: eight writes of one file in one batch: none is lost unsaid.
#[tokio::test]
async fn case_151_of_many_writes_of_one_file_one_lands_and_the_others_say_so() {
    let desk = Desk::new(&[("a", "0\n")]);
    let calls: Vec<ToolCall> = (1..=8)
        .map(|n| {
            let arguments = json!({ "path": "a", "content": format!("{n}\n") });
            ToolCall::new(n.to_string(), "write", arguments)
        })
        .collect();
    let results = desk.batch(&calls).await;
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    assert_eq!((desk.pending(), desk.bytes("a")), (8, b"0\n".to_vec()));
    let confirms: Vec<ToolCall> = (1..=8)
        .map(|n| {
            let path = format!("xd://resolve@{n}");
            ToolCall::new(n.to_string(), "write", json!({ "path": path, "content": "This one." }))
        })
        .collect();
    let results = desk.batch(&confirms).await;
    assert!(!results[0].is_error, "{:?}", results[0]);
    for result in &results[1..] {
        assert!(result.is_error && result.joined().contains("stale"), "{result:?}");
    }
    assert_eq!((desk.pending(), desk.bytes("a")), (7, b"1\n".to_vec()));
}
