//! Tools mounted as devices (`CONTRACT R1–R5`).

use std::sync::Arc;

use serde_json::Value;
use xd_prompts::{DeviceDocs, DeviceLine, DeviceSection, Prompts};
use xd_protocol::{DeviceName, NameFault, is_reserved};
use xd_resolve::ToolResult;

use crate::{
    Tool,
    inert::{inert_json, inert_lines},
    nearest::nearest,
    one_line::one_line,
};

/// Why a tool was not mounted. Nothing is mounted in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// Its name cannot be a device's.
    #[error("cannot mount {name:?} as a device: {fault}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// Its name is reserved (`CONTRACT U5`).
    #[error("cannot mount {name:?} as a device: resolve, reject and propose are reserved")]
    Reserved {
        /// The name.
        name: String,
    },
    /// Another device has its name (`CONTRACT R1`).
    #[error("cannot mount {name:?} from {second} as a device: {first} already mounted that name")]
    Collision {
        /// The name.
        name: String,
        /// Where the mounted one comes from.
        first: String,
        /// Where the refused one comes from.
        second: String,
    },
}

/// A mounted tool.
#[derive(Clone)]
struct Mount {
    tool: Arc<dyn Tool>,
    origin: String,
}

impl Mount {
    fn name(&self) -> &str {
        &self.tool.definition().name
    }
}

/// The mounted devices: built-in ones in mount order, then the dynamic ones.
#[derive(Clone, Default)]
pub struct Registry {
    built_in: Vec<Mount>,
    dynamic: Vec<Mount>,
    failure: Option<String>,
}

impl Registry {
    /// No devices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Mounts `tool` under its own name, for good. `origin` says in errors where it comes from.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn mount(&mut self, tool: Arc<dyn Tool>, origin: &str) -> Result<(), MountError> {
        let mount = Mount { tool, origin: origin.to_owned() };
        check(&mount, self.mounts())?;
        self.built_in.push(mount);
        Ok(())
    }

    /// Replaces all dynamic devices in one step.
    ///
    /// # Errors
    /// [`MountError`]; the old ones stay (`CONTRACT R2`).
    pub fn refresh(&mut self, tools: Vec<(Arc<dyn Tool>, String)>) -> Result<(), MountError> {
        let mut dynamic: Vec<Mount> = Vec::with_capacity(tools.len());
        for (tool, origin) in tools {
            let mount = Mount { tool, origin };
            check(&mount, self.built_in.iter().chain(&dynamic))?;
            dynamic.push(mount);
        }
        self.dynamic = dynamic;
        self.failure = None;
        Ok(())
    }

    /// Notes that the registry could not start, so that an unknown name is not blamed for it.
    pub fn set_failure(&mut self, message: impl Into<String>) {
        self.failure = Some(message.into());
    }

    /// The tool mounted as `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.mounts().find(|mount| mount.name() == name).map(|mount| &mount.tool)
    }

    /// All mounted names, in listing order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.mounts().map(Mount::name)
    }

    /// How many devices are mounted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.built_in.len() + self.dynamic.len()
    }

    /// Whether none is mounted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list that `read xd://` answers: one line a device (`CONTRACT W5`).
    #[must_use]
    pub fn listing(&self) -> String {
        let mut out = String::new();
        if let Some(failure) = &self.failure {
            out.push_str(&format!(
                "The device registry failed to start: {}\n",
                one_line(failure, LISTED_BYTES)
            ));
        }
        match self.len() {
            0 => out.push_str("No devices are mounted.\n"),
            1 => out.push_str("1 device is mounted.\n"),
            n => out.push_str(&format!("{n} devices are mounted.\n")),
        }
        for mount in self.mounts() {
            let summary = one_line(mount.tool.definition().summary(), LISTED_BYTES);
            out.push_str(&format!("xd://{} — {summary}\n", mount.name()));
        }
        out
    }

    /// The error for a name that is not mounted: it says so, lists what is and offers the nearest
    /// (`CONTRACT R4`).
    #[must_use]
    pub fn unknown(&self, name: DeviceName<'_>) -> ToolResult {
        let name = name.as_str();
        if let Some(failure) = &self.failure {
            return ToolResult::error(format!(
                "xd://{name} cannot be reached: the device registry failed to start: {}",
                one_line(failure, LISTED_BYTES)
            ));
        }
        let reserved = ["resolve", "reject", "propose"];
        let offer = match nearest(name, self.names().chain(reserved)) {
            Some(near) => format!(" Did you mean 'xd://{near}'?"),
            None => String::new(),
        };
        let mounted = match self.len() {
            0 => "No devices are mounted.".to_owned(),
            n => {
                let names: Vec<&str> = self.names().take(NAMED).collect();
                let more = n.saturating_sub(NAMED);
                let more =
                    if more > 0 { format!(" and {more} more (read xd://)") } else { String::new() };
                format!("Mounted: {}{more}.", names.join(", "))
            }
        };
        ToolResult::error(format!("Unknown device 'xd://{name}'.{offer} {mounted}"))
    }

    /// The prompt section (`CONTRACT R5`): one line a device sorted by name, documents inlined
    /// while the budgets last.
    #[must_use]
    pub fn prompt_section(&self, prompts: &Prompts) -> String {
        let mut mounts: Vec<&Mount> = self.mounts().collect();
        mounts.sort_by(|a, b| a.name().cmp(b.name()));
        let mut left = SECTION_CHARS;
        let mut listed_only = 0;
        let devices = mounts
            .iter()
            .map(|mount| {
                let definition = mount.tool.definition();
                let summary = one_line(definition.summary(), SUMMARY_BYTES);
                left =
                    left.saturating_sub(mount.name().len() + summary.chars().count() + LINE_CHARS);
                let doc = docs(mount.tool.as_ref(), prompts);
                let chars = doc.chars().count();
                let fits = chars <= DOC_CHARS && chars <= left;
                if fits {
                    left -= chars;
                } else {
                    listed_only += 1;
                }
                DeviceLine { name: mount.name().to_owned(), summary, doc: fits.then_some(doc) }
            })
            .collect();
        let section = DeviceSection { devices, listed_only, total: self.len() as u64 };
        prompts.render(&section).unwrap_or_else(|error| {
            tracing::warn!(%error, "the device section's template failed");
            self.listing()
        })
    }

    fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.built_in.iter().chain(&self.dynamic)
    }
}

