//! The registry of devices: mounting, refreshing, listing, documents, the prompt section.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::Arc;

use serde_json::json;
use xd_protocol::{DeviceName, NameFault};
use xd_resolve::{Tier, ToolResult};
use xd_write::{FnTool, MountError, Registry, Tool, ToolDefinition};

fn named(name: &str, description: &str) -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let definition = ToolDefinition::new(name, description, schema);
    let answer = name.to_owned();
    Arc::new(FnTool::new(definition, Tier::Read, move |_, _| {
        let answer = answer.clone();
        async move { Ok(ToolResult::text(answer)) }
    }))
}

fn prompts() -> xd_prompts::Prompts {
    xd_prompts::Prompts::builtin()
}

// CONTRACT R1, U2, U5
#[test]
fn r1_names_are_checked() {
    let mut registry = Registry::new();
    for name in ["resolve", "reject", "propose"] {
        assert!(
            matches!(registry.mount(named(name, ""), "it"), Err(MountError::Reserved { .. })),
            "{name}"
        );
    }
    let long = "n".repeat(129);
    for name in [
        "",
        "a/b",
        "a\\b",
        "a?b",
        "a#b",
        "a b",
        "a\tb",
        "a\nb",
        "a\0b",
        "a\u{1b}[2Jb",
        "a\u{85}b",
        "a\u{2028}b",
        "a\u{202e}b",
        "a\u{200b}b",
        "resolve@1",
        "a@b",
        &long,
    ] {
        let error = registry.mount(named(name, ""), "it").unwrap_err();
        assert!(matches!(error, MountError::Name { .. }), "{name:?}: {error}");
        assert!(!error.to_string().chars().any(char::is_control), "{error}");
    }
    assert!(registry.is_empty());
    let error = registry.mount(named("a\u{202e}b", ""), "it").unwrap_err();
    let fault = NameFault::Invisible('\u{202e}');
    assert_eq!(error, MountError::Name { name: "a\u{202e}b".to_owned(), fault });
    // In another case it is another name.
    registry.mount(named("Resolve", ""), "it").unwrap();
    registry.mount(named(&"n".repeat(128), ""), "it").unwrap();
}

// CONTRACT R1: a collision names both, and the first stays.
#[test]
fn r1_a_collision_names_both_and_has_no_silent_winner() {
    let mut registry = Registry::new();
    registry.mount(named("grep", "the first"), "the host").unwrap();
    let error = registry.mount(named("grep", "the second"), "server s").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the host") && text.contains("server s") && text.contains("grep"));
    assert_eq!(registry.get("grep").unwrap().definition().description, "the first");
    let error =
        registry.refresh(vec![(named("grep", "third"), "server t".to_owned())]).unwrap_err();
    assert!(error.to_string().contains("server t"), "{error}");
    assert_eq!(registry.len(), 1);
}

// Case 48: no folding of characters, so such names stay two.
#[test]
fn case_048_a_dot_and_an_underscore_are_two_names() {
    let mut registry = Registry::new();
    registry.mount(named("a.b", "dot"), "it").unwrap();
    registry.mount(named("a_b", "line"), "it").unwrap();
    assert_eq!(registry.get("a.b").unwrap().definition().description, "dot");
    assert_eq!(registry.get("a_b").unwrap().definition().description, "line");
    let listing = registry.listing();
    assert!(listing.contains("xd://a.b — dot\n") && listing.contains("xd://a_b — line\n"));
}

// Case 50: long names are never cut, so none is taken for another.
#[test]
fn case_050_long_names_that_differ_in_the_middle_stay_apart() {
    let mut state = 7_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let name = |n: u64| format!("{}{n:010}{}", "head_".repeat(7), "_tail".repeat(7));
    let mut tools = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    while names.len() < 2_000 {
        let name = name(random() % 10_000_000_000);
        if names.insert(name.clone()) {
            tools.push((named(&name, &name), "it".to_owned()));
        }
    }
    let mut registry = Registry::new();
    registry.refresh(tools).unwrap();
    for name in &names {
        assert_eq!(registry.get(name).unwrap().definition().description, *name);
    }
    assert_eq!(registry.names().collect::<std::collections::BTreeSet<_>>().len(), 2_000);
}

