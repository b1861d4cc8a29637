//! A server for tests: HTTP/1.1 by hand over TCP, so that every byte of an answer, every cut and
//! every pause is the test's own.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Exchange {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a body is JSON")
    }
}

/// One step of an answer's body.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// One fragment, as a chunk of its own.
    Bytes(Vec<u8>),
    Pause(Duration),
    /// The connection is dropped.
    Cut,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) steps: Vec<Step>,
}

impl Answer {
    /// A stream of events in fragments of `size` bytes.
    pub(crate) fn stream(text: &str, size: usize) -> Self {
        let steps = text.as_bytes().chunks(size).map(|piece| Step::Bytes(piece.to_vec())).collect();
        Self { status: 200, headers: vec![("content-type", "text/event-stream".into())], steps }
    }

    pub(crate) fn error(status: u16, body: &serde_json::Value) -> Self {
        let steps = vec![Step::Bytes(body.to_string().into_bytes())];
        Self { status, headers: vec![("content-type", "application/json".into())], steps }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same, but the connection breaks after `fragments` of its fragments.
    pub(crate) fn cut_after(mut self, fragments: usize) -> Self {
        self.steps.truncate(fragments);
        self.steps.push(Step::Cut);
        self
    }

    /// The same, but it is silent for a while after `fragments` of its fragments.
    pub(crate) fn silent_after(mut self, fragments: usize, pause: Duration) -> Self {
        self.steps.insert(fragments.min(self.steps.len()), Step::Pause(pause));
        self
    }
}

type Brain = Box<dyn FnMut(&Exchange) -> Answer + Send>;

/// A running server. It ends with its value.
pub(crate) struct Server {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Exchange>>>,
    left: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(brain: impl FnMut(&Exchange) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let brain: Arc<Mutex<Brain>> = Arc::new(Mutex::new(Box::new(brain)));
        let left = Arc::new(AtomicUsize::new(0));
        let (into, counted) = (Arc::clone(&seen), Arc::clone(&left));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (brain, into) = (Arc::clone(&brain), Arc::clone(&into));
                tokio::spawn(serve(stream, brain, into, Arc::clone(&counted)));
            }
        });
        Self { base, seen, left, task }
    }

    /// How many callers left while an answer paused.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// What came since this was called last.
    #[allow(dead_code, reason = "tests over all crates use it, whose runs are many")]
    pub(crate) fn take_seen(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.seen.lock().expect("no panic under this lock"))
    }

    pub(crate) fn seen(&self) -> Vec<Exchange> {
        self.seen.lock().expect("no panic under this lock").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    brain: Arc<Mutex<Brain>>,
    seen: Arc<Mutex<Vec<Exchange>>>,
    left: Arc<AtomicUsize>,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let exchange = read(&mut stream).await?;
    seen.lock().expect("no panic under this lock").push(exchange.clone());
    let answer = (brain.lock().expect("no panic under this lock"))(&exchange);
    let mut head = format!("HTTP/1.1 {} Status\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    for step in answer.steps {
        match step {
            Step::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(&bytes);
                chunk.extend_from_slice(b"\r\n");
                stream.write_all(&chunk).await.ok()?;
            }
            Step::Pause(pause) => {
                let mut byte = [0];
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = stream.read(&mut byte) => {
                        left.fetch_add(1, Ordering::Relaxed);
                        return None;
                    }
                }
            }
            Step::Cut => return None,
        }
    }
    stream.write_all(b"0\r\n\r\n").await.ok()?;
    stream.shutdown().await.ok()
}

async fn read(stream: &mut TcpStream) -> Option<Exchange> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut buffer = [0; 16 << 10];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<_> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(Some(0), |(_, value)| value.parse().ok())?;
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        let mut buffer = vec![0; 64 << 10];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&buffer[..count]);
    }
    Some(Exchange { path, headers, body })
}
