//! The streamable HTTP transport, request by request.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::net::SocketAddr;

use site::Site;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use xd_mcp::{HttpError, HttpOptions, HttpServer, serve_http};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

async fn server(site: &Site) -> HttpServer {
    let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
    serve_http(site.options(), HttpOptions::new(local)).await.unwrap()
}

/// Sends one request and answers the first bytes of the response.
async fn post(server: &HttpServer, headers: &[(&str, &str)], body: &str) -> String {
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).await.unwrap();
    let mut bytes = vec![0; 64 * 1024];
    let mut read = 0;
    loop {
        let more = tokio::time::timeout(
            std::time::Duration::from_secs(10),
            stream.read(&mut bytes[read..]),
        );
        let more = more.await.expect("the server answers").unwrap();
        read += more;
        let text = String::from_utf8_lossy(&bytes[..read]);
        if more == 0 || text.contains("serverInfo") || text.contains("structuredContent") {
            return text.into_owned();
        }
    }
}

fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn a_request_needs_the_token() {
    let site = Site::new();
    let server = server(&site).await;
    let bearer = |token: &str| format!("Bearer {token}");
    for headers in [
        vec![],
        vec![("Authorization", bearer("wrong"))],
        vec![("Authorization", bearer(&server.token()[1..]))],
        vec![("Authorization", format!("Basic {}", server.token()))],
        vec![("X-Token", server.token().to_owned())],
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = post(&server, &headers, HELLO).await;
        assert_eq!(status(&response), "401", "{headers:?} {response}");
        assert!(!response.contains("serverInfo"));
    }
    let token = bearer(server.token());
    let response = post(&server, &[("Authorization", &token)], HELLO).await;
    assert_eq!(status(&response), "200", "{response}");
    assert!(response.contains("serverInfo"), "{response}");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_page_in_a_browser_cannot_call() {
    let site = Site::new();
    let server = server(&site).await;
    let token = format!("Bearer {}", server.token());
    for (name, value) in
        [("Origin", "https://evil.example"), ("Origin", "null"), ("Host", "evil.example")]
    {
        let response = post(&server, &[("Authorization", &token), (name, value)], HELLO).await;
        assert_eq!(status(&response), "403", "{name}: {value}: {response}");
    }
    server.stop().await.unwrap();

    let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let http = HttpOptions::new(local).token("0123456789abcdef").origin("https://good.example:443");
    let server = serve_http(site.options(), http).await.unwrap();
    let headers =
        [("Authorization", "Bearer 0123456789abcdef"), ("Origin", "https://good.example")];
    assert_eq!(status(&post(&server, &headers, HELLO).await), "200");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn only_this_machine_reaches_it_unless_allowed() {
    let site = Site::new();
    let open: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let error = serve_http(site.options(), HttpOptions::new(open)).await.unwrap_err();
    assert!(matches!(error, HttpError::NotLoopback(_)), "{error}");
    let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let weak = HttpOptions::new(local).token("short");
    assert!(matches!(serve_http(site.options(), weak).await.unwrap_err(), HttpError::Token));
}

#[tokio::test]
async fn a_request_without_a_session_sees_the_stack() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    let server = server(&site).await;
    let token = format!("Bearer {}", server.token());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"xd://resolve@1","content":"Over HTTP."},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = [
        ("Authorization", token.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "write"),
    ];
    let response = post(&server, &headers, body).await;
    assert_eq!(status(&response), "200", "{response}");
    assert!(response.contains("\"applied\""), "{response}");
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    server.stop().await.unwrap();
    client.leave().await;
}
