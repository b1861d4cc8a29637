//! Models over HTTP: three wires, one edge, many providers (feature `http`).
//!
//! A wire is pure: a request becomes bytes, events become pieces and, at the end, a [`Reply`](crate::Reply). One
//! edge, [`HttpModel`], speaks HTTP for all of them: timeouts, retries, cancellation by drop. A
//! [`Preset`] knows a provider's address and dialect; the [capability table](crate::CapabilityTable) what
//! may be asked of its models.
//!
//! # The rules
//! - **Invariant G5:** a request's body is a pure function of the request and the settings, and
//!   up to the end of its messages it begins with the whole body of the request before, up to the
//!   end of that one's. What a model said goes back as it was said: thinking with its signature,
//!   arguments to the byte.
//! - **Invariant G6:** no error, `Debug` or log holds a key.
//! - Once a piece of an answer was handed on, the request is sent again only where its hearer
//!   takes the piece back.
//!
//! # Example
//! ```
//! use xd_agent::{Model, provider::{HttpModel, ModelConfig, Preset, Secret}};
//! use xd_session::Forcing;
//!
//! let preset = Preset::find("anthropic").unwrap();
//! let config = ModelConfig::new(*preset, "claude-sonnet-4-5").with_key(Secret::new("key"));
//! let model = HttpModel::new(config).unwrap();
//! assert_eq!(model.id(), "anthropic/claude-sonnet-4-5");
//! assert_eq!(model.forcing(), Forcing::NamedUnlessThinking);
//! assert!(!format!("{model:?}").contains("\"key\""));
//! ```
//!
//! # Choices that were weighed
//! - The wires are ours because their bytes are a promise that no crate of providers keeps.
//! - So is the decoder of server-sent events: it is pushed, like all that is pure here, so that
//!   every split of every byte can be tried on it, and it is bounded.

mod anthropic;
mod call;
mod chat;
mod config;
mod failure;
mod http;
mod preset;
mod responses;
mod retry;
mod secret;
mod settings;
mod sse;
mod wire;

pub use config::{ModelConfig, Timeouts};
pub use http::{HttpModel, SetupError};
pub use preset::Preset;
pub use retry::Retry;
pub use secret::Secret;
pub use settings::{Effort, Settings, ThinkingSetting};
pub use wire::Wire;
