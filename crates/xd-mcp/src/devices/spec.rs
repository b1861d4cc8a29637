//! Which servers there are: the file that most clients share.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Map, Value};

/// A server that is started by a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// What its devices' names begin with.
    pub name: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub directory: Option<PathBuf>,
    /// Whether a tool that the server calls read-only passes for one that only looks (case 168).
    /// Its word is all there is; turn it off for a server that is not trusted.
    pub read_only_hints: bool,
}

/// Why a file of servers is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecFault {
    /// It is no JSON.
    #[error("it is no JSON: {0}")]
    Json(String),
    /// It has no `mcpServers`.
    #[error(
        r#"it has no object "mcpServers"; for example {{"mcpServers": {{"git": {{"command": "git-mcp", "args": []}}}}}}"#
    )]
    NoServers,
    /// A server's entry is not as it should be.
    #[error("mcpServers.{server}: {message}")]
    Server {
        /// Which.
        server: String,
        /// What is wrong.
        message: String,
    },
}

/// Reads `{"mcpServers": {name: {command, args, env, cwd, readOnlyHints}}}`, in the order of the
/// file. Entries with `"disabled": true` are left out; what else stands in an entry is left alone.
///
/// ```
/// let file = r#"{"mcpServers": {"git": {"command": "git-mcp", "args": ["--all"]}}}"#;
/// let servers = xd_mcp::devices::read_servers(file).unwrap();
/// assert_eq!(servers[0].name, "git");
/// assert_eq!(servers[0].args, ["--all"]);
/// ```
///
/// # Errors
/// [`SpecFault`], naming the entry and the field.
pub fn read_servers(text: &str) -> Result<Vec<ServerSpec>, SpecFault> {
    let file: Value =
        serde_json::from_str(text).map_err(|error| SpecFault::Json(error.to_string()))?;
    let servers = file.get("mcpServers").and_then(Value::as_object).ok_or(SpecFault::NoServers)?;
    let mut read = Vec::with_capacity(servers.len());
    for (name, entry) in servers {
        let fault = |message: String| SpecFault::Server { server: name.clone(), message };
        let Value::Object(entry) = entry else {
            return Err(fault("it must be an object".to_owned()));
        };
        if entry.get("disabled") == Some(&Value::Bool(true)) {
            continue;
        }
        read.push(spec(name, entry).map_err(fault)?);
    }
    Ok(read)
}

fn spec(name: &str, entry: &Map<String, Value>) -> Result<ServerSpec, String> {
    let command = match (entry.get("command"), entry.get("url")) {
        (Some(Value::String(command)), _) if !command.is_empty() => command.clone(),
        (Some(_), _) => return Err("`command` must be a program's name".to_owned()),
        (None, Some(_)) => {
            return Err("servers over HTTP are not mounted; give a `command`".to_owned());
        }
        (None, None) => return Err("`command` is missing".to_owned()),
    };
    let text = |value: &Value, what: &str| match value {
        Value::String(text) => Ok(text.clone()),
        _ => Err(format!("{what} must be strings")),
    };
    let args = match entry.get("args") {
        None => Vec::new(),
        Some(Value::Array(args)) => {
            args.iter().map(|arg| text(arg, "`args`")).collect::<Result<_, _>>()?
        }
        Some(_) => return Err("`args` must be a list".to_owned()),
    };
    let env = match entry.get("env") {
        None => BTreeMap::new(),
        Some(Value::Object(env)) => env
            .iter()
            .map(|(key, value)| Ok((key.clone(), text(value, "the values of `env`")?)))
            .collect::<Result<_, String>>()?,
        Some(_) => return Err("`env` must be an object".to_owned()),
    };
    let directory = match entry.get("cwd") {
        None => None,
        Some(cwd) => Some(text(cwd, "`cwd` and the like")?.into()),
    };
    let read_only_hints = match entry.get("readOnlyHints") {
        None => true,
        Some(Value::Bool(hints)) => *hints,
        Some(_) => return Err("`readOnlyHints` must be true or false".to_owned()),
    };
    Ok(ServerSpec { name: name.to_owned(), command, args, env, directory, read_only_hints })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        read_servers(text).unwrap_err().to_string()
    }

    #[test]
    fn faults_name_the_entry_and_the_field() {
        assert!(fault("{").starts_with("it is no JSON"));
        assert!(fault("[]").contains("mcpServers"));
        let entry = |entry: &str| fault(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#));
        assert_eq!(entry("1"), "mcpServers.a: it must be an object");
        assert_eq!(entry("{}"), "mcpServers.a: `command` is missing");
        assert!(entry(r#"{"url": "http://127.0.0.1:1"}"#).contains("HTTP"));
        assert!(entry(r#"{"command": ["a"]}"#).contains("`command`"));
        assert!(entry(r#"{"command": "a", "args": "b"}"#).contains("`args`"));
        assert!(entry(r#"{"command": "a", "args": [1]}"#).contains("`args`"));
        assert!(entry(r#"{"command": "a", "env": {"b": 1}}"#).contains("`env`"));
        assert!(entry(r#"{"command": "a", "readOnlyHints": 1}"#).contains("`readOnlyHints`"));
    }

    #[test]
    fn what_is_disabled_is_left_out_and_the_rest_read_whole() {
        let servers = read_servers(
            r#"{"mcpServers": {
                "b": {"command": "x", "env": {"K": "v"}, "cwd": "/tmp", "readOnlyHints": false},
                "a": {"command": "y", "disabled": true},
                "c": {"command": "z", "type": "stdio"}
            }}"#,
        )
        .unwrap();
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(servers[0].env["K"], "v");
        assert_eq!(servers[0].directory.as_deref(), Some("/tmp".as_ref()));
        assert!(!servers[0].read_only_hints && servers[1].read_only_hints);
    }
}
