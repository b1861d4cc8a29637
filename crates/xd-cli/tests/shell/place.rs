//! Where things are kept, and for whom.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::Folder;

#[test]
fn c_works_in_another_folder_and_paths_count_from_it() {
    let folder = Folder::new(&[("inner/a.ts", "old(1);\n")]);
    let run = folder.xd(&["-C", "inner", "edit", "-p", "old($A)", "-r", "new($A)", "a.ts"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(folder.path().join("inner/.xd").is_dir());
    assert!(!folder.path().join(".xd").exists());
    // Flags stand anywhere, and are never taken for a part of the reason.
    let run = folder.xd(&["resolve", "1", "Yes.", "--json", "-C", "inner"]);
    assert_eq!(run.json()["result"]["details"]["xdev"]["args"]["reason"], "Yes.");
    assert_eq!(folder.get("inner/a.ts"), "new(1);\n");
    folder.xd(&["-C", "nowhere", "status"]).is_plain_error("nowhere");
}

#[test]
fn the_state_ignores_itself_in_git() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    folder.stage();
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"]), "?? a.ts\n");
}

// CONTRACT E3
#[test]
fn e3_a_torn_record_line_is_cut_and_a_broken_one_is_named() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let log = ".xd/sessions/shell/log.jsonl";
    let whole = folder.get(log);
    folder.put(log, &format!("{whole}{{\"v\":1,\"time\":\"20"));
    assert!(folder.xd(&["status"]).out.contains("@1"));
    assert_eq!(folder.xd(&["resolve", "Yes."]).status, 0);
    assert!(
        folder.get(log).lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );
    folder.put(log, &format!("nonsense\n{whole}"));
    for command in [&["status"][..], &["log"], &["show"], &["resolve", "Yes."]] {
        let run = folder.xd(command);
        run.is_plain_error("log.jsonl, line 1) is damaged");
        assert!(run.err.contains("move .xd/sessions/shell aside"), "{run:?}");
    }
    // The way out is one.
    fs::rename(folder.path().join(".xd/sessions/shell"), folder.path().join(".xd/aside")).unwrap();
    assert!(folder.xd(&["status"]).out.contains("Nothing is pending."));
    folder.put("a.ts", "old(1);\n");
    assert_eq!(folder.stage(), 1);
}

// CONTRACT E3: one action that cannot be used locks nothing; it is named by the first who meets it,
// and in the log for good.
#[test]
fn e3_an_action_that_cannot_be_used_is_void_and_named() {
    for damaged in [None, Some("{}")] {
        let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b.ts", "other(1);\n")]);
        folder.stage();
        let two = folder.xd(&["edit", "-p", "other($A)", "-r", "next($A)", "b.ts"]);
        assert_eq!(two.status, 0, "{two:?}");
        let kept = ".xd/sessions/shell/staged/1.json";
        match damaged {
            None => fs::remove_file(folder.path().join(kept)).unwrap(),
            Some(text) => folder.put(kept, text),
        }
        let status = folder.xd(&["--json", "status"]).json();
        assert_eq!(status["pending"].as_array().unwrap().len(), 1, "{status}");
        assert_eq!(status["pending"][0]["number"], 2);
        let void = &status["recovered"]["actions"][0];
        assert_eq!((&void["number"], &void["state"]), (&1.into(), &"void".into()), "{status}");
        assert!(void["why"].as_str().unwrap().contains(kept), "{status}");
        // Said once; then it is in the log.
        let run = folder.xd(&["status"]);
        assert!(run.err.is_empty() && run.out.contains("@2"), "{run:?}");
        let log = folder.xd(&["log"]).out;
        assert!(log.contains("@1  void by the host") && log.contains(kept), "{log}");
        let shown = folder.xd(&["show", "1"]).out;
        assert!(shown.contains("@1 void") && shown.contains(kept), "{shown}");
        assert_eq!(folder.xd(&["resolve", "2", "Yes."]).status, 0);
        assert_eq!(folder.get("b.ts"), "next(1);\n");
    }
}

