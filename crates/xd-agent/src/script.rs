//! A model that says what it was told to, for tests and demonstrations.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking};

use crate::{Model, ModelError, Reply, Request};

/// Answers with its replies in order and keeps the requests. At the end of the script it is
/// silent: it answers with an empty text.
#[derive(Debug)]
pub struct ScriptedModel {
    state: Mutex<State>,
    forcing: Forcing,
    thinking: Thinking,
}

#[derive(Debug)]
struct State {
    replies: VecDeque<Reply>,
    requests: Vec<Request>,
    calls: u64,
}

impl ScriptedModel {
    /// A model that can be forced by name and answers with `replies`.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let state =
            State { replies: replies.into_iter().collect(), requests: Vec::new(), calls: 0 };
        Self { state: Mutex::new(state), forcing: Forcing::Named, thinking: Thinking::Off }
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
        self.state().replies.extend(replies);
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
        let mut reply = state.replies.pop_front().unwrap_or_else(|| Reply::text(""));
        for call in reply.calls.iter_mut().filter(|call| call.id.is_empty()) {
            state.calls += 1;
            call.id = format!("call-{}", state.calls);
        }
        Box::pin(std::future::ready(Ok(reply)))
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

    fn forcing(&self) -> Forcing {
        (**self).forcing()
    }

    fn thinking(&self) -> Thinking {
        (**self).thinking()
    }
}
