//! The contract tests of staged actions: staging (S), dispatch (D), and the invariants R1–R6.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod batches;
mod cancelling;
mod concurrency;
mod dispatching;
mod earlier_form;
mod late;
mod panicking;
mod polling;
mod probe;
mod recording;
mod routing;
mod stack_model;
mod staging;
