//! The one place that speaks HTTP, for every wire.

use std::{
    error::Error,
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use reqwest::{
    Client, NoProxy, Proxy, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde_json::{Map, Value};
use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};
use xd_write::ToolDefinition;

use super::{
    ModelConfig, Retry, Secret, Settings, ThinkingSetting, Timeouts, Wire, failure,
    preset::Dialect,
    retry,
    sse::{Frame, Frames},
    wire::{Target, malformed},
};
use crate::{Delta, DeltaSink, Message, Model, ModelError, ProviderError, Reply, Request, Unheard};

/// The most bytes of an answer that are read.
const MOST_ANSWER: usize = 256 << 20;
/// The most bytes of an error that are read.
const MOST_ERROR: usize = 64 << 10;

/// A model of a provider.
#[derive(Debug)]
pub struct HttpModel {
    id: String,
    model: String,
    wire: Wire,
    dialect: Dialect,
    url: Url,
    client: Client,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    settings: Settings,
    forcing: Forcing,
    thinking: Thinking,
    retry: Retry,
    timeouts: Timeouts,
}

/// A model that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The base URL is none.
    #[error("`{url}` is no base URL: {message}. Give one such as `https://host/v1`")]
    BaseUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        message: String,
    },
    /// No model was named.
    #[error("no model was named. Name one as `PROVIDER/MODEL`: `anthropic/claude-sonnet-4-5`")]
    NoModel,
    /// Nobody here knows the provider.
    #[error(
        "no provider is named `{name}`. Known are {}; any other is reached with its wire and base URL",
        .known.join(", ")
    )]
    UnknownProvider {
        /// What was given.
        name: String,
        /// The names of the presets.
        known: Vec<&'static str>,
    },
    /// A header cannot be sent.
    #[error(
        "the header `{name}` cannot be sent: its name or value has letters that headers cannot have"
    )]
    Header {
        /// Its name.
        name: String,
    },
    /// The key cannot be sent.
    #[error("the key has letters that a header cannot have. Check what it was read from")]
    Key,
    /// A further field of the body is one that is set here.
    #[error("the field `{field}` is set by other settings and cannot be among the extra fields")]
    ReservedField {
        /// Its name.
        field: String,
    },
    /// The client cannot be made.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

