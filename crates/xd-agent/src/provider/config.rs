//! What a model is made of.

use std::time::Duration;

use super::{Preset, Retry, Secret, Settings, SetupError};
use crate::CapabilityTable;

/// Everything that a [`HttpModel`](super::HttpModel) is made of. Whoever has the command line, the
/// configuration file and the environment fills it in.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// The provider.
    pub preset: Preset,
    /// The model, as the provider names it.
    pub model: String,
    /// Where requests go instead of the preset's base URL.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<Secret>,
    /// Further headers of every request.
    pub headers: Vec<(String, Secret)>,
    /// What every request carries beside its history.
    pub settings: Settings,
    /// What is known of models.
    pub table: CapabilityTable,
    /// When a request is sent again.
    pub retry: Retry,
    /// How long a provider may be silent.
    pub timeouts: Timeouts,
    /// The proxy for all requests: `http://host:port`. Nothing is read from the environment.
    pub proxy: Option<String>,
    /// Hosts that are reached without the proxy, as `NO_PROXY` lists them.
    pub no_proxy: Option<String>,
}

impl ModelConfig {
    /// `model` of `preset`, without a key and with the usual settings.
    pub fn new(preset: Preset, model: impl Into<String>) -> Self {
        Self {
            preset,
            model: model.into(),
            base_url: None,
            key: None,
            headers: Vec::new(),
            settings: Settings::default(),
            table: CapabilityTable::default(),
            retry: Retry::default(),
            timeouts: Timeouts::default(),
            proxy: None,
            no_proxy: None,
        }
    }

    /// The model that `name` names, as `PROVIDER/MODEL`: `anthropic/claude-sonnet-4-5`,
    /// `openrouter/qwen/qwen3-coder`.
    ///
    /// # Errors
    /// [`SetupError::UnknownProvider`], which lists the known ones, and [`SetupError::NoModel`].
    pub fn named(name: &str) -> Result<Self, SetupError> {
        let (provider, model) = name.trim().split_once('/').ok_or(SetupError::NoModel)?;
        let Some(preset) = Preset::find(provider) else {
            let known = Preset::all().iter().map(|preset| preset.name).collect();
            return Err(SetupError::UnknownProvider { name: provider.to_owned(), known });
        };
        if model.is_empty() {
            return Err(SetupError::NoModel);
        }
        Ok(Self::new(*preset, model))
    }

    /// The same with this key.
    #[must_use]
    pub fn with_key(mut self, key: Secret) -> Self {
        self.key = Some(key);
        self
    }

    /// The same at this base URL.
    #[must_use]
    pub fn with_base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = Some(base_url.into());
        self
    }

    /// The same with these settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

/// How long a provider may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until it can be connected to.
    pub connect: Duration,
    /// Until the first byte of its answer. A server at home reads a long history for minutes.
    pub first_byte: Duration,
    /// Between two pieces of its answer, marks that it is alive included.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(20),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(120),
        }
    }
}
