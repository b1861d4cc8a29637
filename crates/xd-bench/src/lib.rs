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
//! ```
//! use xd_bench::{Table, nanoseconds};
//!
//! let mut table = Table::new("a table");
//! let one = nanoseconds(100, || 1 + 1);
//! table.row("a sum", one);
//! table.bound("a sum to itself", one / one, 1.3);
//! assert!(table.holds());
//! ```

mod measure;
mod table;

pub use measure::nanoseconds;
pub use table::Table;
