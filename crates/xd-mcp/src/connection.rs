//! What one client has been shown.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use xd_protocol::StageNumber;

/// One client's connection. Clients without a session have a new one for every request.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    shown: Mutex<Shown>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

/// Which staged actions a client knows of.
#[derive(Debug, Default)]
struct Shown {
    /// Previewed or named here.
    told: BTreeSet<StageNumber>,
    /// Staged by a call of this client.
    own: BTreeSet<StageNumber>,
    /// Reminded of here (`CONTRACT G3`: once a head).
    reminded: BTreeSet<StageNumber>,
}

/// How many resources one client may subscribe to.
const SUBSCRIPTIONS: usize = 256;

impl Connection {
    /// A call of this client staged `number`, and its result shows it.
    pub(crate) fn staged(&self, number: StageNumber) {
        let mut shown = self.shown();
        shown.own.insert(number);
        shown.told.insert(number);
    }

    /// The client was shown `number`.
    pub(crate) fn tell(&self, number: StageNumber) {
        self.shown().told.insert(number);
    }

    /// Whether `number` was staged here.
    pub(crate) fn is_own(&self, number: StageNumber) -> bool {
        self.shown().own.contains(&number)
    }

    /// Whether the head is to be reminded of now, for the first time here. Answers true once.
    pub(crate) fn remind(&self, head: StageNumber) -> bool {
        let mut shown = self.shown();
        shown.told.insert(head);
        shown.reminded.insert(head)
    }

    /// Whether a confirm without a number may mean `head`, `pending` being how many are pending. A
    /// client that was shown nothing yet can only mean the one that there is (**Invariant X5**).
    pub(crate) fn may_mean(&self, head: StageNumber, pending: usize) -> bool {
        let shown = self.shown();
        shown.told.contains(&head) || (shown.told.is_empty() && pending == 1)
    }

    /// Subscribes to `uri`; false where there are too many.
    pub(crate) fn subscribe(&self, uri: String) -> bool {
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        let room = subscribed.len() < SUBSCRIPTIONS || subscribed.contains(&uri);
        room && {
            subscribed.insert(uri);
            true
        }
    }

    /// Ends a subscription.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// What the client is subscribed to, as it changes.
    pub(crate) fn subscribed(&self) -> Arc<Mutex<BTreeSet<String>>> {
        Arc::clone(&self.subscribed)
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(n: u64) -> StageNumber {
        StageNumber::new(n).unwrap()
    }

    // Invariant X5
    #[test]
    fn a_bare_confirm_means_what_was_shown() {
        let connection = Connection::default();
        assert!(connection.may_mean(number(3), 1), "a fresh client and the only one pending");
        assert!(!connection.may_mean(number(3), 2), "a fresh client cannot know which");
        connection.staged(number(3));
        assert!(connection.may_mean(number(3), 2));
        assert!(!connection.may_mean(number(4), 1), "another client has staged it since");
        connection.tell(number(4));
        assert!(connection.may_mean(number(4), 2));
    }

    // CONTRACT G3
    #[test]
    fn g3_a_head_is_reminded_of_once() {
        let connection = Connection::default();
        assert!(connection.remind(number(1)));
        assert!(!connection.remind(number(1)));
        assert!(connection.remind(number(2)));
    }

    #[test]
    fn subscriptions_are_bounded() {
        let connection = Connection::default();
        for n in 0..SUBSCRIPTIONS {
            assert!(connection.subscribe(format!("xd://resolve@{n}")));
        }
        assert!(!connection.subscribe("xd-state:///log".to_owned()));
        assert!(connection.subscribe("xd://resolve@7".to_owned()), "it has that one already");
        connection.unsubscribe("xd://resolve@7");
        assert!(connection.subscribe("xd-state:///log".to_owned()));
    }
}
