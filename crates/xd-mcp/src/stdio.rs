//! A server over two streams.

use std::sync::Arc;

use rmcp::service::serve_server;
use tokio::io::{AsyncRead, AsyncWrite};
use xd_write::MountError;

use crate::{Options, Server, lines::Lines};

/// Why a server did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// What the options add cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The client did not begin as the protocol says.
    #[error("the client did not begin as the protocol says: {0}")]
    Handshake(Box<rmcp::service::ServerInitializeError>),
    /// The server broke off.
    #[error("the server broke off: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves one client over the standard streams until it goes.
///
/// Nothing else may be written to standard output meanwhile. When the client is gone, what has begun
/// ends before this answers (`CONTRACT D12`).
///
/// # Errors
/// [`ServeError`]. A client that goes away is none.
///
/// # Cancel safety
/// Dropped, the connection ends; a confirm that has begun ends as long as the runtime lives.
pub async fn serve_stdio(options: Options) -> Result<(), ServeError> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    serve(options, reader, writer).await
}

/// The same over any two streams.
///
/// # Errors
/// As [`serve_stdio`].
///
/// # Cancel safety
/// As [`serve_stdio`].
pub async fn serve<R, W>(options: Options, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let server = Server::new(options)?;
    let stack = Arc::new(server.for_another());
    let ended = match serve_server(server, Lines::new(reader, writer)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(ServeError::from),
        // A client that goes before it has begun wants nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Handshake(Box::new(error))),
    };
    stack.settle().await;
    ended
}
