//! `xd devices`: what is mounted under `xd://` (`CONTRACT W5`, case 44).

use std::path::Path;

use serde_json::json;
use xd_render::{Line, Role};
use xd_resolve::Tier;
use xd_write::DeviceEntry;

use crate::{
    failure::{Failure, Status},
    place::View,
    screen::Screen,
};

/// Lists the devices; as JSON, all that is known of each, one object for all.
pub(crate) fn run(directory: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    let devices = View::open(directory, screen)?.host().inventory();
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "devices": devices }));
        return Ok(Status::Done);
    }
    let rows: Vec<[&str; 3]> = devices.iter().map(cells).collect();
    let widths =
        [0, 1, 2].map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0));
    for (device, row) in devices.iter().zip(&rows) {
        let cell = |i: usize| format!("{:<width$}  ", row[i], width = widths[i]);
        let mut line = Line::of(&cell(0), Role::Title);
        line.add(&cell(1), Role::Muted);
        line.add(&cell(2), Role::Muted);
        line.add(&device.summary, Role::Text);
        screen.lines(&[line]);
    }
    match devices.len() {
        0 => screen.text("No devices are mounted."),
        _ => screen.text("\nDocuments: xd read xd://<tool>   Run: xd write xd://<tool> '{…}'"),
    }
    Ok(Status::Done)
}

/// Address, tier and origin.
fn cells(device: &DeviceEntry) -> [&str; 3] {
    let tier = match device.tier {
        Some(Tier::Read) => "read",
        Some(Tier::Write) => "write",
        Some(Tier::Exec) => "exec",
        None => "depends",
    };
    [&device.address, tier, &device.origin]
}