impl HttpModel {
    /// Makes a model. Nothing is sent yet.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn new(config: ModelConfig) -> Result<Self, SetupError> {
        let ModelConfig { preset, model, settings, table, retry, timeouts, .. } = config;
        if model.trim().is_empty() {
            return Err(SetupError::NoModel);
        }
        let base = config.base_url.as_deref().unwrap_or(preset.base_url);
        let mut secrets: Vec<Secret> = config.key.iter().cloned().collect();
        secrets.extend(config.headers.iter().map(|(_, value)| value.clone()));
        let thinking = match settings.thinking {
            ThinkingSetting::Default => table.thinks(preset.rules, &model),
            ThinkingSetting::Off => Thinking::Off,
            ThinkingSetting::Effort(_) | ThinkingSetting::Budget(_) => Thinking::On,
        };
        let made = Self {
            id: format!("{}/{model}", preset.name),
            forcing: table.forcing(preset.rules, &model),
            url: address(preset.wire, base)?,
            client: client(&timeouts, config.proxy.as_deref(), config.no_proxy.as_deref())?,
            headers: headers(preset.wire, config.key.as_ref(), &config.headers)?,
            wire: preset.wire,
            dialect: preset.dialect,
            model,
            secrets,
            settings,
            thinking,
            retry,
            timeouts,
        };
        made.check_extra()?;
        Ok(made)
    }

    /// The bytes that a request is sent as.
    ///
    /// # Errors
    /// [`ModelError::Failed`] where something in it is no JSON.
    pub fn body(&self, request: &Request) -> Result<Vec<u8>, ModelError> {
        self.wire.body(request, self.target(&self.settings))
    }

    fn target<'a>(&'a self, settings: &'a Settings) -> Target<'a> {
        let thinks = self.thinking == Thinking::On;
        Target { model: &self.model, settings, dialect: &self.dialect, thinks }
    }

    /// A field twice is read differently by different providers.
    fn check_extra(&self) -> Result<(), SetupError> {
        let request = Request {
            system: "s".to_owned(),
            tools: vec![ToolDefinition::new("t", "t", Value::Object(Map::new()))],
            messages: vec![Message::User { text: "u".to_owned() }],
            tool_choice: ToolChoice::Auto,
        };
        let plain = Settings { extra: Map::new(), ..self.settings.clone() };
        let body = self.wire.body(&request, self.target(&plain)).unwrap_or_default();
        let own: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
        match self.settings.extra.keys().find(|field| own.contains_key(*field)) {
            Some(field) => Err(SetupError::ReservedField { field: field.clone() }),
            None => Ok(()),
        }
    }

    async fn answer(&self, request: Request, sink: &dyn DeltaSink) -> Result<Reply, ModelError> {
        let body = self.body(&request)?;
        for attempt in 1.. {
            let counted = Counted { sink, any: AtomicBool::new(false) };
            let error = match self.once(body.clone(), &request.messages, &counted).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.without_secrets(error),
            };
            let pause = match &error {
                ModelError::Provider(error) => {
                    self.retry.pause(attempt, error, RandomState::new().hash_one(attempt))
                }
                ModelError::ChoiceRefused { .. } | ModelError::Failed(_) => None,
            };
            let Some(pause) = pause else { return Err(error) };
            // What was handed on cannot be unsaid unless its hearer says so.
            if counted.any.load(Ordering::Relaxed) && !sink.withdraw() {
                return Err(error);
            }
            let after_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            tracing::debug!(model = %self.id, attempt, after_ms, %error, "the request is sent again");
            sink.delta(Delta::Waiting {
                attempt: attempt + 1,
                after_ms,
                reason: error.to_string(),
            });
            tokio::time::sleep(pause).await;
        }
        Err(ProviderError::Cut.into())
    }

    /// Sends the request once.
    async fn once(
        &self,
        body: Vec<u8>,
        history: &[Message],
        sink: &Counted<'_>,
    ) -> Result<Reply, ModelError> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let first = self.timeouts.first_byte;
        let response = within(first, "answer", request.send()).await?;
        let mut response = response.map_err(|error| unreachable(error, &self.url))?;
        let status = response.status();
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if !status.is_success() || kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let header = |name: &str| response.headers().get(name)?.to_str().ok();
            let after = retry::asked(header, SystemTime::now());
            let body = self.error_body(&mut response).await;
            return Err(match (status.is_success(), status.as_u16()) {
                (false, status) => failure::of_response(status, &body, after),
                (true, _) => failure_with_success(&body),
            });
        }
        let mut answer = self.wire.assembler(&self.model, history);
        let (mut decoder, mut frames, mut deltas) = (Frames::default(), Vec::new(), Vec::new());
        let (mut limit, mut waited_for, mut read) = (first, "answer", 0);
        loop {
            let chunk = within(limit, waited_for, response.chunk()).await?;
            // Whatever breaks an answer that has begun, the other end is gone.
            let chunk = chunk.map_err(|_| ProviderError::Cut)?;
            (limit, waited_for) = (self.timeouts.idle, "more of the answer");
            match &chunk {
                Some(bytes) => decoder.push(bytes, &mut frames),
                None => decoder.end(&mut frames),
            }
            .map_err(|error| malformed(error.to_string()))?;
            read += chunk.as_ref().map_or(0, |bytes| bytes.len());
            if read > MOST_ANSWER {
                return Err(malformed(format!("it has more than {MOST_ANSWER} bytes")));
            }
            for frame in frames.drain(..) {
                let ended = self.take(&mut *answer, &frame, &mut deltas, sink)?;
                if ended {
                    return answer.finish();
                }
            }
            if chunk.is_none() {
                return answer.finish();
            }
        }
    }

    fn take(
        &self,
        answer: &mut dyn super::wire::Assembler,
        frame: &Frame,
        deltas: &mut Vec<Delta>,
        sink: &Counted<'_>,
    ) -> Result<bool, ModelError> {
        let ended = answer.take(frame, deltas);
        for delta in deltas.drain(..) {
            sink.any.store(true, Ordering::Relaxed);
            sink.sink.delta(delta);
        }
        ended
    }

    async fn error_body(&self, response: &mut Response) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Ok(Some(bytes))) = within(self.timeouts.idle, "", response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > MOST_ERROR {
                body.truncate(MOST_ERROR);
                break;
            }
        }
        body
    }

    /// The same error, where a provider repeated a key in its words.
    fn without_secrets(&self, error: ModelError) -> ModelError {
        let hide = |text: &str| {
            self.secrets.iter().fold(text.to_owned(), |text, secret| secret.hide_in(&text))
        };
        match error {
            ModelError::ChoiceRefused { message } => {
                ModelError::ChoiceRefused { message: hide(&message) }
            }
            ModelError::Provider(error) => error.map_words(hide).into(),
            error @ ModelError::Failed(_) => error,
        }
    }
}

