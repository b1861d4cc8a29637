//! The wires against a real server: what is sent, byte for byte; what is refused; what breaks.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the test")]

mod bodies;
mod broken;
mod flavour;
mod requests;
mod rules;
mod runs;
mod server;
mod stage;
mod streams;
