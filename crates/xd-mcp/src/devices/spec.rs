//! Which servers there are: the file that most clients share.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use serde::Deserialize;
use serde_json::{Map, Value};

/// A server and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// What its devices' names begin with.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// What its word on its own tools counts.
    pub hints: Hints,
}

/// What a server's word counts that a tool of its is read-only (case 168). Its word is all there is:
/// whether it is believed is for the user to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Hints {
    /// Such a tool passes for one that only looks.
    Trusted,
    /// Nothing: every tool may do anything.
    #[default]
    Ignored,
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
    /// Two entries have one name.
    #[error("mcpServers has two entries called {0:?}; give one of them another name")]
    Twice(String),
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
/// HTTP, each with `readOnlyHints` if need be, in the order of the file. Entries with
/// `"disabled": true` are left out; what else stands in an entry is left alone.
///
/// In every string of an entry that is used, `${NAME}` is what `variable` answers for that name, and
/// `${NAME:-text}` is `text` where it answers nothing; `$${` is `${` itself.
///
/// ```
/// use xd_mcp::devices::{Hints, read_servers};
///
/// let file = r#"{"mcpServers": {"git": {"command": "git-mcp", "args": ["${REPO:-.}"]}}}"#;
/// let servers = read_servers(file, &|_| None).unwrap();
/// assert_eq!(servers[0].name, "git");
/// assert_eq!(servers[0].hints, Hints::Ignored);
/// ```
///
/// # Errors
/// [`SpecFault`], naming the entry and the field, and a variable that is not set.
pub fn read_servers(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ServerSpec>, SpecFault> {
    let file: File = serde_json::from_str(text).map_err(|error| match error.is_data() {
        true => SpecFault::NoServers,
        false => SpecFault::Json(error.to_string()),
    })?;
    let Some(Entries(entries)) = file.servers else { return Err(SpecFault::NoServers) };
    let mut read: Vec<ServerSpec> = Vec::with_capacity(entries.len());
    let mut names = BTreeSet::new();
    for (name, entry) in entries {
        if !names.insert(name.clone()) {
            return Err(SpecFault::Twice(name));
        }
        let fault = |message: String| SpecFault::Server { server: name.clone(), message };
        let Value::Object(entry) = entry else {
            return Err(fault("it must be an object".to_owned()));
        };
        if entry.get("disabled") == Some(&Value::Bool(true)) {
            continue;
        }
        read.push(spec(&name, &Entry { fields: &entry, variable }).map_err(fault)?);
    }
    Ok(read)
}

/// The part of the file that is used.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", default)]
    servers: Option<Entries>,
}

/// The entries in order, both of two with one name: a table would keep the second in silence
/// (case 48).
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of servers by name")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// An entry, with what its variables are.
struct Entry<'a> {
    fields: &'a Map<String, Value>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Entry<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    fn expand(&self, field: &str, text: &str) -> Result<String, String> {
        expand(text, self.variable).map_err(|fault| format!("`{field}`: {fault}"))
    }
}

fn spec(name: &str, entry: &Entry<'_>) -> Result<ServerSpec, String> {
    let reach = match (entry.get("command"), entry.get("url")) {
        (Some(_), Some(_)) => return Err("it has both `command` and `url`".to_owned()),
        (Some(Value::String(command)), None) if !command.is_empty() => Reach::Command {
            command: entry.expand("command", command)?,
            args: list(entry, "args")?,
            env: table(entry, "env")?,
            directory: match entry.get("cwd") {
                None => None,
                Some(Value::String(directory)) => Some(entry.expand("cwd", directory)?.into()),
                Some(_) => return Err("`cwd` must be a string".to_owned()),
            },
        },
        (Some(_), None) => return Err("`command` must be a program's name".to_owned()),
        (None, Some(Value::String(url))) => {
            let url = entry.expand("url", url)?;
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return Err("`url` must begin with http:// or https://".to_owned());
            }
            Reach::Http { url, headers: table(entry, "headers")? }
        }
        (None, Some(_)) => return Err("`url` must begin with http:// or https://".to_owned()),
        (None, None) => return Err("`command` is missing, and so is `url`".to_owned()),
    };
    let hints = match entry.get("readOnlyHints") {
        None | Some(Value::Bool(false)) => Hints::Ignored,
        Some(Value::Bool(true)) => Hints::Trusted,
        Some(_) => return Err("`readOnlyHints` must be true or false".to_owned()),
    };
    Ok(ServerSpec { name: name.to_owned(), reach, hints })
}

