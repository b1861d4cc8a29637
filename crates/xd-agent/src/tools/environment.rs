//! Which variables a command may see.

use std::ffi::OsString;

/// What a command needs to find programs, its home, its language and its tool chains. Names that
/// end in `*` stand for all that begin so. No key has such a name.
pub const ORDINARY_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "NVM_DIR",
];

/// Of `variables` those that a command may see: the [ordinary ones](ORDINARY_VARIABLES) and those
/// named in `more`. Keys and tokens stay out because they are not named, not because their names
/// were guessed.
///
/// ```
/// use xd_agent::tools::shell_environment;
///
/// let all = [("PATH", "/bin"), ("OPENAI_API_KEY", "sk-1"), ("LC_ALL", "C"), ("CC", "clang")];
/// let all = all.map(|(name, value)| (name.into(), value.into()));
/// let seen = shell_environment(all, &["CC".to_owned()]);
/// let names: Vec<_> = seen.iter().map(|(name, _)| name.to_str().unwrap()).collect();
/// assert_eq!(names, ["PATH", "LC_ALL", "CC"]);
/// ```
pub fn shell_environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    more: &[String],
) -> Vec<(OsString, OsString)> {
    let ordinary = |name: &str| {
        ORDINARY_VARIABLES.iter().any(|known| match known.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == *known,
        })
    };
    let seen = |name: &OsString| {
        name.to_str().is_some_and(|name| ordinary(name) || more.iter().any(|more| more == name))
    };
    variables.into_iter().filter(|(name, _)| seen(name)).collect()
}
