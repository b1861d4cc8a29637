//! `xd recover`.

use crate::{
    Folder,
    place::{MANY, many, new_ones, resolving},
};

// CONTRACT F3, E3
#[test]
fn f3_recover_says_what_it_would_do_and_does_it() {
    for _ in 0..20 {
        let folder = many();
        let mut child = resolving(&folder);
        let present =
            || (0..MANY).filter(|i| folder.path().join(format!("f{i}.ts")).exists()).count();
        let some = || present() == MANY && new_ones(&folder) > 0;
        while !some() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if present() == MANY && matches!(new_ones(&folder), 0 | MANY) {
            continue;
        }
        let tree = folder.tree();
        for _ in 0..2 {
            let run = folder.xd(&["recover", "--dry-run"]);
            assert_eq!(run.status, 0, "{run:?}");
            assert!(
                run.out.contains("change of 300 files") && run.out.contains("f7.ts"),
                "{run:?}"
            );
            assert_eq!(folder.tree(), tree, "a look changed something");
        }
        let run = folder.xd(&["--json", "recover"]);
        assert_eq!(run.status, 0, "{run:?}");
        let json = run.json();
        assert_eq!(json["recovered"]["commit"]["outcome"], "taken_back", "{json}");
        assert_eq!(json["recovered"]["actions"][0]["state"], "pending again", "{json}");
        assert_eq!(new_ones(&folder), 0);
        for arguments in [&["recover"][..], &["recover", "--dry-run"]] {
            let run = folder.xd(arguments);
            assert_eq!((run.status, run.out.as_str()), (1, "Nothing was interrupted here.\n"));
        }
        return;
    }
    panic!("no resolve was cut off in the middle");
}

#[test]
fn where_nothing_was_interrupted_nothing_is_made() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    for arguments in [&["recover"][..], &["recover", "--dry-run"]] {
        assert_eq!(folder.xd(arguments).status, 1);
        assert!(!folder.path().join(".xd").exists());
    }
    assert!(folder.xd(&["--json", "recover"]).json()["recovered"].is_null());
}
