//! The locks and atomics under the shared types: those of std, or loom's where a test tries every
//! interleaving of threads (`tests/loom.rs` says how).

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
