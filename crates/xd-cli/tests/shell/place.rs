//! Where things are kept, and for whom.

use std::process::Command;

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
    folder.xd(&["status"]).is_plain_error("line 1");
}
