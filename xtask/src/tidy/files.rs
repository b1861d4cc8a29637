//! Checks of one file at a time: first line, size, name, blanks.

use crate::lexer::{TokenKind, tokens};
use crate::tree::is_data;
use crate::{Finding, Tree};

/// No source is longer.
pub const MOST_LINES: usize = 800;

/// No source is longer without a reason in [`LONG_FILES`]; files of tests and
/// a test module at the end do not count.
pub const MANY_LINES: usize = 500;

/// Sources between the two bounds, each with its reason.
pub const LONG_FILES: &[(&str, &str)] = &[];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["util", "utils", "common", "helper", "helpers", "misc", "types"];

/// Words that mark what is not finished.
const UNFINISHED: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// Every source begins with a `//!` line; build scripts and data excepted.
pub fn first_lines(tree: &Tree) -> Vec<Finding> {
    let without = |(path, text): &(&str, &str)| {
        !path.ends_with("build.rs") && !text.strip_prefix("//!").is_some_and(says_something)
    };
    let finding = |(path, _)| {
        Finding::at(
            path,
            1,
            "the first line is no `//!` line",
            "begin the file with one line that says what it is for",
        )
    };
    tree.sources().filter(without).map(finding).collect()
}

fn says_something(after: &str) -> bool {
    after.lines().next().is_some_and(|line| !line.trim().is_empty())
}

/// No source is too long.
pub fn sizes(tree: &Tree) -> Vec<Finding> {
    sizes_with(tree, LONG_FILES)
}

/// [`sizes`] with another list of exceptions.
pub fn sizes_with(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        let all = text.lines().count();
        let own = if is_test_file(path) { 0 } else { lines_without_tests(text) };
        let excepted = exceptions.iter().any(|(listed, _)| *listed == path);
        if all > MOST_LINES {
            findings.push(Finding::new(
                path,
                format!("has {all} lines, and {MOST_LINES} is the most"),
                "split it along a seam",
            ));
        } else if own > MANY_LINES && !excepted {
            findings.push(Finding::new(
                path,
                format!("has {own} lines without its tests, and {MANY_LINES} is a lot"),
                "split it along a seam, or list it with a reason in LONG_FILES of \
                 xtask/src/tidy/files.rs",
            ));
        }
    }
    for (path, _) in exceptions {
        let own = tree.text(path).map_or(0, lines_without_tests);
        if own <= MANY_LINES {
            findings.push(Finding::new(
                *path,
                "is listed as a long file and is none",
                "take it off LONG_FILES in xtask/src/tidy/files.rs",
            ));
        }
    }
    findings
}

/// True for files that hold tests or benches only.
pub fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "benches") || path.ends_with("tests.rs")
}

/// The lines before the test module that ends the file, or all.
pub fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_test_module = |pair: &[&str]| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod ")
    };
    lines.windows(2).position(is_test_module).unwrap_or(lines.len())
}

/// No module is named after nothing.
pub fn module_names(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mend = "name the module after what it holds";
    for (path, text) in tree.sources() {
        let name = path.strip_suffix("/mod.rs").or(path.strip_suffix(".rs")).unwrap_or(path);
        let name = name.rsplit('/').next().unwrap_or(name);
        if EMPTY_NAMES.contains(&name) {
            findings.push(Finding::new(path, format!("a module named `{name}`"), mend));
        }
        let tokens = tokens(text);
        for pair in tokens.windows(3) {
            let inline = pair[0].text == "mod" && pair[2].text == "{";
            if inline && EMPTY_NAMES.contains(&pair[1].text) {
                let what = format!("a module named `{}`", pair[1].text);
                findings.push(Finding::at(path, pair[1].line, what, mend));
            }
        }
    }
    findings
}

/// No line of a source, document or manifest ends in blanks.
pub fn trailing_whitespace(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !is_data(path)) {
        if ![".rs", ".md", ".toml"].iter().any(|ending| path.ends_with(ending)) {
            continue;
        }
        for (index, line) in text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                findings.push(Finding::at(
                    path,
                    index + 1,
                    "the line ends in whitespace",
                    format!("sed -i 's/[[:space:]]*$//' {path}"),
                ));
            }
        }
    }
    findings
}

/// No comment says that something is still to be done.
pub fn unfinished(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        for token in tokens(text) {
            let mut words = token.text.split(|letter: char| !letter.is_alphanumeric());
            let mark = words.find(|word| UNFINISHED.contains(word));
            if let (TokenKind::Comment, Some(mark)) = (token.kind, mark) {
                findings.push(Finding::at(
                    path,
                    token.line,
                    format!("a comment says {mark}"),
                    "finish it, or file an issue and say what is true now",
                ));
            }
        }
    }
    findings
}

/// The most lines of a `lib.rs`, its documentation included.
pub const FRONT_PAGE: usize = 150;

/// Each `lib.rs` is a front page: short, no logic, every re-export by name.
pub fn front_pages(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources().filter(|(path, _)| path.ends_with("src/lib.rs")) {
        let lines = text.lines().count();
        if lines > FRONT_PAGE {
            findings.push(Finding::new(
                path,
                format!("has {lines} lines, and a front page has at most {FRONT_PAGE}"),
                "move what is not an overview to the module that it is about",
            ));
        }
        let end = lines_without_tests(text);
        let code: Vec<_> = tokens(text)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Comment && token.line <= end)
            .collect();
        for (index, token) in code.iter().enumerate() {
            let glob = token.text == "*" && index > 0 && code[index - 1].text == ":";
            let (what, mend) = match token.text {
                "fn" => ("a front page with logic", "move the function to a module"),
                _ if glob => ("a re-export without names", "name what is re-exported"),
                _ => continue,
            };
            findings.push(Finding::at(path, token.line, what, mend));
        }
    }
    findings
}