/// How many names an error lists before it counts the rest.
const NAMED: usize = 24;
/// How long a summary may be in a listing, in bytes.
const LISTED_BYTES: usize = 200;
/// How long a foreign summary may be in the prompt, in bytes (`CONTRACT R5`).
const SUMMARY_BYTES: usize = 200;
/// How long all inlined documents may be together, in characters.
const SECTION_CHARS: usize = 48_000;
/// How long one inlined document may be, in characters.
const DOC_CHARS: usize = 10_000;
/// What a line of the section has beside name and summary, in characters.
const LINE_CHARS: usize = 16;

/// The documents of a device: what it does, its schema, an example (`CONTRACT W5`).
#[must_use]
pub(crate) fn docs(tool: &dyn Tool, prompts: &Prompts) -> String {
    let definition = tool.definition();
    let schema = serde_json::to_string_pretty(&definition.input_schema).unwrap_or_default();
    let (schema, description) = (inert_json(&schema), inert_lines(&definition.description));
    let context = DeviceDocs {
        name: definition.name.clone(),
        description: description.clone(),
        schema: schema.clone(),
        example: Some(inert_json(&example(&definition.input_schema).to_string())),
    };
    prompts.render(&context).unwrap_or_else(|error| {
        tracing::warn!(%error, "the device documents' template failed");
        format!("xd://{}\n\n{}\n\n{schema}\n", definition.name, description)
    })
}

/// A small object that has each required property of `schema`.
pub(crate) fn example(schema: &Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let property = |name: &Value| {
        let name = name.as_str()?;
        let value =
            sample(schema.get("properties").and_then(|p| p.get(name)).unwrap_or(&Value::Null));
        Some((name.to_owned(), value))
    };
    Value::Object(required.filter_map(property).collect())
}

fn sample(schema: &Value) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|e| e.first()) {
        return first.clone();
    }
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
        return value.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "…".into(),
        Some("integer" | "number") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => Value::Array(vec![sample(schema.get("items").unwrap_or(&Value::Null))]),
        Some("object") => example(schema),
        Some(_) | None => Value::Null,
    }
}

fn check<'a>(mount: &Mount, mut others: impl Iterator<Item = &'a Mount>) -> Result<(), MountError> {
    let name = mount.name();
    if is_reserved(name) {
        return Err(MountError::Reserved { name: name.to_owned() });
    }
    if let Err(fault) = DeviceName::new(name) {
        return Err(MountError::Name { name: name.to_owned(), fault });
    }
    match others.find(|other| other.name() == name) {
        Some(first) => Err(MountError::Collision {
            name: name.to_owned(),
            first: first.origin.clone(),
            second: mount.origin.clone(),
        }),
        None => Ok(()),
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
