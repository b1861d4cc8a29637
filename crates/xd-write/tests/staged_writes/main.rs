//! W1–W7, S4–S7, F2–F7: file writes behind the confirm, through a host, on real files.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod content;
mod deciding;
mod desk;
mod refusals;
mod restart;
mod stacking;
mod staging;
