//! Work on another thread that ends when nobody wants its result any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio_util::sync::CancellationToken;

/// Set when the call that holds it is dropped.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` where it does not hold up other tasks. It is given a function that says whether it
/// should stop: the call was cancelled, or dropped.
pub(super) async fn away<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    let abandoned = Abandoned::default();
    let (flag, cancel) = (Arc::clone(&abandoned.0), cancel.clone());
    let run = move || work(&|| flag.load(Ordering::Relaxed) || cancel.is_cancelled());
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(run).await,
        Err(_) => Ok(run()),
    }
}
