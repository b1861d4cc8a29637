//! The devices as data.

use std::collections::BTreeSet;

use serde_json::json;
use xd_resolve::{Tier, ToolResult};
use xd_write::{DeviceSource, FnTool, ToolDefinition};

use crate::bench::{call, echo, host, named};

// Case 44: all, with name, description, schema, where mounted; the list of the protocol agrees.
#[tokio::test]
async fn case_044_the_inventory_is_whole_and_equal_to_the_listing() {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
    let (_folder, host) = host(|b| b.device(echo("first", schema.clone())).unwrap());
    let tools =
        (0..89).map(|i| (named(&format!("d{i:02}"), "One.\nTwo."), format!("server {}", i % 3)));
    host.with_registry(|registry| registry.refresh(tools.collect()).unwrap());
    let inventory = host.inventory();
    assert_eq!(inventory.len(), 90);
    let first = serde_json::to_value(&inventory[0]).unwrap();
    assert_eq!(
        first,
        json!({ "name": "first", "address": "xd://first", "summary": "Echoes.",
            "description": "Echoes.", "schema": schema, "tier": "read", "origin": "the host",
            "source": "built_in" })
    );
    let last = &inventory[89];
    assert_eq!((last.name.as_str(), last.origin.as_str()), ("d88", "server 1"));
    assert_eq!((last.summary.as_str(), last.description.as_str()), ("One.", "One.\nTwo."));
    assert_eq!(last.source, DeviceSource::Dynamic);
    let listing = call(&host, "read", json!({ "path": "xd://" })).await.joined();
    let listed: Vec<&str> =
        listing.lines().skip(1).filter_map(|line| line.split(" — ").next()).collect();
    let entered: Vec<&str> = inventory.iter().map(|entry| entry.address.as_str()).collect();
    assert_eq!(listed, entered);
    assert_eq!(entered.iter().collect::<BTreeSet<_>>().len(), 90);
}

// Case 44: a tier is only said where it is known.
#[test]
fn case_044_tiers_where_known() {
    let of = |tier| {
        FnTool::new(ToolDefinition::new("t", "T.", json!({})), tier, |_, _| async {
            Ok(ToolResult::text(""))
        })
    };
    for tier in [Tier::Read, Tier::Write, Tier::Exec] {
        let (_folder, host) = host(|b| b.device(of(tier)).unwrap());
        assert_eq!(host.inventory()[0].tier, Some(tier));
    }
}
