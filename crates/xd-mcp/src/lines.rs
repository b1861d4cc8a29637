//! Messages as lines of JSON, over any two streams (**Invariant X6**).

use std::{
    collections::{HashSet, VecDeque},
    io,
    sync::{Arc, Mutex as Plain, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
};

/// The longest message that is read. A file of this size fits in with room to spare.
pub(crate) const LONGEST: usize = 16 * 1024 * 1024;

/// A client at the other end of two streams.
///
/// What is no message gets an error with no id, and the next line is read. A line that is too long
/// is dropped as it comes, so that it takes no memory, and gets an error too. A request whose id is
/// in use is answered with an error and not run: its answer could not be told from the other's.
pub(crate) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    dropping: bool,
    longest: usize,
    writer: Arc<Mutex<Option<W>>>,
    running: Arc<Plain<HashSet<RequestId>>>,
    /// Errors that are still to be written; writing them may be interrupted.
    owed: VecDeque<Vec<u8>>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(crate) fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            dropping: false,
            longest: LONGEST,
            writer: Arc::new(Mutex::new(Some(writer))),
            running: Arc::default(),
            owed: VecDeque::new(),
        }
    }

    /// The next whole line is in `self.line`; or what is wrong with it; or the stream has ended.
    ///
    /// # Cancel safety
    /// What was read stays in `self.line`, and the next call goes on.
    async fn next_line(&mut self) -> io::Result<Option<Result<(), &'static str>>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|b| *b == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.dropping |= self.line.len() + taken > self.longest;
            match self.dropping {
                true => self.line.clear(),
                false => self.line.extend_from_slice(&available[..taken]),
            }
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(Some(match std::mem::take(&mut self.dropping) {
                    true => Err("the message is longer than 16 MiB and was not read"),
                    false => Ok(()),
                }));
            }
        }
    }

    fn owe(&mut self, error: ErrorData) {
        let error: TxJsonRpcMessage<RoleServer> = JsonRpcMessage::error(error, None);
        self.owed.extend(encoded(&error));
    }

    /// The message in `self.line`, if it is one that may run.
    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        if text.is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(text) {
            Ok(message) => message,
            Err(_) => {
                match serde_json::from_slice::<Value>(text) {
                    // An answer to an answer could go back and forth for ever.
                    Ok(value) if value.get("error").or(value.get("result")).is_some() => {}
                    Ok(_) => {
                        self.owe(ErrorData::invalid_request("this is no JSON-RPC message", None))
                    }
                    Err(_) => self.owe(ErrorData::parse_error("this line is no JSON", None)),
                }
                return None;
            }
        };
        match &message {
            JsonRpcMessage::Request(request) => {
                if !self.running().insert(request.id.clone()) {
                    let text = format!("id {} is in use; this request was not run", request.id);
                    self.owe(ErrorData::invalid_request(text, None));
                    return None;
                }
            }
            JsonRpcMessage::Notification(notification) => {
                // What is cancelled gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.running().remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn encoded(message: &TxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
    match serde_json::to_vec(message) {
        Ok(mut line) => {
            line.push(b'\n');
            Some(line)
        }
        Err(error) => {
            tracing::error!(%error, "a message could not be encoded");
            None
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<Option<W>>, line: &[u8]) -> io::Result<()> {
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            self.running().remove(&id);
        }
        let (writer, line) = (Arc::clone(&self.writer), encoded(&message));
        async move {
            match line {
                // A task of its own: a line that was begun is written to its end.
                Some(line) => tokio::spawn(async move { write(&writer, &line).await }).await?,
                None => Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while let Some(line) = self.owed.pop_front() {
                let writer = Arc::clone(&self.writer);
                tokio::spawn(async move { write(&writer, &line).await });
            }
            match self.next_line().await {
                Ok(Some(Ok(()))) => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Ok(Some(Err(why))) => self.owe(ErrorData::invalid_request(why, None)),
                // What stands after the last line end is half a message, and none.
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the client's stream broke");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.writer.lock().await.take() {
            Some(mut writer) => writer.shutdown().await,
            None => Ok(()),
        }
    }
}
