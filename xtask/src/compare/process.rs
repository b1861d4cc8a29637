//! One call of a command: how long it took by the clock, and the most memory it had.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4 as _;

use super::told;

/// A command with what it is given, ready to run any number of times.
#[derive(Debug, Clone)]
pub struct Call {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    accepted: &'static [i32],
}

/// What a call took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// From the start to the end, by the clock.
    pub seconds: f64,
    /// The most memory that was resident, as the system counted it for this process. The system
    /// starts counting with what the starting process has, which is why this one reads piece by
    /// piece.
    pub bytes: f64,
    /// The exit status.
    pub status: i32,
}

impl Call {
    /// `program` with `arguments` in `folder`; exit status 0 is the only one that is accepted.
    pub fn new<'a>(
        program: &Path,
        arguments: impl IntoIterator<Item = &'a str>,
        folder: &Path,
    ) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            folder: folder.to_owned(),
            accepted: &[0],
        }
    }

    /// Accepts 1 too, with which search commands say that they found nothing.
    #[must_use]
    pub fn or_nothing_found(mut self) -> Self {
        self.accepted = &[0, 1];
        self
    }

    /// The program and its arguments.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let program = self.program.display().to_string();
        std::iter::once(program).chain(self.arguments.iter().cloned()).collect()
    }

    /// Where it runs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs it and drops what it prints.
    ///
    /// # Errors
    /// It could not be started, or ended with a status that is not accepted.
    pub fn run(&self) -> Result<Spent, String> {
        self.run_to(Stdio::null())
    }

    /// Runs it and puts what it prints into `file`.
    ///
    /// # Errors
    /// As [`Call::run`], or the file cannot be made.
    pub fn run_into(&self, file: &Path) -> Result<Spent, String> {
        let output = File::create(file).map_err(|error| told(file, &error))?;
        self.run_to(output.into())
    }

    fn run_to(&self, output: Stdio) -> Result<Spent, String> {
        let complaints = std::env::temp_dir().join(format!("compare-{}.txt", std::process::id()));
        let errors = File::create(&complaints).map_err(|error| told(&complaints, &error))?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let begin = Instant::now();
        let child = command.spawn().map_err(|error| told(&self.program, &error))?;
        let ended = child.wait4().map_err(|error| told(&self.program, &error))?;
        let seconds = begin.elapsed().as_secs_f64();
        let said = fs::read_to_string(&complaints).unwrap_or_default();
        // It lies among temporary files; one that stays harms nobody.
        let _ = fs::remove_file(&complaints);
        match ended.status.code() {
            Some(status) if self.accepted.contains(&status) => {
                Ok(Spent { seconds, bytes: ended.rusage.maxrss as f64, status })
            }
            _ => Err(format!("{}: {}\n{said}", self.words().join(" "), ended.status)),
        }
    }
}

/// Waits until what was written so far is on the disk, so that it costs nothing later.
pub fn settle() {
    // Where there is no such command the measurement is only noisier.
    let _ = Command::new("sync").status();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_measured_and_its_failure_is_told_with_what_it_said() {
        let here = std::env::temp_dir();
        let shell = Path::new("/bin/sh");
        let spent = Call::new(shell, ["-c", "sleep 0.05"], &here).run().unwrap();
        assert!(spent.seconds >= 0.05 && spent.bytes > 100_000.0, "{spent:?}");
        let failing = Call::new(shell, ["-c", "echo so it is >&2; exit 1"], &here);
        assert!(failing.run().unwrap_err().contains("so it is"));
        assert_eq!(failing.or_nothing_found().run().unwrap().status, 1);
        assert!(Call::new(Path::new("/no/such"), [], &here).run().is_err());
    }
}
