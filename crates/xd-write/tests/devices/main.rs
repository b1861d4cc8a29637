//! Devices whole: schemas, names, refreshes, the inventory, the prompt section, what is run.

mod arguments;
mod bench;
mod inventory;
mod naming;
mod refreshing;
mod running;
mod schemas;
mod scope;
mod section;