impl Model for HttpModel {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(self.answer(request, &Unheard))
    }

    fn respond_streaming<'a>(
        &'a self,
        request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.answer(request, sink))
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

/// A sink that knows whether it heard anything.
struct Counted<'a> {
    sink: &'a dyn DeltaSink,
    any: AtomicBool,
}

/// Waits for `future`, but not longer than `limit`.
async fn within<F: Future>(
    limit: Duration,
    waited_for: &'static str,
    future: F,
) -> Result<F::Output, ProviderError> {
    let waited = tokio::time::timeout(limit, future).await;
    waited.map_err(|_| ProviderError::TimedOut { waited_for, limit })
}

/// A whole document where a stream was asked for: an error, or another kind of server.
fn failure_with_success(body: &[u8]) -> ModelError {
    match serde_json::from_slice::<Value>(body) {
        Ok(body) if body.get("error").is_some_and(|error| !error.is_null()) => {
            failure::in_stream(&body["error"])
        }
        _ => malformed("it is one document, not a stream of events"),
    }
}

/// Why the provider cannot be reached, down to the first cause. Of the URL it says the host alone:
/// the rest may hold a key.
fn unreachable(error: reqwest::Error, url: &Url) -> ProviderError {
    let error = error.without_url();
    let mut message = format!("{}: {error}", url.origin().ascii_serialization());
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    if url.scheme() == "https" && message.contains("InvalidContentType") {
        message.push_str(" (it does not speak TLS; http:// may be meant)");
    }
    ProviderError::Network { message }
}

fn address(wire: Wire, base: &str) -> Result<Url, SetupError> {
    let wrong = |message: String| SetupError::BaseUrl { url: base.to_owned(), message };
    let url = Url::parse(&wire.url(base)).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err(wrong("it begins with neither `http://` nor `https://`".to_owned())),
    }
}

fn client(
    timeouts: &Timeouts,
    proxy: Option<&str>,
    no_proxy: Option<&str>,
) -> Result<Client, SetupError> {
    let failed = |error: reqwest::Error| SetupError::Client(error.without_url().to_string());
    // The process has one provider of cryptography. Whoever set another keeps it.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .user_agent(concat!("xd/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // A key sent elsewhere is a key given away.
        .redirect(Policy::none());
    let builder = match proxy {
        Some(proxy) => {
            let except = no_proxy.and_then(NoProxy::from_string);
            builder.proxy(Proxy::all(proxy).map_err(failed)?.no_proxy(except))
        }
        None => builder.no_proxy(),
    };
    builder.build().map_err(failed)
}

fn headers(
    wire: Wire,
    key: Option<&Secret>,
    further: &[(String, Secret)],
) -> Result<HeaderMap, SetupError> {
    let secret = |value: &str| {
        HeaderValue::from_str(value).map(|mut value| {
            value.set_sensitive(true);
            value
        })
    };
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("accept", HeaderValue::from_static("text/event-stream"));
    let (name, scheme) = match wire {
        Wire::AnthropicMessages => ("x-api-key", ""),
        Wire::ChatCompletions | Wire::OpenaiResponses => ("authorization", "Bearer "),
    };
    if wire == Wire::AnthropicMessages {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = key {
        let value = format!("{scheme}{}", key.expose());
        headers.insert(name, secret(&value).map_err(|_| SetupError::Key)?);
    }
    for (name, value) in further {
        let wrong = || SetupError::Header { name: name.clone() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        headers.insert(header, secret(value.expose()).map_err(|_| wrong())?);
    }
    Ok(headers)
}
