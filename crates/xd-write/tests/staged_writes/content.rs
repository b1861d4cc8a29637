//! Bytes, line endings, marks, modes, links, and size.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
};

use serde_json::json;

use crate::desk::Desk;

// CONTRACT F4, W1; cases 131, 133: bytes that are no text are replaced in full view, or not at all.
#[tokio::test]
async fn f4_cases_131_133_a_file_that_is_no_text_is_replaced_in_full_view() {
    let desk = Desk::new(&[]);
    fs::write(desk.at("latin1"), b"caf\xe9\nline\n").unwrap();
    let text = desk.staged("latin1", "café\nline\n").await;
    assert!(
        text.contains("What is there is not UTF-8 text (10 bytes), and the new text is: all of it"),
        "{text}"
    );
    assert!(text.contains("-caf\\xE9\n+café\n"), "{text}");

    fs::write(desk.at("image"), b"\x89PNG\0\0\xff").unwrap();
    let text = desk.staged("image", "no image\nany more\n").await;
    assert!(text.contains("Binary files a/image and b/image differ\nThe new text in full:\n"));
    assert!(text.contains("+no image\n+any more\n"), "{text}");

    desk.resolve().await;
    assert_eq!(desk.bytes("image"), b"no image\nany more\n");
    desk.write("xd://reject", "It is read as Latin-1 elsewhere.").await;
    assert_eq!(desk.bytes("latin1"), b"caf\xe9\nline\n");
}

// CONTRACT F4; cases 135, 137: for a whole file the content decides, and what it undoes is said.
#[tokio::test]
async fn f4_cases_135_137_the_content_decides_over_marks_and_line_ends_and_what_goes_is_said() {
    let desk = Desk::new(&[
        ("crlf", "one\r\ntwo\r\n"),
        ("bom", "\u{feff}one\n"),
        ("both", "\u{feff}one\r\ntwo\r\n"),
    ]);
    let crlf = "Its CRLF line endings become LF, as the new text has them.";
    let mark = "The byte-order mark at its begin goes: the new text has none.";
    for (path, content, notes) in [
        ("crlf", "one\n2\n", vec![crlf]),
        ("bom", "two\n", vec![mark]),
        ("both", "one\n2\n", vec![crlf, mark]),
        // What keeps them is not remarked on.
        ("crlf", "one\r\n2\r\n", vec![]),
        ("bom", "\u{feff}two\n", vec![]),
        ("both", "\u{feff}one\r\n2\r\n", vec![]),
    ] {
        let text = desk.staged(path, content).await;
        for note in [crlf, mark] {
            assert_eq!(text.contains(note), notes.contains(&note), "{path} {content:?}: {text}");
        }
        desk.resolve().await;
        assert_eq!(desk.bytes(path), content.as_bytes(), "{path}: exactly these bytes");
        let back = if path == "bom" { "\u{feff}one\n" } else { "\u{feff}one\r\ntwo\r\n" };
        fs::write(desk.at(path), if path == "crlf" { "one\r\ntwo\r\n" } else { back }).unwrap();
    }
}

// CONTRACT F4, S6: a last line without its line feed is another file.
#[tokio::test]
async fn f4_a_missing_final_newline_is_a_change_and_is_shown() {
    let desk = Desk::new(&[("a", "one\n")]);
    let text = desk.staged("a", "one").await;
    assert!(text.contains("-one\n+one\n\\ No newline at end of file\n"), "{text}");
    desk.resolve().await;
    assert_eq!(desk.bytes("a"), b"one");
    desk.staged("a", "").await;
    desk.resolve().await;
    assert_eq!(desk.bytes("a"), b"", "to empty a file is a change like any other");
}

