//! The programs that Cargo builds beside the tests.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The example `name`.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let program = built.join("examples").join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it first: cargo build -p xd-mcp --example {name}");
    program
}
