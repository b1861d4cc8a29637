//! Finishing an apply whose caller went away (**Invariant R4**).

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use crate::BoxFuture;

/// Runs the rest of an apply to its end after its confirm was dropped.
pub trait Detach: Send + Sync {
    /// Takes over `rest`, which must be polled until it is ready.
    fn detach(&self, rest: BoxFuture<'static, ()>);
}

/// Finishes each on a thread of its own. Needs no runtime; an effect that needs one brings its
/// handle, or the host brings its own [`Detach`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadDetach;

impl Detach for ThreadDetach {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        // The future sits in a slot that both sides can take from: where no thread can be had it
        // runs here. Late is right, lost is not.
        let slot = Arc::new(Mutex::new(Some(rest)));
        let theirs = Arc::clone(&slot);
        let thread = thread::Builder::new().name("xd-apply".to_owned());
        if thread.spawn(move || finish(&theirs)).is_err() {
            finish(&slot);
        }
    }
}

fn finish(slot: &Mutex<Option<BoxFuture<'static, ()>>>) {
    let rest = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(rest) = rest {
        block_on(rest);
    }
}

/// Polls `future` on this thread until it is ready, parking in between.
///
/// For tests, examples and hosts without a runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
