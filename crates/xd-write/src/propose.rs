//! `write xd://propose <slug>`: a plan is submitted and reviewed (`CONTRACT P1, P2`).
//!
//! The submission, and what became of it, is in the record before anybody is told (`CONTRACT L1`).
//! The reviewer sees the whole draft, and what comes back is bound to it by its digest: a draft
//! that became another one during the review is not approved, whatever was said of it.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_changeset::Hash;
use xd_protocol::{PlanSlug, SlugFault, notice};
use xd_resolve::{Decider, PlanMode, RecordError, ToolResult, device_result};
use xd_session::{
    Approving, NotProposed, OpenReview, PlanAnswer, PlanDigest, PlanPhase, PlanReview,
    PlanReviewer, Proposal,
};

use crate::{
    DraftName, Expected, Host, PlanEvent, Put, local, nearest::nearest, plan_mode::plain,
    planning::PlanLog,
};

/// Carries a proposal out. Dropped, the review is withdrawn and planning goes on.
pub(crate) async fn propose(host: &Host, who: Decider, body: &Value) -> ToolResult {
    let slug = plain(body).map(str::trim).unwrap_or_default().to_owned();
    let result = match submitted(host, who, body) {
        Ok(submission) => review(host, submission).await,
        Err(refusal) => ToolResult::error(refusal),
    };
    device_result("propose", json!({ "slug": shortened(&slug) }), result)
}

/// What is submitted, before anybody has seen it.
struct Submission {
    name: DraftName,
    text: Arc<str>,
    hash: Hash,
    reviewer: Arc<dyn PlanReviewer>,
    open: OpenReview,
    question: Question,
}

/// The question of an open review in the record. Dropped before its answer is written down, it was
/// withdrawn.
struct Question {
    log: PlanLog,
    slug: String,
    digest: Hash,
    is_open: bool,
}

impl Question {
    /// Writes the question down.
    fn asked(log: &PlanLog, who: Decider, slug: &str, digest: Hash) -> Result<Self, RecordError> {
        log.record(PlanEvent::Proposed { slug: slug.to_owned(), digest }, who, "")?;
        Ok(Self { log: log.clone(), slug: slug.to_owned(), digest, is_open: true })
    }

    /// Writes down that the reviewer did not approve, with what was said.
    fn not_approved(
        mut self,
        event: impl FnOnce(String, Hash) -> PlanEvent,
        words: &str,
    ) -> Result<(), RecordError> {
        self.is_open = false;
        self.log.record(event(self.slug.clone(), self.digest), Decider::Person, words)
    }

    /// Writes down that an approval came to nothing.
    fn void(mut self, why: &str) {
        self.is_open = false;
        let event = PlanEvent::Void { slug: self.slug.clone(), digest: self.digest };
        self.log.note(event, Decider::Host, why);
    }

    /// Writes the approval down, which takes effect only then.
    fn approved(&mut self, approved: Hash) -> Result<(), RecordError> {
        let (slug, digest) = (self.slug.clone(), self.digest);
        let event = PlanEvent::Approved { slug, digest, approved };
        self.log.record(event, Decider::Person, "")?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.is_open {
            let event = PlanEvent::Withdrawn { slug: self.slug.clone(), digest: self.digest };
            self.log.note(event, Decider::Host, "The call ended before anybody had decided.");
        }
    }
}

fn submitted(host: &Host, who: Decider, body: &Value) -> Result<Submission, String> {
    let plan = host.session().plan();
    match plan.mode() {
        PlanMode::Off => return Err(notice::NO_PLAN.to_owned()),
        PlanMode::On => {}
    }
    let Some(body) = plain(body) else {
        return Err(
            "Nothing was submitted: the content for xd://propose must be plain text. Write \
                    the slug of local://<slug>-plan.md and nothing else. Example: rename-client"
                .to_owned(),
        );
    };
    let slug = PlanSlug::new(body).map_err(|fault| refused_slug(host, body, fault))?;
    let name = DraftName::of_plan(slug);
    let text = match host.drafts().read(&name) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(missing(host, &name, slug)),
        Err(error) => return Err(format!("Nothing was submitted: {error}.")),
    };
    if text.trim().is_empty() {
        return Err(format!(
            "Nothing was submitted: {} is blank. Write the plan there first.",
            name.address()
        ));
    }
    let hash = Hash::of(text.as_bytes());
    let Some(reviewer) = plan.reviewer() else {
        return Err(format!("Nothing was submitted: {}.", xd_session::NoReviewer));
    };
    let proposal = Proposal { slug: slug.as_str().to_owned(), digest: digest(hash) };
    match plan.submit(proposal) {
        Ok(open) => {
            let question = Question::asked(host.plan_log(), who, slug.as_str(), hash)
                .map_err(|error| format!("Nothing was submitted: {error}."))?;
            Ok(Submission { name, text: text.into(), hash, reviewer, open, question })
        }
        Err(NotProposed::NotPlanning) => Err(notice::NO_PLAN.to_owned()),
        Err(NotProposed::UnderReview(other)) => Err(format!(
            "Nothing was submitted: the plan {} is under review already. Wait for its answer.",
            other.slug
        )),
    }
}

