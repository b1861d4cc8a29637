//! P1, P4: drafts and proposals from a shell, which has nobody who reviews plans.

use crate::Folder;

// CONTRACT P4; case 38
#[test]
fn p4_case_038_a_draft_outlives_the_process_and_is_no_file_of_the_tree() {
    let folder = Folder::new(&[("a.txt", "a\n")]);
    let before = folder.tree();
    assert_eq!(folder.xd(&["read", "local://a-plan.md"]).status, 2);
    assert!(!folder.path().join(".xd").exists());
    let written = folder.xd(&["write", "local://a-plan.md", "# A\n\n1. Go.\n"]);
    assert_eq!(written.status, 0, "{written:?}");
    assert!(written.out.contains("Wrote local://a-plan.md (created, 12 bytes)."), "{written:?}");
    let read = folder.xd(&["read", "local://a-plan.md"]);
    assert!(read.status == 0 && read.out.starts_with("# A\n\n1. Go.\n"), "{read:?}");
    assert!(folder.xd(&["read", "local://"]).out.contains("local://a-plan.md\n"));
    assert_eq!(folder.tree(), before);
}

// CONTRACT P1; case 89
#[test]
fn p1_case_089_a_shell_is_never_in_plan_mode_and_proposes_nothing() {
    let folder = Folder::new(&[]);
    folder.xd(&["write", "local://a-plan.md", "# A\n"]);
    let proposed = folder.xd(&["write", "xd://propose", "a"]);
    assert_eq!(proposed.status, 2);
    let both = format!("{}{}", proposed.out, proposed.err);
    assert!(both.contains("No plan is awaiting approval"), "{proposed:?}");
}
