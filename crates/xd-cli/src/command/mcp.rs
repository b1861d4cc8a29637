//! `xd mcp`: this folder, served to another agent or editor.

use std::{env, path::Path};

use serde_json::json;
use xd_mcp::{Ask, HttpOptions, Options, serve_http, serve_stdio};
use xd_write::Policy;

use crate::{
    arguments::{Confirmer, McpArguments},
    failure::{Failure, Status},
    place,
    screen::Screen,
};

/// Where the token may stand instead of on the command line.
const TOKEN: &str = "XD_MCP_TOKEN";

/// Serves until the client goes, or until the process is ended. Over standard output nothing is
/// printed but the protocol.
pub(crate) fn run(
    directory: &Path,
    arguments: &McpArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let mut options = Options::new(place::workspace(directory)?).ask(match arguments.ask {
        Confirmer::Model => Ask::Model,
        Confirmer::Able => Ask::PersonWhereAble,
        Confirmer::Person => Ask::Person,
    });
    if arguments.stage_writes {
        options = options.policy(Policy::default().stage_writes());
    }
    if arguments.plan {
        options = options.plan();
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(error, "The system gave no resources; try again."))?;
    let Some(address) = arguments.http else {
        let served = runtime.block_on(serve_stdio(options));
        let hint = "The client went away in the middle of a message; what is staged is kept.";
        return served.map(|()| Status::Done).map_err(|error| Failure::new(error, hint));
    };
    let mut http = HttpOptions::new(address);
    let token = arguments.token.clone().or_else(|| env::var(TOKEN).ok());
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        http = http.token(token);
    }
    runtime.block_on(async {
        let mut server = serve_http(options, http).await.map_err(|error| {
            Failure::new(error, "Give a free address of this machine: --http 127.0.0.1:7777.")
        })?;
        if screen.is_json() {
            screen.json(&json!({ "v": 1, "url": server.url(), "token": server.token() }));
        } else {
            screen.text(&format!("{} {}", server.url(), server.token()));
        }
        let hint = "What is staged is kept; start the server again.";
        server.wait().await.map_err(|error| Failure::new(error, hint))
    })?;
    Ok(Status::Done)
}
