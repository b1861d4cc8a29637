//! Change sets through staging: stale previews, existing targets, overlaps, rejects; and what a
//! confirm does to the files and nothing else.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::json;
use xd_protocol::{StageNumber, notice};
use xd_resolve::ActionState;
use xd_tests::{Bench, call, write_call};

const WHY: &str = "It is what was asked for.";

fn state(bench: &Bench, number: u64) -> ActionState {
    bench.session().actions().get(StageNumber::new(number).unwrap()).unwrap().1
}

// CONTRACT F2, case 3
#[tokio::test]
async fn f2_case_003_a_hit_added_by_hand_makes_the_preview_stale_and_nothing_is_written() {
    let bench = Bench::new(&[("a.rs", "old(1);\nx();\nold(2);\n"), ("b.rs", "old(3);\n")]);
    bench
        .stage(json!({ "edits": [
            { "path": "a.rs", "old": "old(1)", "new": "new(1)" },
            { "path": "a.rs", "old": "old(2)", "new": "new(2)" },
            { "path": "b.rs", "old": "old(3)", "new": "new(3)" }] }))
        .await;
    bench.put("a.rs", "old(1);\nx();\nold(2);\nold(4);\n");
    let before = bench.picture();

    let result = bench.write("xd://resolve", WHY).await;

    assert!(result.is_error);
    let text = result.joined();
    assert!(text.contains("The preview is stale: 'a.rs'"), "{text}");
    assert!(text.contains("Nothing was written"), "{text}");
    assert!(!text.contains("b.rs"), "only what drifted is named: {text}");
    assert!(text.contains("Staged action @1 is still pending"), "{text}");
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.pending(), [1]);
}

