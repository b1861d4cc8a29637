//! Patches on files: both forms, what is put up with, what is refused and how.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;
use xd_changeset::{Options, Root};
use xd_text_edit::{Control, Limits, PatchError, Proposal, propose_patch};

struct Tree {
    folder: TempDir,
    root: Root,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        Self { folder, root }
    }

    fn propose(&self, patch: &str) -> Result<Proposal, PatchError> {
        propose_patch(&self.root, patch.as_bytes(), &Limits::default(), &Control::default())
    }

    /// Applies a patch; answers the label and the notes.
    fn apply(&self, patch: &str) -> (String, Vec<String>) {
        let proposal = self.propose(patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
        proposal.change_set.apply(&self.root, Options::new()).unwrap();
        (proposal.label(), proposal.summary.notes)
    }

    fn refuse(&self, patch: &str) -> String {
        self.propose(patch)
            .map(|proposal| proposal.preview(xd_text_edit::Bound::Whole, None))
            .unwrap_err()
            .to_string()
    }

    fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.folder.path().join(path)).unwrap()).unwrap()
    }

    fn exists(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

#[test]
fn a_git_patch_creates_deletes_moves_and_changes_modes() {
    let tree = Tree::new(&[
        ("a.txt", TEN),
        ("old name.txt", "x\ny\nz\n"),
        ("gone", "g\n"),
        ("empty", ""),
        ("run", "r\n"),
    ]);
    let patch = "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] all\n\n- a point\n---\n a.txt | 2 +-\n\n\
diff --git a/a.txt b/a.txt\nindex 123..456 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -4,3 +4,3 @@ fn f()\n 4\n-5\n+five\n 6\n\
diff --git a/old name.txt b/new/name.txt\nsimilarity index 66%\nrename from old name.txt\nrename to new/name.txt\nindex 1..2 100644\n--- a/old name.txt\t\n+++ b/new/name.txt\t\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n\
diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n\
diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69..000\n\
diff --git a/fresh b/fresh\nnew file mode 100644\nindex 000..e69\n\
diff --git \"a/t\\303\\244b\\t\" \"b/t\\303\\244b\\t\"\nnew file mode 100755\nindex 000..1\n--- /dev/null\n+++ \"b/t\\303\\244b\\t\"\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n\\ No newline at end of file\n\
diff --git a/run b/run\nold mode 100644\nnew mode 100755\n\
diff --git a/a.txt b/copy.txt\nsimilarity index 90%\ncopy from a.txt\ncopy to copy.txt\n-- \n2.47.2\n\n";
    let (label, notes) = tree.apply(patch);
    assert_eq!(
        label,
        "Patch: 2 hunks in 2 files, 3 files created, 2 files deleted, 1 file moved, 1 file with another mode"
    );
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(tree.read("a.txt"), TEN.replace('5', "five"));
    assert_eq!(tree.read("new/name.txt"), "x\nY\nz\n");
    assert_eq!(
        (tree.read("fresh"), tree.read("täb\t")),
        (String::new(), "#!/bin/sh\ntrue".to_owned())
    );
    assert!(!tree.exists("gone") && !tree.exists("empty") && !tree.exists("old name.txt"));
    let mode = |path: &str| {
        std::fs::metadata(tree.folder.path().join(path)).unwrap().permissions().mode() & 0o111
    };
    assert!(mode("run") != 0 && mode("täb\t") != 0 && mode("a.txt") == 0);
    assert_eq!(tree.read("copy.txt"), TEN.replace('5', "five"));
}

// CONTRACT F4: a copy keeps the executable bit of what it is a copy of, unless the patch says what
// it becomes.
#[test]
fn f4_a_copy_is_as_executable_as_its_source() {
    for (modes, source, wanted) in [
        ("", 0o755, true),
        ("", 0o644, false),
        ("old mode 100644\nnew mode 100755\n", 0o644, true),
        ("old mode 100755\nnew mode 100644\n", 0o755, false),
    ] {
        let tree = Tree::new(&[("s", "#!/bin/sh\n")]);
        let at = |path: &str| tree.folder.path().join(path);
        std::fs::set_permissions(at("s"), PermissionsExt::from_mode(source)).unwrap();
        tree.apply(&format!(
            "diff --git a/s b/s2\n{modes}similarity index 100%\ncopy from s\ncopy to s2\n"
        ));
        let mode = std::fs::metadata(at("s2")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111 != 0, wanted, "{modes:?} {source:o} became {mode:o}");
        assert_eq!(tree.read("s2"), "#!/bin/sh\n");
    }
}

#[test]
fn a_plain_diff_comes_with_timestamps_and_prefixes_or_none() {
    for (old, new) in [
        ("a/f", "b/f"),
        ("f", "f"),
        ("f\t2026-01-02 03:04:05.000000000 +0000", "f\t2026-01-02 03:04:06.000000000 +0000"),
        ("f.orig 2026-01-02 03:04:05 +0000", "f 2026-01-02 03:04:06 +0000"),
        ("./f", "./f"),
        ("f", "f.new"),
    ] {
        let tree = Tree::new(&[("f", TEN)]);
        tree.apply(&format!("--- {old}\n+++ {new}\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n"));
        assert_eq!(tree.read("f"), TEN.replacen('1', "one", 1), "{old} {new}");
    }
    let tree = Tree::new(&[("f", "x\n")]);
    let epoch = "1970-01-01 00:00:00.000000000 +0000";
    let some = "2026-01-01 00:00:00.000000000 +0000";
    let (label, _) = tree.apply(&format!(
        "diff -uN a/f b/f\n--- f\t{some}\n+++ f\t{epoch}\n@@ -1 +0,0 @@\n-x\n--- g\t{epoch}\n+++ g\t{some}\n@@ -0,0 +1 @@\n+y\n"
    ));
    assert_eq!(label, "Patch: 1 file created, 1 file deleted");
    assert!(!tree.exists("f") && tree.read("g") == "y\n");
}

// Invariant T5
#[test]
fn invariant_t5_a_hunk_may_stand_elsewhere_and_a_note_says_so() {
    let moved = format!("top\ntop\n{TEN}");
    let tree = Tree::new(&[("f", &moved)]);
    let patch = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n@@ -7,3 +7,4 @@\n 7\n 8\n+8.5\n 9\n";
    let (label, notes) = tree.apply(patch);
    assert_eq!(label, "Patch: 2 hunks in 1 file");
    assert_eq!(
        notes,
        [
            "'f': hunk 1 (patch line 3) says line 2 and was found at line 4 (offset +2).",
            "'f': hunk 2 (patch line 8) says line 7 and was found at line 9 (offset +2).",
        ]
    );
    assert_eq!(tree.read("f"), moved.replace('3', "three").replace("8\n", "8\n8.5\n"));
    // No fuzz: one context line that is another refuses all.
    let tree = Tree::new(&[("f", TEN)]);
    let text = tree.refuse("--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n 2\n 3 \n-4\n+four\n 5\n");
    assert!(text.starts_with("the file cannot be patched; nothing is staged\n'f' (patch line 1): hunk 1 (patch line 3): its old lines occur 0 times; the closest place is line 2\n  line 3 differs in white space at the end"), "{text}");
}

// case 11; Invariant T1
#[test]
fn case_011_an_ambiguous_hunk_is_refused_with_its_lines() {
    let tree = Tree::new(&[("f", &"{\n  x\n}\n".repeat(4))]);
    for at in ["@@ -2,3 +2,3 @@", "@@ -90,3 +90,3 @@", "@@", "@@ ... @@"] {
        let text = tree.refuse(&format!("--- f\n+++ f\n{at}\n {{\n-  x\n+  y\n }}\n"));
        assert!(
            text.contains("its old lines occur 4 times (lines 1, 4, 7, 10); give more context"),
            "{text}"
        );
    }
    // The line that it says tells which one.
    tree.apply("--- f\n+++ f\n@@ -4,3 +4,3 @@\n {\n-  x\n+  y\n }\n");
    assert_eq!(tree.read("f").matches('y').count(), 1);
    assert!(tree.read("f").starts_with("{\n  x\n}\n{\n  y\n"));
    // And so does the offset of the hunk above.
    let tree = Tree::new(&[("f", &format!("new\nhead\n{}", "{\n  x\n}\n".repeat(4)))]);
    tree.apply(
        "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-head\n+HEAD\n@@ -5,3 +5,3 @@\n {\n-  x\n+  y\n }\n",
    );
    assert_eq!(tree.read("f"), "new\nHEAD\n{\n  x\n}\n{\n  y\n}\n{\n  x\n}\n{\n  x\n}\n");
}

#[test]
fn a_hunk_that_an_end_of_the_file_claims_too_is_ambiguous() {
    // Made where the file ended after line 2; a line was put before it since.
    let tree = Tree::new(&[("f", "new\nq\nq\n")]);
    let text = tree.refuse("--- f\n+++ f\n@@ -2 +2,2 @@\n q\n+r\n");
    assert!(text.contains("its old lines occur 2 times (lines 2, 3)"), "{text}");
    // Made at the beginning; the file is as it was, or the other place is no end.
    for file in ["q\nq\n", "q\nq\nx\n"] {
        let tree = Tree::new(&[("f", file)]);
        tree.apply("--- f\n+++ f\n@@ -1 +1,2 @@\n+r\n q\n");
        assert!(tree.read("f").starts_with("r\nq\nq\n"));
    }
}

#[test]
fn wrong_counts_give_way_to_the_lines_and_a_note_says_so() {
    for header in
        ["@@ -2,3 +2,3 @@", "@@ -2,9 +2,9 @@", "@@ -2,1 +2,1 @@", "@@ -2 +2 @@", "@@ -2,0 +2,4 @@"]
    {
        for more in [
            "",
            "\n",
            "\n```\nThat is all.\n",
            "@@ -8,2 +8,2 @@\n-8\n+eight\n 9\n",
            "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+G\n",
        ] {
            let tree = Tree::new(&[("f", TEN), ("g", "g\n")]);
            let patch =
                format!("```diff\n--- a/f\n+++ b/f\n{header}\n 2\n-3\n+three\n+and\n 4\n{more}");
            let (_, notes) = tree.apply(&patch);
            assert!(tree.read("f").starts_with("1\n2\nthree\nand\n4\n5\n"), "{patch}");
            assert_eq!(
                notes,
                [format!(
                    "'f': hunk 1 (patch line 4) says -2,{} and has 3 old and 4 new lines; its lines were taken.",
                    match header {
                        "@@ -2,3 +2,3 @@" => "3 +2,3",
                        "@@ -2,9 +2,9 @@" => "9 +2,9",
                        "@@ -2,0 +2,4 @@" => "0 +2,4",
                        _ => "1 +2,1",
                    }
                )],
            );
        }
    }
    // Removed lines that look like headers are lines where the counts say so.
    let tree = Tree::new(&[("f.sql", "-- a\n++ b\nc\n")]);
    let (_, notes) = tree.apply("--- f.sql\n+++ f.sql\n@@ -1,3 +1,2 @@\n--- a\n-++ b\n+-- d\n c\n");
    assert_eq!((tree.read("f.sql").as_str(), notes.len()), ("-- d\nc\n", 0));
    // A blank line without its blank is one of the hunk where more follows.
    let tree = Tree::new(&[("f", "a\n\nb\n")]);
    tree.apply("--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n\n");
    assert_eq!(tree.read("f"), "a\n\nB\n");
}

// CONTRACT F4, cases 137 and 139
#[test]
fn f4_case_139_line_ends_are_those_of_the_file() {
    let patch = "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+more\n c\n";
    for (file, expect) in [
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nmore\r\nc\r\n"),
        ("a\r\nb\r\nc", "a\r\nB\r\nmore\r\nc"),
        ("a\nb\r\nc\n", "a\nB\r\nmore\r\nc\n"),
        ("a\nb\nc", "a\nB\nmore\nc"),
        ("\u{feff}z\na\nb\nc\n", "\u{feff}z\na\nB\nmore\nc\n"),
    ] {
        let tree = Tree::new(&[("f", file)]);
        tree.apply(patch);
        assert_eq!(tree.read("f"), expect, "{file:?}");
        // The patch that came with carriage returns all over is the same patch.
        let tree = Tree::new(&[("f", file)]);
        tree.apply(&patch.replace('\n', "\r\n"));
        assert_eq!(tree.read("f"), expect, "{file:?} from CRLF");
    }
    // What the patch itself says of line ends is done.
    let tree = Tree::new(&[("f", "a\r\nb\r\n")]);
    tree.apply("--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n");
    assert_eq!(tree.read("f"), "a\nb\r\n");
    for (file, patch, expect) in [
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        (
            "a\nb",
            "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n",
            "a\nb\nc",
        ),
        // Nobody said that the last line has no end: it keeps none.
        ("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc"),
        ("a\nb", "@@ -1,2 +1,1 @@\n a\n-b\n", "a"),
    ] {
        let tree = Tree::new(&[("f", file)]);
        tree.apply(&format!("--- f\n+++ f\n{patch}"));
        assert_eq!(tree.read("f"), expect, "{patch}");
    }
}

// CONTRACT S7, case 13; Invariant T4
#[test]
fn invariant_t4_case_013_all_hunks_or_none_and_every_fault_is_told() {
    let tree = Tree::new(&[("a", TEN), ("b", TEN), ("c", "c\n")]);
    let patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,2 +5,2 @@\n-five\n+FIVE\n 6\n\
--- a/b\n+++ b/b\n@@ -9,2 +9,2 @@\n 9\n-10\n+ten\n@@ -2,2 +2,2 @@\n 2\n-3\n+three\n\
--- a/missing\n+++ b/missing\n@@ -1 +1 @@\n-x\n+y\n\
--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+c\n\
--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-C\n\
--- a/c\n+++ b/c\n@@ -0,0 +1 @@\n+first\n\
--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-x\n+y\n";
    let text = tree.refuse(patch);
    for part in [
        "7 of 7 files cannot be patched; nothing is staged\n",
        "'a' (patch line 1): hunk 2 (patch line 7): its old lines occur 0 times",
        "'b' (patch line 11): hunk 2 (patch line 17): its old lines stand at line 2, before the place of the hunk above it",
        "'missing' (patch line 21): the file does not exist; check the path",
        "'c' (patch line 26): something exists there already",
        "'c' (patch line 30): hunk 1 (patch line 32): its old lines occur 0 times",
        "'c' (patch line 34): hunk 1 (patch line 36): it only adds lines and shows none around them",
        "'../x' (patch line 38): '../x' is outside the workspace",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(
        (tree.read("a"), tree.read("b"), tree.read("c")),
        (TEN.into(), TEN.into(), "c\n".into())
    );
    let twice = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n";
    tree.apply(twice);
    let text = tree.refuse(twice);
    assert!(text.contains("its new ones are (line 1): the hunk looks already applied"), "{text}");
    assert_eq!(
        tree.refuse("--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n 2\n"),
        "no change needed: the patch leaves every file as it is"
    );
    let part = "--- a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-2\n";
    assert!(tree.refuse(part).contains("shows less than it has; nothing unseen is deleted"));
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    let tree = Tree::new(&[("f", TEN)]);
    for (patch, expect) in [
        ("", "patch line 1: no file header"),
        ("hello\n", "patch line 1: no file header"),
        ("@@ -1 +1 @@\n-1\n+2\n", "patch line 1: \"@@ -1 +1 @@\" belongs to no file"),
        (
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-1\nx\n+2\n",
            "patch line 5: hunk 1: a line begins with ' ', '-' or '+', and this is \"x\"",
        ),
        (
            "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-1\n+2\n\nfoo\n+3\n",
            "patch line 8: \"+3\" belongs to no file",
        ),
        (
            "--- f\n+++ f\n@@ -1,x +1 @@\n-1\n+2\n",
            "patch line 3: \"@@ -1,x +1 @@\" is no hunk header",
        ),
        ("--- f\n+++ f\n@@ -1 +1 @@\n", "patch line 3: hunk 1 has no lines"),
        (
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-1\n+2\n\\ No newline at end of file\n 2\n",
            "patch line 3: '\\ No newline",
        ),
        ("diff --cc f\n@@@ -1 -1 +1 @@@\n", "patch line 1: this is the combined patch"),
        (
            "diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 1\n",
            "patch line 3: the patch is of a binary file",
        ),
        (
            "diff --git a/f b/f\nBinary files a/f and b/f differ\n",
            "patch line 2: the patch is of a binary file",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n",
            "patch line 1: mode 120000 is a symbolic link",
        ),
        ("--- \"f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n", "patch line 1: \"--- \\\"f\" names no file"),
        (
            "*** Begin Patch\n*** Update File: f\n-1\n+2\n",
            "patch line 4: '*** End Patch' is missing",
        ),
        (
            "*** Begin Patch\n*** Add File: g\nx\n*** End Patch\n",
            "patch line 3: \"x\" is not expected here",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n*** End Patch\n",
            "patch line 2: hunk 1 has no lines",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n-1\nx\n+2\n*** End Patch\n",
            "patch line 4: hunk 1: a line begins with",
        ),
        ("*** Begin Patch\n*** End Patch\n", "patch line 2: no file header"),
        (
            "*** Begin Patch\n*** Rename File: f\n*** End Patch\n",
            "patch line 2: \"*** Rename File: f\" is not expected",
        ),
    ] {
        let text = tree.refuse(patch);
        assert!(text.starts_with(expect), "{patch}\n{text}");
    }
    let limits = Limits { text_bytes: 10, ..Limits::default() };
    let long = propose_patch(&tree.root, &[b'x'; 11], &limits, &Control::default()).unwrap_err();
    assert!(matches!(long, PatchError::TooLong { bytes: 11, most: 10 }));
    let many = "--- f\n+++ f\n@@\n-1\n+2\n@@\n-3\n+4\n";
    let limits = Limits { edits: 1, ..Limits::default() };
    let error =
        propose_patch(&tree.root, many.as_bytes(), &limits, &Control::default()).unwrap_err();
    assert!(error.to_string().starts_with("the patch has 2 hunks in 1 files"), "{error}");
}

#[test]
fn the_envelope_adds_updates_moves_and_deletes() {
    let code =
        "class A:\n    def f(self):\n        pass\n\nclass B:\n    def f(self):\n        pass\n";
    let tree = Tree::new(&[("a.py", code), ("b.txt", TEN), ("gone", "x\n")]);
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new/n.txt\n+one\n+\n+two\n\
*** Update File: a.py\n@@ class B:\n     def f(self):\n-        pass\n+        return 1\n\
*** Update File: b.txt\n*** Move to: c.txt\n@@\n 2\n-3\n+three\n\n@@\n 9\n-10\n+ten\n*** End of File\n\
*** Delete File: gone\n*** End Patch\nEOF\n";
    let (label, notes) = tree.apply(patch);
    assert_eq!(label, "Patch: 3 hunks in 2 files, 1 file created, 1 file deleted, 1 file moved");
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(tree.read("new/n.txt"), "one\n\ntwo\n");
    assert!(tree.read("a.py").ends_with("class B:\n    def f(self):\n        return 1\n"));
    assert_eq!(tree.read("c.txt"), TEN.replace('3', "three").replace("10", "ten"));
    assert!(!tree.exists("gone") && !tree.exists("b.txt"));
}

#[test]
fn the_envelope_refuses_what_it_cannot_place() {
    let code = "class A:\n    x\nclass B:\n    x\n";
    let tree = Tree::new(&[("a", code)]);
    let update = |body: &str| format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
    for (body, expect) in [
        ("-    x\n+    y\n", "occur 2 times (lines 2, 4)"),
        ("@@ class C:\n-    x\n+    y\n", "no line of the file is \"class C:\""),
        ("+new\n", "it only adds lines and shows none around them"),
        (
            "-class A:\n+class Z:\n*** End of File\n",
            "its old lines stand at line 1, and the file does not end there",
        ),
        (
            "-class B:\n+class Z:\n@@\n-class A:\n+class Y:\n",
            "stand at line 1, before the place of the hunk above",
        ),
    ] {
        let text = tree.refuse(&update(body));
        assert!(text.contains(expect), "{body}\n{text}");
    }
    tree.apply(&update("@@ class B:\n-    x\n+    y\n"));
    assert_eq!(tree.read("a"), "class A:\n    x\nclass B:\n    y\n");
    let (_, notes) = Tree::new(&[("a", "k\nx\nx\n")]).apply(&update("@@ k\n-x\n+y\n"));
    assert_eq!(
        notes,
        [
            "'a': hunk 1 (patch line 3) stands at line 2 and again at line 3; the first below its anchor was taken."
        ]
    );
    let exists = tree.refuse("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n");
    assert!(exists.contains("something exists there already"), "{exists}");
}

#[test]
fn a_file_twice_in_a_patch_is_patched_twice_and_names_may_be_swapped() {
    let tree = Tree::new(&[("f", TEN), ("x", "X\n"), ("y", "Y\n")]);
    let (label, _) = tree.apply(
        "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n--- f\n+++ f\n@@ -1,2 +1,2 @@\n-one\n+eins\n 2\n\
diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/x\nrename from y\nrename to x\n",
    );
    assert_eq!(label, "Patch: 2 hunks in 1 file, 2 files moved");
    assert_eq!(tree.read("f"), TEN.replacen('1', "eins", 1));
    assert_eq!((tree.read("x"), tree.read("y")), ("Y\n".into(), "X\n".into()));
    let text = tree
        .refuse("*** Begin Patch\n*** Delete File: f\n*** Update File: f\n-2\n+3\n*** End Patch\n");
    assert!(text.contains("an earlier part of this call deleted or moved it"), "{text}");
    // A file that another one's move would cover.
    let text = tree.refuse("diff --git a/x b/y\nrename from x\nrename to y\n");
    assert!(text.contains("'y' exists already"), "{text}");
}

// cases 131 and 133
#[test]
fn case_133_files_of_other_encodings_take_ascii_only() {
    let tree = Tree::new(&[("x", "")]);
    std::fs::write(tree.folder.path().join("l"), b"caf\xe9\nb\nc\n").unwrap();
    let text = tree.refuse("--- l\n+++ l\n@@ -2,2 +2,2 @@\n-b\n+ä\n c\n");
    assert!(text.contains("the file is not UTF-8 (byte 3, line 1)"), "{text}");
    tree.apply("--- l\n+++ l\n@@ -2,2 +2,2 @@\n-b\n+B\n c\n");
    assert_eq!(std::fs::read(tree.folder.path().join("l")).unwrap(), b"caf\xe9\nB\nc\n");
    std::fs::write(tree.folder.path().join("n"), b"a\0\nb\n").unwrap();
    assert!(
        tree.refuse("--- n\n+++ n\n@@ -2 +2 @@\n-b\n+B\n")
            .contains("the file is binary: byte 1 is NUL")
    );
}
