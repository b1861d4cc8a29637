//! The state folder itself: its names, its modes, what it refuses to be.

use super::*;

// The state folder ignores itself in git, and opening what is not there makes nothing.
#[test]
fn l1_the_state_folder_ignores_itself_and_looking_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    assert!(StateFolder::open_existing(&workspace, "main").unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let state = StateFolder::open(&workspace, "main").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(".xd/.gitignore")).unwrap(), "*\n");
    assert!(state.log().unwrap().is_empty());
    assert!(StateFolder::open_existing(&workspace, "main").unwrap().is_some());
}

/// Everything below `folder` that somebody else than its owner may use, with its mode.
fn open_to_others(folder: &std::path::Path) -> (usize, Vec<(std::path::PathBuf, u32)>) {
    let (mut seen, mut open) = (0, Vec::new());
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        seen += 1;
        if found.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        if found.mode() & 0o077 != 0 {
            open.push((path, found.mode() & 0o7777));
        }
    }
    (seen, open)
}

// CONTRACT F4: what is staged from a file that nobody else may read, nobody else may read in the
// state folder either: preview, bytes, draft, log, locks; whoever made the folder.
#[tokio::test]
async fn f4_what_is_kept_of_a_private_file_is_private() {
    for commit_first in [false, true] {
        let folder = Bench::new(&[("secret.txt", "one\n")]).folder();
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.path().join("secret.txt"), private).unwrap();
        let state = folder.path().join(".xd");
        if commit_first {
            let workspace = Workspace::open(folder.path()).unwrap();
            let path = xd_changeset::RelPath::new("other.txt").unwrap();
            workspace.root().write_atomic(&path, "two\n", Default::default()).unwrap();
            let (seen, open) = open_to_others(&state);
            assert!(seen >= 3 && open.is_empty(), "{seen}, {open:?}");
        }
        let process = Process::start(folder).unwrap();
        process.bench.edit("secret.txt", "one", "two").await;
        let notes = DraftName::new("notes").unwrap();
        process.state.drafts().put(&notes, "one\n", Expected::Nothing).unwrap();
        assert!(state.join("sessions/main/staged/1.json").is_file());
        assert!(state.join("sessions/main/local/notes").is_file());
        let (seen, open) = open_to_others(&state);
        assert!(seen >= 10 && open.is_empty(), "{seen}, {open:?}");
        assert!(!process.bench.write("xd://resolve", WHY).await.is_error);
        assert_eq!(process.bench.text("secret.txt"), "two\n");
        let (_, open) = open_to_others(&state);
        assert!(open.is_empty(), "{open:?}");
        // Git still reads what it says: all is ignored.
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(arguments).current_dir(process.bench.folder().path()).output().unwrap()
        };
        assert!(git(&["init", "-q"]).status.success());
        let status = git(&["status", "--porcelain", "-uall"]);
        let status = String::from_utf8(status.stdout).unwrap();
        assert!(status.contains("secret.txt") && !status.contains(".xd"), "{status}");
    }
}

// A state folder that is there already keeps the mode that somebody gave it.
#[tokio::test]
async fn f4_a_state_folder_that_is_there_keeps_its_mode() {
    let folder = Bench::new(&[("a.txt", "one\n")]).folder();
    let state = folder.path().join(".xd");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o750)).unwrap();
    let process = Process::start(folder).unwrap();
    process.bench.edit("a.txt", "one", "two").await;
    process.bench.write("xd://resolve", WHY).await;
    assert_eq!(open_to_others(&state).1, [(state.clone(), 0o750)]);
}

// CONTRACT W3: a state folder that is a link, wherever it leads, or a file, is refused by name, by
// who stages and by who looks, and nothing is made.
#[test]
fn w3_a_state_folder_that_is_no_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    for at in [".xd", ".xd/sessions", ".xd/sessions/main", ".xd/sessions/main/staged"] {
        for to in [outside.path().to_str().unwrap(), "inner", "nowhere", ""] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(at);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::create_dir(path.parent().unwrap().join("inner")).unwrap();
            match to {
                "" => fs::write(&path, "mine").unwrap(),
                to => symlink(to, &path).unwrap(),
            }
            let found = if to.is_empty() { "a file" } else { "a symbolic link" };
            let workspace = Workspace::open(folder.path()).unwrap();
            let error = StateFolder::open(&workspace, "main").unwrap_err().to_string();
            assert!(error.contains(&format!("'{at}' is {found}, not a folder")), "{error}");
            if !at.ends_with("staged") {
                let error = StateFolder::open_existing(&workspace, "main").unwrap_err().to_string();
                assert!(error.contains(&format!("'{at}' is {found}")), "{error}");
            }
            assert_eq!(fs::read_dir(path.parent().unwrap().join("inner")).unwrap().count(), 0);
        }
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

// A session's name is a plain word: nothing else becomes a path.
#[test]
fn w3_a_sessions_name_is_a_plain_word() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    for name in ["", ".", "..", "../x", "a/b", "/tmp/x", "a\0b", "../../x", "a\nb", "a\\b"] {
        assert!(StateFolder::open(&workspace, name).is_err(), "{name:?}");
        assert!(!matches!(StateFolder::open_existing(&workspace, name), Ok(Some(_))), "{name:?}");
    }
    assert!(!folder.path().join(".xd/log.jsonl").exists());
    for name in ["main", "2026-11-30.b", "A_1"] {
        assert!(StateFolder::open(&workspace, name).is_ok(), "{name}");
    }
}
