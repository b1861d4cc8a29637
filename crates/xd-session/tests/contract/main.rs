//! The contract tests of sessions: the queue (Q), the gate (G), boundaries (E), and the invariants
//! S1–S5.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod boundaries;
mod capabilities;
mod confirming;
mod directives;
mod gate;
mod gate_search;
mod queue;
mod scene;
mod turns;
