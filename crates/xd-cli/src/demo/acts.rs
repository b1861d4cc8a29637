//! The five acts: what the user asks, what the model is told to say, how it must end.

use serde_json::{Value, json};
use xd_agent::{Event, Reply, Stop};

use super::sample::Tree;

/// One act of the demonstration.
pub(crate) struct Act {
    /// What it shows.
    pub(crate) title: &'static str,
    /// What the user asks.
    pub(crate) prompt: &'static str,
    /// What the model answers, turn by turn.
    pub(crate) script: Vec<Reply>,
    /// A file that somebody else changes as soon as something is staged, with the new text.
    pub(crate) meddle: Option<(&'static str, String)>,
    /// What the project must be at the end.
    pub(crate) end: Tree,
    /// What must be true of the run.
    pub(crate) expect: fn(&[Event]) -> Result<(), String>,
}

/// All acts, in order.
pub(crate) fn acts() -> Vec<Act> {
    vec![apply(), reject(), detour(), stack(), drift()]
}

fn edit(pat: &str, out: &str, path: &str) -> Value {
    json!({ "ops": [{ "pat": pat, "out": out }], "paths": [path] })
}

fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

/// The calls of `count` gain the amount that the new library wants.
fn counted(tree: Tree, folder: &str) -> Tree {
    let singles = [
        "\"cart.add\"",
        "\"fruit.unpriced\"",
        "\"report.total\"",
        "\"report.best\"",
        "\"stock.short\"",
        "\"stock.taken\"",
    ];
    let tree = singles.iter().fold(tree, |tree, name| {
        tree.replaced(folder, &format!("count({name})"), &format!("count({name}, 1)"))
    });
    tree.replaced(folder, "\"retail\"}`)", "\"retail\"}`, 1)")
}

fn apply() -> Act {
    Act {
        title: "A change in three languages is shown, then applied",
        prompt: "The metrics library now wants an amount: make every count(name) a count(name, 1).",
        script: vec![
            Reply {
                text: "I stage the rewrite first.".into(),
                ..Reply::call("ast_edit", edit("count($NAME)", "count($NAME, 1)", "."))
            },
            Reply::call(
                "write",
                write(
                    "xd://resolve",
                    "Every call of count gains the amount and nothing else changes.",
                ),
            ),
            Reply::text("All calls of count pass an amount now."),
        ],
        meddle: None,
        end: counted(Tree::sample(), ""),
        expect: |events| {
            applied(events, 1)?;
            reminders(events, 1)?;
            forced(events, 0)
        },
    }
}

fn reject() -> Act {
    Act {
        title: "A preview that shows too much is rejected",
        prompt: "Remove the debug calls.",
        script: vec![
            Reply::call("ast_edit", edit("debug($$$ARGS)", "", ".")),
            Reply::call(
                "write",
                write(
                    "xd://reject",
                    "In report.py the debug call also takes the first order; removing it changes the total.",
                ),
            ),
            Reply::text("I left them: the one in report.py does more than debugging."),
        ],
        meddle: None,
        end: Tree::sample(),
        expect: |events| {
            applied(events, 0)?;
            said(events, "Discarded: AST Edit")?;
            forced(events, 0)
        },
    }
}

fn detour() -> Act {
    let changelog = "# Changes\n- The reports count with an amount.\n";
    Act {
        title: "A model that takes a detour is brought back, once",
        prompt: "Pass an amount in the reports, and note it in CHANGES.md.",
        script: vec![
            Reply::call("ast_edit", edit("count($NAME)", "count($NAME, 1)", "tools")),
            Reply {
                text: "First the changelog.".into(),
                ..Reply::call("write", write("CHANGES.md", changelog))
            },
            Reply::call(
                "write",
                write("xd://resolve", "Both calls in the reports gain the amount."),
            ),
            Reply::call("write", write("CHANGES.md", changelog)),
            Reply::text("The reports pass an amount, and CHANGES.md says so."),
        ],
        meddle: None,
        end: counted(Tree::sample(), "tools").with("CHANGES.md", changelog),
        expect: |events| {
            applied(events, 1)?;
            skipped(events, 1)?;
            forced(events, 1)
        },
    }
}

fn stack() -> Act {
    Act {
        title: "Two previews are stacked and resolved last in, first out",
        prompt: "Pass an amount in the web shop and in the stock keeper, as two changes.",
        script: vec![
            Reply::call("ast_edit", edit("count($NAME)", "count($NAME, 1)", "web"))
                .and_call("ast_edit", edit("count($NAME)", "count($NAME, 1)", "core")),
            Reply::call(
                "write",
                write("xd://resolve", "The stock keeper counts one piece at a time."),
            ),
            Reply::call("write", write("xd://resolve", "The web shop counts one event at a time.")),
            Reply::text("Both are done."),
        ],
        meddle: None,
        end: counted(counted(Tree::sample(), "web"), "core"),
        expect: |events| {
            applied(events, 2)?;
            reminders(events, 2)?;
            let order: Vec<&str> =
                results(events).filter(|text| text.starts_with("Applied")).collect();
            match order.as_slice() {
                ["Applied 2 replacements in 1 file.", "Applied 3 replacements in 2 files."] => {
                    Ok(())
                }
                other => Err(format!("the stack was resolved in another order: {other:?}")),
            }
        },
    }
}

fn drift() -> Act {
    let sample = Tree::sample();
    let edited =
        sample.get("tools/report.py").unwrap_or_default().replace("in cents", "in whole cents");
    Act {
        title: "A file changes after the preview: refused, and nothing is written",
        prompt: "Pass an amount everywhere.",
        script: vec![
            Reply::call("ast_edit", edit("count($NAME)", "count($NAME, 1)", ".")),
            Reply::call("write", write("xd://resolve", "Every call of count gains the amount.")),
            Reply::call(
                "write",
                write(
                    "xd://reject",
                    "report.py has changed meanwhile; I will look again before I propose it anew.",
                ),
            ),
            Reply::text(
                "Somebody edited report.py while I was at it, so I left everything as it is.",
            ),
        ],
        meddle: Some(("tools/report.py", edited.clone())),
        end: sample.with("tools/report.py", edited),
        expect: |events| {
            applied(events, 0)?;
            said(events, "The preview is stale")?;
            said(events, "Discarded: AST Edit")
        },
    }
}

fn results(events: &[Event]) -> impl Iterator<Item = &str> {
    events.iter().filter_map(|event| match event {
        Event::Result { result, .. } => result.content.first().map(String::as_str),
        _ => None,
    })
}

fn counts(what: &str, wanted: usize, found: usize) -> Result<(), String> {
    if wanted == found { Ok(()) } else { Err(format!("{what}: {found} instead of {wanted}")) }
}

fn applied(events: &[Event], wanted: usize) -> Result<(), String> {
    if !events.iter().any(|event| matches!(event, Event::Stopped { stop: Stop::Done })) {
        return Err("the run did not end with the model's last word".to_owned());
    }
    counts(
        "changes applied",
        wanted,
        results(events).filter(|text| text.starts_with("Applied ")).count(),
    )
}

fn reminders(events: &[Event], wanted: usize) -> Result<(), String> {
    let found = events.iter().filter(|event| matches!(event, Event::Hidden { .. })).count();
    counts("hidden messages", wanted, found)
}

fn forced(events: &[Event], wanted: usize) -> Result<(), String> {
    let found =
        events.iter().filter(|event| matches!(event, Event::Turn { forced: true, .. })).count();
    counts("forced turns", wanted, found)
}

fn skipped(events: &[Event], wanted: usize) -> Result<(), String> {
    let found = events
        .iter()
        .filter(|event| matches!(event, Event::Result { executed: false, .. }))
        .count();
    counts("calls skipped", wanted, found)
}

fn said(events: &[Event], wanted: &str) -> Result<(), String> {
    if results(events).any(|text| text.starts_with(wanted)) {
        Ok(())
    } else {
        Err(format!("no result begins with '{wanted}'"))
    }
}
