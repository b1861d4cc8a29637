//! The transcript in the README: written from a real run, or checked against one.

use std::{path::Path, process::Command};

use crate::Finding;

/// The file that this is about.
pub const DOCUMENT: &str = "README.md";

const BEGIN: &str = "<!-- demo: written by `cargo xtask readme` -->\n```text\n";
const END: &str = "```\n<!-- demo: end -->\n";
/// The act that the README shows.
const ACT: &str = "Act 3";

/// The README with the transcript of a demonstration run, as `root` builds it now.
///
/// # Errors
/// What went wrong, for a person: the demonstration failed, or the README has no place for it.
pub fn document(root: &Path, readme: &str) -> Result<String, String> {
    let run = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--locked", "--package", "xd-cli", "--", "demo"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo run -- demo: {error}"))?;
    if !run.status.success() {
        return Err(format!("the demonstration failed: {}", String::from_utf8_lossy(&run.stderr)));
    }
    with_transcript(readme, &String::from_utf8_lossy(&run.stdout))
}

/// The README with the act cut out of the demonstration's `output`.
///
/// # Errors
/// Where README or output lack the marks.
pub fn with_transcript(readme: &str, output: &str) -> Result<String, String> {
    let act = cut(output, ACT, "\nAct 4").ok_or("the demonstration prints no third act")?;
    let lines: Vec<&str> = act.lines().map(str::trim_end).collect();
    let (head, rest) = readme.split_once(BEGIN).ok_or("the README has no begin mark")?;
    let (_, tail) = rest.split_once(END).ok_or("the README has no end mark")?;
    Ok(format!("{head}{BEGIN}{}\n{END}{tail}", lines.join("\n").trim_end()))
}

/// Finds nothing where the README shows what the demonstration prints.
#[must_use]
pub fn check(root: &Path, readme: &str) -> Vec<Finding> {
    let what = match document(root, readme) {
        Ok(wanted) if wanted == readme => return Vec::new(),
        Ok(_) => "the transcript is not what the demonstration prints".to_owned(),
        Err(error) => error,
    };
    vec![Finding::new(DOCUMENT, what, "cargo xtask readme")]
}

fn cut<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    let text = &text[text.find(from)?..];
    Some(&text[..text.find(to)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_act_goes_between_the_marks_and_nothing_else_moves() {
        let readme = format!("a\n{BEGIN}old\n{END}b\n");
        let output = "Act 2\nx\nAct 3  t\ny  \n\nAct 4\nz\n";
        let written = with_transcript(&readme, output).unwrap();
        assert_eq!(written, format!("a\n{BEGIN}Act 3  t\ny\n{END}b\n"));
        assert_eq!(with_transcript(&written, output).unwrap(), written);
        assert!(with_transcript("no marks", output).is_err());
        assert!(with_transcript(&readme, "nothing").is_err());
    }
}
