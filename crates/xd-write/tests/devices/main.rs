//! Devices whole: schemas, names, refreshes, the inventory, the prompt section, what is run.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod arguments;
mod bench;
mod inventory;
mod naming;
mod refreshing;
mod running;
mod schemas;
mod scope;
mod section;
mod shown;