async fn review(host: &Host, submission: Submission) -> ToolResult {
    let Submission { name, text, hash, reviewer, open, question } = submission;
    let address = name.address();
    let review = PlanReview {
        slug: question.slug.clone(),
        address: address.clone(),
        text: Arc::clone(&text),
        digest: digest(hash),
    };
    tracing::info!(slug = review.slug, digest = %review.digest, "a plan is under review");
    let revise = format!("Plan mode stays on: revise {address} and submit it again.");
    match reviewer.review(review).await {
        PlanAnswer::Approved { text: approved } => {
            approve(host, &Draft { name, text }, &approved, open, question)
        }
        PlanAnswer::Refused { words } => {
            let words = words.trim();
            let recorded =
                question.not_approved(|slug, digest| PlanEvent::Refused { slug, digest }, words);
            let answer = match words {
                "" => format!("The plan was not approved. {revise}"),
                words => format!("The plan was not approved: {words}\n{revise}"),
            };
            stands(answer, recorded)
        }
        PlanAnswer::Dismissed => {
            let recorded =
                question.not_approved(|slug, digest| PlanEvent::Dismissed { slug, digest }, "");
            let answer = "Nobody decided on the plan: the review was dismissed, and nothing is \
                          approved. Plan mode stays on. Do not submit it again before you are \
                          asked to.";
            stands(answer.to_owned(), recorded)
        }
    }
}

/// An answer that stands whether it could be written down or not, which it says.
fn stands(answer: String, recorded: Result<(), RecordError>) -> ToolResult {
    let mut result = ToolResult::error(answer);
    result.content.extend(recorded.err().map(|error| format!("This outcome stands, but {error}.")));
    result
}

/// A draft as it was submitted.
struct Draft {
    name: DraftName,
    text: Arc<str>,
}

impl Draft {
    /// Gives it its text back where nothing was approved after all, and says what cannot be: nobody
    /// has approved what the reviewer made of it.
    fn take_back(&self, host: &Host, edited: Hash) -> String {
        match host.drafts().put(&self.name, &self.text, Expected::Text(edited)) {
            // Differs: somebody has written it since, and that stands.
            Ok(Put::Created | Put::Replaced | Put::Differs) => String::new(),
            Err(error) => format!(
                " {} holds what was made of it in the review, which is not approved: {error}.",
                self.name.address()
            ),
        }
    }
}

/// Whether the review of what `question` names is still the open one.
fn is_open(host: &Host, question: &Question) -> bool {
    match host.session().plan().phase() {
        PlanPhase::Proposed(open) => {
            open.slug == question.slug && open.digest == digest(question.digest)
        }
        PlanPhase::Off | PlanPhase::Planning => false,
    }
}

fn late(question: Question, left: &str) -> ToolResult {
    question.void("The answer came late: plan mode was left, or the session moved on.");
    ToolResult::error(format!(
        "Nothing is approved: plan mode was left, or the conversation became another one, while \
         the plan was reviewed.{left}"
    ))
}

