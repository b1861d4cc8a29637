//! `xd devices`: the table and the inventory.

use crate::Folder;

// CONTRACT W5, case 44: all that is mounted, with what a host program wants to know of it.
#[test]
fn w5_case_044_the_inventory_agrees_with_the_listing() {
    let folder = Folder::new(&[]);
    let run = folder.xd(&["devices", "--json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let json = run.json();
    assert_eq!(json["v"], 1);
    let devices = json["devices"].as_array().unwrap();
    let listing = folder.xd(&["read", "xd://"]).out;
    assert_eq!(listing.lines().count(), devices.len() + 1, "{listing}");
    for device in devices {
        let (address, summary) = (&device["address"], &device["summary"]);
        let line = format!("{} — {}", address.as_str().unwrap(), summary.as_str().unwrap());
        assert!(listing.lines().any(|l| l == line), "{line}: {listing}");
        assert!(device["description"].as_str().unwrap().starts_with(summary.as_str().unwrap()));
        assert_eq!(device["origin"], "the host");
        assert_eq!(device["source"], "built_in");
        assert!(device["schema"]["properties"].is_object(), "{device}");
        assert!(device.get("tier").is_some(), "{device}");
    }
    assert!(devices.iter().any(|device| device["name"] == "ast_edit"));
    assert!(
        folder.tree().is_empty() && !folder.path().join(".xd").exists(),
        "looking makes nothing"
    );
}

// CONTRACT W5
#[test]
fn w5_the_table_has_a_line_a_device() {
    let folder = Folder::new(&[]);
    let run = folder.xd(&["devices"]);
    assert_eq!(run.status, 0, "{run:?}");
    let count = folder.xd(&["--json", "devices"]).json()["devices"].as_array().unwrap().len();
    assert_eq!(run.out.lines().filter(|line| line.starts_with("xd://")).count(), count);
    assert!(run.out.contains("Documents: xd read xd://<tool>"), "{run:?}");
    assert!(!run.out.contains('\u{1b}'));
    folder.xd(&["-C", "nowhere", "devices"]).is_plain_error("nowhere");
}
