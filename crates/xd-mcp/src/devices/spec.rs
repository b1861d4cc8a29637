//! Which servers there are: the file that most clients share.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use serde_json::{Map, Value};

/// A server and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// What its devices' names begin with.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether a tool that the server calls read-only passes for one that only looks (case 168).
    /// Its word is all there is; turn it off for a server that is not trusted.
    pub read_only_hints: bool,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// It is started, and spoken to over its standard streams.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is added to its environment.
        env: BTreeMap<String, String>,
        /// Where it runs; without one, where this process does.
        directory: Option<PathBuf>,
    },
    /// It runs, and is spoken to over streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// What every request carries.
        headers: BTreeMap<String, String>,
    },
}

/// Values of the environment and of headers are secrets more often than not.
impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, args, env, directory } => f
                .debug_struct("Command")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .field("directory", directory)
                .finish(),
            Self::Http { url, headers } => {
                f.debug_struct("Http").field("url", url).field("headers", &headers.keys()).finish()
            }
        }
    }
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

/// Reads `{"mcpServers": {name: {command, args, env, cwd}}}`, or `{url, headers}` for a server over
/// HTTP, each with `readOnlyHints` if need be, in the order of the file. Entries with `"disabled": true` are left out; what else stands in an entry is left alone.
///
/// ```
/// let file = r#"{"mcpServers": {"git": {"command": "git-mcp", "args": ["--all"]}}}"#;
/// let servers = xd_mcp::devices::read_servers(file).unwrap();
/// assert_eq!(servers[0].name, "git");
/// assert!(servers[0].read_only_hints);
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
    let reach = match (entry.get("command"), entry.get("url")) {
        (Some(_), Some(_)) => return Err("it has both `command` and `url`".to_owned()),
        (Some(Value::String(command)), None) if !command.is_empty() => Reach::Command {
            command: command.clone(),
            args: list(entry, "args")?,
            env: table(entry, "env")?,
            directory: match entry.get("cwd") {
                None => None,
                Some(Value::String(directory)) => Some(directory.into()),
                Some(_) => return Err("`cwd` must be a string".to_owned()),
            },
        },
        (Some(_), None) => return Err("`command` must be a program's name".to_owned()),
        (None, Some(Value::String(url)))
            if url.starts_with("http://") || url.starts_with("https://") =>
        {
            Reach::Http { url: url.clone(), headers: table(entry, "headers")? }
        }
        (None, Some(_)) => return Err("`url` must begin with http:// or https://".to_owned()),
        (None, None) => return Err("`command` is missing, and so is `url`".to_owned()),
    };
    let read_only_hints = match entry.get("readOnlyHints") {
        None => true,
        Some(Value::Bool(hints)) => *hints,
        Some(_) => return Err("`readOnlyHints` must be true or false".to_owned()),
    };
    Ok(ServerSpec { name: name.to_owned(), reach, read_only_hints })
}

fn list(entry: &Map<String, Value>, field: &str) -> Result<Vec<String>, String> {
    let fault = || format!("`{field}` must be a list of strings");
    match entry.get(field) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(ToOwned::to_owned).ok_or_else(fault))
            .collect(),
        Some(_) => Err(fault()),
    }
}

fn table(entry: &Map<String, Value>, field: &str) -> Result<BTreeMap<String, String>, String> {
    let fault = || format!("`{field}` must be an object of strings");
    match entry.get(field) {
        None => Ok(BTreeMap::new()),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(key, value)| Ok((key.clone(), value.as_str().ok_or_else(fault)?.to_owned())))
            .collect(),
        Some(_) => Err(fault()),
    }
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
        assert_eq!(entry("{}"), "mcpServers.a: `command` is missing, and so is `url`");
        assert!(entry(r#"{"url": "file:///x"}"#).contains("`url`"));
        assert!(entry(r#"{"url": "http://x", "headers": []}"#).contains("`headers`"));
        assert!(entry(r#"{"url": "http://x", "command": "y"}"#).contains("both"));
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
                "c": {"command": "z", "type": "stdio"},
                "d": {"url": "https://x", "headers": {"Authorization": "Bearer t"}}
            }}"#,
        )
        .unwrap();
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "d"]);
        let Reach::Command { env, directory, .. } = &servers[0].reach else { panic!() };
        assert_eq!(env["K"], "v");
        assert_eq!(directory.as_deref(), Some("/tmp".as_ref()));
        assert!(!format!("{servers:?}").contains("\"v\""), "values are not shown");
        assert!(matches!(&servers[2].reach, Reach::Http { headers, .. } if headers.len() == 1));
        assert!(!servers[0].read_only_hints && servers[1].read_only_hints);
    }
}
