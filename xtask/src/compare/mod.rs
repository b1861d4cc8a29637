//! `cargo xtask compare`: `xd` against the tools that people use, in one run.
//!
//! Every number of the table is a ratio of two commands that ran in turns on the same files, and
//! what both wrote is compared byte by byte. Times alone say more of the machine than of the code.
//!
//! In reading order: [`corpus`] is what is worked on, [`operations`] what is done to it,
//! [`programs`] with what, [`process`] how one call is measured, [`rounds`] and [`one_file`] the
//! order of the calls, [`start`] what a call costs before it does anything, [`same`] the comparison of the outcomes, [`judge`] the numbers, [`profile`]
//! where the time goes and [`document`] what is printed and written.

pub mod corpus;
pub mod document;
pub mod judge;
pub mod one_file;
pub mod operations;
pub mod process;
pub mod profile;
pub mod programs;
pub mod rounds;
pub mod same;
pub mod start;

use std::path::{Path, PathBuf};

use corpus::Corpus;
use judge::Row;
use programs::Programs;

/// The folder, below that of the builds, in which everything of a comparison lies.
pub const FOLDER: &str = "target/compare";

/// What a comparison is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The `ast-grep` command to compare with, instead of the one found or installed.
    pub ast_grep: Option<PathBuf>,
    /// The `xd` command to measure, instead of the one built from this checkout.
    pub xd: Option<PathBuf>,
    /// How many rounds; each value of the table is the median of them.
    pub rounds: usize,
    /// Whether to write [`document::DOCUMENT`].
    pub write: bool,
    /// Whether a missed target is a failure.
    pub strict: bool,
    /// Whether only the start of the commands is measured, which takes seconds.
    pub start_only: bool,
}

impl Options {
    /// Reads what stands behind `compare` on the command line.
    ///
    /// # Errors
    /// Names the argument that is none, or lacks its value.
    pub fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            ast_grep: None,
            xd: None,
            rounds: 5,
            write: false,
            strict: false,
            start_only: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value =
                || rest.next().copied().ok_or_else(|| format!("compare: {argument} needs a value"));
            match *argument {
                "--ast-grep" => options.ast_grep = Some(value()?.into()),
                "--xd" => options.xd = Some(value()?.into()),
                "--rounds" => {
                    let text = value()?;
                    let rounds = text.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds = rounds
                        .ok_or_else(|| format!("compare: --rounds {text}: give a number from 1"))?;
                }
                "--write" => options.write = true,
                "--strict" => options.strict = true,
                "--start-only" => options.start_only = true,
                other => {
                    return Err(format!(
                        "compare: `{other}` is no option; there are --ast-grep PATH, --xd PATH, \
                         --rounds N, --start-only, --write and --strict"
                    ));
                }
            }
        }
        if options.start_only && options.write {
            return Err(
                "compare: --start-only measures a part; --write writes the whole".to_owned()
            );
        }
        Ok(options)
    }
}

/// What a comparison came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// The table, in the order of the measurements.
    pub rows: Vec<Row>,
    /// What was worked on.
    pub corpus: corpus::Size,
    /// How many rounds were made.
    pub rounds: usize,
    /// How many cores the machine gives to a process.
    pub cores: usize,
    /// The versions of the commands, one a line.
    pub versions: Vec<String>,
    /// What was compared byte by byte, one sentence each.
    pub checked: Vec<String>,
    /// Where the time goes; a sentence where it could not be found out.
    pub profile: Result<Vec<profile::Profile>, String>,
}

impl Report {
    /// Whether no target is missed. What could not be measured counts as missed.
    #[must_use]
    pub fn holds(&self) -> bool {
        hold(&self.rows)
    }
}

/// Whether no target of these rows is missed.
#[must_use]
pub fn hold(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.verdict() != judge::Verdict::Missed)
}

/// Whether there was something to compare with.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Report>),
    /// The start alone was measured.
    Start(Vec<Row>),
    /// It was not, for this reason: the other tool or the corpus cannot be had here.
    Skipped(String),
}

/// Compares, and tells `say` what is going on.
///
/// # Errors
/// What went wrong, for a person: a build or a command that failed, or two outcomes that differ.
pub fn run(root: &Path, options: &Options, say: &mut dyn FnMut(&str)) -> Result<Outcome, String> {
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|error| told(&folder, &error))?;
    let ast_grep = match programs::ast_grep(&folder, options.ast_grep.as_deref(), say) {
        Ok(path) => path,
        // What is named must be there; what is looked for may be missing.
        Err(reason) if options.ast_grep.is_some() => return Err(reason),
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let xd = programs::xd(root, options.xd.as_deref(), say)?;
    let programs = Programs::find(xd, ast_grep)?;
    if options.start_only {
        return Ok(Outcome::Start(start::measure(&folder, &programs, options.rounds, say)?));
    }
    let corpus = match Corpus::assemble(root, &folder, &programs, say)? {
        Ok(corpus) => corpus,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    say(&format!("corpus: {}", corpus.size));
    let mut checked = Vec::new();
    let mut rows = rounds::measure(&folder, &corpus, &programs, options.rounds, &mut checked, say)?;
    rows.extend(start::measure(&folder, &programs, options.rounds, say)?);
    rows.extend(one_file::measure(&folder, &programs, options.rounds, &mut checked, say)?);
    let profile = profile::take(&folder, &corpus, &programs, say);
    Ok(Outcome::Measured(Box::new(Report {
        rows,
        corpus: corpus.size,
        rounds: options.rounds,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        versions: programs.versions(),
        checked,
        profile,
    })))
}

/// An error of the system with the path that it is about.
pub(crate) fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_what_is_none_is_named() {
        let all = ["--ast-grep", "a", "--xd", "x", "--rounds", "3", "--write", "--strict"];
        let options = Options::parse(&all).unwrap();
        let wanted = Options {
            ast_grep: Some("a".into()),
            xd: Some("x".into()),
            rounds: 3,
            write: true,
            strict: true,
            start_only: false,
        };
        assert_eq!(options, wanted);
        assert_eq!(Options::parse(&[]).unwrap().rounds, 5);
        for (wrong, named) in [
            (&["--fast"][..], "`--fast`"),
            (&["--rounds"], "--rounds needs a value"),
            (&["--rounds", "0"], "--rounds 0"),
            (&["--ast-grep"], "--ast-grep needs a value"),
            (&["--start-only", "--write"], "--start-only"),
        ] {
            assert!(Options::parse(wrong).unwrap_err().contains(named), "{wrong:?}");
        }
    }
}
