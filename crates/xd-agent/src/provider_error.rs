//! How a provider fails, each with what to do next.

use std::time::Duration;

/// A provider's failure. No text in it holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The key is missing, wrong, or may not use this model (401, 403).
    #[error(
        "the provider refused the key (status {status}): {message}. Check the key, and that it may use this model"
    )]
    Unauthorized {
        /// The status.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// The account has no credit left (402, or a quota that waiting does not fill).
    #[error("the account with the provider is used up: {message}. Add credit or use another key")]
    OutOfCredit {
        /// What the provider said.
        message: String,
    },
    /// Too many requests or tokens in a while (429).
    #[error(
        "the provider limits the rate: {message}. {}",
        .after.map_or_else(|| "Wait a while and prompt again".to_owned(), |after| format!("Prompt again in {} s", after.as_secs_f64().ceil()))
    )]
    RateLimited {
        /// How long the provider says to wait.
        after: Option<Duration>,
        /// What the provider said.
        message: String,
    },
    /// The provider has more requests than it can serve (529, 503, or so it says).
    #[error("the provider is overloaded: {message}. Prompt again later, or use another model")]
    Overloaded {
        /// How long the provider says to wait.
        after: Option<Duration>,
        /// What the provider said.
        message: String,
    },
    /// The provider broke (5xx).
    #[error("the provider broke (status {status}): {message}. Prompt again")]
    Broken {
        /// The status.
        status: u16,
        /// How long the provider says to wait.
        after: Option<Duration>,
        /// What the provider said.
        message: String,
    },
    /// The history does not fit the model.
    #[error(
        "the history is too long for the model: {message}. Compact it, begin a new session, or use a model that reads more"
    )]
    ContextTooLong {
        /// What the provider said.
        message: String,
    },
    /// The provider does not want to answer this.
    #[error("the provider's filter stopped the answer: {message}. Say it in other words")]
    Filtered {
        /// What the provider said.
        message: String,
    },
    /// There is no such model or no such address (404).
    #[error("the provider knows no such model or address: {message}. Check the model and base URL")]
    NotFound {
        /// What the provider said.
        message: String,
    },
    /// The provider does not accept the request (another 4xx), or it sends elsewhere (3xx).
    #[error(
        "the provider does not accept the request (status {status}): {message}. Check the model's settings and the base URL"
    )]
    Invalid {
        /// The status.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// The provider cannot be reached.
    #[error("the provider cannot be reached: {message}. Check the network and the base URL")]
    Network {
        /// What is wrong.
        message: String,
    },
    /// The provider did not go on in time.
    #[error("no {waited_for} from the provider within {} s. Prompt again, or allow more time", .limit.as_secs_f64())]
    TimedOut {
        /// What did not come: `answer`, `more of the answer`.
        waited_for: &'static str,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The answer ended before its end.
    #[error("the connection was cut in the middle of the answer. Prompt again")]
    Cut,
    /// The answer is not in the wire's format.
    #[error(
        "the provider's answer cannot be read: {message}. Check that the base URL speaks this wire"
    )]
    Malformed {
        /// What is wrong with it.
        message: String,
    },
}

impl ProviderError {
    /// Whether the same request may succeed if it is sent again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Broken { .. }
            | Self::Network { .. }
            | Self::TimedOut { .. }
            | Self::Cut => true,
            Self::Unauthorized { .. }
            | Self::OutOfCredit { .. }
            | Self::ContextTooLong { .. }
            | Self::Filtered { .. }
            | Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::Malformed { .. } => false,
        }
    }

    /// How long the provider says to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { after, .. }
            | Self::Overloaded { after, .. }
            | Self::Broken { after, .. } => *after,
            Self::Unauthorized { .. }
            | Self::OutOfCredit { .. }
            | Self::ContextTooLong { .. }
            | Self::Filtered { .. }
            | Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::Network { .. }
            | Self::TimedOut { .. }
            | Self::Cut
            | Self::Malformed { .. } => None,
        }
    }

    /// The same error with other words from the provider.
    #[cfg(feature = "http")]
    pub(crate) fn map_words(mut self, map: impl FnOnce(&str) -> String) -> Self {
        match &mut self {
            Self::Unauthorized { message, .. }
            | Self::OutOfCredit { message }
            | Self::RateLimited { message, .. }
            | Self::Overloaded { message, .. }
            | Self::Broken { message, .. }
            | Self::ContextTooLong { message }
            | Self::Filtered { message }
            | Self::NotFound { message }
            | Self::Invalid { message, .. }
            | Self::Network { message }
            | Self::Malformed { message } => *message = map(message),
            Self::TimedOut { .. } | Self::Cut => {}
        }
        self
    }
}
