//! End-to-end and contract tests.
//!
//! *Layer:* above everything. *Uses:* every crate of the workspace. *Touches:* scratch folders.
//! Nothing depends on it.
//!
//! The tests stand in `tests/tests/*.rs`, their data in `tests/scenarios/<name>/`: the folders
//! `input` and `expected`, and `script.json`, a list of tool calls with what their results must
//! hold. This library is what they share: a [`Bench`], which is a scratch workspace with a host
//! over it, and a [`picture`](Bench::picture) of every file in it, so that "nothing was touched"
//! can be asserted.
//!
//! ```
//! use xd_tests::Bench;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let bench = Bench::new(&[("a.txt", "one\n")]);
//! let before = bench.picture();
//! let staged = bench.edit("a.txt", "one", "two").await;
//! assert!(staged.content[0].starts_with("Staged as a proposal"));
//! assert_eq!(bench.picture(), before);
//!
//! bench.write("xd://resolve", "The second number is meant.").await;
//! assert_eq!(bench.text("a.txt"), "two\n");
//! # });
//! ```

pub mod drawings;
pub mod history;
pub mod judges;
pub mod workbench;

pub use history::{assert_paired, assert_requests};
pub use workbench::{Bench, Picture, call, editor, write_call};
