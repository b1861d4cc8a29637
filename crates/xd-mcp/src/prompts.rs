//! Prompts that a person can pick in a client.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use xd_protocol::{StageNumber, Visible};
use xd_write::Bound;

use crate::{answer::bounded, connection::Connection, stack::Opened};

const WORK: &str = "staged_edits";
const REVIEW: &str = "review_staged";

const HOW: &str = "Work with staged edits in this session.\n\
    1. Propose: call `edit` for exact text, `ast_edit` for a pattern over many files. The result is a \
    preview with a number; no file has changed.\n\
    2. Look: check every hunk. `read xd://resolve@<n>` shows the whole preview, `read <path>` the file.\n\
    3. Decide: `write` one sentence that says why to xd://resolve@<n> to apply it, or to \
    xd://reject@<n> to discard it. The sentence is kept in the log.\n\
    4. Only then go on: until it is decided, tools that would change files are refused.\n\
    If applying says that the preview is stale, nothing was written: write {\"number\": <n>} to \
    xd://restage to make it anew, or reject it and propose again.";

/// The prompts that there are.
pub(crate) fn list() -> Vec<Prompt> {
    let number = PromptArgument::new("number")
        .with_description("Its number; without it, the newest one pending.")
        .with_required(false);
    vec![
        Prompt::new(WORK, Some("How to propose, look and decide"), None),
        Prompt::new(REVIEW, Some("Review a staged action and decide it"), Some(vec![number])),
    ]
}

/// The messages of a prompt.
///
/// # Errors
/// There is no such prompt, or no such action.
pub(crate) fn get(
    name: &str,
    arguments: Option<&JsonObject>,
    opened: &Opened,
    connection: &Connection,
) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        WORK => HOW.to_owned(),
        REVIEW => review(arguments, opened, connection)?,
        name => {
            let text =
                format!("No prompt is called {}. There are {WORK}, {REVIEW}.", Visible(name));
            return Err(ErrorData::invalid_params(text, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn review(
    arguments: Option<&JsonObject>,
    opened: &Opened,
    connection: &Connection,
) -> Result<String, ErrorData> {
    let given = arguments.and_then(|arguments| arguments.get("number"));
    let given = given.filter(|given| !given.is_null() && given.as_str() != Some(""));
    let actions = opened.session.actions();
    let action = match given {
        None => actions.head(),
        Some(given) => {
            let number = given.as_u64().or_else(|| given.as_str()?.trim().parse().ok());
            let found = number.and_then(StageNumber::new).and_then(|number| actions.get(number));
            let Some((action, _)) = found else {
                let text = format!("`number` must be that of a staged action; {given} is none.");
                return Err(ErrorData::invalid_params(text, None));
            };
            Some(action)
        }
    };
    let Some(action) = action else {
        return Ok("Nothing is pending: there is nothing to review.".to_owned());
    };
    let n = action.number();
    connection.tell(n);
    Ok(format!(
        "Review staged action @{n}. Judge every hunk: is it what was asked for, and complete? Then \
         `write` one sentence that says why to xd://resolve@{n} to apply it, or to xd://reject@{n} \
         to discard it.\n\n{}",
        bounded(&action, Bound::MODEL)
    ))
}
