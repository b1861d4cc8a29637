//! Measurements of the house, each a ratio within one run.
//!
//! *Layer:* beside the binary; nothing depends on it. *Uses:* whatever it measures, and the clock.
//! *Never touches:* files or the network. A crate of its own, because `cargo bench` builds all
//! dependencies in release.
//!
//! A time alone says more of the machine than of the code. So every bound is a ratio to something
//! plain that is measured in the same run: a hash-map insert, a comparison of strings, the same
//! thing with fewer actions pending. `cargo bench -p xd-bench` prints the table and ends with
//! status 1 where a bound does not hold.
//!
//! The cases of a [`Contest`] are measured in turns, in short samples of which the least counts, so
//! that a busy machine slows all of them or none. What can be counted rather than timed
//! (allocations, bytes) is asserted by `tests/counts.rs`, on every change.
//!
//! ```
//! use xd_bench::{Contest, Table};
//!
//! let mut contest = Contest::new();
//! let sum = contest.case(100, || 1 + 1);
//! let ns = contest.measured().nanoseconds(sum);
//!
//! let mut table = Table::new("a table");
//! table.row("a sum", ns);
//! table.bound("a sum to itself", ns / ns, 1.3);
//! assert!(table.holds());
//! ```

mod measure;
mod probe;
mod table;

pub use measure::{CaseId, Contest, Measured};
pub use probe::Probe;
pub use table::Table;
