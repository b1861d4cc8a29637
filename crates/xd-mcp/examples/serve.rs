//! A server for one folder: `serve FOLDER [--http ADDRESS] [--token TOKEN] [--ask model|able|person]
//! [--stage-writes]`.
#![allow(clippy::print_stderr, reason = "an example is a program")]

use std::{error::Error, time::Duration};

use xd_mcp::{Ask, HttpOptions, Options, serve_http, serve_stdio};
use xd_write::{Policy, Workspace};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let folder = given.next().ok_or("give a folder")?;
    let mut options = Options::new(Workspace::open(&folder)?);
    let (mut address, mut token) = (None, None);
    while let Some(name) = given.next() {
        if name == "--stage-writes" {
            options = options.policy(Policy::default().stage_writes());
            continue;
        }
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--http" => address = Some(value.parse()?),
            "--token" => token = Some(value),
            "--within" => options = options.answer_within(Duration::from_millis(value.parse()?)),
            "--ask" => {
                options = options.ask(match value.as_str() {
                    "model" => Ask::Model,
                    "able" => Ask::PersonWhereAble,
                    "person" => Ask::Person,
                    other => return Err(format!("--ask {other}: model, able or person").into()),
                });
            }
            other => return Err(format!("{other} is not known").into()),
        }
    }
    let Some(address) = address else { return Ok(serve_stdio(options).await?) };
    let http = HttpOptions::new(address);
    let http = match token {
        Some(token) => http.token(token),
        None => http,
    };
    let mut server = serve_http(options, http).await?;
    eprintln!("{} {}", server.url(), server.token());
    Ok(server.wait().await?)
}
