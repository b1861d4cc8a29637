//! The check that the protocol's sentences stand in the code as in the document.

use crate::lexer::{TokenKind, tokens};
use crate::numbered::{Lists, PROTOCOL};
use crate::tidy::files::{is_test_file, lines_without_tests};
use crate::{Finding, Tree};

/// Every whole sentence in code of a statement is a text of some source or
/// prompt template, to the letter. Sentences with a part to fill in are left to the tests.
pub fn sentences_are_in_the_code(tree: &Tree, lists: &Lists) -> Vec<Finding> {
    let document: Vec<&str> = tree.text(PROTOCOL).unwrap_or_default().lines().collect();
    let said = texts(tree);
    let mut findings = Vec::new();
    for (id, line) in lists.statements.iter().flat_map(|section| &section.entries) {
        for sentence in sentences(document[line - 1]) {
            if !said.iter().any(|text| text.contains(sentence)) {
                findings.push(Finding::at(
                    PROTOCOL,
                    *line,
                    format!("no source and no template says `{sentence}` ({id})"),
                    "make the text in the code and the one in the document the same",
                ));
            }
        }
    }
    findings
}

/// The literals of all sources but tests and these checks, and the templates.
fn texts(tree: &Tree) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (path, text) in tree.sources() {
        if is_test_file(path) || path.starts_with("xtask/") {
            continue;
        }
        let end = lines_without_tests(text);
        let literals = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Literal);
        found.extend(literals.filter(|token| token.line <= end).map(|token| content(token.text)));
    }
    let templates = tree.texts().filter(|(path, _)| path.starts_with("prompts/templates/"));
    found.extend(templates.map(|(_, text)| text.to_owned()));
    found
}

/// What a literal says: quotation marks and the backslashes before them taken
/// off, lines that a backslash continues joined.
fn content(literal: &str) -> String {
    let mut text = String::with_capacity(literal.len());
    let mut rest = literal;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        rest = if after.starts_with(['\n', '\r']) { after.trim_start() } else { after };
    }
    text.push_str(rest);
    text
}

/// The code of a line that is a sentence of four words at least, with nothing
/// to fill in.
fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let marks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let body = &rest[start + marks..];
        let Some(end) = body.find(&rest[start..start + marks]) else { break };
        let code = body[..end].trim();
        let to_fill_in = code.contains(['<', '{']) || code.contains("@n") || code.contains("(s)");
        if code.ends_with('.') && code.matches(' ').count() >= 3 && !to_fill_in {
            found.push(code);
        }
        rest = &body[end + marks..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_a_sentence_is_told_from_other_code() {
        let line = "- **X1** `a_name` says `Nothing at all to do.` or `` Call the `x` tool now. ``, \
                    `Not <this> one of them.`, `{a: b c d e.`, `Too short.` and `an open end of it.";
        assert_eq!(sentences(line), ["Nothing at all to do.", "Call the `x` tool now."]);
    }

    #[test]
    fn a_literal_that_goes_on_in_the_next_line_is_one_text() {
        assert_eq!(content("\"one \\\n    two \\\"three\\\"\""), "\"one two \"three\"\"");
    }
}
