//! Random files, edits and patches: what is applied is what was meant, and can be taken back.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use similar::TextDiff;
use tempfile::TempDir;
use xd_changeset::{ChangeSet, Options, RelPath, Root, apply_edits};
use xd_text_edit::{
    Control, Edit, EditFault, Limits, Patch, PatchError, locate, near_miss, propose_edits,
    propose_patch,
};

/// A file of few different lines, with every kind of line end.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[abc]{0,2}",
        Just("-- x".to_owned()),
        Just("++ y".to_owned()),
        Just("ä𝄞\t ".to_owned())
    ];
    let end = prop_oneof![6 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")];
    (prop::collection::vec((line, end), 0..14), any::<bool>()).prop_map(|(lines, ended)| {
        let text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        match ended {
            true => text,
            false => text.trim_end_matches(['\r', '\n']).to_owned(),
        }
    })
}

/// A file and what a few changes of lines make of it.
fn pair() -> impl Strategy<Value = (String, String)> {
    (file(), prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, "[abxy]{0,3}"), 0..5))
        .prop_map(|(old, changes)| {
            let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
            for (at, kind, text) in changes {
                let at = at.index(lines.len() + 1);
                match kind {
                    0 => lines.insert(at, format!("{text}\n")),
                    1 => lines.insert(at, format!("{text}\r\n")),
                    2 if at < lines.len() => drop(lines.remove(at)),
                    _ if at < lines.len() => lines[at] = format!("{text}\n"),
                    _ => {}
                }
            }
            (old, lines.concat())
        })
}

/// Without lone carriage returns, which `similar` takes for line ends.
fn lines_pair() -> impl Strategy<Value = (String, String)> {
    let plain =
        |text: String| text.replace("\r\n", "\u{1}").replace('\r', "").replace('\u{1}', "\r\n");
    pair()
        .prop_map(move |(old, new)| (plain(old), plain(new)))
        .prop_filter("equal", |(old, new)| old != new)
}

