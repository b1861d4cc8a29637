//! The addresses for hosts that route internal URLs by scheme (`CONTRACT U10`).

use std::sync::Arc;

use serde_json::json;
use xd_protocol::{Address, Excerpt, READ_TOOL, SCHEME, WRITE_TOOL, classify, notice};
use xd_resolve::{ToolCall, ToolResult};
use xd_session::Session;

use crate::{CallScope, Host};

/// What an address holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The address, as it was asked for.
    pub url: String,
    /// The text.
    pub text: String,
}

impl Resource {
    /// The content type of every resource.
    pub const CONTENT_TYPE: &'static str = "text/plain";

    /// The size of the text in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.text.len() as u64
    }
}

/// Answers `xd://` for a host that routes URLs by scheme: a face on the tools `read` and `write`,
/// with the same policy and the same answers.
#[derive(Debug, Clone)]
pub struct UrlHandler {
    host: Arc<Host>,
}

impl UrlHandler {
    /// The scheme to route here.
    pub const SCHEME: &'static str = SCHEME;
    /// Resources are not edited in place: a write is a message to a device, and what is read back
    /// is never what was written.
    pub const IMMUTABLE: bool = true;

    /// A handler for the session of `host`, and for no other.
    #[must_use]
    pub fn mount(host: Arc<Host>) -> Self {
        Self { host }
    }

    /// Reads `url` for `session`.
    ///
    /// # Errors
    /// The tool error that a `read` would answer; for a session that did not mount it, that
    /// `xd://` is not mounted.
    ///
    /// # Cancel safety
    /// Reading changes nothing.
    pub async fn read(&self, session: &Arc<Session>, url: &str) -> Result<Resource, ToolResult> {
        let call = ToolCall::new("", READ_TOOL, json!({ "path": url }));
        let result = self.run(session, url, call, &CallScope::model()).await?;
        Ok(Resource { url: url.to_owned(), text: result.joined() })
    }

    /// Writes `content` to `url` for `session`.
    ///
    /// # Errors
    /// The tool error that a `write` would answer, or that `xd://` is not mounted.
    ///
    /// # Cancel safety
    /// As [`Host::run_batch`].
    pub async fn write(
        &self,
        session: &Arc<Session>,
        url: &str,
        content: &str,
        scope: &CallScope,
    ) -> Result<ToolResult, ToolResult> {
        let call = ToolCall::new("", WRITE_TOOL, json!({ "path": url, "content": content }));
        self.run(session, url, call, scope).await
    }

    async fn run(
        &self,
        session: &Arc<Session>,
        url: &str,
        call: ToolCall,
        scope: &CallScope,
    ) -> Result<ToolResult, ToolResult> {
        if !Arc::ptr_eq(session, self.host.session()) {
            return Err(ToolResult::error(notice::NOT_MOUNTED));
        }
        match classify(url) {
            Address::Xd(_) | Address::Malformed(_) | Address::NearMiss(_) => {}
            Address::Path(_) | Address::Foreign(_) => {
                return Err(ToolResult::error(format!("'{}' is no xd:// URL.", Excerpt(url))));
            }
        }
        let result = self.host.run_batch(&[call], scope).await.pop().unwrap_or_default();
        if result.is_error { Err(result) } else { Ok(result) }
    }
}
