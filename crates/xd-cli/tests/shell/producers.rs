//! `xd edit --rule`, its limits, `xd patch`, and the devices that stage.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::{Folder, Run};

const RULES: &str = "\
id: no-old
language: TypeScript
rule:
  pattern: old($A)
  not: { inside: { kind: catch_clause, stopBy: end } }
fix: renewed($A)
---
id: no-var
language: TypeScript
rule: { kind: identifier, regex: '^legacy$' }
fix: modern
";

const CODE: &str = "old(1);\ntry { f(legacy); } catch { old(2); }\n";

// CONTRACT A1: rules beside patterns, as their users know them.
#[test]
fn a1_rules_of_a_file_are_staged_beside_patterns() {
    let folder = Folder::new(&[("a.ts", CODE), ("rules.yml", RULES)]);
    let run = folder.xd(&["edit", "--rule", "rules.yml", "-p", "f($A)", "-r", "g($A)", "a.ts"]);
    // The one changes what is inside the other: that is told, and nothing is staged.
    run.is_plain_error("'a.ts': two patterns change the same code");
    assert!(run.err.contains("-p 'f($A)'") && run.err.contains("rule 2 of --rule"), "{run:?}");
    let run = folder.xd(&["edit", "--rule", "rules.yml", "a.ts"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.contains("2 replacements in 1 file"), "{run:?}");
    assert_eq!(folder.get("a.ts"), CODE);
    assert_eq!(folder.xd(&["resolve", "Both."]).status, 0);
    assert_eq!(folder.get("a.ts"), "renewed(1);\ntry { f(modern); } catch { old(2); }\n");
}

#[test]
fn a1_a_rule_that_cannot_be_used_names_file_document_rule_and_key() {
    for (rules, wanted) in [
        (
            "id: x\nlanguage: ts\nrule: { kind: nonsense }\nfix: a\n",
            "document 1 (rule `x`): rule.kind",
        ),
        ("language: ts\nrule: { pattern: f($A) }\nfix: g($B)\n", "document 1: fix"),
        ("language: ts\nrule: { pattern: f($A) }\n", "fix"),
        ("rule: [", "no YAML"),
        ("", "holds no rule"),
    ] {
        let folder = Folder::new(&[("a.ts", CODE), ("rules.yml", rules)]);
        let run = folder.xd(&["edit", "--rule", "rules.yml", "a.ts"]);
        run.is_plain_error("--rule rules.yml");
        assert!(run.err.contains(wanted), "{wanted}: {run:?}");
        assert!(!folder.path().join(".xd").exists());
    }
    let folder = Folder::new(&[("a.ts", CODE)]);
    folder.xd(&["edit", "--rule", "none.yml", "."]).is_plain_error("'none.yml' cannot be read");
    folder.xd(&["edit", "-p", "f()", "."]).is_plain_error("--rewrite");
    folder.xd(&["edit", "."]).is_plain_error("--pattern");
}

// CONTRACT A2: a cap that is reached is said, and the same in preview and apply.
#[test]
fn a2_the_limits_are_the_callers() {
    let folder = Folder::new(&[("a.ts", "old(1);\nold(2);\n"), ("b.ts", "old(3);\n")]);
    let edit = |flag: &str, n: &str| {
        folder.xd(&["--json", "edit", "-p", "old($A)", "-r", "new($A)", flag, n, "."]).json()
    };
    let files = edit("--max-files", "1");
    assert_eq!(files["staged"]["label"], "AST Edit: 2 replacements in 1 file", "{files}");
    assert!(files["staged"]["preview"].as_str().unwrap().contains("limit"), "{files}");
    let few = edit("--max-replacements", "1");
    assert_eq!(few["staged"]["label"], "AST Edit: 1 replacement in 1 file", "{few}");
    let all = edit("--max-files", "0");
    assert_eq!(all["staged"]["label"], "AST Edit: 3 replacements in 2 files", "{all}");
}

fn patch(folder: &Folder, arguments: &[&str], patch: &str) -> Run {
    let mut child = folder
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    Run::of(child.wait_with_output().unwrap())
}

#[test]
fn a_patch_is_staged_from_a_file_or_from_standard_input() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "gone\n")]);
    let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n\
                --- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let before = folder.tree();
    let run = patch(&folder, &["--json", "patch"], text);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["staged"]["files"].as_array().unwrap().len(), 2, "{run:?}");
    assert_eq!(folder.tree(), before);
    assert_eq!(folder.xd(&["resolve", "--no-durable", "It fits."]).status, 0);
    assert_eq!(folder.get("a.txt"), "one\nTWO\n");
    assert!(!folder.path().join("b.txt").exists());
    assert_eq!(folder.xd(&["undo", "--no-durable"]).status, 0);
    assert_eq!(folder.tree(), before);
    // What `xd show --diff` prints is a patch.
    folder.put("my.patch", &folder.xd(&["show", "1", "--diff"]).out);
    let run = folder.xd(&["patch", "my.patch"]);
    assert_eq!(run.status, 0, "{run:?}");
}

