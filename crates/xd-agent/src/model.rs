//! What a model is: it answers a request.

use std::{error::Error, future::Future};

use serde::Serialize;
use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};
use xd_write::ToolDefinition;

use crate::{DeltaSink, Message, ProviderError, Reply};

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The system text.
    pub system: String,
    /// The tools, in an order that never changes.
    pub tools: Vec<ToolDefinition>,
    /// The history.
    pub messages: Vec<Message>,
    /// What the model may or must call.
    pub tool_choice: ToolChoice,
}

/// Why a model did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The provider refused the request for its tool choice. It will not be asked so again
    /// (`CONTRACT G9`).
    #[error("the provider refused the tool choice: {message}")]
    ChoiceRefused {
        /// What the provider said.
        message: String,
    },
    /// The provider failed, or refused the request for another reason.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Anything else.
    #[error("the model did not answer: {0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl ModelError {
    /// A failure that is not about the tool choice.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }
}

/// Answers requests. A closure from a [`Request`] to a future is one; nothing is known of its
/// provider, so it is not forced unless [`Agent::with_forcing`](crate::Agent::with_forcing) says
/// that it can be.
pub trait Model: Send + Sync {
    /// Answers `request`.
    ///
    /// # Errors
    /// [`ModelError`].
    ///
    /// # Cancel safety
    /// Dropped, the request is abandoned.
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>>;

    /// Answers `request` and hands the answer's pieces to `sink` as they come. A model that cannot
    /// hands on nothing.
    ///
    /// # Errors
    /// [`ModelError`]; pieces that were handed on before are void then.
    ///
    /// # Cancel safety
    /// Dropped, the request is abandoned, and `sink` hears nothing more.
    fn respond_streaming<'a>(
        &'a self,
        request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let _ = sink;
        self.respond(request)
    }

    /// What the model is called; what is learned of its provider is remembered under this name.
    fn id(&self) -> &str {
        "unnamed"
    }

    /// How far the model's provider lets a request force a tool (`CONTRACT G9`).
    fn forcing(&self) -> Forcing {
        Forcing::Unknown
    }

    /// Whether requests think.
    fn thinking(&self) -> Thinking {
        Thinking::Off
    }
}

impl<F, Fut> Model for F
where
    F: Fn(Request) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Reply, ModelError>> + Send + 'static,
{
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(self(request))
    }
}

impl Model for Box<dyn Model> {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        (**self).respond(request)
    }

    fn respond_streaming<'a>(
        &'a self,
        request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        (**self).respond_streaming(request, sink)
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
