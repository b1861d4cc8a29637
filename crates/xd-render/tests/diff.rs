//! Diffs: read back whole, counted, marked, cut with a statement (cases 107, 109).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use xd_render::{Diff, FileChange, Line, Options, Role, to_plain};

/// The text of the spans in `role`.
fn in_role(lines: &[Line], role: Role) -> Vec<String> {
    let spans = lines.iter().flat_map(Line::spans);
    spans.filter(|span| span.style().role == role).map(|span| span.text().to_owned()).collect()
}

fn drawn(diff: &str, options: &Options) -> String {
    to_plain(&Diff::parse(diff).lines(options, None))
}

#[test]
fn case_109_every_file_is_listed_with_its_counts() {
    let diff = Diff::parse(fixture::DIFF);
    let files: Vec<_> = diff
        .files()
        .map(|file| (file.path.as_str(), file.change.clone(), file.added, file.removed))
        .collect();
    assert_eq!(
        files,
        [
            ("src/client.ts", FileChange::Edited, 2, 1),
            ("tools/gen.py", FileChange::Edited, 1, 2),
            ("src/new.rs", FileChange::Created, 2, 0),
        ]
    );
    let summary = to_plain(&diff.summary(&Options::new(60)));
    insta::assert_snapshot!(summary, @r"
    src/client.ts     +2 -1
    tools/gen.py      +1 -2
    src/new.rs (new)  +2 -0
    ");
}

#[test]
fn case_109_deletions_and_moves_are_named() {
    let diff = Diff::parse(
        "diff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n\
         diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n\
         --- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-last\n",
    );
    insta::assert_snapshot!(to_plain(&diff.summary(&Options::new(60))), @r"
    new.rs (moved from old.rs)  +0 -0
    y (moved from x)            +1 -1
    gone.rs (deleted)           +0 -1
    ");
}

#[test]
fn case_109_files_without_hunks_are_files_too() {
    let text = "\
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/empty dir/e b/empty dir/e
new file mode 100755
diff --git a/gone b/gone
deleted file mode 100644
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+target
\\ No newline at end of file
diff --git \"a/od\\\"d\\n\\303\\274\" \"b/od\\\"d\\n\\303\\274\"
old mode 100755
new mode 100644
--- \"a/od\\\"d\\n\\303\\274\"
+++ \"b/od\\\"d\\n\\303\\274\"
@@ -1 +1 @@
-1
+2
diff --git a/old name b/new name
rename from old name
rename to new name
--- a/plain
+++ b/plain
@@ -1 +1 @@
-1
+2
";
    let diff = Diff::parse(text);
    insta::assert_snapshot!(to_plain(&diff.summary(&Options::new(100))), @r#"
    run.sh (mode 644 -> 755)        +0 -0
    empty dir/e (new) (executable)  +0 -0
    gone (deleted)                  +0 -0
    logo.png (binary)               +0 -0
    link (new) (symbolic link)      +1 -0
    od"d\u{a}ü (mode 755 -> 644)    +1 -1
    new name (moved from old name)  +0 -0
    plain                           +1 -1
    "#);
    // Nothing of it is left over as a note.
    let all = to_plain(&diff.lines(&Options::new(100), None));
    assert!(!all.contains("diff --git") && !all.contains("old mode"), "{all}");
}

#[test]
fn case_109_a_line_that_counts_a_file_belongs_to_it_also_where_the_diff_is_cut() {
    let text = "\
AST Edit: 5 replacements in 2 files
1 file does not parse.

src/a.rs: 2 replacements (+1 -1)
--- a/src/a.rs
+++ b/src/a.rs
@@ -1 +1 @@
-a
+b

src/b.rs: 3 replacements (+9 -7)
--- a/src/b.rs
+++ b/src/b.rs
@@ -1,9 +1,11 @@
-old

[Cut here. Not shown in full, 1 file:]
";
    let preview = xd_render::Preview {
        number: Some(1),
        label: Some("AST Edit: 5 replacements in 2 files".into()),
        text: text.into(),
        ..xd_render::Preview::default()
    };
    insta::assert_snapshot!(to_plain(&xd_render::preview_block(&preview, &Options::new(59))), @r"
    ◌ Proposed: 5 replacements in 2 files [AST Edit]
    @1 pending
    src/a.rs  +1 -1
    src/b.rs  +9 -7

    1 file does not parse.

    src/a.rs  +1 -1  2 replacements
    @@ -1 +1 @@
    -a
    +b

    src/b.rs  +9 -7  3 replacements
    @@ -1,9 +1,11 @@
    -old

    [Cut here. Not shown in full, 1 file:]
    ");
}

#[test]
fn case_107_a_long_diff_is_cut_with_counts_and_the_way_to_all() {
    let body: String = (0..2000).map(|n| format!("+line {n}\n")).collect();
    let text = format!("--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,2000 @@\n{body}");
    let diff = Diff::parse(&text);
    assert_eq!(diff.line_count(), 2000);
    let options = Options::new(80).with_max_lines(Some(40));
    let cut = to_plain(&diff.lines(&options, Some("xd show 3")));
    assert_eq!(cut.lines().count(), 2 + 40 + 1);
    assert!(cut.contains("40 +line 39\n") || cut.contains("  40 +line 39\n"), "{cut}");
    assert!(cut.ends_with("… 1960 of 2000 lines not shown; all of it: xd show 3\n"), "{cut}");
    let all = to_plain(&diff.lines(&options.with_max_lines(None), Some("xd show 3")));
    assert_eq!(all.lines().count(), 2 + 2000);
    assert!(!all.contains("not shown") && all.contains("2000 +line 1999\n"));
}

#[test]
fn case_107_a_cut_across_files_counts_all_that_is_hidden() {
    let diff = Diff::parse(fixture::DIFF);
    for bound in 0..diff.line_count() {
        let options = Options::new(80).with_max_lines(Some(bound));
        let cut = to_plain(&diff.lines(&options, None));
        let hidden = diff.line_count() - bound;
        let note = format!("… {hidden} of {} lines not shown\n", diff.line_count());
        assert!(cut.ends_with(&note), "{cut}");
    }
    let whole = diff.lines(&Options::new(80).with_max_lines(Some(diff.line_count())), None);
    assert!(!to_plain(&whole).contains("not shown"));
}

#[test]
fn case_109_lines_that_look_like_headers_stay_lines_and_files_cannot_hide() {
    let tricky = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b comment\n same\n\
                  @@ -9 +9 @@\n-9\n+nine\n";
    let diff = Diff::parse(tricky);
    let files: Vec<_> = diff.files().map(|f| (f.path.as_str(), f.added, f.removed)).collect();
    assert_eq!(files, [("x.sql", 2, 2)]);
    // The last two lines of a hunk may even be followed by another hunk's header.
    let last = "--- a/x.sql\n+++ b/x.sql\n@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +9 @@\n-9\n+nine\n";
    let diff = Diff::parse(last);
    let files: Vec<_> = diff.files().map(|f| (f.path.as_str(), f.added, f.removed)).collect();
    assert_eq!(files, [("x.sql", 2, 2)]);
    // A count that claims too much does not swallow the next file.
    let greedy = "--- a/shown\n+++ b/shown\n@@ -1,99 +1,99 @@\n-1\n+2\n\
                  --- a/hidden\n+++ b/hidden\n@@ -1 +1 @@\n-3\n+4\n";
    let diff = Diff::parse(greedy);
    let files: Vec<_> = diff.files().map(|f| (f.path.as_str(), f.added, f.removed)).collect();
    assert_eq!(files, [("shown", 1, 1), ("hidden", 1, 1)]);
}

#[test]
fn what_is_no_diff_is_kept_as_notes() {
    let text = "Two files change.\n\n--- not a header\n@@ -1 +1 @@\nend";
    assert_eq!(drawn(text, &Options::new(80)), format!("{text}\n"));
}

#[test]
fn line_ends_are_shown_where_they_differ() {
    let options = Options::new(40);
    let same = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n";
    insta::assert_snapshot!(drawn(same, &options), @r"
    x  +1 -1  CRLF
    @@ -1,2 +1,2 @@
     a
    -b
    +c
    ");
    let mixed = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\r\n+b\n";
    insta::assert_snapshot!(drawn(mixed, &options), @r"
    x (line ends CRLF → LF)  +1 -1
    @@ -1,2 +1,2 @@
     a
    -b\u{d}
    +b
    ");
}

// A file of one line without an end has no line ends at all.
#[test]
fn crlf_is_said_only_where_there_is_one() {
    let whole = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-f(1);\n\\ No newline at end of file\n+g(1);\n\\ No newline at end of file\n";
    assert!(!drawn(whole, &Options::new(80)).contains("CRLF"));
    let ends = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-f(1);\n\\ No newline at end of file\n+g(1);\r\n+h();\n\\ No newline at end of file\n";
    assert!(drawn(ends, &Options::new(80)).contains("CRLF"));
}

#[test]
fn words_that_differ_are_marked_and_nothing_else() {
    let marks = |old: &str, new: &str| -> (Vec<String>, Vec<String>) {
        let count = |text: &str| text.split('\n').count();
        let body = |sign: char, text: &str| -> String {
            text.split('\n').map(|line| format!("{sign}{line}\n")).collect()
        };
        let text = format!(
            "--- a/x\n+++ b/x\n@@ -1,{} +1,{} @@\n{}{}",
            count(old),
            count(new),
            body('-', old),
            body('+', new)
        );
        let lines = Diff::parse(&text).lines(&Options::new(200), None);
        (in_role(&lines, Role::RemovedWord), in_role(&lines, Role::AddedWord))
    };
    let check = |old: &str, new: &str, removed: &[&str], added: &[&str]| {
        assert_eq!(
            marks(old, new),
            (
                removed.iter().map(|word| (*word).to_owned()).collect(),
                added.iter().map(|word| (*word).to_owned()).collect(),
            )
        );
    };
    check("let a = oldApi(x);", "let a = newApi(x);", &["oldApi"], &["newApi"]);
    check("call(漢字, é)", "call(漢字, ü)", &["é"], &["ü"]);
    check("f(a, b)", "f(a, b, c)", &[], &[", c"]);
    // One line becomes three: the same words are not marked, broken over lines or not.
    check("f(alpha, beta)", "f(\n  alpha,\n  beta\n)", &[" "], &["  ", "  "]);
    // A line that is new as a whole carries its sign and no marks.
    check("let f = alpha;", "let f = gamma;\nother line", &["alpha"], &["gamma"]);
    // Lines that share next to nothing are not compared.
    check("return 1;", "while (queue.length) { work(); }", &[], &[]);
}

#[test]
fn word_marks_of_endless_lines_are_left_out_not_waited_for() {
    let old = "a b ".repeat(50_000);
    let new = "b c ".repeat(50_000);
    let text = format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{old}\n+{new}\n");
    let lines = Diff::parse(&text).lines(&Options::new(80), None);
    assert!(in_role(&lines, Role::AddedWord).is_empty());
    assert_eq!(in_role(&lines, Role::Added).concat().matches('c').count(), 50_000);
}

#[test]
fn wrapped_lines_lose_nothing_and_are_told_from_new_ones() {
    let text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-abcdefghijkl\n+abcdefghijklm\n\\ No newline at end of file\n";
    insta::assert_snapshot!(drawn(text, &Options::new(8)), @r"
    x  +1 -1
    @@ -1 +…
    -abcdefg
    ›hijkl
    +abcdefg
    ›hijklm
    \no newl
    ›ine at
    ›end of
    ›file
    ");
}
