//! `xd edit`: stage a structural rewrite.

use std::{io::IsTerminal as _, path::Path};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use xd_ast_edit::{Control, Limits, Op, Outcome, Proposal, Request, Rule, propose};
use xd_write::Workspace;

use super::{input, operands, preview};
use crate::{
    arguments::EditArguments,
    failure::{Failure, Status},
    place::{Place, View},
    screen::Screen,
};

/// Stages and prints the preview.
pub(crate) fn run(
    directory: &Path,
    arguments: &EditArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let request = request(arguments)?;
    // To search needs no state: where nothing is staged, none is made.
    let workspace = View::open(directory, screen)?.workspace;
    match search(&workspace, &request, arguments)? {
        Outcome::NoReplacements(summary) => {
            let message = operands::translate(&summary.no_replacements(), arguments);
            if screen.is_json() {
                screen.json(
                    &json!({ "v": 1, "staged": null, "message": message, "summary": summary }),
                );
            } else {
                screen.text(&message);
            }
            Ok(Status::Nothing)
        }
        Outcome::Proposal(proposal) => {
            let place = Place::open(directory, screen)?;
            stage(&place, proposal, screen)
        }
    }
}

fn request(arguments: &EditArguments) -> Result<Request, Failure> {
    let EditArguments { patterns, rewrites, lang, paths, rules, .. } = arguments;
    if patterns.len() != rewrites.len() {
        return Err(Failure::new(
            format!(
                "{} (-p) but {} (-r)",
                counted(patterns.len(), "pattern"),
                counted(rewrites.len(), "rewrite")
            ),
            "Give each -p its own -r, in the same order; -r '' deletes what the pattern matches.",
        ));
    }
    let mut ops: Vec<Op> =
        patterns.iter().zip(rewrites).map(|(pat, out)| Op::new(pat, out)).collect();
    for file in rules {
        ops.extend(rules_of(file)?.into_iter().map(Op::from));
    }
    Ok(Request { ops, paths: paths.clone(), lang: lang.clone() })
}

/// The rules in a file.
fn rules_of(file: &Path) -> Result<Vec<Rule>, Failure> {
    let name = file.display().to_string();
    let text = String::from_utf8(input(file)?).map_err(|_| {
        Failure::new(
            format!("--rule {name}: is not UTF-8 text"),
            "A file of rules is YAML or JSON.",
        )
    })?;
    Rule::parse(&name, &text).map_err(|error| {
        Failure::new(
            format!("--rule {error}"),
            "A rule has `rule: {pattern: oldApi($A)}` and `fix: newApi($A)`; see `xd help edit`.",
        )
    })
}

/// How much may be changed; 0 is no limit.
fn limits(arguments: &EditArguments) -> Limits {
    let most = |n: usize| if n == 0 { usize::MAX } else { n };
    Limits {
        files: most(arguments.max_files),
        replacements: most(arguments.max_replacements),
        ..Limits::default()
    }
}

/// `1 pattern`, `2 patterns`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Searches with a progress bar, where somebody is looking.
fn search(
    workspace: &Workspace,
    request: &Request,
    arguments: &EditArguments,
) -> Result<Outcome, Failure> {
    let bar =
        if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {msg} matched") {
        bar.set_style(style);
    }
    let progress = |at: xd_ast_edit::Progress| {
        bar.set_length(at.files as u64);
        bar.set_position(at.seen as u64);
        bar.set_message(at.matched.to_string());
    };
    // Ctrl-C ends the process here, where nothing is staged yet.
    let control = Control { cancelled: &|| false, progress: &progress };
    let outcome = propose(workspace.root(), request, &limits(arguments), &control);
    bar.finish_and_clear();
    outcome.map_err(|error| operands::failure(&error, arguments))
}

fn stage(place: &Place, proposal: Proposal, screen: &mut Screen) -> Result<Status, Failure> {
    let summary = json!(proposal.summary);
    preview::stage(place, proposal.into_proposed(), &summary, screen)
}