// CONTRACT R2, case 58
#[test]
fn r2_case_058_a_refresh_replaces_all_or_nothing() {
    let mut registry = Registry::new();
    registry.mount(named("built", ""), "the host").unwrap();
    let dynamic = |names: &[&str]| names.iter().map(|n| (named(n, ""), "s".to_owned())).collect();
    registry.refresh(dynamic(&["z", "a"])).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["built", "z", "a"]);
    // Each position of a bad one: reserved, broken, twice, over a built-in.
    for bad in ["resolve", "a b", "new1", "built"] {
        for at in 0..4 {
            let mut names = vec!["new1", "new2", "new3"];
            names.insert(at, bad);
            assert!(registry.refresh(dynamic(&names)).is_err(), "{names:?}");
            assert_eq!(registry.names().collect::<Vec<_>>(), ["built", "z", "a"]);
        }
    }
    registry.refresh(dynamic(&["b"])).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["built", "b"]);
    registry.refresh(Vec::new()).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["built"]);
}

// CONTRACT R4
#[test]
fn r4_an_unknown_device_lists_the_mounted_and_offers_the_nearest() {
    let mut registry = Registry::new();
    let unknown = |registry: &Registry, name: &str| {
        let result = registry.unknown(DeviceName::new(name).unwrap());
        assert!(result.is_error);
        result.joined()
    };
    assert_eq!(unknown(&registry, "gone"), "Unknown device 'xd://gone'. No devices are mounted.");
    registry.mount(named("browser", ""), "it").unwrap();
    registry.mount(named("grep", ""), "it").unwrap();
    assert_eq!(
        unknown(&registry, "broswer"),
        "Unknown device 'xd://broswer'. Did you mean 'xd://browser'? Mounted: browser, grep."
    );
    assert_eq!(
        unknown(&registry, "weather"),
        "Unknown device 'xd://weather'. Mounted: browser, grep."
    );
    assert!(unknown(&registry, "reslove").contains("Did you mean 'xd://resolve'?"));
}

// CONTRACT R4, case 46
#[test]
fn r4_case_046_a_registry_that_failed_to_start_says_so() {
    let mut registry = Registry::new();
    let name = DeviceName::new("grep").unwrap();
    let unknown = registry.unknown(name).joined();
    registry.set_failure("server s", "no config:\n\u{1b}[2Jline 3");
    let failed = registry.unknown(name).joined();
    assert_ne!(failed, unknown);
    assert!(failed.contains("the device registry failed to start: no config:"), "{failed}");
    assert!(!failed.contains("Unknown device"));
    assert!(registry.listing().starts_with("The device registry failed to start: no config:"));
    for text in [failed, registry.listing()] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    registry.refresh(vec![(named("grep", ""), "s".to_owned())]).unwrap();
    assert!(!registry.listing().contains("failed"));
}

// CONTRACT W5, R5, cases 42 and 44. Two hundred devices, each once in the listing; the section names the
// scheme, the count and how to list.
#[test]
fn w5_case_042_case_044_every_device_is_listed_once() {
    let mut registry = Registry::new();
    let names: Vec<String> = (0..200).map(|i| format!("device_{i:03}")).collect();
    let tools = names.iter().map(|n| (named(n, "does it"), "s".to_owned())).collect();
    registry.refresh(tools).unwrap();
    let listing = registry.listing();
    assert!(listing.starts_with("200 devices are mounted.\n"));
    for name in &names {
        assert_eq!(listing.matches(&format!("xd://{name} — does it\n")).count(), 1);
    }
    assert_eq!(listing.lines().count(), 201);
    let section = registry.prompt_section(&prompts());
    assert!(section.contains("200 devices are mounted under `xd://`"));
    assert!(section.contains("To list all devices, read `xd://`"));
}

