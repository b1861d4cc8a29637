//! A server that is started, and what it says beside the protocol.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::transport::TokioChildProcess;
use tokio::{io::AsyncReadExt as _, process::ChildStderr, task::JoinHandle};

use crate::inert::line;

/// How much of the end of a server's standard error is kept.
const KEPT: usize = 4 * 1024;
/// How much of it is told.
const TOLD: usize = 400;
/// How long the rest of it is waited for when the server has ended.
const REST: Duration = Duration::from_millis(500);
/// Values that are this short could be anything; longer ones are not told.
const SECRET: usize = 4;

/// Where servers are started.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    /// What they see of the environment; none for all that this process sees.
    pub(super) variables: Option<Vec<(OsString, OsString)>>,
    /// Where they run, and what a relative folder counts from.
    pub(super) directory: Option<PathBuf>,
}

/// What a started server last wrote to its standard error.
#[derive(Debug)]
pub(super) struct Said {
    end: Arc<Mutex<VecDeque<u8>>>,
    reading: JoinHandle<()>,
    secrets: Vec<String>,
}

impl Said {
    fn hear(stderr: ChildStderr, secrets: Vec<String>) -> Self {
        let end = Arc::new(Mutex::new(VecDeque::new()));
        let heard = Arc::clone(&end);
        let reading = tokio::spawn(async move { keep(stderr, &heard).await });
        Self { end, reading, secrets }
    }

    /// The end of it on one line, without the values that the server was given; none where it said
    /// nothing.
    pub(super) async fn told(&mut self) -> Option<String> {
        // A server that has just ended may have more to say than was read by now.
        drop(tokio::time::timeout(REST, &mut self.reading).await);
        let bytes: Vec<u8> =
            self.end.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), "[hidden]");
        }
        let text = line(&text, KEPT * 4);
        let from = text.ceil_char_boundary(text.len().saturating_sub(TOLD));
        let begin = if from == 0 { "" } else { "…" };
        (!text.is_empty()).then(|| format!("{begin}{}", &text[from..]))
    }
}

async fn keep(mut stderr: ChildStderr, end: &Mutex<VecDeque<u8>>) {
    let mut part = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut part).await {
        let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
        end.extend(&part[..read]);
        let over = end.len().saturating_sub(KEPT);
        drop(end.drain(..over));
    }
}

/// Starts a server. Interrupts that a terminal sends to this process do not reach it.
pub(super) fn spawn(
    command: &str,
    args: &[String],
    env: &std::collections::BTreeMap<String, String>,
    directory: Option<&Path>,
    surroundings: &Surroundings,
) -> std::io::Result<(TokioChildProcess, Option<Said>)> {
    let mut child = tokio::process::Command::new(command);
    if let Some(variables) = &surroundings.variables {
        child.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    }
    child.args(args).envs(env).kill_on_drop(true);
    #[cfg(unix)]
    child.process_group(0);
    let directory = match (&surroundings.directory, directory) {
        (Some(base), Some(directory)) => Some(base.join(directory)),
        (None, Some(directory)) => Some(directory.to_owned()),
        (base, None) => base.clone(),
    };
    if let Some(directory) = &directory {
        child.current_dir(directory);
    }
    let (child, stderr) = TokioChildProcess::builder(child).stderr(Stdio::piped()).spawn()?;
    let secrets = env.values().filter(|value| value.len() > SECRET).cloned().collect();
    Ok((child, stderr.map(|stderr| Said::hear(stderr, secrets))))
}
