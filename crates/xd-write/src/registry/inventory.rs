//! The devices as data, for host programs (case 44).

use serde::Serialize;
use serde_json::Value;
use xd_resolve::Tier;

use super::Mount;

/// One mounted device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceEntry {
    /// Its name.
    pub name: String,
    /// Its address: `xd://<name>`.
    pub address: String,
    /// The first line of its description.
    pub summary: String,
    /// What it does. Foreign text, exactly as given: a program that shows it must clean it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// How far its calls reach; none where that depends on the arguments or nobody said.
    pub tier: Option<Tier>,
    /// Where it comes from.
    pub origin: String,
    /// Whether it is there for good.
    pub source: DeviceSource,
}

/// Whether a device is there for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceSource {
    /// Mounted by the host, for good.
    BuiltIn,
    /// Mounted by a refresh; the next one may take it away.
    Dynamic,
}

/// What there is to say of a mount.
pub(super) fn entry(mount: &Mount, source: DeviceSource) -> DeviceEntry {
    let definition = mount.tool.definition();
    DeviceEntry {
        name: definition.name.clone(),
        address: format!("xd://{}", definition.name),
        summary: definition.summary().to_owned(),
        description: definition.description.clone(),
        schema: definition.input_schema.clone(),
        tier: mount.tool.declared_tier(),
        origin: mount.origin.clone(),
        source,
    }
}
