//! One call to another server, made once.

use std::{fmt, sync::Arc};

use rmcp::{
    RoleClient, ServiceError,
    model::{CallToolRequestParams, CallToolResult, JsonObject, RequestMetaObject},
    service::Peer,
};
use xd_protocol::Visible;

use super::{Limits, Line, web};
use crate::inert::{cut, inert};

/// The way to a server. Cheap to clone; it leads to the process that was there when it was made.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) server: Arc<str>,
    pub(super) peer: Peer<RoleClient>,
    pub(super) limits: Arc<Limits>,
    pub(super) line: Line,
}

/// What a call came to. It is never made again, whatever this is.
pub(super) enum Called {
    /// The tool ran, and this is its result.
    Answered(Box<CallToolResult>),
    /// The server answered that it did not run it; why.
    Refused(String),
    /// The server never heard of it.
    NotSent(String),
    /// It may have run; why nobody knows.
    Unknown(String),
}

impl Caller {
    /// Calls `tool` once.
    ///
    /// # Cancel safety
    /// Dropped, the server is told that nobody waits any more; whether the tool ran is not known.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Option<JsonObject>,
        meta: Option<RequestMetaObject>,
    ) -> Called {
        if self.peer.is_transport_closed() {
            return self.not_sent();
        }
        let server = &self.server;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        (params.arguments, params.meta) = (arguments, meta);
        match tokio::time::timeout(self.limits.call, self.peer.call_tool(params)).await {
            Ok(Ok(result)) => Called::Answered(Box::new(result)),
            Ok(Err(ServiceError::McpError(error))) => {
                let message = inert(&error.message).into_owned();
                Called::Refused(format!(
                    "The server `{server}` refused: {}",
                    self.bounded(&message)
                ))
            }
            Ok(Err(ServiceError::TransportSend(error)))
                if self.line == Line::Stream || web::never_arrived(error.error.as_ref()) =>
            {
                self.not_sent()
            }
            Ok(Err(ServiceError::UnexpectedResponse)) => Called::Unknown(format!(
                "The server `{server}` answered with something that is no result: a question or a \
                 task, which this host does not take. Whether the call ran is not known; it was not \
                 repeated."
            )),
            Ok(Err(error)) => Called::Unknown(format!(
                "The server `{server}` ended before it answered{}. Whether the call ran is not \
                 known; it was not repeated. Look before you try again.",
                why(&error)
            )),
            Err(_) => Called::Unknown(format!(
                "The server `{server}` did not answer within {:?}. The call may still have an effect; \
                 it was not repeated. Look before you try again.",
                self.limits.call
            )),
        }
    }

    fn not_sent(&self) -> Called {
        Called::NotSent(format!(
            "The server `{}` has ended or cannot be reached; the call was not sent. Go on without its \
             devices: they are mounted anew when the host starts it again.",
            self.server
        ))
    }

    /// Foreign text, as much of it as is passed on.
    pub(super) fn bounded(&self, text: &str) -> String {
        cut(text, self.limits.result).into_owned()
    }
}

/// What there is to tell of an error of the connection.
fn why(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => {
            format!(" ({})", Visible(&web::told(&error.error.to_string())))
        }
        _ => String::new(),
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("server", &self.server).finish_non_exhaustive()
    }
}
