//! A model whose answers are written down, so that the run can be repeated without it.

use std::{
    io::Write,
    sync::{Mutex, PoisonError},
};

use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};

use crate::{
    DeltaSink, Model, ModelError, Reply, Request,
    script::{Header, Line},
};

/// Answers as its model does and writes each answer as a line that
/// [`ScriptedModel::from_file`](crate::ScriptedModel::from_file) reads. Nothing of the requests is
/// written but their length and tool choice, and no key is known here.
///
/// ```
/// use xd_agent::{Model, Recording, Reply, Request, ScriptedModel};
/// use xd_session::ToolChoice;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let request = || Request {
///     system: String::new(),
///     tools: Vec::new(),
///     messages: Vec::new(),
///     tool_choice: ToolChoice::Auto,
/// };
/// let mut file = Vec::new();
/// let model = Recording::new(ScriptedModel::new([Reply::text("Hello.")]), &mut file).unwrap();
/// model.respond(request()).await.unwrap();
/// drop(model);
/// let again = ScriptedModel::from_text(std::str::from_utf8(&file).unwrap()).unwrap();
/// assert_eq!(again.respond(request()).await.unwrap(), Reply::text("Hello."));
/// # });
/// ```
#[derive(Debug)]
pub struct Recording<M, W> {
    model: M,
    file: Mutex<(W, u64)>,
}

impl<M: Model, W: Write + Send> Recording<M, W> {
    /// Records `model` into `file`, whose first line is written at once.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn new(model: M, mut file: W) -> std::io::Result<Self> {
        let header = Header::new(model.id(), model.forcing(), model.thinking() == Thinking::On);
        write_line(&mut file, &header)?;
        Ok(Self { model, file: Mutex::new((file, 0)) })
    }

    /// An answer that could not be written down fails the turn: a recording with a gap repeats
    /// another run.
    fn write(
        &self,
        asked: (usize, ToolChoice),
        answer: Result<Reply, ModelError>,
    ) -> Result<Reply, ModelError> {
        let (messages, tool_choice) = (asked.0, &asked.1);
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, count) = &mut *guard;
        *count += 1;
        let (reply, error) = (answer.as_ref().ok(), answer.as_ref().err().map(Into::into));
        let line = Line { exchange: *count, messages, tool_choice, reply, error };
        write_line(file, &line).map_err(ModelError::failed)?;
        answer
    }
}

fn write_line(file: &mut impl Write, line: &impl serde::Serialize) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.flush()
}

impl<M: Model, W: Write + Send> Model for Recording<M, W> {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        let asked = (request.messages.len(), request.tool_choice.clone());
        Box::pin(async move { self.write(asked, self.model.respond(request).await) })
    }

    fn respond_streaming<'a>(
        &'a self,
        request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let asked = (request.messages.len(), request.tool_choice.clone());
        Box::pin(
            async move { self.write(asked, self.model.respond_streaming(request, sink).await) },
        )
    }

    fn id(&self) -> &str {
        self.model.id()
    }

    fn forcing(&self) -> Forcing {
        self.model.forcing()
    }

    fn thinking(&self) -> Thinking {
        self.model.thinking()
    }
}
