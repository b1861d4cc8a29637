//! How a long call gets on, told to a client that has asked for it.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use tokio::{sync::mpsc, task::AbortHandle, time::Instant};
use xd_write::{Progress, ProgressSink};

/// How often a client is told at the most.
const PACE: Duration = Duration::from_millis(100);

/// Ends the telling when the call has its result.
pub(crate) struct Telling(Option<AbortHandle>);

impl Drop for Telling {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// A sink that tells `peer` under `token`. The first note goes out at once: what comes right before
/// the result is lost on some clients.
pub(crate) fn telling(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
) -> (ProgressSink, Telling) {
    let Some(token) = token else { return (Arc::new(|_, _| {}), Telling(None)) };
    let (sender, mut receiver) = mpsc::channel::<Progress>(64);
    let peer = peer.clone();
    let task = tokio::spawn(async move {
        let mut note = Note { token, done: 0.0 };
        if peer.notify_progress(note.next(0.0, "at work".to_owned())).await.is_err() {
            return;
        }
        let mut told = Instant::now();
        while let Some(progress) = receiver.recv().await {
            if told.elapsed() < PACE {
                continue;
            }
            let (done, text) = match progress {
                Progress::Files { seen, matched } => {
                    (seen as f64, format!("{seen} files looked at, {matched} of them matter"))
                }
                Progress::Partial(text) => (0.0, text),
                _ => continue,
            };
            if peer.notify_progress(note.next(done, text)).await.is_err() {
                return;
            }
            told = Instant::now();
        }
    });
    // A sink must not wait: what comes too fast is left out.
    let sink = Arc::new(move |_: &str, progress| drop(sender.try_send(progress)));
    (sink, Telling(Some(task.abort_handle())))
}

struct Note {
    token: ProgressToken,
    done: f64,
}

impl Note {
    /// The next note; its number is larger than the one before, whatever was reported.
    fn next(&mut self, done: f64, text: String) -> ProgressNotificationParam {
        self.done = done.max(self.done + 1.0);
        ProgressNotificationParam::new(self.token.clone(), self.done).with_message(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_only_grows() {
        let token = ProgressToken(rmcp::model::NumberOrString::Number(1));
        let mut note = Note { token, done: 0.0 };
        let told: Vec<f64> =
            [0.0, 16.0, 16.0, 3.0].map(|done| note.next(done, String::new()).progress).to_vec();
        assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
    }
}