// CONTRACT F2, case 5: for an edit, a delete and a move; by another line, by going away, by a
// byte-order mark, by bytes that are no UTF-8, by another mode.
#[tokio::test]
async fn f2_case_005_whatever_happens_meanwhile_survives_and_is_named() {
    let edit = json!({ "edits": [{ "path": "a.txt", "old": "one", "new": "two" }] });
    let delete = json!({ "delete": ["a.txt"] });
    let mv = json!({ "move": [{ "from": "a.txt", "to": "b/c.txt" }] });
    type Drift = fn(&Bench);
    let drifts: [(&str, Drift); 6] = [
        ("a line more", |b| b.put("a.txt", "one\nand more\n")),
        ("gone", |b| fs::remove_file(b.at("a.txt")).unwrap()),
        ("a mark", |b| b.put("a.txt", "\u{feff}one\n")),
        ("no UTF-8", |b| b.put("a.txt", b"one\n\xe9\n")),
        ("a folder", |b| {
            fs::remove_file(b.at("a.txt")).unwrap();
            fs::create_dir(b.at("a.txt")).unwrap();
        }),
        ("a mode", |b| {
            fs::set_permissions(b.at("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
        }),
    ];
    for change in [edit, delete, mv] {
        for (what, drift) in drifts {
            let bench = Bench::new(&[("a.txt", "one\n"), ("z.txt", "z\n")]);
            fs::set_permissions(bench.at("a.txt"), fs::Permissions::from_mode(0o644)).unwrap();
            bench.stage(change.clone()).await;
            assert_eq!(bench.pending(), [1], "{change}");
            drift(&bench);
            let before = bench.picture();
            let result = bench.write("xd://resolve", WHY).await;
            assert!(result.is_error, "{change} after {what}: {}", result.joined());
            assert!(result.joined().contains("'a.txt'"), "{change} after {what}");
            assert_eq!(bench.picture(), before, "{change} after {what}");
            assert_eq!(state(&bench, 1), ActionState::Pending);
        }
    }
}

// A file that is touched but not changed is not stale: times do not count.
#[tokio::test]
async fn f2_the_same_bytes_again_are_not_stale() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    fs::remove_file(bench.at("a.txt")).unwrap();
    bench.put("a.txt", "one\n");
    let result = bench.write("xd://resolve", WHY).await;
    assert!(!result.is_error, "{}", result.joined());
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT F5, S7, case 9
#[tokio::test]
async fn f5_s7_case_009_overlapping_edits_are_refused_when_staging() {
    let text = "fn a() { body(); }\nfn b() {}\n";
    let bench = Bench::new(&[("a.rs", text)]);
    let before = bench.picture();
    let result = bench
        .stage(json!({ "edits": [
            { "path": "a.rs", "old": "fn a() { body(); }", "new": "// first\nfn a() { body(); }" },
            { "path": "a.rs", "old": "body(); }\nfn b() {}", "new": "body(); }\n// b\nfn b() {}" }] }))
        .await;
    assert!(result.is_error);
    let said = result.joined();
    assert!(said.contains("'a.rs'") && said.contains("0..18") && said.contains("9..28"), "{said}");
    assert!(bench.pending().is_empty());
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.write("xd://resolve", WHY).await.content, [notice::NOTHING_TO_APPLY]);
}

// Edits that only touch are no overlap: both land.
#[tokio::test]
async fn f5_edits_that_touch_both_land() {
    let bench = Bench::new(&[("a.txt", "onetwo\n")]);
    bench
        .stage(json!({ "edits": [
            { "path": "a.txt", "old": "one", "new": "1" },
            { "path": "a.txt", "old": "two", "new": "2" }] }))
        .await;
    bench.write("xd://resolve", WHY).await;
    assert_eq!(bench.text("a.txt"), "12\n");
}

// Case 13: the failing operation stands at each position of the batch.
#[tokio::test]
async fn case_013_one_bad_operation_and_nothing_is_staged_or_written() {
    for bad in 0..5 {
        let bench = Bench::new(&[("n2", "two\n")]);
        let before = bench.picture();
        let mut create: Vec<_> =
            (0..5).map(|i| json!({ "path": format!("new/{i}"), "content": "x\n" })).collect();
        create[bad] = json!({ "path": "n2", "content": "over\n" });
        let result = bench.stage(json!({ "create": create })).await;
        assert!(result.is_error && result.joined().contains("'n2'"), "{}", result.joined());
        assert!(bench.pending().is_empty());
        assert_eq!(bench.picture(), before);
    }
    let bench = Bench::new(&[("n2", "two\n")]);
    let before = bench.picture();
    let result = bench
        .stage(json!({ "create": [{ "path": "n1", "content": "1\n" }],
            "edits": [{ "path": "n2", "old": "three", "new": "3" }] }))
        .await;
    assert!(result.is_error && result.joined().contains("n2"), "{}", result.joined());
    assert_eq!(bench.picture(), before);
}

// Case 13, at apply: one target of five drifted, at each position; the others stay as they are.
#[tokio::test]
async fn f3_case_013_one_drifted_target_of_five_and_none_is_written() {
    for drifted in 0..5 {
        let files: Vec<(String, String)> =
            (0..5).map(|i| (format!("f{i}"), format!("old {i}\n"))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
        let bench = Bench::new(&files);
        let edits: Vec<_> = (0..5)
            .map(|i| json!({ "path": format!("f{i}"), "old": "old", "new": "new" }))
            .collect();
        bench.stage(json!({ "edits": edits })).await;
        bench.put(&format!("f{drifted}"), "by hand\n");
        let before = bench.picture();
        assert!(bench.write("xd://resolve", WHY).await.is_error);
        assert_eq!(bench.picture(), before);
    }
}

// CONTRACT F5, case 17
#[tokio::test]
async fn f5_case_017_a_created_file_never_lands_on_another() {
    // When staging.
    let bench = Bench::new(&[("x", "mine\n")]);
    let result = bench.stage(json!({ "create": [{ "path": "x", "content": "theirs\n" }] })).await;
    assert!(result.is_error && result.joined().contains("'x' exists already"));
    // A link that leads nowhere is something too.
    std::os::unix::fs::symlink("nowhere", bench.at("link")).unwrap();
    let result = bench.stage(json!({ "create": [{ "path": "link", "content": "!\n" }] })).await;
    assert!(result.is_error, "{}", result.joined());
    assert!(bench.pending().is_empty());

    // When applying: a file, a folder, a link.
    type Appear = fn(&Bench);
    let appear: [Appear; 3] = [
        |b| b.put("new", "mine\n"),
        |b| fs::create_dir(b.at("new")).unwrap(),
        |b| std::os::unix::fs::symlink("x", b.at("new")).unwrap(),
    ];
    for appear in appear {
        let bench = Bench::new(&[("x", "x\n")]);
        bench.stage(json!({ "create": [{ "path": "new", "content": "theirs\n" }] })).await;
        appear(&bench);
        let before = bench.picture();
        let result = bench.write("xd://resolve", WHY).await;
        assert!(result.is_error && result.joined().contains("'new' exists now"), "{result:?}");
        assert_eq!(bench.picture(), before);
        assert_eq!(bench.pending(), [1]);
    }
}

// CONTRACT F5: a move lands on nothing either.
#[tokio::test]
async fn f5_a_move_never_lands_on_another_file() {
    let bench = Bench::new(&[("a", "a\n"), ("b", "b\n")]);
    let mv = json!({ "move": [{ "from": "a", "to": "b" }] });
    assert!(bench.stage(mv).await.is_error);
    bench.stage(json!({ "move": [{ "from": "a", "to": "c" }] })).await;
    bench.put("c", "c\n");
    let before = bench.picture();
    assert!(bench.write("xd://resolve", WHY).await.is_error);
    assert_eq!(bench.picture(), before);
}

// CONTRACT D11, case 19
#[tokio::test]
async fn d11_case_019_an_action_is_applied_once() {
    let bench = Bench::new(&[]);
    bench.stage(json!({ "create": [{ "path": "x", "content": "x\n" }] })).await;
    assert!(!bench.write("xd://resolve@1", WHY).await.is_error);
    assert_eq!(bench.text("x"), "x\n");
    fs::remove_file(bench.at("x")).unwrap();
    let before = bench.picture();
    for address in ["xd://resolve@1", "xd://reject@1"] {
        let result = bench.write(address, WHY).await;
        assert!(result.is_error, "{address}");
        assert_eq!(result.content, ["Staged action @1 is already applied. Nothing was done."]);
    }
    assert_eq!(bench.write("xd://resolve", WHY).await.content, [notice::NOTHING_TO_APPLY]);
    assert_eq!(bench.picture(), before);
}

// Case 21: the disk is the fold of the accepted edits alone, for every sequence of verdicts.
#[tokio::test]
async fn case_021_the_disk_is_the_fold_of_what_was_accepted() {
    for verdicts in 0..32_u32 {
        let bench = Bench::new(&[("a.txt", "0")]);
        let mut expected = String::from("0");
        for step in 0..5 {
            let old = bench.text("a.txt");
            let new = format!("{old}{}", step + 1);
            bench.edit("a.txt", &old, &new).await;
            if verdicts >> step & 1 == 1 {
                bench.write("xd://resolve", WHY).await;
                expected = new;
            } else {
                bench.write("xd://reject", WHY).await;
            }
            assert_eq!(bench.text("a.txt"), expected, "verdicts {verdicts:05b}, step {step}");
        }
        assert!(bench.pending().is_empty());
    }
}

// Case 23
#[tokio::test]
async fn case_023_a_discard_never_reads_as_a_success() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let result = bench.write("xd://reject", "Not asked for.").await;
    assert!(!result.is_error);
    assert_eq!(
        result.content,
        ["Discarded: Edit: 1 replacements in 1 files. Reason: Not asked for."]
    );
    for word in ["pplied", "uccess", "odified", "rote"] {
        assert!(!result.joined().contains(word), "{word}");
    }
    assert_eq!(bench.text("a.txt"), "one\n");
}

// CONTRACT S6, cases 7 and 25
#[tokio::test]
async fn s6_case_025_what_changes_nothing_is_not_staged() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let result = bench.edit("a.txt", "one", "one").await;
    assert_eq!(result.content, [notice::NO_REPLACEMENTS]);
    assert!(!result.is_error && bench.pending().is_empty());
    // case 7
    let result = bench.edit("a.txt", "three", "3").await;
    assert!(result.is_error && result.joined().contains("0 hits"), "{}", result.joined());
    assert!(bench.pending().is_empty());
}

