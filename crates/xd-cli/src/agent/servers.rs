//! Tools of other servers as devices of the agent: `--mcp FILE`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;
use tokio::runtime::Runtime;
use xd_agent::tools::shell_environment;
use xd_mcp::devices::{Devices, Limits, ServerSpec, read_servers};
use xd_write::Host;

use super::config::{Environment, Settings};
use crate::{failure::Failure, screen::Screen};

/// What stands for the workspace in a file of servers.
const WORKSPACE: &str = "workspaceFolder";

/// The servers of a run. Dropped, they are left, and what was started ends.
pub(crate) struct Servers {
    /// A runtime of its own: a server is heard also while a person types.
    runtime: Runtime,
    devices: Option<Devices>,
}

/// The servers that `files` name. None is started.
pub(crate) fn read(
    files: &[PathBuf],
    workspace: &Path,
    environment: Environment<'_>,
) -> Result<Vec<ServerSpec>, Failure> {
    let variable = |name: &str| match name {
        WORKSPACE => Some(workspace.display().to_string()),
        name => environment(name),
    };
    let mut from: BTreeMap<String, &Path> = BTreeMap::new();
    let mut servers = Vec::new();
    for file in files {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::new(
                format!("'{name}' cannot be read: {error}"),
                "--mcp takes a file with {\"mcpServers\": …}, from the folder that you are in.",
            )
        })?;
        let hint = "Mend the file; docs/MCP.md tells what it may hold.";
        let read = read_servers(&text, &variable)
            .map_err(|fault| Failure::new(format!("'{name}': {fault}"), hint))?;
        for server in read {
            if let Some(first) = from.insert(server.name.clone(), file) {
                return Err(Failure::new(
                    format!(
                        "the server '{}' is in '{}' and in '{name}'",
                        server.name,
                        first.display()
                    ),
                    "Give one of them another name, or \"disabled\": true.",
                ));
            }
            servers.push(server);
        }
    }
    Ok(servers)
}

impl Servers {
    /// Starts `specs` and mounts their tools in `host`. One that does not begin is told, and the run
    /// goes on without it.
    pub(crate) fn start(
        specs: &[ServerSpec],
        host: &Arc<Host>,
        settings: &Settings,
        screen: &mut Screen,
    ) -> Result<Option<Self>, Failure> {
        if specs.is_empty() {
            return Ok(None);
        }
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime
            .map_err(|error| Failure::new(error, "The system gave no resources; try again."))?;
        // What a server needs beyond this, its entry gives it.
        let variables = shell_environment(std::env::vars_os(), &settings.bash_env);
        let devices = Devices::new(Arc::clone(host), Limits::default())
            .environment(variables)
            .directory(host.workspace().path());
        let begun = runtime.block_on(devices.start_all(specs));
        for (server, begun) in specs.iter().zip(begun) {
            let Err(error) = begun else { continue };
            if screen.is_json() {
                screen.json(&json!({
                    "v": 1, "event": "server", "server": server.name, "error": error.to_string(),
                }));
            }
            screen.remark(&format!(
                "xd: the server '{}' is not there: {error}. The run goes on without it; mend its \
                 entry in the file of --mcp, or give it \"disabled\": true.",
                server.name
            ));
        }
        Ok(Some(Self { runtime, devices: Some(devices) }))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Some(devices) = self.devices.take() {
            self.runtime.block_on(devices.stop());
        }
    }
}
