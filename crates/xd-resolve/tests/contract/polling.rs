//! Futures polled by hand: one at a time, in a chosen order, only when woken.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

use xd_resolve::BoxFuture;

/// Is pending `times` times, waking at once.
pub(crate) async fn yields(times: usize) {
    let mut left = times;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One poll that wakes nobody.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// Runs all futures to their end, polling only those that were woken, earlier places of `order`
/// first. Panics where none is woken and some have not ended: a lost wake-up.
pub(crate) fn run_in_order(futures: Vec<BoxFuture<'_, ()>>, order: &[usize]) {
    let flags: Vec<_> = futures.iter().map(|_| Arc::new(Flag(AtomicBool::new(true)))).collect();
    let mut futures: Vec<_> = futures.into_iter().map(Some).collect();
    while futures.iter().any(Option::is_some) {
        let at = *order
            .iter()
            .find(|&&at| futures[at].is_some() && flags[at].0.swap(false, SeqCst))
            .expect("somebody was woken");
        let waker = Waker::from(Arc::clone(&flags[at]));
        let polled =
            futures[at].as_mut().map(|f| f.as_mut().poll(&mut Context::from_waker(&waker)));
        if polled == Some(Poll::Ready(())) {
            futures[at] = None;
        }
    }
}

/// All orders of `0..n`.
pub(crate) fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut longer = order.clone();
        longer.insert(at, n - 1);
        longer
    };
    shorter.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}