fn unified(old: &str, new: &str, context: usize) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(context).header("a/f", "b/f").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 50_000, max_local_rejects: 200_000, ..ProptestConfig::with_cases(4_000) })]

    // Invariant T2, cases 11 and 137
    #[test]
    fn invariant_t2_an_edit_changes_its_place_alone_and_can_be_taken_back(
        file in file(), start in any::<prop::sample::Index>(), len in 1_usize..20,
        new in "[abcz\n]{0,6}",
    ) {
        prop_assume!(!file.is_empty());
        let start = (0..=start.index(file.len())).rev().find(|at| file.is_char_boundary(*at)).unwrap();
        let end = (start + len..=file.len()).find(|at| file.is_char_boundary(*at)).unwrap_or(file.len());
        let old = file[start..end].replace("\r\n", "\n");
        let edit = Edit::new("f", old.clone(), new.clone());
        let found = locate(file.as_bytes(), old.as_bytes());
        match edit.apply_to_bytes(file.as_bytes(), 100) {
            Ok(done) => {
                prop_assert_eq!(found.total, 1);
                let place = &found.first[0].range;
                let after = apply_edits(file.as_bytes(), &done.edits).unwrap();
                prop_assert!(after.starts_with(&file.as_bytes()[..place.start]));
                prop_assert!(after.ends_with(&file.as_bytes()[place.end..]));
                let folded = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
                let middle = &after[place.start..after.len() - (file.len() - place.end)];
                prop_assert_eq!(folded(middle), new.as_str());
                // Back: where the new text stands once, the old one comes back, line ends and all
                // unless the place had several kinds.
                let back = Edit::new("f", new.clone(), old);
                let kinds = file[place.clone()].matches("\r\n").count();
                let plain = kinds == 0 || kinds == file[place.clone()].matches('\n').count();
                let same_kind = new.contains('\n') || kinds == 0;
                let lone = file.replace("\r\n", "").contains('\r');
                if let Ok(undone) = back.apply_to_bytes(&after, 100) && plain && !lone && same_kind && !new.is_empty() {
                    let again = apply_edits(&after, &undone.edits).unwrap();
                    prop_assert_eq!(folded(&again), folded(file.as_bytes()));
                }
            }
            Err(EditFault::Ambiguous { total, .. }) => prop_assert!(total == found.total && total > 1),
            Err(EditFault::Same) => prop_assert_eq!(old, new),
            // A piece that ends in a lone carriage return before a line feed is none of the text.
            Err(EditFault::NotFound { .. }) => prop_assert_eq!(found.total, 0),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    // Invariant T5
    #[test]
    fn invariant_t5_a_patch_makes_the_same_bytes_and_its_inverse_the_former((old, new) in lines_pair(), context in 1_usize..5) {
        for (from, to) in [(&old, &new), (&new, &old)] {
            let text = unified(from, to, context);
            let patch = Patch::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            prop_assert!(patch.notes.is_empty(), "{:?}\n{}", patch.notes, text);
            let done = patch.files[0].apply_to_bytes(from.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            prop_assert!(done.notes.is_empty(), "{:?}", done.notes);
            prop_assert_eq!(apply_edits(from.as_bytes(), &done.edits).unwrap(), to.as_bytes());
        }
    }

    #[test]
    fn wrong_counts_never_change_what_a_patch_does((old, new) in lines_pair(), count in 0_usize..9) {
        // Lines that look like headers need right counts.
        let plain = |text: String| text.replace("-- x", "x").replace("++ y", "y");
        let (old, new) = (plain(old), plain(new));
        if old == new {
            return Ok(());
        }
        let text = unified(&old, &new, 3);
        let wrong: String = text.split_inclusive('\n').map(|line| match line.strip_prefix("@@ -") {
            Some(rest) => {
                let start = rest.split([',', ' ']).next().unwrap();
                format!("@@ -{start},{count} +1,{count} @@\n")
            }
            None => line.to_owned(),
        }).collect();
        let right = Patch::parse(text.as_bytes()).unwrap();
        let patch = Patch::parse(wrong.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{wrong}"));
        let lines = |patch: &Patch| patch.files[0].hunks.iter().map(|hunk| hunk.lines.clone()).collect::<Vec<_>>();
        prop_assert_eq!(lines(&patch), lines(&right), "{}", wrong);
    }

    #[test]
    fn whatever_is_given_nothing_panics(file in any::<Vec<u8>>(), text in ".{0,40}", patch in "([-+ @*\\\\a]{0,4}\n|@@ -1 \\+1 @@\n|--- a\n\\+\\+\\+ b\n|\\*\\*\\* (Begin Patch|End Patch|Update File: a|Add File: b|Move to: c)\n){0,12}") {
        let _ = near_miss(&file, &text, None).to_string();
        let _ = Edit::new("f", &text, "x").everywhere().apply_to_bytes(&file, 10);
        if let Ok(patch) = Patch::parse(patch.as_bytes()) {
            for one in &patch.files {
                let _ = one.apply_to_bytes(&file).map_err(|error| error.to_string());
            }
        }
        let _ = Patch::parse(&file);
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != ".xd")
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    // CONTRACT F1, F6: what a change set shows is what it does, and its inverse takes it back.
    #[test]
    fn f1_what_a_change_set_shows_applies_to_the_same_bytes(
        edited in pair(), created in file(), deleted in file(), moved in pair(),
    ) {
        prop_assume!(edited.0 != edited.1 && moved.0 != moved.1 && !created.is_empty());
        let folder = TempDir::new().unwrap();
        write(folder.path(), "e", edited.0.as_bytes());
        write(folder.path(), "d d", deleted.as_bytes());
        write(folder.path(), "m", moved.0.as_bytes());
        let before = tree(folder.path());
        let root = Root::open(folder.path()).unwrap();
        let path = |name: &str| RelPath::new(name).unwrap();
        let mut builder = ChangeSet::builder(&root);
        builder.replace(&path("e"), edited.1.as_str()).create(&path("c\t\"ä"), created.as_str(), None);
        builder.delete(&path("d d")).rename(&path("m"), &path("n"));
        let set = builder.build().unwrap();
        let text = set.unified(3);
        let proposal = propose_patch(&root, text.as_bytes(), &Limits::default(), &Control::default())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert!(proposal.summary.notes.is_empty(), "{:?}", proposal.summary.notes);
        // Which of two equal lines goes may be shown otherwise; what comes of it may not.
        let results = |set: &ChangeSet| -> Vec<_> {
            set.changes().iter().map(|one| (one.path().clone(), one.source().cloned(), one.to_state())).collect()
        };
        prop_assert_eq!(results(&proposal.change_set), results(&set));
        proposal.change_set.apply(&root, Options::new().durable(false)).unwrap();
        prop_assert_eq!(std::fs::read(folder.path().join("e")).unwrap(), edited.1.as_bytes());
        prop_assert_eq!(std::fs::read(folder.path().join("c\t\"ä")).unwrap(), created.as_bytes());
        prop_assert_eq!(std::fs::read(folder.path().join("n")).unwrap(), moved.0.as_bytes());
        prop_assert!(!folder.path().join("d d").exists());
        proposal.change_set.inverse().apply(&root, Options::new().durable(false)).unwrap();
        prop_assert_eq!(tree(folder.path()), before);
    }

    // Invariant T3, case 151: edits in one call come to what they come to one by one.
    #[test]
    fn invariant_t3_case_151_edits_together_do_what_they_do_one_by_one(
        file in "[abc\n]{0,30}", edits in prop::collection::vec(("[abc\n]{1,3}", "[abcd\n]{0,3}", any::<bool>()), 1..6),
    ) {
        let folder = TempDir::new().unwrap();
        write(folder.path(), "f", file.as_bytes());
        let root = Root::open(folder.path()).unwrap();
        let edits: Vec<Edit> = edits.into_iter().map(|(old, new, all)| Edit { replace_all: all, ..Edit::new("f", old, new) }).collect();
        let mut now = Some(file.clone().into_bytes());
        for edit in &edits {
            now = now.and_then(|now| Some(apply_edits(&now, &edit.apply_to_bytes(&now, 100).ok()?.edits).unwrap()));
        }
        match propose_edits(&root, &edits, &Limits::default(), &Control::default()) {
            Ok(proposal) => {
                proposal.change_set.apply(&root, Options::new().durable(false)).unwrap();
                prop_assert_eq!(Some(std::fs::read(folder.path().join("f")).unwrap()), now);
                proposal.change_set.inverse().apply(&root, Options::new().durable(false)).unwrap();
                prop_assert_eq!(std::fs::read(folder.path().join("f")).unwrap(), file.as_bytes());
            }
            Err(_) => prop_assert!(now.is_none_or(|now| now == file.as_bytes())),
        }
    }
}

/// A command of another tool in `folder`; none where it is not installed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Option<(bool, Vec<u8>)> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", folder)
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .output()
        .ok()?;
    Some((output.status.success(), output.stdout))
}

/// What git says of `a` becoming `b` in a repository.
fn git_diff(folder: &Path, width: &str) -> Option<(bool, Vec<u8>)> {
    let repository = folder.join("r");
    let git = |arguments: &[&str]| run(&repository, "git", arguments);
    std::fs::create_dir(&repository).unwrap();
    let fill = |side: &str| {
        for (name, bytes) in tree(&folder.join(side)) {
            write(&repository, &name, &bytes);
        }
    };
    git(&["init", "-q"])?;
    fill("a");
    git(&["add", "-A"])?;
    let user = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    git(&[&user[..], &["commit", "-q", "--allow-empty", "-m", "a"]].concat())?;
    git(&["rm", "-q", "-r", "-f", "--ignore-unmatch", "."])?;
    fill("b");
    git(&["add", "-A"])?;
    git(&["diff", "--cached", "--no-renames", width])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::with_cases(12) })]

    // Sixty files in each of twelve rounds: patches of real tools make the same bytes, and where a
    // file has moved on in the meantime nothing is made that git would not make.
    #[test]
    fn patches_of_real_tools_make_the_same_bytes(
        pairs in prop::collection::vec(pair(), 60), context in 1_usize..4, lead in "[abc]{0,2}\n",
        latin in any::<bool>(),
    ) {
        let folder = TempDir::new().unwrap();
        for side in ["a", "b", "c", "d", "e"] {
            std::fs::create_dir(folder.path().join(side)).unwrap();
        }
        let place = |side: &str| folder.path().join(side);
        for (index, (old, new)) in pairs.iter().enumerate() {
            let name = format!("f {index}");
            let bytes = |text: &str| match latin {
                true => text.replace('ä', "\u{1}").into_bytes().into_iter().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect(),
                false => text.as_bytes().to_vec(),
            };
            // Every seventh is only on one side.
            if index % 7 != 0 || index % 14 == 0 {
                write(&place("a"), &name, &bytes(old));
                write(&place("c"), &name, &bytes(old));
                let moved = [lead.as_bytes(), &bytes(old)].concat();
                write(&place("d"), &name, &moved);
                write(&place("e"), &name, &moved);
            }
            if index % 14 != 0 {
                write(&place("b"), &name, &bytes(new));
            }
        }
        let width = format!("-U{context}");
        let plain = run(folder.path(), "diff", &["-ruN", &width, "a", "b"]);
        let git = git_diff(folder.path(), &width);
        let expect = tree(&place("b"));
        for (program, output) in [("diff", plain), ("git", git.clone())] {
            let Some((_, patch)) = output.filter(|(_, patch)| !patch.is_empty()) else { continue };
            let root = Root::open(place("c")).unwrap();
            let limits = Limits::default();
            let proposal = propose_patch(&root, &patch, &limits, &Control::default())
                .unwrap_or_else(|error| panic!("{program}: {error}\n{}", String::from_utf8_lossy(&patch)));
            prop_assert!(proposal.summary.notes.is_empty(), "{program}: {:?}", proposal.summary.notes);
            proposal.change_set.apply(&root, Options::new().durable(false)).unwrap();
            let mut made = tree(&place("c"));
            // What plain diff cannot say: that an empty file is there, or is not.
            let mut expect = expect.clone();
            if program == "diff" {
                made.retain(|(_, bytes)| !bytes.is_empty());
                expect.retain(|(_, bytes)| !bytes.is_empty());
            }
            prop_assert_eq!(made, expect, "{}", program);
            proposal.change_set.inverse().apply(&root, Options::new().durable(false)).unwrap();
            prop_assert_eq!(tree(&place("c")), tree(&place("a")));
        }
        // One file at a time on files that begin with a line more.
        let Some((_, patch)) = git.filter(|(_, patch)| !patch.is_empty()) else { return Ok(()) };
        let text = String::from_utf8_lossy(&patch).into_owned();
        for part in text.split("diff --git ").skip(1).filter(|part| part.contains("\n@@ ") && !part.contains('\u{fffd}')) {
            let part = format!("diff --git {part}");
            // Where a last line has no end git may put another one behind it (seen with 2.47.3).
            if part.contains("\n\\ No newline") {
                continue;
            }
            if part.contains("new file mode") || part.contains("deleted file mode") {
                continue;
            }
            let name = part.lines().next().unwrap().split(" b/").nth(1).unwrap().to_owned();
            std::fs::write(folder.path().join("p"), &part).unwrap();
            let root = Root::open(place("d")).unwrap();
            let ours = propose_patch(&root, part.as_bytes(), &Limits::default(), &Control::default());
            let Some((theirs, _)) = run(&place("e"), "git", &["apply", "-p1", "--whitespace=nowarn", "../p"]) else { break };
            match ours {
                Ok(proposal) if theirs => {
                    proposal.change_set.apply(&root, Options::new().durable(false)).unwrap();
                    let read = |side: &str| String::from_utf8_lossy(&std::fs::read(place(side).join(&name)).unwrap()).into_owned();
                    prop_assert_eq!(read("d"), read("e"), "{}", part);
                }
                Ok(_) | Err(PatchError::Faults { .. } | PatchError::NothingChanges) => {}
                Err(other) => prop_assert!(false, "{}\n{}", other, part),
            }
        }
    }
}
