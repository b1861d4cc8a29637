//! W6, W7: what a person is asked is what runs, as far as she said, and her no is kept.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod because;
mod declined;
mod desk;
mod grants;
mod malformed;
mod same;
