//! Plan mode as a pure state machine: facts in, decisions out (`CONTRACT P2, P3`).
//!
//! ```text
//!          enter            propose
//!   Off ─────────► Planning ───────► Proposed
//!    ▲                │  ▲               │
//!    │      leave     │  └── reopen ─────┤  refused, dismissed, changed meanwhile
//!    ├────────────────┘                  │
//!    └────────────── leave, approve ─────┘
//! ```

use std::fmt;

use xd_resolve::PlanMode;

/// The digest of a plan's text, 32 bytes; shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlanDigest([u8; 32]);

impl PlanDigest {
    /// The digest of these bytes, which a hash function made of the whole text.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PlanDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PlanDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanDigest({self})")
    }
}

/// A plan as it was submitted: its slug, and the digest of the text that the reviewer sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Proposal {
    /// The slug.
    pub slug: String,
    /// The digest of the submitted text.
    pub digest: PlanDigest,
}

/// Where plan mode stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanPhase {
    /// It is off.
    Off,
    /// It is on, and no plan is under review.
    Planning,
    /// It is on, and this plan waits for the reviewer.
    Proposed(Proposal),
}

/// Whether a step changed anything. Taking it again changes nothing (`CONTRACT P3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStep {
    /// It did.
    Done,
    /// Things were so already.
    Already,
}

/// One review. An answer with a ticket that is no longer the open one is late and changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanTicket(u64);

/// Why a plan was not submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotProposed {
    /// Plan mode is off (`CONTRACT P1`).
    NotPlanning,
    /// This plan is under review already; nobody is asked twice at a time.
    UnderReview(Proposal),
}

/// What came of an approval.
#[derive(Debug, PartialEq, Eq)]
pub enum Approving<B> {
    /// Plan mode is off; this is what entering it had put by.
    Approved(B),
    /// The draft is another one by now: nothing is approved, plan mode stays on (`CONTRACT P2`).
    Changed,
    /// Plan mode was left, or the session moved on, while the plan was reviewed.
    Late,
}

/// The state machine. `B` is what entering puts by, to be restored when plan mode ends.
#[derive(Debug)]
pub struct PlanMachine<B> {
    on: Option<On<B>>,
    tickets: u64,
    last_slug: Option<String>,
}

#[derive(Debug)]
struct On<B> {
    before: B,
    review: Option<(u64, Proposal)>,
}

impl<B> Default for PlanMachine<B> {
    fn default() -> Self {
        Self { on: None, tickets: 0, last_slug: None }
    }
}

impl<B> PlanMachine<B> {
    /// Plan mode, off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where it stands.
    #[must_use]
    pub fn phase(&self) -> PlanPhase {
        match &self.on {
            None => PlanPhase::Off,
            Some(On { review: None, .. }) => PlanPhase::Planning,
            Some(On { review: Some((_, proposal)), .. }) => PlanPhase::Proposed(proposal.clone()),
        }
    }

    /// The coarse view.
    #[must_use]
    pub fn mode(&self) -> PlanMode {
        if self.on.is_some() { PlanMode::On } else { PlanMode::Off }
    }

    /// The slug that was submitted last since plan mode was entered.
    #[must_use]
    pub fn last_slug(&self) -> Option<&str> {
        self.last_slug.as_deref()
    }

    /// Enters plan mode. `change` makes whatever changes with it and puts by what was before; it
    /// is called only where plan mode was off, so that entering twice puts nothing wrong by.
    pub fn enter(&mut self, change: impl FnOnce() -> B) -> PlanStep {
        if self.on.is_some() {
            return PlanStep::Already;
        }
        self.last_slug = None;
        self.on = Some(On { before: change(), review: None });
        PlanStep::Done
    }

    /// Puts `before` by in the place of what entering had put by, where plan mode is on.
    pub(crate) fn put_by(&mut self, before: B) {
        if let Some(on) = &mut self.on {
            on.before = before;
        }
    }

    /// Leaves plan mode from whatever state; an open review is void. Answers what entering had put
    /// by, once.
    pub fn leave(&mut self) -> Option<B> {
        self.on.take().map(|on| on.before)
    }

    /// A plan is submitted.
    ///
    /// # Errors
    /// [`NotProposed`]; nothing has changed.
    pub fn propose(&mut self, proposal: Proposal) -> Result<PlanTicket, NotProposed> {
        let on = self.on.as_mut().ok_or(NotProposed::NotPlanning)?;
        if let Some((_, open)) = &on.review {
            return Err(NotProposed::UnderReview(open.clone()));
        }
        self.tickets += 1;
        self.last_slug = Some(proposal.slug.clone());
        on.review = Some((self.tickets, proposal));
        Ok(PlanTicket(self.tickets))
    }

    /// The reviewer approved what was submitted under `ticket`. `current` is the digest of the
    /// draft as it is now: only where it is the submitted one, plan mode ends (`CONTRACT P2`).
    pub fn approve(&mut self, ticket: PlanTicket, current: PlanDigest) -> Approving<B> {
        let digest = match &self.on {
            Some(On { review: Some((open, proposal)), .. }) if *open == ticket.0 => proposal.digest,
            Some(_) | None => return Approving::Late,
        };
        if digest != current {
            self.reopen(ticket);
            return Approving::Changed;
        }
        match self.leave() {
            Some(before) => Approving::Approved(before),
            None => Approving::Late,
        }
    }

    /// The reviewer refused, dismissed or never answered `ticket`: planning goes on.
    pub fn reopen(&mut self, ticket: PlanTicket) -> PlanStep {
        match &mut self.on {
            Some(on) if on.review.as_ref().is_some_and(|(open, _)| *open == ticket.0) => {
                on.review = None;
                PlanStep::Done
            }
            Some(_) | None => PlanStep::Already,
        }
    }

    /// The conversation that submitted a plan is no longer the one at hand: an open review is
    /// void, and plan mode stays as it is.
    pub fn void_review(&mut self) -> PlanStep {
        match self.on.as_mut().and_then(|on| on.review.take()) {
            Some(_) => PlanStep::Done,
            None => PlanStep::Already,
        }
    }
}
