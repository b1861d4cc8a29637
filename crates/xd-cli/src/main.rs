//! The command `xd`: stage, look, resolve, reject.
//!
//! *Layer:* the top. *Uses:* everything below. The only crate that prints, exits or reads the
//! environment; nothing depends on it.

mod agent;
mod arguments;
mod command;
mod demo;
mod failure;
mod pager;
mod place;
mod recovered;
mod review;
mod screen;
mod sessions;
mod terminal;
mod usage;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{arguments::Arguments, screen::Screen};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage::answer(&error),
    };
    follow_if_asked();
    let mut screen = Screen::of(&arguments);
    let status = match command::run(&arguments, &mut screen) {
        Ok(status) => status,
        Err(failure) => screen.fail(&failure),
    };
    screen.finish(status)
}

/// Logs to standard error where `XD_LOG` says what (`XD_LOG=debug`); otherwise nothing is logged.
fn follow_if_asked() {
    if let Ok(filter) = std::env::var("XD_LOG") {
        let filter = tracing_subscriber::EnvFilter::new(filter);
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}
