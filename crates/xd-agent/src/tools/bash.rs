//! The tool `bash`: a command of the shell.

use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    process::{Child, Command},
    time::{sleep, timeout},
};
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure};

use super::{arguments, kept_output::KeptOutput};

const NAME: &str = "bash";
const EXAMPLE: &str = r#"{"command": "cargo test -p core", "timeout_s": 300}"#;
/// How long a command may take, unless the call says otherwise.
const USUAL_S: u64 = 120;
/// The longest that a call may ask for.
const MOST_S: u64 = 3_600;
/// How much of the begin and of the end of the output is kept.
const KEPT: usize = 16 << 10;
/// How long output is waited for once the command itself has ended.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// Runs a command of the shell in the workspace. Tier exec; runs alone.
///
/// The command has the environment that [`new`](Self::new) was given and nothing else, no input,
/// and a process group of its own: when it ends, is out of time or is cancelled, whatever it
/// started ends with it (**Invariant G9**). It is not confined: what it may do is what the user may.
#[derive(Debug)]
pub struct BashTool {
    definition: ToolDefinition,
    environment: Vec<(OsString, OsString)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    #[serde(default)]
    timeout_s: Option<u64>,
}

impl BashTool {
    /// A shell whose commands have this environment; see
    /// [`shell_environment`](super::shell_environment).
    #[must_use]
    pub fn new(environment: Vec<(OsString, OsString)>) -> Self {
        let definition = ToolDefinition::new(
            NAME,
            "Runs a command with bash in the workspace and answers its output and exit status.\n\
             Output and errors come together; of long output begin and end are kept. There is no \
             input and no terminal. What the command leaves in the background ends with it.",
            json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string", "description": "The command." },
                    "timeout_s": { "type": "integer", "minimum": 1, "maximum": MOST_S, "description": "Seconds until it is ended; 120 without it." }
                },
                "required": ["command"],
                "additionalProperties": false
            }),
        );
        Self { definition, environment }
    }
}

impl Tool for BashTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(Tier::Exec)
    }

    fn declared_tier(&self) -> Option<Tier> {
        Some(Tier::Exec)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    /// # Cancel safety
    /// Dropped, the command is ended with its whole group.
    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move {
            let arguments: Arguments = match arguments::read(NAME, arguments, EXAMPLE) {
                Ok(arguments) => arguments,
                Err(answer) => return Ok(answer),
            };
            if arguments.command.trim().is_empty() {
                let text = format!("{NAME}: the command is empty. Example: {EXAMPLE}");
                return Ok(ToolResult::error(text));
            }
            let limit =
                Duration::from_secs(arguments.timeout_s.unwrap_or(USUAL_S).clamp(1, MOST_S));
            let begun = Instant::now();
            let (group, output) = match self.start(context.workspace().path(), &arguments.command) {
                Ok(started) => started,
                Err(error) => {
                    let text = format!("{NAME}: the command cannot be started: {error}");
                    return Ok(ToolResult::error(text));
                }
            };
            tokio::select! {
                () = context.cancel().cancelled() => Err(ToolFailure::Aborted),
                (end, kept) = run(group, output, limit) => Ok(answer(&end, &kept, limit, begun)),
            }
        })
    }
}

impl BashTool {
    fn start(
        &self,
        folder: &std::path::Path,
        command: &str,
    ) -> io::Result<(Group, pipe::Receiver)> {
        let (reader, writer) = io::pipe()?;
        let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let errors = writer.try_clone()?;
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", command])
            .current_dir(folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("TERM", "dumb")
            .env("PWD", folder)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(errors)
            .process_group(0)
            .kill_on_drop(true);
        let child = bash.spawn()?;
        // The command holds the writing ends of the pipe; with them open here it would never end.
        drop(bash);
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok((Group { id, child }, reader))
    }
}

/// A command with all that it started. It ends with its value.
struct Group {
    id: Option<Pid>,
    child: Child,
}

impl Group {
    fn end(&mut self) {
        if let Some(id) = self.id.take() {
            // Where nothing of the group is left there is nothing to end.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a command ended.
#[derive(Debug)]
enum End {
    Exited(ExitStatus),
    OutOfTime,
    Lost(io::Error),
}

/// Waits for the command and reads what it says, within `limit`.
async fn run(mut group: Group, mut output: pipe::Receiver, limit: Duration) -> (End, KeptOutput) {
    let mut kept = KeptOutput::new(KEPT);
    let end = {
        let read = read(&mut output, &mut kept);
        tokio::pin!(read);
        let mut is_read = false;
        let deadline = sleep(limit);
        tokio::pin!(deadline);
        let end = loop {
            tokio::select! {
                status = group.child.wait() => break status.map_or_else(End::Lost, End::Exited),
                () = &mut read, if !is_read => is_read = true,
                () = &mut deadline => break End::OutOfTime,
            }
        };
        group.end();
        if !is_read {
            // What is still in the pipe. Nobody writes into it any more but who left the group.
            let _ = timeout(AFTERWARDS, &mut read).await;
        }
        end
    };
    (end, kept)
}

async fn read(output: &mut pipe::Receiver, kept: &mut KeptOutput) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        kept.push(&buffer[..count]);
    }
}

fn answer(end: &End, kept: &KeptOutput, limit: Duration, begun: Instant) -> ToolResult {
    let mut text = kept.text();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let (last, failed, status) = match end {
        End::Exited(status) => match (status.code(), status.signal()) {
            (Some(0), _) if text.is_empty() => {
                ("It ended well and said nothing.".to_owned(), false, Some(0))
            }
            (Some(0), _) => (String::new(), false, Some(0)),
            (Some(code), _) => (format!("Exit status {code}."), true, Some(code)),
            (None, Some(signal)) => (format!("Ended by signal {signal}."), true, None),
            (None, None) => ("It ended in an unknown way.".to_owned(), true, None),
        },
        End::OutOfTime => {
            let limit = limit.as_secs();
            let more = "give `timeout_s` if it needs longer";
            (format!("Not done after {limit} s, so it was ended; {more}."), true, None)
        }
        End::Lost(error) => (format!("What became of it is not known: {error}."), true, None),
    };
    text.push_str(&last);
    let details = json!({
        "exit_status": status,
        "timed_out": matches!(end, End::OutOfTime),
        "left_out_bytes": kept.left_out(),
        "elapsed_ms": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    });
    let result = if failed { ToolResult::error(text) } else { ToolResult::text(text) };
    result.with_details(details)
}