/// Texts that break layouts and terminals.
fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = [
        "a\nb",
        "a\rb",
        "a\r\nb",
        "a\tb",
        "a\0b",
        "a\u{2028}b",
        "a\u{2029}b",
        "a\u{b}b",
        "a\u{c}b",
        "a\u{85}b",
        "a\u{1b}[2Jb",
        "a\u{1b}]8;;http://x\u{7}b",
        "a\u{7}b",
        "a\u{9b}2Jb",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{7f}b",
        "\n\nfirst line is empty",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("long ".repeat(200));
    texts.push("€".repeat(300));
    texts.push("tag \u{e0041}".to_owned());
    texts
}

fn acts(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{2028}' | '\u{2029}')
        || xd_protocol::is_invisible(c)
}

// CONTRACT R5, cases 52 and 54
#[test]
fn r5_case_052_case_054_foreign_text_stays_on_its_line_and_inert() {
    for text in hostile() {
        let mut registry = Registry::new();
        let schema = json!({ "type": "object", "properties": { "a": { "enum": [&text] } },
            "required": ["a"], "description": &text });
        let definition = ToolDefinition::new("one", &text, schema);
        let tool = FnTool::new(definition, Tier::Read, |_, _| async { Ok(ToolResult::text("")) });
        registry.mount(Arc::new(tool), "it").unwrap();
        registry.mount(named("two", "fine"), "it").unwrap();
        let listing = registry.listing();
        assert_eq!(listing.lines().count(), 3, "{text:?}: {listing:?}");
        assert!(!listing.contains(acts), "{text:?}: {listing:?}");
        assert!(listing.lines().all(|line| line.len() <= 220), "{text:?}");
        let section = registry.prompt_section(&prompts());
        assert!(!section.contains(acts), "{text:?}: {section:?}");
    }
}

// CONTRACT R5: sorted whatever the mount order, the same bytes each time, within the budgets.
#[test]
fn r5_the_section_is_stable_and_within_its_budgets() {
    let big = "word ".repeat(1_000);
    let huge = "word ".repeat(2_100);
    let mut names: Vec<String> = (0..40).map(|i| format!("d{i:02}")).collect();
    let mut sections = std::collections::BTreeSet::new();
    for _ in 0..3 {
        names.rotate_left(7);
        let mut registry = Registry::new();
        for name in &names {
            let text = if name == "d00" { &huge } else { &big };
            registry.mount(named(name, &format!("Summary.\n{text}")), "it").unwrap();
        }
        sections.insert(registry.prompt_section(&prompts()));
    }
    assert_eq!(sections.len(), 1, "the order of mounts shows");
    let section = sections.pop_first().unwrap();
    assert!(section.chars().count() <= 48_000, "{}", section.chars().count());
    assert!(!section.contains("## xd://d00\n"), "a document over 10,000 characters is inlined");
    assert!(section.contains("## xd://d01\n"));
    let listed: Vec<usize> =
        (0..40).map(|i| section.find(&format!("- `xd://d{i:02}` — Summary.")).unwrap()).collect();
    assert!(listed.is_sorted());
    assert!(section.contains("listed without docs here: read `xd://<tool>`"));
}

// A mounted tool is not executed by being looked at.
#[test]
fn r3_looking_runs_nothing() {
    let definition = ToolDefinition::new("boom", "Explodes.", json!({ "type": "object" }));
    let tool = FnTool::new(definition, Tier::Exec, |_, _| async {
        panic!("it was run");
    });
    let mut registry = Registry::new();
    registry.mount(Arc::new(tool), "it").unwrap();
    assert!(registry.listing().contains("xd://boom — Explodes."));
    assert!(registry.prompt_section(&prompts()).contains("xd://boom"));
}
