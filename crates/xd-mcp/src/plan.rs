//! Plan mode over the protocol: a person approves in the client, before the call runs.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use xd_changeset::Hash;
use xd_protocol::{Address, Device, PlanSlug, Target, classify, parse_xd_url};
use xd_resolve::{BoxFuture, PlanMode, ToolCall};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer};
use xd_write::DraftName;

use crate::{inert::inert, stack::Opened};

/// The longest plan that a person is asked about: she is to see all of it.
pub(crate) const LONGEST: usize = 64 * 1024;

/// Hands on what a person said before the call ran: while she is asked, nobody holds the state.
#[derive(Debug, Default)]
pub(crate) struct Reviewer(Mutex<Option<(Arc<str>, PlanAnswer)>>);

impl Reviewer {
    /// The next review gets this answer, if it is of the text that was shown.
    pub(crate) fn expect(&self, said: Option<(Arc<str>, PlanAnswer)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = said;
    }
}

impl PlanReviewer for Reviewer {
    fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let answer = match said {
            Some((shown, answer)) if shown == review.text => answer,
            // Nobody was asked, or about another text (`CONTRACT P2`).
            Some(_) | None => PlanAnswer::Dismissed,
        };
        Box::pin(std::future::ready(answer))
    }
}

/// A plan that a call submits.
#[derive(Debug, Clone)]
pub(crate) struct Submitted {
    pub(crate) slug: String,
    pub(crate) text: Arc<str>,
}

impl Submitted {
    /// The plan that `call` submits, where plan mode is on and there is one to be asked about. What
    /// is wrong with any other is for the call itself to say.
    pub(crate) fn by(call: &ToolCall, opened: &Opened) -> Option<Self> {
        match opened.session.plan_mode() {
            PlanMode::Off => return None,
            PlanMode::On => {}
        }
        let slug = PlanSlug::new(body(call)?).ok()?;
        let text = opened.host.drafts().read(&DraftName::of_plan(slug)).ok()??;
        let is_blank = text.trim().is_empty();
        (!is_blank).then(|| Self { slug: slug.as_str().to_owned(), text: text.into() })
    }

    /// By this a plan is known again.
    pub(crate) fn digest(&self) -> String {
        Hash::of(self.text.as_bytes()).to_string()
    }

    /// The question, with the whole plan in view; none where it is too long for that.
    pub(crate) fn question(&self) -> Option<String> {
        let text: Cow<'_, str> = inert(&self.text);
        (text.len() <= LONGEST).then(|| {
            format!(
                "Approve the plan `{}`?\nAccept ends plan mode, and the agent carries it out; decline \
                 sends your reason back to it, and plan mode stays on; otherwise nothing is \
                 decided.\n\n{text}\n",
                self.slug
            )
        })
    }
}

/// What a write to `xd://propose` brings.
fn body(call: &ToolCall) -> Option<&str> {
    let is_propose = |target| target == Some(Target::Device(Device::Propose));
    if call.name == "write" {
        let target = match classify(call.str_argument("path")?) {
            Address::Xd(target) => Some(target),
            Address::Path(_)
            | Address::Malformed(_)
            | Address::NearMiss(_)
            | Address::Foreign(_) => None,
        };
        return is_propose(target).then(|| call.str_argument("content")).flatten();
    }
    let body = || match &call.arguments {
        Value::String(text) => Some(text.as_str()),
        _ => call.str_argument("content").or_else(|| call.str_argument("reason")),
    };
    is_propose(parse_xd_url(&call.name)).then(body).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_proposal_brings_a_plan() {
        let write =
            |path: &str| ToolCall::new("1", "write", json!({ "path": path, "content": "a" }));
        assert_eq!(body(&write(" XD://propose")), Some("a"));
        assert_eq!(body(&write("xd://Propose")), None);
        assert_eq!(body(&write("propose")), None);
        let named = ToolCall::new("1", "xd://propose", json!({ "content": "a" }));
        assert_eq!(body(&named), Some("a"));
        assert_eq!(body(&ToolCall::new("1", "edit", json!({ "content": "a" }))), None);
    }

    // CONTRACT P2
    #[test]
    fn p2_an_answer_is_for_the_text_that_was_shown_and_for_once() {
        let reviewer = Reviewer::default();
        let review = |text: &str| PlanReview {
            slug: "a".to_owned(),
            address: "local://a-plan.md".to_owned(),
            text: text.into(),
            digest: xd_session::PlanDigest::new(*Hash::of(text.as_bytes()).as_bytes()),
        };
        let approved = || PlanAnswer::Approved { text: "do".into() };
        let answer = |text| xd_resolve::block_on(reviewer.review(review(text)));
        assert_eq!(answer("do"), PlanAnswer::Dismissed);
        reviewer.expect(Some(("do".into(), approved())));
        assert_eq!(answer("do something else"), PlanAnswer::Dismissed);
        assert_eq!(answer("do"), PlanAnswer::Dismissed, "the answer is gone");
        reviewer.expect(Some(("do".into(), approved())));
        assert_eq!(answer("do"), approved());
    }
}