// Whatever the bytes are: `git apply` makes of the diff what `xd resolve` makes of the stage.
#[test]
fn the_diff_of_a_staged_action_is_a_patch_for_git() {
    const LATIN: &[u8] = b"caf\xe9\nna\xefve\nend";
    const WINDOWS: &[u8] = b"one\r\ntwo\r\n";
    let files: [(&str, &[u8], &[u8]); 3] = [
        ("latin.txt", LATIN, b"CAF\xc9\nna\xefve\nend\xff"),
        ("windows.txt", WINDOWS, b"one\ntwo\r\n"),
        ("sp ace.txt", b"x", b"\xff\n"),
    ];
    let folder = Folder::new(&[]);
    let other = Folder::new(&[]);
    let mut patch = Vec::new();
    for (name, before, after) in files {
        fs::write(folder.path().join(name), before).unwrap();
        fs::write(other.path().join(name), before).unwrap();
        let lines = |bytes: &[u8], mark: &[u8]| {
            let mut text = Vec::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                text.extend_from_slice(mark);
                text.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    text.extend_from_slice(b"\n\\ No newline at end of file\n");
                }
            }
            text
        };
        let count = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
        let (olds, news) = (count(before), count(after));
        let header = format!("--- a/{name}\n+++ b/{name}\n@@ -1,{olds} +1,{news} @@\n");
        patch.extend(header.into_bytes());
        patch.extend(lines(before, b"-"));
        patch.extend(lines(after, b"+"));
    }
    fs::write(folder.path().join(".git-patch"), &patch).unwrap();
    let staged = folder.xd(&["--json", "patch", ".git-patch"]);
    assert_eq!(staged.status, 0, "{staged:?}");
    fs::remove_file(folder.path().join(".git-patch")).unwrap();
    let shown = folder.command(&["show", "--diff"]).output().unwrap();
    assert!(shown.status.success(), "{shown:?}");
    // In a terminal the same is inert: the bytes that are not text are spelt out.
    fs::write(other.path().join("made.patch"), &shown.stdout).unwrap();
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn", "made.patch"]).current_dir(other.path());
    let git = git.env("GIT_CEILING_DIRECTORIES", other.path().parent().unwrap()).output().unwrap();
    assert!(git.status.success(), "{git:?}\n{}", String::from_utf8_lossy(&shown.stdout));
    fs::remove_file(other.path().join("made.patch")).unwrap();
    assert_eq!(folder.xd(&["resolve", "--no-durable", "It fits."]).status, 0);
    assert_eq!(other.tree(), folder.tree());
    for (name, _, after) in files {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), after, "{name}");
    }
}

// A change of line ends alone is told in words: the lines look alike.
#[test]
fn a3_a_change_of_line_ends_is_told_to_a_person_and_to_a_model() {
    let folder = Folder::new(&[("a.txt", "one\r\ntwo\r\n"), ("b.txt", "one\ntwo\n")]);
    let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\r\n-two\r\n+one\n+two\n\
                --- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n-one\n+one\r\n two\n";
    let run = patch(&folder, &["--json", "patch"], text).json();
    let preview = run["staged"]["preview"].as_str().unwrap();
    assert!(preview.contains("a.txt: 1 hunk, 2 line ends CRLF → LF (+2 -2)"), "{preview}");
    assert!(preview.contains("b.txt: 1 hunk, 1 line end LF → CRLF (+1 -1)"), "{preview}");
    let shown = folder.xd(&["show"]).out;
    assert!(shown.contains("a.txt (line ends CRLF → LF)"), "{shown}");
    assert!(shown.contains("b.txt (line ends LF → CRLF)"), "{shown}");
}

#[test]
fn a_patch_that_does_not_fit_is_refused_whole() {
    let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n\
                --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-y\n+z\n";
    let run = patch(&folder, &["patch", "-"], text);
    run.is_plain_error("b.txt");
    assert!(!folder.path().join(".xd").exists());
    let run = patch(&folder, &["patch"], "nonsense");
    assert_eq!(run.status, 2, "{run:?}");
    let run = patch(&folder, &["patch"], "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n one\n");
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.starts_with("no change needed"), "{run:?}");
}

#[test]
fn the_devices_of_a_shell_stage_exact_edits_and_patches() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    let listed = folder.xd(&["read", "xd://"]).out;
    for device in ["ast_edit", "edit", "apply_patch", "restage"] {
        assert!(listed.contains(device), "{device}: {listed}");
    }
    let edit = r#"{"edits":[{"path":"a.txt","old_text":"one","new_text":"two"}]}"#;
    let run = folder.xd(&["write", "xd://edit", edit]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.get("a.txt"), "one\n");
    assert_eq!(folder.xd(&["write", "xd://resolve", "It is right."]).status, 0);
    assert_eq!(folder.get("a.txt"), "two\n");
}
