//! The commands that are compared: where they come from, and what they can do.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::told;

/// The package that holds the `ast-grep` command, with the version that is installed where the
/// command is not on the path.
pub const AST_GREP_PACKAGE: &str = "@ast-grep/cli@0.51.1";

/// The options of `xd edit` without which it stops before everything is staged.
const LIMITS: [&str; 2] = ["--max-files", "--max-replacements"];

/// The option of `xd resolve` that leaves out forcing to the disk.
const NOT_DURABLE: &str = "--no-durable";

/// No corpus has as many files or replacements.
const ENOUGH: &str = "100000000";

/// The commands.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Ours.
    pub xd: PathBuf,
    /// The one to compare with.
    pub ast_grep: PathBuf,
    /// The plain search, where there is one.
    pub rg: Option<PathBuf>,
    has_limits: bool,
    has_not_durable: bool,
}

impl Programs {
    /// Finds out what `xd` can do, and whether there is a plain search.
    ///
    /// # Errors
    /// `xd` cannot be started.
    pub fn find(xd: PathBuf, ast_grep: PathBuf) -> Result<Self, String> {
        let help = |command| output(&xd, &[command, "--help"]);
        let edit = help("edit")?;
        let has_limits = LIMITS.iter().all(|option| edit.contains(option));
        let has_not_durable = help("resolve")?.contains(NOT_DURABLE);
        Ok(Self { has_limits, has_not_durable, rg: on_path("rg"), xd, ast_grep })
    }

    /// What lifts the bounds of `xd edit`.
    #[must_use]
    pub fn without_limits(&self) -> Vec<&'static str> {
        if !self.has_limits {
            return Vec::new();
        }
        LIMITS.iter().flat_map(|option| [*option, ENOUGH]).collect()
    }

    /// What leaves out forcing to the disk.
    #[must_use]
    pub fn not_durable(&self) -> Option<&'static str> {
        self.has_not_durable.then_some(NOT_DURABLE)
    }

    /// What each command calls itself.
    #[must_use]
    pub fn versions(&self) -> Vec<String> {
        let known = [Some(&self.xd), Some(&self.ast_grep), self.rg.as_ref()];
        let version = |path: &PathBuf| {
            output(path, &["--version"]).ok()?.lines().next().map(|line| line.trim().to_owned())
        };
        known.into_iter().flatten().filter_map(version).collect()
    }
}

/// The `ast-grep` command: the one named, the one on the path, or one installed into `folder`.
///
/// # Errors
/// Why there is none.
pub fn ast_grep(
    folder: &Path,
    named: Option<&Path>,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, String> {
    if let Some(named) = named {
        let named = std::path::absolute(named).map_err(|error| told(named, &error))?;
        output(&named, &["--version"])?;
        return Ok(named);
    }
    found_or_installed(folder, &on_path, say)
}

/// The command that `on_path` finds, or one installed into `folder`.
fn found_or_installed(
    folder: &Path,
    on_path: &dyn Fn(&str) -> Option<PathBuf>,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, String> {
    if let Some(found) = on_path("ast-grep") {
        return Ok(found);
    }
    let tools = folder.join("tools");
    if let Some(installed) = installed(&tools) {
        return Ok(installed);
    }
    let npm = on_path("npm")
        .ok_or("ast-grep is not on the path, and there is no npm to install it with")?;
    say(&format!("installing {AST_GREP_PACKAGE}"));
    std::fs::create_dir_all(&tools).map_err(|error| told(&tools, &error))?;
    let place = tools.display().to_string();
    let quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"];
    let install = Command::new(npm)
        .args(["install", "--prefix", &place])
        .args(quiet)
        .arg(AST_GREP_PACKAGE)
        .output()
        .map_err(|error| format!("npm: {error}"))?;
    installed(&tools).ok_or_else(|| {
        let said = String::from_utf8_lossy(&install.stderr);
        format!("ast-grep is not on the path and could not be installed: {}", said.trim())
    })
}

/// The program itself, in the package for this kind of machine: what npm links to is a script that
/// starts it, whose time is not the tool's.
fn installed(tools: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(tools.join("node_modules/@ast-grep")).ok()?;
    let name = if cfg!(windows) { "ast-grep.exe" } else { "ast-grep" };
    let mut found: Vec<PathBuf> = packages
        .flatten()
        .filter(|package| package.file_name().to_string_lossy().starts_with("cli-"))
        .map(|package| package.path().join(name))
        .filter(|program| output(program, &["--version"]).is_ok())
        .collect();
    found.sort();
    found.into_iter().next()
}

/// The `xd` command: the one named, or a release build of this checkout. The build keeps the names
/// of functions, for the profile.
///
/// # Errors
/// The build failed.
pub fn xd(root: &Path, named: Option<&Path>, say: &mut dyn FnMut(&str)) -> Result<PathBuf, String> {
    if let Some(named) = named {
        return std::path::absolute(named).map_err(|error| told(named, &error));
    }
    say("building xd");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let keep_names = "profile.release.strip=\"debuginfo\"";
    let built = Command::new(&cargo)
        .args(["build", "--release", "--locked", "--quiet", "--package", "xd-cli"])
        .args(["--message-format=json", "--config", keep_names])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo build: {error}"))?;
    if !built.status.success() {
        return Err(format!("cargo build: {}", built.status));
    }
    executable(&String::from_utf8_lossy(&built.stdout))
        .ok_or_else(|| "cargo build made no executable".to_owned())
}

/// The executable that a build's messages, one JSON object a line, name last.
fn executable(messages: &str) -> Option<PathBuf> {
    let objects = messages.lines().rev();
    let mut objects =
        objects.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    objects.find_map(|object| object["executable"].as_str().map(PathBuf::from))
}

/// The first command called `name` on the path.
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// What a command prints that has to succeed.
pub(crate) fn output(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| told(program, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} {}: {}: {said}", program.display(), arguments.join(" "), output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_the_last_that_a_build_names() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"executable\":\"/srv/project/target/release/xd\"}\n\
                        not JSON\n{\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(messages), Some("/srv/project/target/release/xd".into()));
        assert_eq!(executable("{\"executable\":null}"), None);
    }

    #[test]
    fn a_command_that_is_named_must_be_there() {
        let folder = std::env::temp_dir();
        let missing = Path::new("/no/such/ast-grep");
        let error = ast_grep(&folder, Some(missing), &mut |_| {}).unwrap_err();
        assert!(error.contains("/no/such/ast-grep"), "{error}");
        assert_eq!(on_path("a-command-that-nobody-has"), None);
    }

    #[test]
    fn without_the_command_and_without_npm_the_reason_says_so() {
        let folder = std::env::temp_dir().join(format!("xtask-tools-{}", std::process::id()));
        let nothing = found_or_installed(&folder, &|_| None, &mut |_| {}).unwrap_err();
        assert!(nothing.contains("not on the path") && nothing.contains("npm"), "{nothing}");
        let found = |name: &str| (name == "ast-grep").then(|| PathBuf::from("/usr/bin/ast-grep"));
        let found = found_or_installed(&folder, &found, &mut |_| {}).unwrap();
        assert_eq!(found, Path::new("/usr/bin/ast-grep"));
        assert!(!folder.exists());
    }
}
