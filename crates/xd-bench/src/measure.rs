//! How long things take beside each other.

use std::{fmt, hint::black_box, time::Instant};

/// How many samples of each case are taken. The least one counts: whatever else the machine does
/// only adds.
const SAMPLES: usize = 201;

/// Things that are measured in turns, a short sample of each and then the next, so that whatever
/// else the machine does falls on all of them alike.
#[derive(Default)]
pub struct Contest<'a> {
    cases: Vec<Case<'a>>,
}

struct Case<'a> {
    calls: u32,
    run: Box<dyn FnMut(u32) + 'a>,
    least: f64,
}

/// Names a case of a [`Contest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseId(usize);

impl<'a> Contest<'a> {
    /// Nothing to measure yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a case that is sampled by `calls` calls of `run`. A sample that takes well under a
    /// millisecond is seldom interrupted.
    pub fn case<T>(&mut self, calls: u32, mut run: impl FnMut() -> T + 'a) -> CaseId {
        let run = Box::new(move |calls| {
            for _ in 0..calls {
                black_box(run());
            }
        });
        self.cases.push(Case { calls, run, least: f64::INFINITY });
        CaseId(self.cases.len() - 1)
    }

    /// Takes the samples, in turns, after one of each that is not counted.
    #[must_use]
    pub fn measured(mut self) -> Measured {
        for sample in 0..=SAMPLES {
            for case in &mut self.cases {
                let begin = Instant::now();
                (case.run)(case.calls);
                let took = begin.elapsed().as_secs_f64() * 1e9 / f64::from(case.calls);
                if sample > 0 {
                    case.least = case.least.min(took);
                }
            }
        }
        Measured(self.cases.into_iter().map(|case| case.least).collect())
    }
}

impl fmt::Debug for Contest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contest").field("cases", &self.cases.len()).finish()
    }
}

/// What came of a [`Contest`].
#[derive(Debug, Clone, PartialEq)]
pub struct Measured(Vec<f64>);

impl Measured {
    /// The nanoseconds that one call of `case` takes, in its least sample.
    ///
    /// # Panics
    /// Where `case` belongs to another contest with more cases.
    #[must_use]
    pub fn nanoseconds(&self, case: CaseId) -> f64 {
        self.0[case.0]
    }
}
