//! Tools of other servers as devices of a host (`CONTRACT R2–R6`).
//!
//! A server's tool `log` is mounted as `xd://git.log` where the server is called `git`. Its
//! documents are read like those of any device, its arguments are checked against its schema before
//! it is called, and what it answers is bounded.

mod calling;
mod child;
mod foreign;
mod mounting;
mod proposal;
mod spec;
mod web;

use std::{
    ffi::OsString,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use rmcp::{
    RoleClient, ServiceExt as _,
    service::{ClientInitializeError, RunningService, RunningServiceCancellationToken},
    transport::IntoTransport,
};
use tokio_util::task::TaskTracker;
use xd_write::{Host, RefreshError, Tool};

use child::{Said, Surroundings};
use mounting::Mounting;
pub use spec::{Hints, Reach, ServerSpec, SpecFault, read_servers};

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
    /// It went away while it was to begin.
    #[error("it ended before it had begun")]
    Ended,
    /// It does not begin as the protocol says.
    #[error("it does not begin as the protocol says: {0}")]
    Handshake(String),
    /// A header or the address cannot be used.
    #[error("it cannot be reached over HTTP: {0}")]
    Http(String),
    /// It takes too long.
    #[error("it did not begin within {0:?}")]
    Slow(Duration),
    /// Its tools cannot be had.
    #[error("{0}")]
    Unlisted(String),
    /// Its tools cannot be mounted.
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    /// Any of these, of a server that complained on its standard error.
    #[error("{error}; it said: {said}")]
    Complained {
        /// What went wrong.
        error: Box<ConnectError>,
        /// The end of what it wrote there, on one line, without the values it was given.
        said: String,
    },
}

/// The other servers of a host. Dropped, it leaves them; what is mounted then answers with an error.
pub struct Devices {
    host: Arc<Host>,
    limits: Arc<Limits>,
    surroundings: Surroundings,
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
            surroundings: Surroundings::default(),
            running: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Sets all that started servers see of the environment, beside what their entries give them.
    /// Without it they see what this process does, keys and all.
    #[must_use]
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.surroundings.variables = Some(variables.into_iter().collect());
        self
    }

    /// Sets where servers run whose entries name no folder, and what a relative one counts from.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.surroundings.directory = Some(directory.into());
        self
    }

    /// Starts a server, or goes to where it runs, and mounts its tools. What a started one writes to
    /// its standard error is told only where it ends or does not begin.
    ///
    /// # Errors
    /// [`ConnectError`]; the host's listing names it from then on.
    pub async fn start(&self, spec: &ServerSpec) -> Result<(), ConnectError> {
        let begun = self.begin(spec).await;
        self.mount(&spec.name, begun)
    }

    /// Starts all of these at once and mounts their tools in the order given, whichever was first.
    /// Answers for each, in that order, what [`start`](Self::start) would.
    pub async fn start_all(&self, specs: &[ServerSpec]) -> Vec<Result<(), ConnectError>> {
        let begun = join_all(specs.iter().map(|spec| self.begin(spec))).await;
        specs.iter().zip(begun).map(|(spec, begun)| self.mount(&spec.name, begun)).collect()
    }

    /// Mounts the tools of the server at the other end of `transport`, under `name`.
    ///
    /// # Errors
    /// [`ConnectError`]; the host's listing names it from then on.
    pub async fn connect<T, E, A>(
        &self,
        name: &str,
        hints: Hints,
        transport: T,
    ) -> Result<(), ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let begun = self.greet(self.mounting(name, hints, Line::Stream), transport, None).await;
        self.mount(name, begun)
    }

    /// Everything but the mounting.
    async fn begin(&self, spec: &ServerSpec) -> Result<Begun, ConnectError> {
        match &spec.reach {
            Reach::Command { command, args, env, directory } => {
                let started =
                    child::spawn(command, args, env, directory.as_deref(), &self.surroundings);
                let (child, said) = started
                    .map_err(|source| ConnectError::Start { command: command.clone(), source })?;
                let mounting = self.mounting(&spec.name, spec.hints, Line::Stream);
                self.greet(mounting, child, said).await
            }
            Reach::Http { url, headers } => {
                let transport = web::transport(url, headers)?;
                let mounting = self.mounting(&spec.name, spec.hints, Line::Web);
                self.greet(mounting, transport, None).await
            }
        }
    }

    async fn greet<T, E, A>(
        &self,
        mounting: Mounting,
        transport: T,
        mut said: Option<Said>,
    ) -> Result<Begun, ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let limit = self.limits.start;
        let beginning = tokio::time::timeout(limit, mounting.clone().serve(transport)).await;
        let listed = match beginning {
            Ok(Ok(service)) => {
                match tokio::time::timeout(limit, mounting.listed(service.peer())).await {
                    Ok(Ok(tools)) => Ok((service, tools)),
                    Ok(Err(message)) => Err(ConnectError::Unlisted(message)),
                    Err(_) => Err(ConnectError::Slow(limit)),
                }
            }
            Ok(Err(error)) => Err(match error {
                ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::TransportError { .. }
                    if mounting.line == Line::Stream =>
                {
                    ConnectError::Ended
                }
                error => ConnectError::Handshake(web::told(&error.to_string())),
            }),
            Err(_) => Err(ConnectError::Slow(limit)),
        };
        match listed {
            Ok((service, tools)) => Ok(Begun { service, tools, mounting, said }),
            Err(error) => {
                let told = match &mut said {
                    Some(said) => said.told().await,
                    None => None,
                };
                Err(match told {
                    Some(said) => ConnectError::Complained { error: Box::new(error), said },
                    None => error,
                })
            }
        }
    }

    fn mount(&self, name: &str, begun: Result<Begun, ConnectError>) -> Result<(), ConnectError> {
        let mounted = begun.and_then(|begun| {
            let Begun { service, tools, mounting, mut said } = begun;
            mounting.mount(Ok(tools))?;
            let running = || self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running().push(service.cancellation_token());
            self.tasks.spawn(async move {
                let _ = service.waiting().await;
                let told = match &mut said {
                    Some(said) => said.told().await,
                    None => None,
                };
                let told = told.map(|said| format!("; it said: {said}")).unwrap_or_default();
                // The devices stay, and say so; what comes back under the name must be mounted anew.
                mounting.mount(Err(format!("the server has ended{told}"))).ok();
            });
            Ok(())
        });
        if let Err(error) = &mounted {
            let message = error.to_string();
            self.host.with_registry(|registry| registry.set_failure(name, message));
        }
        mounted
    }

    fn mounting(&self, name: &str, hints: Hints, line: Line) -> Mounting {
        Mounting {
            host: Arc::downgrade(&self.host),
            limits: Arc::clone(&self.limits),
            server: name.into(),
            hints,
            line,
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

/// A server that has begun and listed its tools.
struct Begun {
    service: RunningService<RoleClient, Mounting>,
    tools: Vec<Arc<dyn Tool>>,
    mounting: Mounting,
    said: Option<Said>,
}

/// What a server is spoken to over: by it one knows whether a message that failed was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Two streams: what could not be written was not sent whole.
    Stream,
    /// Requests over HTTP: one that failed may have arrived.
    Web,
}
