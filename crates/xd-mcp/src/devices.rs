//! Tools of other servers as devices of a host (`CONTRACT R2–R6`).
//!
//! A server's tool `log` is mounted as `xd://git.log` where the server is called `git`. Its
//! documents are read like those of any device, its arguments are checked against its schema before
//! it is called, and what it answers is bounded.

mod foreign;
mod spec;
mod web;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt as _,
    model::{ClientCapabilities, ClientConfig, Implementation},
    service::{NotificationContext, Peer, RunningServiceCancellationToken},
    transport::{IntoTransport, TokioChildProcess},
};
use tokio_util::task::TaskTracker;
use xd_write::{Host, RefreshError, Tool};

use foreign::Foreign;
pub use spec::{Reach, ServerSpec, SpecFault, read_servers};

/// How much of other servers' text is passed on, and how long they are waited for.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many bytes of a tool's description are kept.
    pub description: usize,
    /// How many bytes of a call's result are kept.
    pub result: usize,
    /// How many tools of one server are mounted.
    pub tools: usize,
    /// How long a server may take to begin, and to list its tools.
    pub start: Duration,
    /// How long a call may take.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            description: 8 * 1024,
            result: 64 * 1024,
            tools: 500,
            start: Duration::from_secs(30),
            call: Duration::from_secs(300),
        }
    }
}

/// Why a server's tools are not mounted. The host goes on without them, and its listing says so
/// (`CONTRACT R4`, case 46).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It cannot be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It does not begin as the protocol says.
    #[error("it does not begin as the protocol says: {0}")]
    Handshake(String),
    /// A header or the address cannot be used.
    #[error("it cannot be reached over HTTP: {0}")]
    Http(String),
    /// It takes too long.
    #[error("it did not begin within {0:?}")]
    Slow(Duration),
    /// Its tools cannot be had or mounted.
    #[error(transparent)]
    Refresh(#[from] RefreshError),
}

/// The other servers of a host. Dropped, it leaves them; what is mounted then answers with an error.
pub struct Devices {
    host: Arc<Host>,
    limits: Arc<Limits>,
    running: Mutex<Vec<RunningServiceCancellationToken>>,
    tasks: TaskTracker,
}

impl Devices {
    /// Mounts into `host`, which has none of these yet.
    #[must_use]
    pub fn new(host: Arc<Host>, limits: Limits) -> Self {
        Self {
            host,
            limits: Arc::new(limits),
            running: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Starts a server, or goes to where it runs, and mounts its tools. What a started one writes to
    /// its standard error is not shown.
    ///
    /// # Errors
    /// [`ConnectError`]; the host's listing names it from then on.
    pub async fn start(&self, spec: &ServerSpec) -> Result<(), ConnectError> {
        let (name, hints) = (&spec.name, spec.read_only_hints);
        match &spec.reach {
            Reach::Command { command, args, env, directory } => {
                let mut child = tokio::process::Command::new(command);
                child.args(args).envs(env).kill_on_drop(true);
                if let Some(directory) = directory {
                    child.current_dir(directory);
                }
                let silent = std::process::Stdio::null();
                match TokioChildProcess::builder(child).stderr(silent).spawn() {
                    Ok((child, _)) => self.connect_as(name, hints, child).await,
                    Err(source) => {
                        let error = ConnectError::Start { command: command.clone(), source };
                        self.failed(name, &error);
                        Err(error)
                    }
                }
            }
            Reach::Http { url, headers } => match web::transport(url, headers) {
                Ok(transport) => self.connect_as(name, hints, transport).await,
                Err(error) => {
                    self.failed(name, &error);
                    Err(error)
                }
            },
        }
    }

    /// Mounts the tools of the server at the other end of `transport`, under `name`.
    ///
    /// # Errors
    /// [`ConnectError`]; the host's listing names it from then on.
    pub async fn connect<T, E, A>(&self, name: &str, transport: T) -> Result<(), ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        self.connect_as(name, true, transport).await
    }

    async fn connect_as<T, E, A>(
        &self,
        name: &str,
        read_only_hints: bool,
        transport: T,
    ) -> Result<(), ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let connected = self.connected(name, read_only_hints, transport).await;
        if let Err(error) = &connected {
            self.failed(name, error);
        }
        connected
    }

