//! What ends or goes on with the reviewer from outside.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// The signals that came so far. They are waited for on a thread of their own.
pub(super) struct Signals {
    ended: Arc<AtomicU8>,
    continued: Arc<AtomicBool>,
}

/// The number of the signal that says that the terminal is gone.
pub(super) const HANG_UP: u8 = 1;
/// The numbers of the signals that end it.
const ENDING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

impl Signals {
    /// Takes the signals over: from here on they end the reviewer by a flag, so that the terminal is
    /// given back first.
    pub(super) fn listen() -> Result<Self, Failure> {
        let failure =
            |error: std::io::Error| Failure::new(error, "The system gave no resources; try again.");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failure)?;
        let (ended, continued) = (Arc::<AtomicU8>::default(), Arc::<AtomicBool>::default());
        let entered = runtime.enter();
        let mut waiting = Vec::new();
        for ending in ENDING {
            let mut stream = signal(SignalKind::from_raw(ending.as_raw())).map_err(failure)?;
            let ended = Arc::clone(&ended);
            let number = u8::try_from(ending.as_raw()).unwrap_or(u8::MAX);
            waiting.push(runtime.spawn(async move {
                if stream.recv().await.is_some() {
                    ended.store(number, Ordering::SeqCst);
                }
            }));
        }
        let mut stream = signal(SignalKind::from_raw(Signal::CONT.as_raw())).map_err(failure)?;
        let flag = Arc::clone(&continued);
        waiting.push(runtime.spawn(async move {
            while stream.recv().await.is_some() {
                flag.store(true, Ordering::SeqCst);
            }
        }));
        drop(entered);
        let thread = std::thread::Builder::new().name("xd-signals".to_owned());
        let wait = move || {
            runtime.block_on(async {
                for task in waiting {
                    // A task that was dropped has nothing more to tell.
                    let _ = task.await;
                }
            });
        };
        thread.spawn(wait).map_err(failure)?;
        Ok(Self { ended, continued })
    }

    /// The number of the signal that asks for the end, if one did.
    pub(super) fn ended(&self) -> Option<u8> {
        Some(self.ended.load(Ordering::SeqCst)).filter(|number| *number > 0)
    }

    /// Whether the process was stopped and goes on, since this was last asked.
    pub(super) fn continued(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

/// Stops this job, as the terminal's own key would, until the shell goes on with it.
pub(super) fn stop() {
    // Where the system refuses, the reviewer simply goes on.
    let _ = kill_current_process_group(Signal::TSTP);
}
