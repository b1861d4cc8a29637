//! What was measured, and whether it is within bounds.

use std::fmt;

/// Rows of measurements and bounds, in order.
#[derive(Debug, Clone)]
pub struct Table {
    title: String,
    lines: Vec<String>,
    broken: usize,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), lines: Vec::new(), broken: 0 }
    }

    /// A measurement in nanoseconds.
    pub fn row(&mut self, what: &str, nanoseconds: f64) {
        self.lines.push(format!("{what:<56} {nanoseconds:>10.1} ns"));
    }

    /// A value that must not exceed `most`.
    pub fn bound(&mut self, what: &str, value: f64, most: f64) {
        let holds = value <= most;
        self.broken += usize::from(!holds);
        let verdict = if holds { "holds" } else { "BROKEN" };
        self.lines.push(format!("{what:<56} {value:>10.2} (at most {most}) {verdict}"));
    }

    /// Whether every bound holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.broken == 0
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_broken_bound_is_told() {
        let mut table = Table::new("t");
        table.bound("fine", 1.0, 1.0);
        assert!(table.holds());
        table.bound("too much", 1.1, 1.0);
        assert!(!table.holds());
        assert!(table.to_string().contains("BROKEN"));
    }
}
