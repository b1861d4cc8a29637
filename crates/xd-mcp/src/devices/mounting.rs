//! The mounting of one server's tools: the client that hears when its list changes.

use std::sync::{Arc, Weak};

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation},
    service::{NotificationContext, Peer},
};
use xd_write::{Host, RefreshError, Tool};

use super::{Hints, Limits, Line, foreign::Foreign};

/// One server, and the host that its tools are mounted in.
#[derive(Clone)]
pub(super) struct Mounting {
    pub(super) host: Weak<Host>,
    pub(super) limits: Arc<Limits>,
    pub(super) server: Arc<str>,
    pub(super) hints: Hints,
    pub(super) line: Line,
}

impl Mounting {
    /// The tools that the server lists now, or why they cannot be had.
    pub(super) async fn listed(
        &self,
        peer: &Peer<RoleClient>,
    ) -> Result<Vec<Arc<dyn Tool>>, String> {
        let tools = match peer.list_all_tools().await {
            Ok(tools) => tools,
            Err(error) => return Err(format!("its tools cannot be listed: {error}")),
        };
        let most = self.limits.tools;
        if tools.len() > most {
            return Err(format!("it lists {} tools; at most {most} are mounted", tools.len()));
        }
        let foreign = tools
            .into_iter()
            .map(|tool| Arc::new(Foreign::new(self.clone(), tool, peer.clone())) as Arc<dyn Tool>);
        Ok(foreign.collect())
    }

    /// Mounts what was listed in one step; where it could not be had, the former tools stay
    /// (`CONTRACT R2`, case 58).
    pub(super) fn mount(
        &self,
        listed: Result<Vec<Arc<dyn Tool>>, String>,
    ) -> Result<(), RefreshError> {
        match self.host.upgrade() {
            Some(host) => {
                host.with_registry(|registry| registry.refresh_origin(&self.server, listed))
            }
            None => Ok(()),
        }
    }
}

impl ClientHandler for Mounting {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("xd", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        let (mounting, peer) = (self.clone(), context.peer);
        // Waiting for an answer within a handler would keep that answer from coming.
        tokio::spawn(async move {
            let listing = mounting.listed(&peer);
            let listed = match tokio::time::timeout(mounting.limits.start, listing).await {
                Ok(listed) => listed,
                Err(_) => Err("its tools were not listed in time".to_owned()),
            };
            if let Err(error) = mounting.mount(listed) {
                tracing::warn!(server = %mounting.server, %error, "not refreshed");
            }
        });
    }
}
