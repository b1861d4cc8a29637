//! What is done to the corpus: one list, in the order of the table.
//!
//! The patterns are such that both tools mean the same by them: no match lies in another, no
//! comment stands inside one, and what results parses.

use std::path::Path;

use super::judge::Target;
use super::process::Call;
use super::programs::Programs;

/// A rewrite of the whole corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// What it is called in the table.
    pub name: &'static str,
    /// The language, as both tools name it.
    pub language: &'static str,
    /// What is looked for.
    pub pattern: &'static str,
    /// What it becomes.
    pub rewrite: &'static str,
    /// What a preview may take.
    pub preview: Target,
}

/// All rewrites.
pub const OPERATIONS: [Operation; 5] = [
    Operation {
        name: "common pattern",
        language: "ts",
        pattern: "this.$NAME",
        rewrite: "self.$NAME",
        preview: Target::AtMost(0.5),
    },
    Operation {
        name: "two variables around `===`",
        language: "ts",
        pattern: "$A === $B",
        rewrite: "$A == $B",
        preview: Target::AtMost(0.8),
    },
    Operation {
        name: "rare pattern",
        language: "ts",
        pattern: "Number.isInteger($A)",
        rewrite: "isInteger($A)",
        preview: Target::AtMost(0.06),
    },
    ABSENT,
    Operation {
        name: "common pattern in Rust",
        language: "rust",
        pattern: "Vec::new()",
        rewrite: "Vec::default()",
        preview: Target::AtMost(0.5),
    },
];

/// The rewrite that finds nothing.
pub const ABSENT: Operation = Operation {
    name: "absent pattern",
    language: "ts",
    pattern: "writtenNowhere($A)",
    rewrite: "writtenSomewhere($A)",
    preview: Target::AtMost(0.015),
};

/// The literal of [`ABSENT`], for a search of plain text.
pub const ABSENT_LITERAL: &str = "writtenNowhere";

/// What a preview of the absent pattern may take of a plain search for its literal.
pub const OF_PLAIN_SEARCH: Target = Target::AtMost(1.8);

/// What the peak of memory may be.
pub const MEMORY: Target = Target::AtMost(2.0);

/// What applying a preview may take.
pub const APPLY: Target = Target::AtMost(0.12);

impl Operation {
    /// Staging it with `xd`, in `folder`.
    #[must_use]
    pub fn stage(&self, programs: &Programs, folder: &Path) -> Call {
        self.stage_as(programs, folder, &[])
    }

    /// Staging it with `xd`, which answers in JSON.
    #[must_use]
    pub fn stage_told(&self, programs: &Programs, folder: &Path) -> Call {
        self.stage_as(programs, folder, &["--json"])
    }

    fn stage_as(&self, programs: &Programs, folder: &Path, more: &[&str]) -> Call {
        let mut words = vec!["edit", "-l", self.language, "-p", self.pattern, "-r", self.rewrite];
        words.extend(more);
        words.extend(programs.without_limits());
        words.push(".");
        Call::new(&programs.xd, words, folder).or_nothing_found()
    }

    /// Previewing it with `ast-grep`, in `folder`.
    #[must_use]
    pub fn their_preview(&self, programs: &Programs, folder: &Path) -> Call {
        self.theirs(programs, folder, "--json=stream")
    }

    /// Applying it with `ast-grep`, in `folder`.
    #[must_use]
    pub fn their_apply(&self, programs: &Programs, folder: &Path) -> Call {
        self.theirs(programs, folder, "--update-all")
    }

    fn theirs(&self, programs: &Programs, folder: &Path, how: &str) -> Call {
        let words = ["run", "-l", self.language, "-p", self.pattern, "-r", self.rewrite, how, "."];
        Call::new(&programs.ast_grep, words, folder).or_nothing_found()
    }
}

/// Applying what is staged with `xd`, in `folder`.
#[must_use]
pub fn apply(programs: &Programs, folder: &Path) -> Call {
    let mut words = vec!["resolve"];
    words.extend(programs.not_durable());
    words.extend(["1", "It is measured."]);
    Call::new(&programs.xd, words, folder)
}

/// A plain search for the literal of [`ABSENT`], in `folder`.
#[must_use]
pub fn plain_search(rg: &Path, folder: &Path) -> Call {
    let words = ["--no-config", "-l", "-t", "ts", ABSENT_LITERAL, "."];
    Call::new(rg, words, folder).or_nothing_found()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_is_the_one_of_the_absent_pattern() {
        assert!(ABSENT.pattern.starts_with(ABSENT_LITERAL));
        assert!(OPERATIONS.contains(&ABSENT));
    }
}
