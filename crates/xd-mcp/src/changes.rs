//! Clients are told when what they read has changed, whoever changed it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionSink},
};
use tokio_util::sync::CancellationToken;
use xd_protocol::StageNumber;
use xd_resolve::ActionState;

use crate::{
    call::states,
    resources::{DEVICES, LOG, PENDING, number_of},
    stack::Stack,
    stamp::Stamp,
};

/// How often the log is looked at for what other processes do.
const PAUSE: Duration = Duration::from_millis(250);

/// Whom to tell.
pub(crate) enum Hearer {
    /// A client that has subscribed to resources one by one.
    Peer(Peer<RoleServer>, Arc<Mutex<BTreeSet<String>>>),
    /// A client that listens with a filter.
    Sink(SubscriptionSink, BTreeSet<String>),
}

impl Hearer {
    fn uris(&self) -> BTreeSet<String> {
        match self {
            Self::Peer(_, uris) => uris.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Self::Sink(_, uris) => uris.clone(),
        }
    }

    async fn updated(&self, uri: String) -> bool {
        match self {
            Self::Peer(peer, _) => {
                let updated = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(updated).await.is_ok()
            }
            Self::Sink(sink, _) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// A filter may leave list changes out; that is no failure.
    async fn list_changed(&self) -> bool {
        match self {
            Self::Peer(peer, _) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Sink(sink, _) => {
                drop(sink.notify_resource_list_changed().await);
                true
            }
        }
    }
}

/// What a client may have read.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    stamp: Stamp,
    states: BTreeMap<StageNumber, ActionState>,
}

impl Seen {
    async fn now(stack: &Arc<Stack>) -> Option<Self> {
        let stamp = stack.stamp();
        let opened = stack.look().await.ok()?;
        Some(Self { stamp, states: states(&opened) })
    }

    fn pending(&self) -> BTreeSet<StageNumber> {
        let open = self.states.iter().filter(|(_, state)| **state == ActionState::Pending);
        open.map(|(number, _)| *number).collect()
    }

    fn differs(&self, former: &Self, uri: &str) -> bool {
        match uri {
            LOG => self.stamp != former.stamp,
            PENDING => self.pending() != former.pending(),
            DEVICES => false,
            uri => number_of(uri)
                .is_some_and(|number| self.states.get(&number) != former.states.get(&number)),
        }
    }
}

/// Tells `hearer` of changes until `until` is cancelled or it is gone.
pub(crate) async fn tell(stack: Arc<Stack>, hearer: Hearer, until: CancellationToken) {
    watch(&stack);
    let mut changes = stack.changes();
    let mut seen = Seen::now(&stack).await;
    loop {
        tokio::select! {
            () = until.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
        }
        let Some(now) = Seen::now(&stack).await else { continue };
        if let Some(former) = &seen {
            let uris = hearer.uris();
            for uri in uris.into_iter().filter(|uri| now.differs(former, uri)) {
                if !hearer.updated(uri).await {
                    return;
                }
            }
            if now.pending() != former.pending() && !hearer.list_changed().await {
                return;
            }
        }
        seen = Some(now);
    }
}

/// Looks at the log now and then for what other processes do. One task a stack, which ends with it.
fn watch(stack: &Arc<Stack>) {
    if stack.watched.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut last = stack.stamp();
    let stack: Weak<Stack> = Arc::downgrade(stack);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            let Some(stack) = stack.upgrade() else { return };
            let now = stack.stamp();
            if std::mem::replace(&mut last, now) != now {
                stack.bump();
            }
        }
    });
}
