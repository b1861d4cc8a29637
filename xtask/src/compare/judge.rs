//! Medians, ratios and targets: what the measured values say.

use std::fmt;

/// The middle value; the mean of the middle two where their number is even. Nothing for no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => sorted.get(middle).copied(),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Seconds by the clock.
    Seconds(f64),
    /// The most memory that was resident, in bytes.
    Bytes(f64),
}

impl Quantity {
    /// The number without its unit.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Seconds(value) | Self::Bytes(value) => value,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seconds(seconds) if seconds < 0.9995 => write!(f, "{:.0} ms", seconds * 1e3),
            Self::Seconds(seconds) => write!(f, "{seconds:.2} s"),
            Self::Bytes(bytes) => write!(f, "{:.0} MiB", bytes / 1024.0 / 1024.0),
        }
    }
}

/// What a ratio has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// Ours is at most this many times the other's.
    AtMost(f64),
    /// Ours is at least this many times faster than the other's.
    TimesFaster(f64),
}

impl Target {
    /// The ratio that this target is about.
    #[must_use]
    pub fn ratio(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Self::AtMost(_) => ours / theirs,
            Self::TimesFaster(_) => theirs / ours,
        }
    }

    /// Whether `ratio` reaches it. What is no number does not.
    #[must_use]
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::TimesFaster(least) => ratio >= least,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most}×"),
            Self::TimesFaster(least) => write!(f, "≥ {least}× faster"),
        }
    }
}

/// What is said of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The target is reached.
    Met,
    /// It is not, or the two did not do the same.
    Missed,
    /// There is no target, or nothing to compare with here.
    NoTarget,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was done.
    pub what: String,
    /// What it took us.
    pub ours: Quantity,
    /// Who is compared with.
    pub other: String,
    /// What it took them; nothing where the command is not to be had.
    pub theirs: Option<Quantity>,
    /// What the ratio has to be.
    pub target: Option<Target>,
    /// Why the two cannot be compared: a target is then missed whatever the ratio.
    pub differs: Option<String>,
}

impl Row {
    /// A row that compares with `other`.
    #[must_use]
    pub fn new(
        what: impl Into<String>,
        ours: Quantity,
        other: impl Into<String>,
        theirs: Option<Quantity>,
        target: Option<Target>,
    ) -> Self {
        Self { what: what.into(), ours, other: other.into(), theirs, target, differs: None }
    }

    /// The ratio, as its target counts it; ours to theirs where there is none.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let theirs = self.theirs?.value();
        Some(self.target.unwrap_or(Target::AtMost(1.0)).ratio(self.ours.value(), theirs))
    }

    /// Whether the target is met.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match (self.target, self.ratio()) {
            (Some(_), Some(_)) if self.differs.is_some() => Verdict::Missed,
            (Some(target), Some(ratio)) if target.is_met(ratio) => Verdict::Met,
            (Some(_), Some(_)) => Verdict::Missed,
            (None, _) | (_, None) => Verdict::NoTarget,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, theirs: f64, target: Target) -> Row {
        let seconds = |value| Quantity::Seconds(value);
        Row::new("a", seconds(ours), "b", Some(seconds(theirs)), Some(target))
    }

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }

    #[test]
    fn a_target_is_met_at_its_bound_and_missed_beyond() {
        assert_eq!(row(1.0, 2.0, Target::AtMost(0.5)).verdict(), Verdict::Met);
        assert_eq!(row(1.1, 2.0, Target::AtMost(0.5)).verdict(), Verdict::Missed);
        assert_eq!(row(1.0, 30.0, Target::TimesFaster(30.0)).verdict(), Verdict::Met);
        assert_eq!(row(1.0, 29.9, Target::TimesFaster(30.0)).verdict(), Verdict::Missed);
        assert_eq!(row(0.0, 0.0, Target::AtMost(0.5)).verdict(), Verdict::Missed);
    }

    #[test]
    fn what_differs_misses_its_target_and_what_is_absent_has_none() {
        let mut differs = row(1.0, 9.0, Target::AtMost(0.5));
        differs.differs = Some("not the same".to_owned());
        assert_eq!(differs.verdict(), Verdict::Missed);
        let mut absent = row(1.0, 9.0, Target::AtMost(0.5));
        absent.theirs = None;
        assert_eq!((absent.verdict(), absent.ratio()), (Verdict::NoTarget, None));
        let mut free = row(1.0, 4.0, Target::AtMost(0.5));
        free.target = None;
        assert_eq!((free.verdict(), free.ratio()), (Verdict::NoTarget, Some(0.25)));
    }

    #[test]
    fn quantities_read_as_people_write_them() {
        let shown = [
            (Quantity::Seconds(0.0412), "41 ms"),
            (Quantity::Seconds(0.9999), "1.00 s"),
            (Quantity::Seconds(5.4), "5.40 s"),
            (Quantity::Bytes(64.0 * 1024.0 * 1024.0), "64 MiB"),
        ];
        for (quantity, text) in shown {
            assert_eq!(quantity.to_string(), text);
        }
    }
}