    async fn connected<T, E, A>(
        &self,
        name: &str,
        read_only_hints: bool,
        transport: T,
    ) -> Result<(), ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let mounting = Mounting {
            host: Arc::downgrade(&self.host),
            limits: Arc::clone(&self.limits),
            server: name.into(),
            read_only_hints,
        };
        let slow = || ConnectError::Slow(self.limits.start);
        let beginning = mounting.clone().serve(transport);
        let service = tokio::time::timeout(self.limits.start, beginning)
            .await
            .map_err(|_| slow())?
            .map_err(|error| ConnectError::Handshake(error.to_string()))?;
        let listing = mounting.refresh(service.peer());
        tokio::time::timeout(self.limits.start, listing).await.map_err(|_| slow())??;
        let running = || self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running().push(service.cancellation_token());
        self.tasks.spawn(async move {
            let _ = service.waiting().await;
            // The devices stay, and say so; what comes back under the name must be mounted anew.
            mounting.listed(Err("the server has ended".to_owned())).ok();
        });
        Ok(())
    }

    fn failed(&self, name: &str, error: &ConnectError) {
        if !matches!(error, ConnectError::Refresh(_)) {
            self.host.with_registry(|registry| registry.set_failure(name, error.to_string()));
        }
    }

    /// Leaves all servers and waits until they are gone.
    pub async fn stop(self) {
        self.leave();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn leave(&self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.drain(..).for_each(RunningServiceCancellationToken::cancel);
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Devices").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The mounting of one server's tools: the client that hears when its list changes.
#[derive(Clone)]
struct Mounting {
    host: Weak<Host>,
    limits: Arc<Limits>,
    server: Arc<str>,
    read_only_hints: bool,
}

impl Mounting {
    /// Asks for the list and mounts it in one step; where that fails, the former one stays
    /// (`CONTRACT R2`, case 58).
    async fn refresh(&self, peer: &Peer<RoleClient>) -> Result<(), RefreshError> {
        let listed = match peer.list_all_tools().await {
            Ok(tools) if tools.len() > self.limits.tools => Err(format!(
                "it lists {} tools; at most {} are mounted",
                tools.len(),
                self.limits.tools
            )),
            Ok(tools) => Ok(tools
                .into_iter()
                .map(|tool| {
                    let limits = Arc::clone(&self.limits);
                    let foreign = Foreign::new(
                        &self.server,
                        tool,
                        peer.clone(),
                        limits,
                        self.read_only_hints,
                    );
                    Arc::new(foreign) as Arc<dyn Tool>
                })
                .collect()),
            Err(error) => Err(format!("its tools cannot be listed: {error}")),
        };
        self.listed(listed)
    }

    fn listed(&self, listed: Result<Vec<Arc<dyn Tool>>, String>) -> Result<(), RefreshError> {
        match self.host.upgrade() {
            Some(host) => {
                host.with_registry(|registry| registry.refresh_origin(&self.server, listed))
            }
            None => Ok(()),
        }
    }
}

impl ClientHandler for Mounting {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("xd", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        let (mounting, peer) = (self.clone(), context.peer);
        // Waiting for an answer within a handler would keep that answer from coming.
        tokio::spawn(async move {
            let refreshing = mounting.refresh(&peer);
            match tokio::time::timeout(mounting.limits.start, refreshing).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(server = %mounting.server, %error, "not refreshed")
                }
                Err(_) => {
                    mounting.listed(Err("its tools were not listed in time".to_owned())).ok();
                }
            }
        });
    }
}