/// `text` with its variables put in. No value is in an error.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at]);
            out.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else {
            return Err("`${` is never closed; write `$${` for the characters".to_owned());
        };
        let inner = &rest[at + 2..at + end];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        match (variable(name).filter(|value| !value.is_empty()), default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(format!(
                    "the variable {name} is not set; set it, or write ${{{name}:-default}}"
                ));
            }
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn list(entry: &Entry<'_>, field: &str) -> Result<Vec<String>, String> {
    let fault = || format!("`{field}` must be a list of strings");
    match entry.get(field) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| entry.expand(field, item.as_str().ok_or_else(fault)?)).collect()
        }
        Some(_) => Err(fault()),
    }
}

fn table(entry: &Entry<'_>, field: &str) -> Result<BTreeMap<String, String>, String> {
    let fault = || format!("`{field}` must be an object of strings");
    match entry.get(field) {
        None => Ok(BTreeMap::new()),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(key, value)| {
                let text = value.as_str().ok_or_else(fault)?;
                Ok((key.clone(), entry.expand(&format!("{field}.{key}"), text)?))
            })
            .collect(),
        Some(_) => Err(fault()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        read_servers(text, &|_| None).unwrap_err().to_string()
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
        assert!(fault(r#"{"mcpServers": []}"#).contains("mcpServers"));
    }

    // case 48
    #[test]
    fn case_48_two_entries_of_one_name_are_refused() {
        let twice = r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#;
        assert_eq!(read_servers(twice, &|_| None).unwrap_err(), SpecFault::Twice("a".to_owned()));
    }

    #[test]
    fn variables_are_put_in_where_people_write_them() {
        let variable = |name: &str| match name {
            "TOKEN" => Some("secret".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let file = |entry: &str| {
            read_servers(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#), &variable)
        };
        let web =
            r#"{"url": "https://${HOST:-x.example}/mcp", "headers": {"A": "Bearer ${TOKEN}"}}"#;
        let Reach::Http { url, headers } = &file(web).unwrap()[0].reach else { panic!() };
        assert_eq!(
            (url.as_str(), headers["A"].as_str()),
            ("https://x.example/mcp", "Bearer secret")
        );
        let run = r#"{"command": "${TOKEN}d", "args": ["$${TOKEN}", "$x", "${EMPTY:-d}${TOKEN}"],
            "env": {"T": "${TOKEN}"}, "cwd": "${TOKEN}/b"}"#;
        let Reach::Command { command, args, env, directory } = &file(run).unwrap()[0].reach else {
            panic!()
        };
        assert_eq!(command, "secretd");
        assert_eq!(args, &["${TOKEN}", "$x", "dsecret"]);
        assert_eq!(env["T"], "secret");
        assert_eq!(directory.as_deref(), Some("secret/b".as_ref()));
        let unset = file(r#"{"command": "x", "env": {"T": "${TOKEN}${NONE}"}}"#).unwrap_err();
        let unset = unset.to_string();
        assert!(unset.contains("mcpServers.a: `env.T`: the variable NONE is not set"), "{unset}");
        assert!(!unset.contains("secret"), "{unset}");
        let open = file(r#"{"command": "${TOKEN"}"#).unwrap_err().to_string();
        assert!(open.contains("never closed"), "{open}");
        // What is not used need not be there.
        assert!(file(r#"{"command": "${NONE}", "disabled": true}"#).unwrap().is_empty());
    }

    #[test]
    fn what_is_disabled_is_left_out_and_the_rest_read_whole() {
        let servers = read_servers(
            r#"{"mcpServers": {
                "b": {"command": "x", "env": {"K": "v"}, "cwd": "/tmp", "readOnlyHints": true},
                "a": {"command": "y", "disabled": true},
                "c": {"command": "z", "type": "stdio"},
                "d": {"url": "https://x", "headers": {"Authorization": "Bearer t"}}
            }}"#,
            &|_| None,
        )
        .unwrap();
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "d"]);
        let Reach::Command { env, directory, .. } = &servers[0].reach else { panic!() };
        assert_eq!(env["K"], "v");
        assert_eq!(directory.as_deref(), Some("/tmp".as_ref()));
        assert!(!format!("{servers:?}").contains("\"v\""), "values are not shown");
        assert!(matches!(&servers[2].reach, Reach::Http { headers, .. } if headers.len() == 1));
        assert_eq!((servers[0].hints, servers[1].hints), (Hints::Trusted, Hints::Ignored));
    }
}