// CONTRACT W1, W2; case 141
#[tokio::test]
async fn w1_w2_case_141_modes_are_kept_and_a_hash_bang_makes_executable() {
    let desk = Desk::new(&[("run", "#!/bin/sh\n"), ("secret", "a\n"), ("old", "echo\n")]);
    fs::set_permissions(desk.at("run"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(desk.at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    desk.staged("run", "no longer one\n").await;
    desk.resolve().await;
    desk.staged("secret", "b\n").await;
    desk.resolve().await;
    assert_eq!((desk.mode("run"), desk.mode("secret")), (0o750, 0o600));

    let text = desk.staged("old", "#!/bin/sh\necho\n").await;
    assert!(text.contains("old mode 100644\nnew mode 100755\n"), "{text}");
    desk.staged("new", "#!/bin/sh\n").await;
    desk.resolve().await;
    desk.resolve().await;
    assert_ne!(desk.mode("old") & 0o100, 0);
    assert_ne!(desk.mode("new") & 0o100, 0);

    // The same bytes, and only the mode is missing.
    fs::set_permissions(desk.at("run"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(desk.at("run"), "#!/bin/sh\n").unwrap();
    desk.staged("run", "#!/bin/sh\n").await;
    let label = desk.host.session().actions().head().unwrap().label().to_owned();
    assert_eq!(label, "Write: make executable run");
    assert_eq!(desk.resolve().await.content, ["Wrote run (made executable, 10 bytes)."]);
    assert_eq!(desk.mode("run"), 0o750);
}

// CONTRACT W2, F4; case 147
#[tokio::test]
async fn w2_case_147_links_and_other_names_are_kept_and_named() {
    let desk = Desk::new(&[("real/target", "old\n"), ("one", "1\n")]);
    symlink("real/target", desk.at("link")).unwrap();
    fs::hard_link(desk.at("one"), desk.at("other")).unwrap();
    let text = desk.staged("link", "new\n").await;
    assert!(text.contains("link is a link: what changes is real/target."), "{text}");
    assert!(text.contains("+++ b/real/target\n"), "{text}");
    desk.resolve().await;
    assert!(fs::symlink_metadata(desk.at("link")).unwrap().is_symlink());
    assert_eq!(desk.bytes("real/target"), b"new\n");

    let text = desk.staged("one", "2\n").await;
    assert!(text.contains("one has 2 names (hard links): it is written in place"), "{text}");
    desk.resolve().await;
    assert_eq!(desk.bytes("other"), b"2\n");
    assert_eq!(fs::metadata(desk.at("one")).unwrap().nlink(), 2);

    // A link to nothing inside the workspace becomes a link to something.
    symlink("fresh", desk.at("dangling")).unwrap();
    desk.staged("dangling", "x\n").await;
    desk.resolve().await;
    assert_eq!(desk.bytes("fresh"), b"x\n");
    assert!(fs::symlink_metadata(desk.at("dangling")).unwrap().is_symlink());
}

// CONTRACT A3, W5; case 107: bounded for the model, complete on request.
#[tokio::test]
async fn a3_w5_case_107_a_long_preview_is_cut_at_a_line_and_can_be_read_on() {
    let desk = Desk::new(&[]);
    let line = |n: usize| format!("this is line {n} of many, all of them different\n");
    let content: String = (1..=20_000).map(line).collect();
    let text = desk.staged("big.txt", &content).await;
    assert!(text.len() < 34 * 1024, "{}", text.len());
    let (shown, cut) = text.trim_end().rsplit_once('\n').unwrap();
    let last: usize =
        shown.rsplit_once("line ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    // Before the lines stand: the header, a blank line, two lines of the difference and its hunk.
    assert_eq!(
        cut,
        format!(
            "[Cut here: {} of 20005 lines are shown. Read the rest at xd://resolve@1:{}-.]",
            last + 5,
            last + 8
        )
    );
    let address = format!("xd://resolve@1:{}-", last + 8);
    let rest = desk.call("read", json!({ "path": address })).await.joined();
    assert!(rest.starts_with(&format!("+{}", line(last + 1))), "{}", &rest[..200]);

    desk.resolve().await;
    assert_eq!(desk.bytes("big.txt"), content.as_bytes());
}

// CONTRACT A3: one line longer than any bound.
#[tokio::test]
async fn a3_one_endless_line_is_staged_and_its_place_is_shown() {
    let old = "a".repeat(3_000_000);
    let new = format!("{}b", &old[1..]);
    let desk = Desk::new(&[("min.js", &old)]);
    let text = desk.staged("min.js", &new).await;
    assert!(text.len() < 2_000, "{}", text.len());
    assert!(text.contains("min.js: replace (+1 -1)\n"), "{text}");
    assert!(text.contains("[Cut here: "), "{text}");
    desk.resolve().await;
    assert_eq!(desk.bytes("min.js"), new.as_bytes());
}

// Big content, wholly different, in both directions.
#[tokio::test]
async fn a3_megabytes_are_compared_staged_and_written() {
    let old: String = (0..40_000).map(|n| format!("old line {n}\n")).collect();
    let new: String = (0..40_000).map(|n| format!("new line {n}\n")).collect();
    let desk = Desk::new(&[("a", &old)]);
    let text = desk.staged("a", &new).await;
    assert!(text.contains("a: replace (+40000 -40000)\n"), "{}", &text[..400]);
    desk.resolve().await;
    assert_eq!(desk.bytes("a"), new.as_bytes());
}

// CONTRACT F4: more than a change set holds in memory is looked at all the same.
#[tokio::test]
async fn f4_a_file_of_many_megabytes_is_text_and_its_line_ends_are_told() {
    let line = |end: &str| format!("{}{end}", "x".repeat(1_000));
    let old = line("\r\n").repeat(10_000);
    let desk = Desk::new(&[("big", &old)]);
    assert!(old.len() as u64 > xd_changeset::Content::LARGE);
    let same_ends = format!("{old}more\r\n");
    let text = desk.staged("big", &same_ends).await;
    assert!(text.contains("big: replace (+1 -0)\n\n--- a/big\n"), "{}", &text[..400]);
    let other_ends = line("\n").repeat(10_000);
    let text = desk.staged("big", &other_ends).await;
    assert!(text.contains("Its CRLF line endings become LF"), "{}", &text[..400]);
    assert!(!text.contains("is not UTF-8"), "{}", &text[..400]);
    desk.resolve().await;
    assert_eq!(desk.bytes("big"), other_ends.as_bytes());
}
