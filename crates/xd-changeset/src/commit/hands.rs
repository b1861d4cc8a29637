//! Doing what can be done in any order by several threads: a file system makes many files durable
//! at once for little more than the price of one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Fewer than this for each are not worth a thread.
const FEW: usize = 16;

/// Does `act` with every item, by up to `hands` threads, this one among them. Stops early after a
/// failure and answers the one of the earliest item; others may have been done by then. Nothing
/// is going on any more when it returns. With one hand the order is that of the items.
///
/// Every thread begins with a stretch of its own, and then helps the others with theirs: items that
/// follow each other often lie in one folder, in which one thread at a time can change names.
pub(super) fn in_turn<'a, T: Sync, E: Send>(
    hands: usize,
    items: &'a [T],
    act: impl Fn(&'a T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let helpers = hands.min(items.len().div_ceil(FEW)).saturating_sub(1);
    if helpers == 0 {
        return items.iter().try_for_each(act);
    }
    let stopped = AtomicBool::new(false);
    let stretch = items.len().div_ceil(helpers + 1);
    let stretches: Vec<_> = items.chunks(stretch).map(|own| (AtomicUsize::new(0), own)).collect();
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let work = |own: usize| {
        let order = (0..stretches.len()).map(|nth| (own + nth) % stretches.len());
        for (number, (next, stretch_items)) in order.map(|nth| (nth, &stretches[nth])) {
            while !stopped.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = stretch_items.get(at) else { break };
                let Err(error) = act(item) else { continue };
                stopped.store(true, Ordering::Relaxed);
                let at = number * stretch + at;
                let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(earliest, _)| at < *earliest) {
                    *failed = Some((at, error));
                }
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        for own in 1..=helpers {
            // Where no thread can be had, those that there are do the work.
            if std::thread::Builder::new().spawn_scoped(scope, move || work(own)).is_err() {
                break;
            }
        }
        work(0);
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_whatever_the_number_of_threads() {
        for (hands, count) in [(1, 100), (4, 0), (4, 1), (4, 1_000), (64, 300)] {
            let done: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            in_turn(hands, &done, |item| {
                item.fetch_add(1, Ordering::Relaxed);
                Ok::<(), ()>(())
            })
            .unwrap();
            assert!(done.iter().all(|item| item.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn a_failure_stops_the_rest_and_is_told() {
        let items: Vec<usize> = (0..100_000).collect();
        for hands in [1, 8] {
            let done = AtomicUsize::new(0);
            let result = in_turn(hands, &items, |item| {
                done.fetch_add(1, Ordering::Relaxed);
                if *item == 40 { Err(*item) } else { Ok(()) }
            });
            assert_eq!(result, Err(40));
            assert!(done.load(Ordering::Relaxed) < items.len());
        }
    }
}
