//! The prompt section and the listing, for any names and descriptions.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use xd_prompts::Prompts;
use xd_resolve::{Tier, ToolResult};
use xd_write::{FnTool, Registry, Tool, ToolDefinition};

use crate::bench::named;

fn acts(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{2028}' | '\u{2029}')
        || xd_protocol::is_invisible(c)
}

fn registry(descriptions: &[String]) -> Registry {
    let mut registry = Registry::new();
    for (i, description) in descriptions.iter().enumerate() {
        registry.mount(named(&format!("d{i:03}"), description), "it").unwrap();
    }
    registry
}

proptest! {
    // CONTRACT R5, W5; cases 52 and 54: one physical line a device, whatever it says of itself.
    #[test]
    fn r5_case_052_case_054_lines_are_devices(
        descriptions in prop::collection::vec(
            prop_oneof![
                "\\PC{0,40}",
                ".{0,400}",
                "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}\u{2029}\u{200b}\u{202e}\u{1b}a ]{0,60}",
                "[€\u{1f469}\u{200d}\u{e0041}]{0,120}",
            ],
            1..12,
        )
    ) {
        let registry = registry(&descriptions);
        let listing = registry.listing();
        prop_assert_eq!(listing.lines().count(), descriptions.len() + 1, "{:?}", listing);
        prop_assert!(!listing.contains(acts), "{:?}", listing);
        for line in listing.lines().skip(1) {
            let summary = line.split_once(" — ").unwrap().1;
            prop_assert!(summary.len() <= 200, "{} bytes: {}", summary.len(), line);
        }
        let section = registry.prompt_section(&Prompts::builtin());
        prop_assert!(!section.contains(acts), "{:?}", section);
        // An inlined document may hold lines that look like one; those stand behind its heading.
        let lines = section.split("\n## xd://").next().unwrap_or_default();
        let listed = lines.lines().filter(|line| line.starts_with("- `xd://")).count();
        prop_assert_eq!(listed, descriptions.len(), "{}", section);
    }
}

// CONTRACT R5: the budgets hold for any number of devices; where names and summaries alone are too
// much, summaries get shorter first, and what does not fit is counted and where to read it said.
#[test]
fn r5_case_042_the_budgets_hold_for_any_number_of_devices() {
    for (count, all) in [(1, true), (200, true), (350, true), (1_000, false), (3_000, false)] {
        let mut registry = Registry::new();
        let tools = (0..count)
            .map(|i| {
                let name = format!("server_with_a_long_name_{}.{i:05}", "x".repeat(60));
                let text = format!("{}\n{}", "Summary é. ".repeat(30), "Text. ".repeat(200));
                (named(&name, &text), "s".to_owned())
            })
            .collect();
        registry.refresh(tools).unwrap();
        let section = registry.prompt_section(&Prompts::builtin());
        assert!(section.chars().count() <= 48_000, "{count}: {}", section.chars().count());
        let plural = if count == 1 { "device is" } else { "devices are" };
        assert!(section.contains(&format!("{count} {plural} mounted under `xd://`")), "{count}");
        assert!(section.contains("To list all devices, read `xd://`"));
        let listed = section.lines().filter(|line| line.starts_with("- `xd://")).count();
        assert_eq!(listed == count, all, "{count}: {listed}");
        if !all {
            assert!(section.contains(&format!("… and {} more: read `xd://`", count - listed)));
        }
        assert_eq!(registry.listing().lines().count(), count + 1);
    }
}

// CONTRACT R5. The limit of a document is counted in characters, and the limit itself fits.
#[test]
fn r5_a_document_of_the_limit_is_inlined_and_one_more_is_not() {
    let of = |length: usize| {
        let definition = ToolDefinition::new("d", format!("S.\n{}", "é".repeat(length)), json!({}));
        let tool: Arc<dyn Tool> = Arc::new(FnTool::new(definition, Tier::Read, |_, _| async {
            Ok(ToolResult::text(""))
        }));
        let mut registry = Registry::new();
        registry.mount(tool, "it").unwrap();
        let docs = registry.docs("d", &Prompts::builtin()).unwrap().chars().count();
        let section = registry.prompt_section(&Prompts::builtin());
        (docs, section.contains("## xd://d"))
    };
    let rest = of(1).0 - 1;
    assert_eq!(of(10_000 - rest), (10_000, true));
    assert_eq!(of(10_001 - rest), (10_001, false));
}

// CONTRACT R5: an overriding template that says more keeps within the budget too.
#[test]
fn r5_an_override_of_the_template_keeps_the_budget() {
    let source = format!("{{% include \"builtin/device-section\" %}}\n{}", "more ".repeat(2_000));
    let prompts = Prompts::with_overrides([("device-section", source.as_str())]).unwrap();
    let texts: Vec<String> = (0..30).map(|_| format!("S.\n{}", "t".repeat(3_000))).collect();
    let section = registry(&texts).prompt_section(&prompts);
    assert!(section.chars().count() <= 48_000);
    assert_eq!(section.lines().filter(|line| line.starts_with("- `xd://")).count(), 30);
}
