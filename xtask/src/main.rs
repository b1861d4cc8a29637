//! The command line of the checks: `cargo xtask <check>`.
//!
//! Exit status 0 where all is well, 1 where something was found, 2 where the
//! check could not be made.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this binary is for"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use xtask::{
    Finding, Tree, compare, conformance, finding, guarantees, layers, numbered, pictures, readme,
    test_index, tidy,
};

const USAGE: &str = "\
usage: cargo xtask <check>

  layers               every crate uses only what its layer allows
  tidy                 files, names, numbers and folders are as the house wants them
  conformance          write docs/CONFORMANCE.md
  conformance --check  it is current, and every required statement has a test
  readme               put the demonstration's transcript into README.md
  readme --check       it is what the demonstration prints
  pictures             make the pictures of docs/pictures
  pictures --check     they show what is printed
  guarantees           put the counts of the tests into docs/GUARANTEES.md
  guarantees --check   they are those that are checked in
  compare              measure xd against ast-grep and rg; takes minutes
      --ast-grep PATH  compare with this command, else with one on the path or from npm
      --xd PATH        measure this command, else a release build of this checkout
      --rounds N       the values are medians of so many rounds (5)
      --start-only     measure the start of the commands alone; takes seconds
      --write          write docs/PERFORMANCE.md
      --strict         exit with 1 where a target is missed
  ci                   run .ci/run, the whole gate";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["layers" | "tidy" | "conformance", "--check"] | ["layers" | "tidy"] => check(arguments[0]),
        [name @ ("readme" | "guarantees" | "pictures"), "--check"] => check(name),
        ["conformance"] => write_conformance(),
        ["readme"] => write_readme(),
        ["guarantees"] => write_guarantees(),
        ["pictures"] => write_pictures(),
        ["compare", ref options @ ..] => compare(options),
        ["ci"] => gate(),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

/// The root of the repository: the folder above this crate.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

fn check(name: &str) -> Result<ExitCode, String> {
    let started = Instant::now();
    let root = root();
    let tree = read(&root)?;
    let findings: Vec<Finding> = match name {
        "layers" => layers::check(&root, &tree),
        "tidy" => tidy::check(&root, &tree),
        "readme" => readme::check(&root, tree.text(readme::DOCUMENT).unwrap_or_default()),
        "guarantees" => guarantees::check(&tree),
        "pictures" => pictures::check(&root),
        _ => conformance::check(&tree),
    };
    if findings.is_empty() {
        println!("{name}: clean ({:.1} s)", started.elapsed().as_secs_f64());
        return Ok(ExitCode::SUCCESS);
    }
    eprint!("{}", finding::report(&findings));
    eprintln!("{name}: {} to mend", findings.len());
    Ok(ExitCode::FAILURE)
}

fn write_conformance() -> Result<ExitCode, String> {
    let root = root();
    let tree = read(&root)?;
    let lists = numbered::Lists::read(&tree);
    let index = test_index::TestIndex::read(&tree);
    fs::write(root.join(conformance::DOCUMENT), conformance::document(&lists, &index))
        .map_err(|error| format!("cannot write {}: {error}", conformance::DOCUMENT))?;
    println!("wrote {}", conformance::DOCUMENT);
    Ok(ExitCode::SUCCESS)
}

fn write_readme() -> Result<ExitCode, String> {
    let path = root().join(readme::DOCUMENT);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", readme::DOCUMENT))?;
    let written = readme::document(&root(), &text)?;
    fs::write(&path, written)
        .map_err(|error| format!("cannot write {}: {error}", readme::DOCUMENT))?;
    println!("wrote {}", readme::DOCUMENT);
    Ok(ExitCode::SUCCESS)
}

fn write_pictures() -> Result<ExitCode, String> {
    for path in pictures::write(&root())? {
        println!("wrote {path}");
    }
    Ok(ExitCode::SUCCESS)
}

fn write_guarantees() -> Result<ExitCode, String> {
    let root = root();
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("cannot read {path}: {error}"))
    };
    let written = guarantees::document(&read(guarantees::DOCUMENT)?, &read(guarantees::PROOFS)?)?;
    fs::write(root.join(guarantees::DOCUMENT), written)
        .map_err(|error| format!("cannot write {}: {error}", guarantees::DOCUMENT))?;
    println!("wrote {}", guarantees::DOCUMENT);
    Ok(ExitCode::SUCCESS)
}

fn compare(options: &[&str]) -> Result<ExitCode, String> {
    let options = compare::Options::parse(options)?;
    let root = root();
    let report = match compare::run(&root, &options, &mut |step| eprintln!("{step}"))? {
        compare::Outcome::Measured(report) => report,
        compare::Outcome::Start(rows) => {
            print!("{}", compare::document::table(&rows));
            let missed = options.strict && !compare::hold(&rows);
            return Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        compare::Outcome::Skipped(reason) => {
            println!("compare: skipped: {reason}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    println!(
        "{}
",
        report.corpus
    );
    print!("{}", compare::document::table(&report.rows));
    for line in &report.checked {
        println!("checked: {line}");
    }
    for line in compare::document::differences(&report.rows) {
        println!("not the same: {line}");
    }
    if options.write {
        let document = compare::document::document(&report);
        fs::write(root.join(compare::document::DOCUMENT), document)
            .map_err(|error| format!("cannot write {}: {error}", compare::document::DOCUMENT))?;
        println!("wrote {}", compare::document::DOCUMENT);
    }
    let missed = options.strict && !report.holds();
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the gate, which is written once: in `.ci/run`, step by step, with the
/// time that each step took.
fn gate() -> Result<ExitCode, String> {
    let gate = root().join(tidy::layout::GATE);
    let status = Command::new(&gate)
        .status()
        .map_err(|error| format!("cannot run {}: {error}", tidy::layout::GATE))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(root: &Path) -> Result<Tree, String> {
    Tree::read(root).map_err(|error| error.to_string())
}
