//! What a check answers: a place, a fact, and the way out.

use std::fmt;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The path in the repository, with `:line` where there is one, or the
    /// name of a crate.
    pub place: String,
    /// What is wrong there, as one clause.
    pub what: String,
    /// What mends it: a command where one does, else an instruction.
    pub mend: String,
}

impl Finding {
    /// A finding at `place`, which says `what` is wrong and how to `mend` it.
    pub fn new(place: impl Into<String>, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), mend: mend.into() }
    }

    /// A finding at a line of a file; `line` counts from 1.
    pub fn at(path: &str, line: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), what, mend)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    mend: {}", self.place, self.what, self.mend)
    }
}

/// The findings as the text that a person reads, one after another.
pub fn report(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
