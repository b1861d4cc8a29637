//! Colour, control bytes, help, the demonstration.

use crate::Folder;

// CONTRACT V4; cases 54, 111
#[test]
fn v4_nothing_foreign_reaches_the_terminal_as_control() {
    let folder = Folder::new(&[("a.ts", "old(\"\u{1b}[2J\u{7}\u{202e}\");\n")]);
    for color in ["never", "always"] {
        let run = folder.xd(&["--color", color, "edit", "-p", "old($A)", "-r", "new($A)", "."]);
        assert_eq!(run.status, 0, "{run:?}");
        let shown = run.out + &folder.xd(&["--color", color, "show"]).out;
        assert!(
            !shown.contains("\u{1b}[2J") && !shown.contains('\u{7}') && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
        assert_eq!(shown.contains('\u{1b}'), color == "always");
    }
    folder.xd(&["reject", "\u{1b}]0;title\u{7} no"]);
    let log = folder.xd(&["log"]).out;
    assert!(!log.contains('\u{1b}') && !log.contains('\u{7}'), "{log:?}");
}

// CONTRACT V4; case 54
#[test]
fn v4_json_holds_no_control_either_and_the_value_stays() {
    let folder = Folder::new(&[("a.ts", "old(\"\u{9b}2J\u{202e}\u{2028}\u{e0041}\u{1b}\");\n")]);
    let n = folder.stage().to_string();
    let run = folder.xd(&["--json", "show", &n]);
    let acts = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2028}' | '\u{e0041}')
    };
    assert!(!run.out.contains(acts), "{run:?}");
    let preview = run.json()["action"]["preview"].as_str().unwrap().to_owned();
    assert!(preview.contains("\u{9b}2J\u{202e}\u{2028}\u{e0041}"), "{preview:?}");
}

// CONTRACT V4
#[test]
fn v4_no_colour_when_piped_or_told_so() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    assert!(!folder.xd(&["show"]).out.contains('\u{1b}'));
    assert!(folder.xd(&["--color", "always", "show"]).out.contains('\u{1b}'));
}

#[test]
fn nothing_is_logged_that_nobody_asked_for() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    let quiet = folder.xd(&["edit", "-p", "old($A)", "-r", "new($A)", "."]);
    assert_eq!(quiet.err, "");
    let asked = |arguments: &[&str]| {
        let output = folder.command(arguments).env("XD_LOG", "debug").output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    // Each step has a span of its own, the effect's within that of its confirm.
    let staged = asked(&["edit", "-p", "old($A)", "-r", "new($A)", "."]);
    assert!(staged.contains("stage{tool=\"ast_edit\"}"), "{staged}");
    let resolved = asked(&["resolve", "2", "Yes."]);
    let span = "confirm{number=2 verb=\"apply\"}:apply";
    assert!(resolved.contains(span) && resolved.contains("decided"), "{resolved}");
}

#[test]
fn help_and_version_and_no_command() {
    let folder = Folder::new(&[]);
    for (arguments, status) in
        [(&["--help"][..], 0), (&["--version"][..], 0), (&[][..], 2), (&["frobnicate"][..], 2)]
    {
        assert_eq!(folder.xd(arguments).status, status, "{arguments:?}");
    }
    assert!(folder.xd(&["--help"]).out.contains("Exit status"));
}

// CONTRACT G3, G4, G5, S3, F2
#[test]
fn the_demonstration_ends_as_it_should_in_every_form() {
    let folder = Folder::new(&[]);
    let plain = folder.xd(&["demo"]);
    assert_eq!(plain.status, 0, "{plain:?}");
    assert!(!plain.out.contains("<system-reminder>"));
    // Who changed the file of the last act stands where it happened: behind the preview, before the
    // refusal.
    let last = plain.out.split("Act 5").nth(1).unwrap();
    let at = |text: &str| last.find(text).unwrap_or_else(|| panic!("{text}: {last}"));
    let meanwhile = at("meanwhile: somebody edits tools/report.py");
    assert!(at("Proposed: 7") < meanwhile && meanwhile < at("The preview is stale"), "{last}");
    assert!(plain.out.contains("call: ast_edit in .: count($NAME) becomes count($NAME, 1)"));
    assert!(plain.out.contains("call: ast_edit in .: debug($$$ARGS) is deleted"));
    let verbose = folder.xd(&["demo", "--verbose"]);
    for wanted in [
        "hidden message (resolve-reminder)",
        "tool_choice = write  forced",
        "tool_choice = auto",
        "PREVIEW — no files changed",
    ] {
        assert!(verbose.out.contains(wanted), "{wanted}");
    }
    let json = folder.xd(&["demo", "--json", "--keep"]);
    let events: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.iter().filter(|e| e["event"] == "act_ended" && e["ok"] == true).count(), 5);
    let meddled: Vec<_> = events.iter().filter(|e| e["event"] == "meddled").collect();
    assert_eq!(meddled.len(), 1);
    assert_eq!((&meddled[0]["act"], &meddled[0]["path"]), (&5.into(), &"tools/report.py".into()));
    let kept = events.last().unwrap();
    assert_eq!(kept["event"], "kept");
    let path = std::path::Path::new(kept["path"].as_str().unwrap());
    assert!(path.join("act-1/web/cart.ts").is_file());
    std::fs::remove_dir_all(path).unwrap();
    assert!(folder.tree().is_empty());
}
