//! A server over streamable HTTP.

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use xd_write::MountError;

use crate::{Options, Server, lines::LONGEST};

/// The path at which the server answers.
const PATH: &str = "/mcp";

/// How a server listens.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    address: SocketAddr,
    token: Option<String>,
    origins: Vec<String>,
    remote: bool,
}

impl HttpOptions {
    /// Listens at `address`; port 0 takes a free one.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self { address, token: None, origins: Vec::new(), remote: false }
    }

    /// The token that every request must carry (`Authorization: Bearer …`). Without it the server
    /// makes one up; there is no server without a token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Lets pages of this origin (`https://app.example.com:443`) call. Without it a request that
    /// comes from a page is refused.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Lets the server listen where others than this machine reach it. The token then goes over
    /// the network as it is: put something that encrypts before it.
    #[must_use]
    pub fn reachable_from_elsewhere(mut self) -> Self {
        self.remote = true;
        self
    }
}

/// Why a server does not listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// What the options add cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// Others than this machine would reach it.
    #[error("{0} can be reached from other machines; listen at 127.0.0.1, or allow it")]
    NotLoopback(SocketAddr),
    /// The token cannot be sent in a header.
    #[error("a token is at least 16 visible ASCII characters without spaces")]
    Token,
    /// The address cannot be had.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// A server that listens. Dropped, it stops without waiting.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    token: Arc<str>,
    stop: CancellationToken,
    serving: Option<JoinHandle<io::Result<()>>>,
    server: Arc<Server>,
}

impl HttpServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a client's configuration.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The token that requests must carry.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Waits until the server ends by itself.
    ///
    /// # Errors
    /// The socket broke.
    pub async fn wait(&mut self) -> io::Result<()> {
        match self.serving.as_mut() {
            Some(serving) => {
                let ended = serving.await;
                self.serving = None;
                ended?
            }
            None => Ok(()),
        }
    }

    /// Stops: open streams end, and what has begun ends before this answers.
    ///
    /// # Errors
    /// The socket broke.
    pub async fn stop(mut self) -> io::Result<()> {
        self.stop.cancel();
        let ended = self.wait().await;
        self.server.settle().await;
        ended
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Serves any number of clients over streamable HTTP, on one stack.
///
/// A request needs the token, a `Host` of this machine, and no `Origin` but an allowed one: a page
/// in a browser cannot reach it.
///
/// # Errors
/// [`HttpError`].
pub async fn serve_http(options: Options, http: HttpOptions) -> Result<HttpServer, HttpError> {
    let HttpOptions { address, token, origins, remote } = http;
    if !address.ip().is_loopback() && !remote {
        return Err(HttpError::NotLoopback(address));
    }
    let token: Arc<str> = match token {
        Some(token) if is_token(&token) => token.into(),
        Some(_) => return Err(HttpError::Token),
        None => {
            let simple = || uuid::Uuid::new_v4().simple().to_string();
            (simple() + &simple()).into()
        }
    };
    let server = Arc::new(Server::new(options)?);
    let bind = |source| HttpError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;

    let stop = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(LONGEST)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let config = if remote { config.disable_allowed_hosts() } else { config };
    let clients = Arc::clone(&server);
    let service = StreamableHttpService::new(
        move || Ok(clients.for_another()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router = Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(Arc::clone(&token), authorised));
    let until = stop.clone().cancelled_owned();
    let serving =
        tokio::spawn(
            async move { axum::serve(listener, router).with_graceful_shutdown(until).await },
        );
    Ok(HttpServer { address, token, stop, serving: Some(serving), server })
}

/// Lets a request with the token through.
async fn authorised(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
    let given = given.and_then(|given| {
        let (scheme, given) = given.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
    });
    if given.is_some_and(|given| is_equal(given.as_bytes(), token.as_bytes())) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    let text = "Give the server's token: Authorization: Bearer <token>\n";
    (StatusCode::UNAUTHORIZED, challenge, text).into_response()
}

/// Compares without telling by its time where the difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

fn is_token(token: &str) -> bool {
    token.len() >= 16 && token.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared_whole() {
        assert!(is_equal(b"abc", b"abc"));
        assert!(!is_equal(b"abc", b"abd") && !is_equal(b"abc", b"ab") && !is_equal(b"", b"a"));
        assert!(is_token("0123456789abcdef"));
        assert!(!is_token("short") && !is_token("0123456789 abcdef") && !is_token(""));
    }
}
