//! How long something takes.

use std::{hint::black_box, time::Instant};

/// How many samples are taken. The least one counts: whatever else the machine does only adds.
const SAMPLES: usize = 21;

/// The nanoseconds that one call of `run` takes, at best over several samples of `calls` calls.
pub fn nanoseconds<T>(calls: u32, mut run: impl FnMut() -> T) -> f64 {
    let sample = |run: &mut dyn FnMut() -> T| {
        let begin = Instant::now();
        for _ in 0..calls {
            black_box(run());
        }
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    };
    sample(&mut run);
    (0..SAMPLES).map(|_| sample(&mut run)).fold(f64::INFINITY, f64::min)
}
