//! Work that may block, away from the runtime's own threads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::task::JoinError;

use crate::ToolContext;

/// Runs `work` where it does not hold up other tasks: on a thread for such work where there is a
/// runtime, and here where there is none.
///
/// # Cancel safety
/// Dropped, the work goes on and its result is lost.
pub(crate) async fn off_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await,
        Err(_) => Ok(work()),
    }
}

impl ToolContext {
    /// Runs `work` of this call where it does not hold up other tasks. It is given the context, and
    /// a function that says whether to stop: the call was cancelled, or nobody waits for it.
    ///
    /// # Errors
    /// The work panicked.
    ///
    /// # Cancel safety
    /// Dropped, the work is told to stop and its result is lost.
    pub async fn away<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let abandoned = Abandoned::default();
        let (flag, context) = (Arc::clone(&abandoned.0), Arc::clone(self));
        off_runtime(move || {
            let stop = || flag.load(Ordering::Relaxed) || context.cancel().is_cancelled();
            work(&context, &stop)
        })
        .await
    }
}

/// Set when the call that holds it is dropped.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