// Case 29
#[tokio::test]
async fn case_029_a_reject_leaves_every_byte_where_it_is() {
    let changes = [
        json!({ "edits": [{ "path": "mine.txt", "old": "my text", "new": "its text" }] }),
        json!({ "delete": ["mine.txt"] }),
        json!({ "delete": ["mine.txt"], "create": [{ "path": "mine.txt", "content": "other\n" }] }),
        json!({ "move": [{ "from": "mine.txt", "to": "theirs.txt" }] }),
    ];
    for change in changes {
        let bench = Bench::new(&[("mine.txt", "my text\n")]);
        let before = bench.picture();
        bench.stage(change.clone()).await;
        assert_eq!(bench.pending(), [1], "{change}");
        assert_eq!(bench.picture(), before, "staging {change}");
        // The user writes on meanwhile.
        bench.put("mine.txt", "my text, longer\n");
        let before = bench.picture();
        assert!(!bench.write("xd://reject", WHY).await.is_error);
        assert_eq!(bench.picture(), before, "rejecting {change}");
        assert_eq!(state(&bench, 1), ActionState::Discarded);
    }
}

// Case 31: nothing that a caller says stands for what the disk says.
#[tokio::test]
async fn case_031_a_digest_in_the_confirm_helps_nothing() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let (action, _) = bench.session().actions().get(StageNumber::new(1).unwrap()).unwrap();
    let stale = action.change_set().unwrap().changes()[0].from_state().unwrap().hash;
    bench.put("a.txt", "changed\n");
    let before = bench.picture();
    for extra in ["hash", "digest", "force", "expected"] {
        let mut arguments = json!({ "path": "xd://resolve@1", "content": format!("{stale:?}") });
        arguments[extra] = json!(format!("{stale:?}"));
        let result = bench.one(call("1", "write", arguments)).await;
        assert!(result.is_error && result.joined().contains("stale"), "{}", result.joined());
        assert_eq!(bench.picture(), before);
    }
}

