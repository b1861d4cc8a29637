//! Checks that keep the house in order.
//!
//! Layer: outside the house. It uses no crate of the workspace and none of
//! the workspace uses it, so that it still builds while they do not.
//! It may read every tracked file and run `git` and `cargo`; it writes
//! `docs/CONFORMANCE.md`, `docs/GUARANTEES.md`, `docs/pictures` and `README.md`. Only [`compare`] starts other
//! commands too, fetches packages, and writes below `target/compare` and `docs/PERFORMANCE.md`.
//!
//! # The checks
//!
//! | command | asks |
//! |---|---|
//! | `cargo xtask layers` | does every crate use only what its layer allows? |
//! | `cargo xtask tidy` | are files, names, numbers and folders as the house wants them? |
//! | `cargo xtask conformance` | writes which tests cover which statement and case |
//! | `cargo xtask conformance --check` | is that file current, and is every required statement covered? |
//! | `cargo xtask readme` | puts the demonstration's transcript into the README |
//! | `cargo xtask readme --check` | is it what the demonstration prints? |
//! | `cargo xtask pictures` | makes the pictures of the README |
//! | `cargo xtask pictures --check` | do they show what is printed? |
//! | `cargo xtask guarantees` | puts the counts of the tests into the guarantees |
//! | `cargo xtask guarantees --check` | are those the counts that are checked in? |
//! | `cargo xtask compare` | measures `xd` against `ast-grep` and `rg` |
//! | `cargo xtask ci` | runs `.ci/run`, the whole gate |
//!
//! Each check is also a test of this crate (`tests/repository.rs`), so that
//! `cargo test --workspace` is the whole gate but for formatting and lints.
//!
//! # The rules
//!
//! - A check is a function from a [`Tree`] (paths and texts) to a list of
//!   [`Finding`]s. It reads no disk itself, so a test shows with a few lines
//!   of input that it is able to fail.
//! - Every finding names the place, the fact, and what mends it.
//! - The tree is what `git` tracks: what a clone would hold. A new file counts
//!   from `git add` on.
//!
//! # Example
//!
//! ```
//! use xtask::{Tree, tidy};
//!
//! let tree = Tree::from_files([("crates/a/src/lib.rs", "pub mod utils;\n")]);
//! let findings = tidy::files::first_lines(&tree);
//! assert_eq!(findings.len(), 1);
//! assert!(findings[0].to_string().starts_with("crates/a/src/lib.rs:1: "));
//! ```
//!
//! # Modules, in reading order
//!
//! [`tree`] and [`finding`] are what every check starts from and answers;
//! [`lexer`], [`citations`], [`numbered`] and [`test_index`] read sources,
//! numbers and tests; [`layers`] with [`purity`], [`tidy`] and
//! [`conformance`] are the checks, [`readme`], [`guarantees`] and [`pictures`] those of generated
//! parts;
//! [`compare`] is no check: it measures, and takes minutes.

pub mod tree;

pub mod finding;

pub mod lexer;

pub mod citations;

pub mod numbered;

pub mod test_index;

pub mod layers;

pub mod purity;

pub mod tidy;

pub mod conformance;

pub mod readme;

pub mod guarantees;

pub mod pictures;

pub mod compare;

pub use finding::Finding;
pub use tree::{Tree, TreeError};
