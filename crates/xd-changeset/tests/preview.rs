//! How a change set shows itself, and what a stale one says.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use xd_changeset::{
    ByteEdit, Change, ChangeSet, Content, Drift, DriftKind, FileKind, FileState, Hash, LineTag,
    RelPath, StalePreview, Verb, apply_edits,
};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn state(content: &Content) -> FileState {
    FileState::of(FileKind::File, content, 0o644)
}

fn edit(path: &str, before: &[u8], edits: Vec<ByteEdit>) -> Change {
    let after = Content::new(apply_edits(before, &edits).unwrap());
    let before = Content::new(before);
    Change::Edit { path: p(path), from: state(&before), before, edits, after, mode: 0o644 }
}

fn replace(path: &str, before: &[u8], after: &[u8]) -> Change {
    let before = Content::new(before);
    Change::Replace {
        path: p(path),
        from: state(&before),
        before,
        after: Content::new(after),
        mode: 0o644,
    }
}

#[track_caller]
fn check(changes: Vec<Change>, expect: &str) {
    assert_eq!(ChangeSet::new(changes).unwrap().unified(3), expect);
}

#[test]
fn f1_an_edit_with_context() {
    let source = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    check(
        vec![edit("a", source, vec![ByteEdit::new(8..9, "five")])],
        "--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
}

#[test]
fn f1_edits_far_apart_are_two_hunks_and_near_ones_are_one() {
    let source: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let set = |ranges: [usize; 2]| {
        let edits = ranges.map(|at| ByteEdit::new(at..at, "x")).to_vec();
        ChangeSet::new(vec![edit("a", source.as_bytes(), edits)]).unwrap().diff(3)[0].hunks.len()
    };
    assert_eq!((set([0, 40]), set([0, 12])), (2, 1));
}

#[test]
fn f4_endings_and_missing_final_newlines_are_shown() {
    check(
        vec![replace("a", b"x\r\ny", b"x\ny\n")],
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\r\n-y\n\\ No newline at end of file\n+x\n+y\n",
    );
}

#[test]
fn f4_bytes_that_are_not_utf_8_are_told_apart() {
    check(
        vec![replace("a", b"caf\xe9\n", b"caf\xe8\n")],
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-caf\\xE9\n+caf\\xE8\n",
    );
    check(
        vec![replace("a", b"a\0b", b"a\0c")],
        "diff --git a/a b/a\nBinary files a/a and b/a differ\n",
    );
}

#[test]
fn f1_creations_deletions_moves_and_modes() {
    let content = Content::new("l\n");
    let from = state(&content);
    check(
        vec![
            Change::Create {
                path: p("a"),
                kind: FileKind::File,
                after: content.clone(),
                mode: 0o644,
            },
            Change::Create {
                path: p("b"),
                kind: FileKind::File,
                after: Content::new(""),
                mode: 0o755,
            },
            Change::Delete { path: p("c"), from: from.clone(), before: content.clone() },
            Change::Move {
                source: p("old \"d\""),
                path: p("d"),
                from: from.clone(),
                before: content.clone(),
                after: content.clone(),
                mode: 0o644,
            },
            Change::SetMode { path: p("e"), from, mode: 0o755 },
        ],
        "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+l\n\
         diff --git a/b b/b\nnew file mode 100755\n\
         diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-l\n\
         diff --git \"a/old \\\"d\\\"\" b/d\nrename from \"old \\\"d\\\"\"\nrename to d\n\
         diff --git a/e b/e\nold mode 100644\nnew mode 100755\n",
    );
}

#[test]
fn f1_the_data_form_numbers_lines_on_both_sides() {
    let set =
        ChangeSet::new(vec![edit("a", b"1\n2\n3\n", vec![ByteEdit::new(2..4, "two\nmore\n")])])
            .unwrap();
    let diff = &set.diff(1)[0];
    assert_eq!((diff.verb, diff.added, diff.removed), (Verb::Edit, 2, 1));
    let lines: Vec<_> = diff.hunks[0]
        .lines
        .iter()
        .map(|line| (line.tag, line.old_number, line.new_number, line.text.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (LineTag::Context, Some(1), Some(1), "1"),
            (LineTag::Removed, Some(2), None, "2"),
            (LineTag::Added, None, Some(2), "two"),
            (LineTag::Added, None, Some(3), "more"),
            (LineTag::Context, Some(3), Some(4), "3"),
        ]
    );
    let summary = &set.files()[0];
    assert_eq!(
        (summary.added, summary.removed),
        (diff.added, diff.removed),
        "one number, everywhere"
    );
}

#[test]
fn f2_what_a_stale_preview_says() {
    let drift = |path: &str, what| Drift { path: p(path), what };
    let content = DriftKind::Content {
        was: Hash::of(b"a"),
        is: Hash::of(b"b"),
        lines: "line 3 changed".to_owned(),
    };
    let one = StalePreview { drifts: vec![drift("a", content.clone())] };
    assert_eq!(
        one.to_string(),
        "The preview is stale: 'a' changed since the preview (line 3 changed)."
    );
    let several = StalePreview {
        drifts: vec![
            drift("a", content),
            drift("b", DriftKind::Vanished),
            drift("c", DriftKind::Appeared),
            drift("d", DriftKind::Mode { was: 0o644, is: 0o755 }),
            drift("e", DriftKind::Kind { was: FileKind::File, is: "a folder".to_owned() }),
        ],
    };
    assert_eq!(
        several.to_string(),
        "The preview is stale: 5 paths changed since.\n\
         - 'a' changed since the preview (line 3 changed).\n\
         - 'b' no longer exists.\n\
         - 'c' exists now, and did not at the preview.\n\
         - 'd' had mode 644 and has mode 755 now.\n\
         - 'e' was a file and is a folder now."
    );
    // A look tells the fact; only an apply has anything to say of what was written.
    #[cfg(feature = "commit")]
    for stale in [one, several] {
        let (fact, told) = (stale.to_string(), xd_changeset::ApplyError::from(stale).to_string());
        let deed = told.strip_prefix(&fact).unwrap().trim_start();
        assert_eq!(deed, "Nothing was written. Read the present files and stage the change again.");
    }
}

#[test]
fn c1_sets_that_contradict_themselves_are_refused() {
    let content = Content::new("x");
    let create = |path: &str| Change::Create {
        path: p(path),
        kind: FileKind::File,
        after: content.clone(),
        mode: 0o644,
    };
    let delete = |path: &str| Change::Delete {
        path: p(path),
        from: state(&content),
        before: content.clone(),
    };
    let rename = |source: &str, path: &str| Change::Move {
        source: p(source),
        path: p(path),
        from: state(&content),
        before: content.clone(),
        after: content.clone(),
        mode: 0o644,
    };
    for (changes, names) in [
        (vec![create("a"), create("a")], "'a'"),
        (vec![delete("a"), delete("a")], "'a'"),
        (vec![delete("a"), create("a")], "'a'"),
        (vec![rename("a", "c"), rename("b", "c")], "'c'"),
        (vec![rename("a", "b"), replace("b", b"1", b"2")], "'b'"),
        (vec![create("a"), create("a/b")], "'a/b'"),
        (vec![create(".git/hooks/x")], "'.git/hooks/x'"),
        (vec![rename("a", ".xd/a")], "'.xd/a'"),
        (vec![replace("a", b"1", b"1")], "'a'"),
        (vec![rename("a", "a")], "'a'"),
    ] {
        let error = ChangeSet::new(changes.clone()).unwrap_err().to_string();
        assert!(error.contains(names), "{changes:?}: {error}");
    }
    assert!(ChangeSet::new(vec![rename("a", "b"), rename("b", "a")]).is_ok());
    assert!(ChangeSet::new(vec![delete("a"), rename("b", "a")]).is_ok());
}

#[test]
fn c5_the_inverse_of_the_inverse_makes_the_same() {
    let set = ChangeSet::new(vec![
        edit("a", b"12", vec![ByteEdit::new(0..1, "x")]),
        replace("b", b"1", b"2"),
    ])
    .unwrap();
    let again = set.inverse().inverse();
    let results = |set: &ChangeSet| -> Vec<_> {
        set.changes().iter().map(|c| (c.path().clone(), c.to_state())).collect()
    };
    assert_eq!(results(&set), results(&again));
}

// What `git apply` makes of the patch is what the set makes: any bytes, any line ends.
#[test]
fn f4_a_patch_has_every_byte_as_it_is() {
    let files: [(&str, &[u8], &[u8]); 6] = [
        ("latin", b"caf\xe9\nna\xefve\nend", b"CAF\xc9\nna\xefve\nend\xff"),
        ("windows", b"one\r\ntwo\r\n", b"one\ntwo\r\n"),
        ("nul", b"a\0b\nc\n", b"a\0B\nc\n"),
        ("sp ace", b"x", b"\xff\n"),
        ("last", b"a\nb", b"a\nc"),
        ("plain", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n", b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
    ];
    let changes = files.map(|(path, before, after)| replace(path, before, after)).to_vec();
    let patch = ChangeSet::new(changes).unwrap().patch(3);
    let folder = tempfile::TempDir::new().unwrap();
    for (path, before, _) in files {
        std::fs::write(folder.path().join(path), before).unwrap();
    }
    std::fs::write(folder.path().join("made.patch"), &patch).unwrap();
    let mut git = std::process::Command::new("git");
    git.args(["apply", "--whitespace=nowarn", "made.patch"]).current_dir(folder.path());
    git.env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap());
    let git = git.output().unwrap();
    assert!(git.status.success(), "{git:?}\n{}", String::from_utf8_lossy(&patch));
    for (path, _, after) in files {
        assert_eq!(std::fs::read(folder.path().join(path)).unwrap(), after, "{path}");
    }
    // Where all is text, the patch is the text that is shown.
    let text = ChangeSet::new(vec![replace("a", b"1\r\n2", b"1\r\nx\n"), replace("b", b"", b"x")]);
    let text = text.unwrap();
    assert_eq!(text.patch(3), text.unified(3).into_bytes());
}
