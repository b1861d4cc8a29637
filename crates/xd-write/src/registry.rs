//! Tools mounted as devices (`CONTRACT R1–R5`).

mod docs;
mod fault;
mod inventory;
mod section;

use std::{collections::HashMap, fmt, sync::Arc};

use serde_json::{Map, Value};
use xd_prompts::Prompts;
use xd_protocol::{DeviceName, READ_TOOL, RESERVED, WRITE_TOOL, is_reserved};
use xd_resolve::ToolResult;

use crate::{ArgumentCheck, ArgumentSchema, Tool, nearest::nearest, one_line::one_line};

pub use fault::{MountError, RefreshError};
pub use inventory::{DeviceEntry, DeviceSource};

/// A mounted tool.
#[derive(Clone)]
pub(crate) struct Mount {
    pub(crate) tool: Arc<dyn Tool>,
    origin: String,
    check: Arc<dyn ArgumentCheck>,
    /// Whether the schema says something of a property `i`.
    declares_i: bool,
}

impl Mount {
    /// Checks what concerns the tool alone: its name and its schema.
    fn new(tool: Arc<dyn Tool>, origin: String) -> Result<Self, MountError> {
        let definition = tool.definition();
        let name = &definition.name;
        if is_reserved(name) {
            return Err(MountError::Reserved { name: name.clone() });
        }
        if [READ_TOOL, WRITE_TOOL].contains(&name.as_str()) {
            return Err(MountError::BuiltIn { name: name.clone(), origin });
        }
        if let Err(fault) = DeviceName::new(name) {
            return Err(MountError::Name { name: name.clone(), fault });
        }
        let schema = &definition.input_schema;
        let (check, declares_i): (Arc<dyn ArgumentCheck>, bool) = match tool.argument_check() {
            Some(check) => (check, schema.pointer("/properties/i").is_some()),
            None => {
                let compiled = ArgumentSchema::compile(schema).map_err(|fault| {
                    MountError::Schema { name: name.clone(), origin: origin.clone(), fault }
                })?;
                let declares_i = compiled.declares("i");
                (Arc::new(compiled), declares_i)
            }
        };
        Ok(Self { tool, origin, check, declares_i })
    }

    pub(crate) fn name(&self) -> &str {
        &self.tool.definition().name
    }

    /// The arguments as the tool gets them, or what of them does not fit (`CONTRACT R3`).
    pub(crate) fn fitting(&self, mut arguments: Map<String, Value>) -> Result<Value, String> {
        // Models add it out of habit, to say what they are about.
        if !self.declares_i {
            arguments.shift_remove("i");
        }
        let arguments = Value::Object(arguments);
        let mismatches = self.check.check(&arguments);
        if mismatches.is_empty() {
            return Ok(arguments);
        }
        let told: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
        Err(told.join("; "))
    }

    /// A body that would be accepted, for an error; a hint where none is known.
    pub(crate) fn example(&self) -> String {
        match docs::example(self) {
            Some(example) => format!("Example: {example}"),
            None => format!("Read xd://{} for what it takes.", self.name()),
        }
    }

    /// Its documents (`CONTRACT W5`).
    pub(crate) fn docs(&self, prompts: &Prompts) -> String {
        docs::docs(self, prompts)
    }
}

/// What went wrong with the devices of one origin.
#[derive(Debug, Clone)]
struct Trouble {
    origin: String,
    message: String,
    /// Whether it never started; otherwise what it had mounted before is still there.
    at_start: bool,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = one_line(&self.message, LISTED_BYTES);
        let origin = one_line(&self.origin, LISTED_BYTES);
        if self.at_start {
            write!(f, "the device registry failed to start: {message} (from {origin})")
        } else {
            write!(f, "the devices of {origin} could not be refreshed: {message}")
        }
    }
}

