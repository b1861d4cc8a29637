//! What the prompts say, and how overrides are taken and refused.

use std::collections::BTreeSet;
use std::fs;

use xd_prompts::{
    DeviceLine, DeviceSection, LoadError, PromptName, Prompts, ProtocolUsage, ResolveReminder,
};

#[test]
fn every_prompt_says_what_its_snapshot_says() {
    for (name, text) in Prompts::builtin().samples() {
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn m1_samples_cover_every_template_and_render() {
    let prompts = Prompts::builtin();
    let samples: Vec<_> = prompts.samples().collect();
    let names: BTreeSet<_> =
        samples.iter().map(|(name, _)| name.split('.').next().unwrap().to_owned()).collect();
    let known: BTreeSet<_> = PromptName::ALL.map(|name| name.to_string()).into();
    assert_eq!(names, known);
    let distinct: BTreeSet<_> = samples.iter().map(|(name, _)| name).collect();
    assert_eq!(distinct.len(), samples.len(), "two samples share a name");
    for (name, text) in &samples {
        assert_eq!(text.trim_matches('\n'), text, "{name} begins or ends in a line break");
        assert!(!text.contains("\n\n\n"), "{name} has two blank lines in a row");
    }
}

#[test]
fn m2_the_same_context_gives_the_same_bytes() {
    let first: Vec<_> = Prompts::builtin().samples().collect();
    let second: Vec<_> = Prompts::builtin().clone().samples().collect();
    assert_eq!(first, second);
}

#[test]
fn g3_the_reminder_carries_the_protocol_sentence() {
    let context = ResolveReminder { tool_name: "ast_edit".into(), number: 4, pending: vec![4] };
    let text = Prompts::builtin().render(&context).unwrap();
    assert!(text.starts_with("<system-reminder>\n") && text.ends_with("\n</system-reminder>"));
    assert!(text.contains(
        "`ast_edit` result above: PREVIEW — no files changed. Finalize now with `write`: write a \
         one-sentence plain-text reason to `xd://resolve` to APPLY, or `xd://reject` to DISCARD.\n"
    ));
}

#[test]
fn g3_a_tool_name_cannot_break_the_reminder_in_two_lines() {
    let hostile = ResolveReminder { tool_name: "a\nb\u{1b}".into(), number: 1, pending: vec![1] };
    let plain = ResolveReminder { tool_name: "a".into(), number: 1, pending: vec![1] };
    let prompts = Prompts::builtin();
    let hostile = prompts.render(&hostile).unwrap();
    assert_eq!(hostile.lines().count(), prompts.render(&plain).unwrap().lines().count());
    assert!(hostile.contains("`a b\\u{1b}` result above"));
}

#[test]
fn g3_a_long_stack_is_counted_not_listed() {
    let pending: Vec<u64> = (1..=1000).rev().collect();
    let prompts = Prompts::builtin();
    let reminder = ResolveReminder { tool_name: "edit".into(), number: 1000, pending };
    let reminder = prompts.render(&reminder).unwrap();
    assert!(reminder.contains("1000 staged actions are pending") && reminder.len() < 1000);
    assert!(reminder.contains("@993, and 992 more."), "{reminder}");
}

#[test]
fn case_042_the_device_section_names_scheme_count_and_listing() {
    let devices: Vec<_> = (0..200)
        .map(|n| DeviceLine {
            name: format!("tool_{n:03}"),
            summary: format!("Does\r\nthing \u{2028} {n}"),
            doc: None,
        })
        .collect();
    let section = DeviceSection { devices, listed_only: 200, total: 200 };
    let text = Prompts::builtin().render(&section).unwrap();
    assert!(text.contains("200 devices are mounted under `xd://`"));
    assert!(text.contains("To list all devices, read `xd://`."));
    // R5: one line a device.
    assert_eq!(text.lines().filter(|line| line.starts_with("- `xd://tool_")).count(), 200);
    assert!(text.lines().all(|line| !line.starts_with("thing")));
}

#[test]
fn protocol_usage_stays_under_two_kilobytes() {
    let producers = (0..10).map(|n| format!("producer_{n}")).collect();
    let text = Prompts::builtin().render(&ProtocolUsage { producers }).unwrap();
    assert!(text.len() < 2048, "{} bytes", text.len());
}

#[test]
fn templates_on_disk_and_the_list_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
    // The built-in templates are themselves a valid folder of overrides, and change nothing.
    let from_disk = Prompts::from_folder(folder).unwrap();
    assert!(from_disk.samples().eq(Prompts::builtin().samples()));
    assert_eq!(fs::read_dir(folder).unwrap().count(), PromptName::ALL.len());
}

#[test]
fn a_folder_replaces_what_it_holds_and_can_be_snapshotted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("resolve-reminder.md"),
        "\u{feff}Finalize @{{ number }}.\r\n\r\n{% include \"builtin/resolve-reminder\" %}\r\n",
    )
    .unwrap();
    fs::write(folder.path().join("plan-mode.md.j2"), "Plan & <think>{{ slug }}\n\n").unwrap();
    fs::write(folder.path().join(".keep"), "not a prompt").unwrap();
    let prompts = Prompts::from_folder(folder.path()).unwrap();
    let replaced: Vec<_> = prompts
        .samples()
        .filter(|(name, _)| name.starts_with("resolve-reminder") || name.starts_with("plan-mode"))
        .map(|(name, text)| format!("[{name}]\n{text}"))
        .collect();
    insta::assert_snapshot!("a_folder_of_overrides", replaced.join("\n\n"));
    let kept = |prompts: &Prompts| -> Vec<_> {
        prompts.samples().filter(|(name, _)| name.starts_with("device")).collect()
    };
    assert_eq!(kept(&prompts), kept(&Prompts::builtin()));
}

#[test]
fn refusals_name_the_file_the_line_and_the_variable() {
    let message_for = |name: &str, source: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), source).unwrap();
        let error = Prompts::from_folder(folder.path()).unwrap_err();
        error.to_string().replace(&folder.path().display().to_string(), "FOLDER")
    };
    let messages = [
        message_for("resolve-remainder.md.j2", b"x"),
        message_for("resolve-reminder.txt", b"x"),
        message_for("resolve-reminder.j2", b"x"),
        message_for("resolve-reminder.md", b"one\ntwo {{ nummer }}"),
        message_for("resolve-reminder.md", b"one\n\n{% if number %}"),
        message_for("resolve-reminder.md", b"{{ number | shout }}"),
        message_for("resolve-reminder.md", b"{% include \"elsewhere\" %}"),
        // Seen by the second sample only.
        message_for(
            "resolve-reminder.md",
            b"a\n{% if pending | length > 1 %}\n{{ lost }}{% endif %}",
        ),
        message_for("resolve-reminder.md", b"\xff\xfe"),
    ];
    insta::assert_snapshot!("refusals", messages.join("\n"));
}

#[test]
fn two_files_for_one_prompt_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plan-mode.md"), "a").unwrap();
    fs::write(folder.path().join("plan-mode.md.j2"), "b").unwrap();
    let error = Prompts::from_folder(folder.path()).unwrap_err();
    assert!(matches!(error, LoadError::Duplicate { name: PromptName::PlanMode, .. }), "{error}");
}

#[test]
fn a_missing_folder_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("absent");
    let error = Prompts::from_folder(&missing).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
}