fn approve(
    host: &Host,
    draft: &Draft,
    approved: &str,
    open: OpenReview,
    mut question: Question,
) -> ToolResult {
    let name = &draft.name;
    let (address, submitted) = (name.address(), question.digest);
    if approved.trim().is_empty() {
        question.void("The review left no text of the plan.");
        return ToolResult::error(format!(
            "Nothing is approved: the review left no text of the plan. Plan mode stays on, and \
             {address} is as it was."
        ));
    }
    let changed = |question: Question| {
        question.void("The draft was changed while it was reviewed.");
        ToolResult::error(format!(
            "Nothing is approved: {address} was changed while it was reviewed, so what was seen is \
             not what is there. Plan mode stays on; submit it again."
        ))
    };
    if !is_open(host, &question) {
        return late(question, "");
    }
    // The draft becomes what was approved only where it still is what was submitted.
    let hash = Hash::of(approved.as_bytes());
    let edited = hash != submitted;
    let is_submitted = if edited {
        host.drafts().put(name, approved, Expected::Text(submitted)).map(|put| match put {
            Put::Created | Put::Replaced => true,
            Put::Differs => false,
        })
    } else {
        host.drafts().read(name).map(|text| Expected::Text(submitted).is(text.as_deref()))
    };
    match is_submitted {
        Ok(true) => {}
        Ok(false) => return changed(question),
        Err(error) => {
            question.void(&format!("The draft could not be read or written: {error}."));
            return ToolResult::error(format!(
                "Nothing is approved: {error}. Plan mode stays on; submit the plan again."
            ));
        }
    }
    let take_back = || if edited { draft.take_back(host, hash) } else { String::new() };
    if let Err(error) = question.approved(hash) {
        return ToolResult::error(format!(
            "Nothing is approved: {error}. Plan mode stays on; submit the plan again.{}",
            take_back()
        ));
    }
    let why = format!("The plan {} is approved.", question.slug);
    let approve = || open.approve(digest(submitted));
    match host.plan_log().leaving(Decider::Person, &why, approve) {
        Approving::Approved(()) => {
            let slug = &question.slug;
            let how = if edited { ", as edited in the review" } else { "" };
            let mut result = ToolResult::text(format!(
                "The plan {slug} is approved{how}. Plan mode is off: carry the plan out as it \
                 stands here (also at {address}, digest {}).",
                hash.short()
            ));
            // A block of its own: these are the approved bytes, not one more or less (case 85).
            result.content.push(approved.to_owned());
            result.with_details(json!({
                "slug": slug, "digest": digest(hash).to_string(), "edited": edited,
            }))
        }
        Approving::Changed => {
            take_back();
            changed(question)
        }
        Approving::Late => late(question, &take_back()),
    }
}

/// The refusal of what is no slug. A whole plan is kept, so that it need not be written again
/// (`CONTRACT P4`); it is not submitted, and neither is any other (case 83).
fn refused_slug(host: &Host, body: &str, fault: SlugFault) -> String {
    let kept = match fault {
        SlugFault::SeveralLines | SlugFault::TooLong { .. } => {
            let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            local::kept(host, first.trim_start_matches(['#', ' ']), body)
        }
        _ => String::new(),
    };
    format!("{fault}.{kept}")
}

/// The refusal of a slug without a draft: where it was looked for, and what there is
/// (`CONTRACT P2`).
fn missing(host: &Host, name: &DraftName, slug: PlanSlug<'_>) -> String {
    /// How many candidates are listed before the rest is counted.
    const LISTED: usize = 24;
    let expected = format!("Nothing was submitted: there is no plan at {}.", name.address());
    let drafts = match host.drafts().names() {
        Ok(drafts) => drafts,
        Err(error) => return format!("{expected} The others cannot be listed: {error}."),
    };
    let slugs: Vec<&str> = drafts.iter().filter_map(|it| it.slug().map(PlanSlug::as_str)).collect();
    if slugs.is_empty() {
        return format!("{expected} There are no plans yet: write it there first.");
    }
    let offer =
        meant(slug.as_str(), &slugs).map_or(String::new(), |near| format!(" Did you mean {near}?"));
    let listed = slugs.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    let more = match slugs.len().saturating_sub(LISTED) {
        0 => String::new(),
        n => format!(" and {n} more (read local://)"),
    };
    format!("{expected}{offer} Plans that can be submitted: {listed}{more}.")
}

/// The slug that was probably meant by `written`: the end of a draft's name is no part of it.
fn meant<'a>(written: &str, slugs: &[&'a str]) -> Option<&'a str> {
    let slug = written.strip_suffix("-plan").unwrap_or(written);
    let exactly = slugs.iter().copied().find(|it| *it == slug);
    exactly.or_else(|| nearest(slug, slugs.iter().copied()))
}

/// What the details show of a body that may be a whole plan.
fn shortened(body: &str) -> String {
    body.lines().next().unwrap_or_default().chars().take(xd_protocol::MAX_SLUG_CHARS).collect()
}

fn digest(hash: Hash) -> PlanDigest {
    PlanDigest::new(*hash.as_bytes())
}