/// The mounted devices: built-in ones in mount order, then the dynamic ones in their given order
/// (`CONTRACT R2`).
#[derive(Clone, Default)]
pub struct Registry {
    built_in: Vec<Mount>,
    dynamic: Vec<Mount>,
    /// Names of the host's tools, which no device may take: a call of a bare name reaches one of
    /// them (`CONTRACT U11`).
    tools: Vec<String>,
    troubles: Vec<Trouble>,
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
        let mount = Mount::new(tool, origin.to_owned())?;
        let first = self.origin_of(mount.name());
        if let Some(first) = first {
            return Err(collision(&mount, first));
        }
        self.built_in.push(mount);
        Ok(())
    }

    /// Replaces all dynamic devices in one step, whatever their origin.
    ///
    /// # Errors
    /// [`MountError`]; the old ones stay (`CONTRACT R2`).
    pub fn refresh(&mut self, tools: Vec<(Arc<dyn Tool>, String)>) -> Result<(), MountError> {
        let dynamic: Result<_, _> =
            tools.into_iter().map(|(tool, origin)| Mount::new(tool, origin)).collect();
        self.replace(dynamic?)?;
        self.troubles.clear();
        Ok(())
    }

    /// Replaces the dynamic devices of one origin in one step, in their place among the others; a
    /// new origin comes last. `listed` is what the origin answered when it was asked for its
    /// devices.
    ///
    /// # Errors
    /// [`RefreshError`]; the old ones stay, and errors for unknown names mention it until a refresh
    /// succeeds (`CONTRACT R2`, case 58).
    pub fn refresh_origin<E: fmt::Display>(
        &mut self,
        origin: &str,
        listed: Result<Vec<Arc<dyn Tool>>, E>,
    ) -> Result<(), RefreshError> {
        let refreshed = match listed {
            Ok(tools) => self.replace_origin(origin, tools).map_err(RefreshError::Mount),
            Err(error) => Err(RefreshError::Unavailable {
                origin: origin.to_owned(),
                message: error.to_string(),
            }),
        };
        self.troubles.retain(|trouble| trouble.origin != origin);
        if let Err(error) = &refreshed {
            let message = match error {
                RefreshError::Mount(error) => error.to_string(),
                RefreshError::Unavailable { message, .. } => message.clone(),
            };
            self.troubles.push(Trouble { origin: origin.to_owned(), message, at_start: false });
        }
        refreshed
    }

    /// Notes that what `origin` was to mount could not start, so that an unknown name is not blamed
    /// for it (`CONTRACT R4`, case 46).
    pub fn set_failure(&mut self, origin: impl Into<String>, message: impl Into<String>) {
        let (origin, message) = (origin.into(), message.into());
        self.troubles.retain(|trouble| trouble.origin != origin);
        self.troubles.push(Trouble { origin, message, at_start: true });
    }

    /// The tool mounted as `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.mounted(name).map(|mount| &mount.tool)
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

    /// The documents of the device `name`: what it does, its schema, an example (`CONTRACT W5`).
    #[must_use]
    pub fn docs(&self, name: &str, prompts: &Prompts) -> Option<String> {
        self.mounted(name).map(|mount| mount.docs(prompts))
    }

    /// The list that `read xd://` answers: one line a device (`CONTRACT W5`).
    #[must_use]
    pub fn listing(&self) -> String {
        let mut out = String::new();
        for trouble in &self.troubles {
            out.push_str(&capital(&trouble.to_string()));
            out.push('\n');
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
    /// (`CONTRACT R4`). Where something failed to start, that is the error.
    #[must_use]
    pub fn unknown(&self, name: DeviceName<'_>) -> ToolResult {
        let name = name.as_str();
        let failed: Vec<String> =
            self.troubles.iter().filter(|t| t.at_start).map(ToString::to_string).collect();
        let begin = if failed.is_empty() {
            format!("Unknown device 'xd://{name}'.")
        } else {
            format!("xd://{name} cannot be reached: {}.", failed.join("; "))
        };
        let offer = match nearest(name, self.names().chain(RESERVED)) {
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
        let mut text = format!("{begin}{offer} {mounted}");
        for trouble in self.troubles.iter().filter(|trouble| !trouble.at_start) {
            text.push_str(&format!(" {}.", capital(&trouble.to_string())));
        }
        ToolResult::error(text)
    }

    /// The prompt section (`CONTRACT R5`): one line a device sorted by name, documents inlined
    /// while the budgets last, 48,000 characters at the most in all.
    #[must_use]
    pub fn prompt_section(&self, prompts: &Prompts) -> String {
        section::section(self, prompts)
    }

    /// Every mounted device with all that a host program wants to know of it, in listing order
    /// (case 44).
    #[must_use]
    pub fn inventory(&self) -> Vec<DeviceEntry> {
        let built_in = self.built_in.iter().map(|mount| (mount, DeviceSource::BuiltIn));
        let dynamic = self.dynamic.iter().map(|mount| (mount, DeviceSource::Dynamic));
        built_in.chain(dynamic).map(|(mount, source)| inventory::entry(mount, source)).collect()
    }

    /// Gives the names of the host's tools to the tools alone.
    pub(crate) fn set_tools(&mut self, tools: Vec<String>) -> Result<(), MountError> {
        if let Some(mount) = self.mounts().find(|mount| tools.iter().any(|t| t == mount.name())) {
            return Err(collision(mount, A_TOOL));
        }
        self.tools = tools;
        Ok(())
    }

    pub(crate) fn mounted(&self, name: &str) -> Option<&Mount> {
        self.mounts().find(|mount| mount.name() == name)
    }

    fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.built_in.iter().chain(&self.dynamic)
    }

    /// Who has `name`.
    fn origin_of(&self, name: &str) -> Option<&str> {
        match self.mounted(name) {
            Some(mount) => Some(&mount.origin),
            None => self.tools.iter().any(|tool| tool == name).then_some(A_TOOL),
        }
    }

    fn replace_origin(
        &mut self,
        origin: &str,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<(), MountError> {
        let fresh: Result<Vec<Mount>, MountError> =
            tools.into_iter().map(|tool| Mount::new(tool, origin.to_owned())).collect();
        let of_origin = |mount: &Mount| mount.origin == origin;
        let at = self.dynamic.iter().position(of_origin).unwrap_or(self.dynamic.len());
        let mut dynamic: Vec<Mount> =
            self.dynamic.iter().filter(|mount| !of_origin(mount)).cloned().collect();
        let at = at.min(dynamic.len());
        dynamic.splice(at..at, fresh?);
        self.replace(dynamic)
    }

    fn replace(&mut self, dynamic: Vec<Mount>) -> Result<(), MountError> {
        let mut taken: HashMap<&str, &str> =
            self.tools.iter().map(|tool| (tool.as_str(), A_TOOL)).collect();
        for mount in self.built_in.iter().chain(&dynamic) {
            if let Some(first) = taken.insert(mount.name(), &mount.origin) {
                return Err(collision(mount, first));
            }
        }
        self.dynamic = dynamic;
        Ok(())
    }
}

/// How many names an error lists before it counts the rest.
const NAMED: usize = 24;
/// How long a summary may be in a listing, in bytes.
const LISTED_BYTES: usize = 200;
/// What has the name of a tool of the host.
const A_TOOL: &str = "a tool of the host";

fn collision(second: &Mount, first: &str) -> MountError {
    MountError::Collision {
        name: second.name().to_owned(),
        first: first.to_owned(),
        second: second.origin.clone(),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