// CONTRACT F2: exactly the previewed bytes, whatever the bytes are.
#[tokio::test]
async fn f2_the_previewed_bytes_land_and_no_others() {
    let bench = Bench::new(&[("crlf.txt", "\u{feff}one\r\ntwo\nthree\r\nfour")]);
    bench.put("latin.txt", b"caf\xe9 one\n");
    bench
        .stage(json!({ "edits": [
            { "path": "crlf.txt", "old": "two", "new": "zwei" },
            { "path": "latin.txt", "old": "one", "new": "eins" }] }))
        .await;
    bench.write("xd://resolve", WHY).await;
    assert_eq!(bench.text("crlf.txt"), "\u{feff}one\r\nzwei\nthree\r\nfour");
    assert_eq!(fs::read(bench.at("latin.txt")).unwrap(), b"caf\xe9 eins\n");
}

// CONTRACT F7: after the upper is applied the lower is stale, and writes nothing.
#[tokio::test]
async fn f7_the_lower_of_two_on_one_file_is_stale_once_the_upper_is_applied() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    bench.edit("a.txt", "one", "three").await;
    assert!(!bench.write("xd://resolve", WHY).await.is_error);
    assert_eq!(bench.text("a.txt"), "three\n");
    let result = bench.write("xd://resolve", WHY).await;
    assert!(result.is_error && result.joined().contains("stale"), "{}", result.joined());
    assert_eq!(bench.text("a.txt"), "three\n");
    assert_eq!(bench.pending(), [1]);
}

// CONTRACT S3, case 129: staged n, resolved n, each by its own number, in every order of three.
#[tokio::test]
async fn s3_case_129_every_staged_action_is_resolved_as_itself() {
    for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
        let bench = Bench::new(&[("1", "old\n"), ("2", "old\n"), ("3", "old\n")]);
        let calls: Vec<_> = ["1", "2", "3"]
            .map(|path| {
                call(
                    path,
                    "edit",
                    json!({ "edits": [{ "path": path, "old": "old", "new": "new" }] }),
                )
            })
            .to_vec();
        let results = bench.run(&calls).await;
        assert!(results[0].content[0].starts_with(notice::STAGED));
        assert!(results[2].content[0].contains("3 actions are pending, newest first"));
        assert_eq!(bench.pending(), [3, 2, 1]);
        for (done, number) in order.into_iter().enumerate() {
            let result = bench.write(&format!("xd://resolve@{number}"), WHY).await;
            assert!(!result.is_error, "{}", result.joined());
            assert_eq!(bench.text(&number.to_string()), "new\n");
            assert_eq!(bench.pending().len(), 2 - done);
        }
    }
}

// Case 151: eight writes of one file in one batch run in call order; eight staged edits of it are
// each applied or say that they are stale.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_151_eight_calls_on_one_file_and_none_is_lost_silently() {
    for _ in 0..25 {
        let bench = Bench::new(&[("a.txt", "abcdefgh\n")]);
        let calls: Vec<_> =
            (0..8).map(|i| write_call("w", "a.txt", &format!("text {i}\n"))).collect();
        let results = bench.run(&calls).await;
        assert!(results.iter().all(|result| !result.is_error));
        assert_eq!(bench.text("a.txt"), "text 7\n");

        bench.put("a.txt", "abcdefgh\n");
        let calls: Vec<_> = "abcdefgh"
            .chars()
            .map(|c| {
                let new = c.to_ascii_uppercase().to_string();
                let edit = json!({ "path": "a.txt", "old": c.to_string(), "new": new });
                call("s", "edit", json!({ "edits": [edit] }))
            })
            .collect();
        assert!(bench.run(&calls).await.iter().all(|result| !result.is_error));
        let calls: Vec<_> =
            (1..=8).map(|n| write_call("c", &format!("xd://resolve@{n}"), WHY)).collect();
        let results = bench.run(&calls).await;
        assert_eq!(bench.text("a.txt"), "Abcdefgh\n");
        assert!(!results[0].is_error);
        assert!(results[1..].iter().all(|r| r.is_error && r.joined().contains("stale")));
    }
}

// Case 151, the other half: eight edits of one file in one action all land.
#[tokio::test]
async fn case_151_eight_edits_in_one_action_all_land() {
    let bench = Bench::new(&[("a.txt", "abcdefgh\n")]);
    let edits: Vec<_> = "hgfedcba"
        .chars()
        .map(|c| json!({ "path": "a.txt", "old": c.to_string(), "new": format!("<{c}>") }))
        .collect();
    bench.stage(json!({ "edits": edits })).await;
    bench.write("xd://resolve", WHY).await;
    assert_eq!(bench.text("a.txt"), "<a><b><c><d><e><f><g><h>\n");
}