// CONTRACT W3: what stands where the state belongs is refused by name, before anything is staged.
#[test]
fn w3_a_state_folder_that_is_none_is_refused_with_the_way_out() {
    for to in ["/tmp", "inner", "nowhere", ""] {
        let folder = Folder::new(&[("a.ts", "old(1);\n"), ("inner/b.ts", "")]);
        let state = folder.path().join(".xd");
        if to.is_empty() { fs::write(&state, "mine") } else { symlink(to, &state) }.unwrap();
        for command in [
            &["edit", "-p", "old($A)", "-r", "new($A)", "a.ts"][..],
            &["status"],
            &["log"],
            &["resolve", "Yes."],
        ] {
            let run = folder.xd(command);
            run.is_plain_error("'.xd' is ");
            assert!(run.err.contains("Move '.xd' away"), "{run:?}");
        }
        assert_eq!(fs::read_dir(folder.path().join("inner")).unwrap().count(), 1);
        fs::remove_file(&state).unwrap();
        assert_eq!(folder.stage(), 1);
    }
}

pub(crate) const MANY: usize = 300;
const LOG: &str = ".xd/sessions/shell/log.jsonl";

/// A folder with one staged action that touches many files.
pub(crate) fn many() -> Folder {
    let folder = Folder::new(&[]);
    for i in 0..MANY {
        folder.put(&format!("f{i}.ts"), "old(1);\n");
    }
    folder.stage();
    folder
}

/// How many files are new.
pub(crate) fn new_ones(folder: &Folder) -> usize {
    let text = |i| folder.get(&format!("f{i}.ts"));
    (0..MANY).filter(|&i| text(i) == "new(1);\n").count()
}

