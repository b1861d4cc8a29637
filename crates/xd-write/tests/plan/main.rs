//! P1–P4, W7, U7: plan mode through a host, on real files.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod drafts;
mod edges;
mod policy;
mod proposals;
mod random;
mod recorded;
mod refusals;
mod scene;
