//! A model that says what it was told to, for tests, demonstrations, and runs that are repeated.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Mutex, PoisonError},
};

use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking};

use crate::{Model, ModelError, Reply, Request};

mod file;

pub use file::ScriptError;
pub(crate) use file::{Failure, Header, Line};

/// Answers with its replies in order and keeps the requests. At the end of the script it is
/// silent: it answers with an empty text.
#[derive(Debug)]
pub struct ScriptedModel {
    id: String,
    state: Mutex<State>,
    forcing: Forcing,
    thinking: Thinking,
}

#[derive(Debug)]
struct State {
    replies: VecDeque<Result<Reply, Failure>>,
    requests: Vec<Request>,
    calls: u64,
}

impl ScriptedModel {
    /// A model that can be forced by name and answers with `replies`.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::scripted(replies.into_iter().map(Ok).collect())
    }

    fn scripted(replies: VecDeque<Result<Reply, Failure>>) -> Self {
        let state = State { replies, requests: Vec::new(), calls: 0 };
        Self {
            id: "unnamed".to_owned(),
            state: Mutex::new(state),
            forcing: Forcing::Named,
            thinking: Thinking::Off,
        }
    }

    /// The model that the file at `path` describes; [`Recording`](crate::Recording) writes such
    /// files, and people may.
    ///
    /// The file is JSON Lines. Each line is one answer, in order: `{"reply": …}` or
    /// `{"error": {"kind": "choice_refused" | "failed", "message": "…"}}`. A reply is
    /// `{"text": "…", "calls": [{"name": "write", "arguments": {…}}], "stop": "end_turn" | "length"}`,
    /// of which every part may be left out; a call may have an `id`. Other fields of a line tell of
    /// the request that was answered and are not read. The first line may be
    /// `{"script": 1, "model": "…", "forcing": "named", "thinking": false}` and says as what the
    /// model is to appear. Blank lines count for nothing. A file whose first letter is `[` is one
    /// JSON list of replies instead.
    ///
    /// # Errors
    /// [`ScriptError`], which names the line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Io { path: path.to_owned(), source })?;
        Self::from_text(&text)
    }

    /// The model that this text describes, as [`from_file`](Self::from_file) says.
    ///
    /// # Errors
    /// [`ScriptError`], which names the line.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        let (header, replies) = file::read(text)?;
        let mut model = Self::scripted(replies.into());
        if let Some(Header { model: id, forcing, thinking, .. }) = header {
            model.id = id.unwrap_or(model.id);
            model.forcing = forcing.unwrap_or(model.forcing);
            model.thinking = if thinking { Thinking::On } else { Thinking::Off };
        }
        Ok(model)
    }

    /// Sets what its provider allows.
    #[must_use]
    pub fn with_forcing(mut self, forcing: Forcing) -> Self {
        self.forcing = forcing;
        self
    }

    /// Sets whether it thinks.
    #[must_use]
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// Appends replies to the script.
    pub fn extend(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state().replies.extend(replies.into_iter().map(Ok));
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for ScriptedModel {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        let mut state = self.state();
        state.requests.push(request);
        let reply = state.replies.pop_front().unwrap_or_else(|| Ok(Reply::text("")));
        let reply = reply.map_err(ModelError::from).map(|mut reply| {
            for call in reply.calls.iter_mut().filter(|call| call.id.is_empty()) {
                state.calls += 1;
                call.id = format!("call-{}", state.calls);
            }
            reply
        });
        Box::pin(std::future::ready(reply))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn forcing(&self) -> Forcing {
        self.forcing
    }

    fn thinking(&self) -> Thinking {
        self.thinking
    }
}

impl Model for std::sync::Arc<ScriptedModel> {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        (**self).respond(request)
    }

    fn id(&self) -> &str {
        (**self).id()
    }

    fn forcing(&self) -> Forcing {
        (**self).forcing()
    }

    fn thinking(&self) -> Thinking {
        (**self).thinking()
    }
}