/// Starts to resolve, and waits until the decision is on the disk.
pub(crate) fn resolving(folder: &Folder) -> Child {
    let mut command = folder.command(&["resolve", "1", "Yes."]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.get(LOG).contains("\"taken\"") && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
    child
}

// CONTRACT E3, F3: whoever looks after a kill sees a whole tree, and the log or the list agrees
// with it, whichever command looks first.
#[test]
fn e3_f3_a_look_settles_what_a_killed_resolve_left() {
    let looks: [&[&str]; 6] = [
        &["status"],
        &["--json", "status"],
        &["log"],
        &["show", "1"],
        &["read", "xd://"],
        &["--json", "log"],
    ];
    let (mut unsettled, mut mixed) = (0, 0);
    let mut trial = 0;
    while trial < 6 || (mixed == 0 && trial < 40) {
        let folder = many();
        let mut child = resolving(&folder);
        if trial % 3 == 2 {
            std::thread::sleep(Duration::from_millis(trial as u64 * 4));
        } else {
            // As soon as the first of its files is new.
            let first = folder.path().join("f0.ts");
            let is_new = || fs::read(&first).is_ok_and(|text| text == b"new(1);\n");
            while !is_new() && child.try_wait().unwrap().is_none() {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let cut_off = !folder.get(LOG).contains("\"decided\"");
        let present = (0..MANY).filter(|i| folder.path().join(format!("f{i}.ts")).exists()).count();
        let was_mixed = present < MANY || !matches!(new_ones(&folder), 0 | MANY);
        unsettled += usize::from(cut_off);
        mixed += usize::from(was_mixed);

        let look = looks[trial % looks.len()];
        let first = folder.xd(look);
        assert_eq!(first.status, 0, "{first:?}");
        if cut_off && look[0] == "--json" {
            let recovered = &first.json()["recovered"];
            assert_eq!(recovered["actions"][0]["number"], 1, "{first:?}");
            assert!(first.err.is_empty(), "{first:?}");
        } else if cut_off {
            assert_eq!(first.err.lines().count(), 1, "{first:?}");
            assert!(first.err.starts_with("Settled: ") && first.err.contains("@1 is "));
            if was_mixed {
                assert!(first.err.contains("change of 300 files was taken back"), "{first:?}");
            }
        }
        let new = new_ones(&folder);
        let status = folder.xd(&["--json", "status"]).json();
        assert_eq!(status.get("recovered"), None, "it is said once");
        let pending = status["pending"].as_array().unwrap().len();
        let log = folder.xd(&["log"]).out;
        match new {
            0 => assert!(pending == 1 && !log.contains("applied by"), "{trial}: {status} {log}"),
            MANY => assert!(pending == 0 && log.contains("applied by"), "{trial}: {status} {log}"),
            some => panic!("{trial}: {some} of {MANY} files are new"),
        }
        if pending == 1 {
            assert_eq!(folder.xd(&["resolve", "1", "Again."]).status, 0);
            assert_eq!(new_ones(&folder), MANY);
        }
        trial += 1;
    }
    assert!(unsettled > 0 && mixed > 0, "{unsettled} cut off, {mixed} half written");
}

// CONTRACT F3: a half-written tree that cannot be put back, for somebody changed it meanwhile, can be
// looked at, and every look says what is the matter.
#[test]
fn f3_what_cannot_be_settled_is_said_by_every_look() {
    for _ in 0..20 {
        let folder = many();
        let mut child = resolving(&folder);
        let new = |i: usize| {
            let path = folder.path().join(format!("f{i}.ts"));
            fs::read(path).is_ok_and(|text| text == b"new(1);\n")
        };
        while !(0..MANY).any(new) && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(mine) = (0..MANY).find(|&i| new(i)) else { continue };
        if (0..MANY).all(new) {
            continue;
        }
        folder.put(&format!("f{mine}.ts"), "mine\n");
        for _ in 0..2 {
            let status = folder.xd(&["status"]);
            assert_eq!(status.status, 0, "{status:?}");
            assert!(status.err.starts_with("Not settled: "), "{status:?}");
            assert!(status.err.contains(&format!("f{mine}.ts")), "{status:?}");
            assert!(status.out.starts_with("1 staged action is being resolved"), "{status:?}");
            let status = folder.xd(&["--json", "status"]).json();
            assert!(status["recovered"]["trouble"].is_string(), "{status}");
        }
        folder.xd(&["resolve", "1", "Again."]).is_plain_error(&format!("f{mine}.ts"));
        assert_eq!(folder.get(&format!("f{mine}.ts")), "mine\n");
        return;
    }
    panic!("no resolve was cut off in the middle");
}

/// Whether every thread of a process that was sent a stop has stopped: the signal does not wait for
/// them. Where the system has no `/proc` to tell, it is taken for granted.
fn stands_still(process: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // A thread that has ended meanwhile does nothing either.
        stat.rsplit(") ")
            .next()
            .is_none_or(|state| state.is_empty() || state.starts_with(['T', 'Z']))
    })
}

// CONTRACT E3: while the process lives nothing is settled behind its back.
#[test]
fn e3_what_a_living_process_resolves_is_shown_as_being_resolved() {
    for _ in 0..20 {
        let folder = many();
        let mut child = resolving(&folder);
        let signal = |name: &str| {
            let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
        };
        signal("-STOP");
        while !stands_still(child.id()) {
            std::thread::yield_now();
        }
        let log = folder.get(LOG);
        if log.contains("\"decided\"") {
            signal("-CONT");
            child.wait().unwrap();
            continue;
        }
        let by = format!("being resolved by process {}", child.id());
        let tree = folder.tree();
        let status = folder.xd(&["status"]);
        assert!(status.out.starts_with(&format!("1 staged action is {by}.")), "{status:?}");
        assert!(status.out.contains("@1") && !status.out.contains("Nothing is pending"));
        let status = folder.xd(&["--json", "status"]).json();
        assert_eq!(status["being_resolved"][0]["state"], "being resolved");
        assert_eq!(status["busy"], format!("process {}", child.id()));
        let shown = folder.xd(&["show", "1"]).out;
        assert!(shown.contains("@1 being resolved") && shown.contains("Reason: Yes."), "{shown}");
        assert!(folder.tree() == tree, "a look changed a file");
        assert_eq!(folder.get(LOG), log, "a look changed the log");
        signal("-CONT");
        assert!(child.wait().unwrap().success());
        assert_eq!(new_ones(&folder), MANY);
        return;
    }
    panic!("every resolve ended before it could be held");
}

// A look makes nothing where nothing is.
#[test]
fn a_look_makes_nothing() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    let before = folder.tree();
    for look in [&["status"][..], &["log"], &["show"], &["devices"], &["read", "xd://"]] {
        folder.xd(look);
        assert!(!folder.path().join(".xd").exists(), "{look:?}");
    }
    assert_eq!(folder.tree(), before);
}
