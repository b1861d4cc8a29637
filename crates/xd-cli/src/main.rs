//! The command `xd`.
fn main() {}
