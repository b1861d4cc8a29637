//! Numbers in call order, however the calls of a batch run (`CONTRACT S3`).

use std::{
    future::poll_fn,
    sync::{Arc, PoisonError},
    task::{Poll, Waker},
};

use crate::sync::{Mutex, MutexGuard};

/// Hands out one [`CallSlot`] a call of a batch.
#[derive(Debug)]
pub struct CallOrder;

#[derive(Debug)]
struct Line {
    ended: Vec<bool>,
    waiting: Vec<Waker>,
}

impl CallOrder {
    /// The slots for a batch of `calls` calls, in call order.
    #[must_use]
    pub fn slots(calls: usize) -> Vec<CallSlot> {
        let line = Arc::new(Mutex::new(Line { ended: vec![false; calls], waiting: Vec::new() }));
        (0..calls).map(|place| CallSlot { place, line: Arc::clone(&line) }).collect()
    }
}

/// A call's place in its batch. Dropping it ends the call.
#[derive(Debug)]
pub struct CallSlot {
    place: usize,
    line: Arc<Mutex<Line>>,
}

impl CallSlot {
    /// Waits until every earlier call of the batch has ended.
    ///
    /// # Cancel safety
    /// Dropping the wait changes nothing.
    pub async fn turn(&self) {
        poll_fn(|cx| {
            let mut line = self.line();
            if line.ended[..self.place].iter().all(|&ended| ended) {
                return Poll::Ready(());
            }
            if !line.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                line.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Ends the call: later ones may stage. Dropping the slot does the same.
    pub fn end(&self) {
        let mut line = self.line();
        line.ended[self.place] = true;
        let waiting = std::mem::take(&mut line.waiting);
        drop(line);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.end();
    }
}
