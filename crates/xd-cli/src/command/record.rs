//! `xd record`: one run of the agent whose model's answers become a script.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt as _, path::Path};

use xd_agent::Recording;

use super::agent::{Once, start};
use crate::{
    agent::{arguments::RecordArguments, model::AnyModel},
    failure::{Failure, Status},
    screen::Screen,
};

/// Runs the agent once and writes the script.
pub(crate) fn run(
    directory: &Path,
    arguments: &RecordArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let output = &arguments.output;
    let wrap = |model: AnyModel| -> Result<AnyModel, Failure> {
        let failure = |error: std::io::Error| {
            let what = format!("'{}' cannot be written: {error}", output.display());
            Failure::new(what, "Name a file that is not there yet, in a folder that is.")
        };
        // What a model says may hold what it was shown: the file is the user's own.
        let mut options = OpenOptions::new();
        let file =
            options.write(true).create_new(true).mode(0o600).open(output).map_err(failure)?;
        Ok(Box::new(Recording::new(model, file).map_err(failure)?))
    };
    let status = start(directory, &arguments.run, &arguments.prompt, Once::Yes, wrap, screen)?;
    screen
        .remark(&format!("xd: recorded; xd agent --model script:{} repeats it.", output.display()));
    Ok(status)
}
