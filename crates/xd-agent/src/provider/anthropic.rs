//! Anthropic Messages.
//!
//! What is cached: the one mark on the system text covers tools and system, and the field
//! `cache_control` of the request itself lets the provider move a second mark along with the tail
//! ("automatic caching", <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).
//! Neither stands in a message, so no message ever changes for its sake.

mod answer;
mod request;

pub(crate) use answer::Answer;
pub(crate) use request::body;
