//! The pager that long output goes through.

use std::{
    io::{self, Write as _},
    process::{Child, Command, Stdio},
};

use crate::terminal::variable;

/// The most bytes of output that are kept until it is known that the pager runs. A shell that finds
/// no such command is gone long before that.
const KEPT: usize = 1024 * 1024;

/// A pager that runs. Dropped without [`Pager::finish`] it is waited for all the same, so that the
/// shell's prompt never appears while it still has the terminal.
#[derive(Debug)]
pub(crate) struct Pager {
    child: Child,
    /// What it was given, as long as that is little: a pager that cannot be run shows nothing of it.
    kept: Vec<u8>,
    /// Keeps the interrupt from ending this process: it is the pager's key, and a pager whose
    /// feeder dies goes on without a shell that waits for it.
    _interrupts: Option<tokio::runtime::Runtime>,
}

impl Pager {
    /// The pager that the environment names, started; none where it names none (`cat` or nothing),
    /// or where it cannot be started.
    pub(crate) fn start() -> Option<Self> {
        let command = command(&variable)?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&command).stdin(Stdio::piped());
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if variable(name).is_none() {
                shell.env(name, value);
            }
        }
        let interrupts = hold_interrupts();
        let child = shell.spawn().ok()?;
        Some(Self { child, kept: Vec::new(), _interrupts: interrupts })
    }

    /// Gives it text.
    pub(crate) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if self.kept.len() < KEPT {
            self.kept.extend_from_slice(text);
        }
        match &mut self.child.stdin {
            Some(input) => input.write_all(text),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Tells it that this was all, and waits until its reader has seen enough. Answers what it was
    /// given where the shell could not run it, which it has said by then.
    pub(crate) fn finish(&mut self) -> Option<Vec<u8>> {
        drop(self.child.stdin.take());
        let status = self.child.wait().ok()?;
        matches!(status.code(), Some(126 | 127)).then(|| std::mem::take(&mut self.kept))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// What to run: `XD_PAGER`, else `PAGER`, else `less`, where there is one on the path.
fn command(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let named = variable("XD_PAGER").or_else(|| variable("PAGER"));
    let command = match named {
        Some(command) => command,
        None => {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).find(|folder| folder.join("less").is_file())?;
            "less".to_owned()
        }
    };
    (command.trim() != "cat").then_some(command)
}

/// From here on an interrupt does nothing to this process.
fn hold_interrupts() -> Option<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    {
        let _entered = runtime.enter();
        #[cfg(unix)]
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok()?;
    }
    Some(runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_the_one_that_is_named() {
        let named = |set: &[(&str, &str)]| {
            command(&|name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(named(&[("PAGER", "more -s")]).as_deref(), Some("more -s"));
        assert_eq!(named(&[("PAGER", "more"), ("XD_PAGER", "most")]).as_deref(), Some("most"));
        assert_eq!(named(&[("PAGER", "cat")]), None);
        assert_eq!(named(&[("PAGER", "less"), ("XD_PAGER", "cat")]), None);
    }
}
