//! From the run to whoever stands beside it: events and questions, in the order in which they come.

use tokio::sync::{mpsc, oneshot};
use xd_agent::Event;
use xd_resolve::BoxFuture;
use xd_session::{PlanAnswer, PlanReview, PlanReviewer};
use xd_write::{Approval, ApprovalRequest, Approver};

/// What the run hands over.
#[derive(Debug)]
pub(crate) enum Notice {
    /// Something happened.
    Event(Box<Event>),
    /// A call needs a person's word.
    Ask(Box<ApprovalRequest>, oneshot::Sender<Approval>),
    /// A plan is to be reviewed.
    Review(PlanReview, oneshot::Sender<PlanAnswer>),
}

/// Where notices go. Questions wait in the same line as events, so that everything before a
/// question is drawn when it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Desk(mpsc::UnboundedSender<Notice>);

/// Where they come out.
pub(crate) type Notices = mpsc::UnboundedReceiver<Notice>;

impl Desk {
    pub(crate) fn new() -> (Self, Notices) {
        let (sender, notices) = mpsc::unbounded_channel();
        (Self(sender), notices)
    }

    /// Hands an event over. Where nobody listens any more there is nobody to tell.
    pub(crate) fn event(&self, event: &Event) {
        let _ = self.0.send(Notice::Event(Box::new(event.clone())));
    }
}

impl Approver for Desk {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
        let (sender, answer) = oneshot::channel();
        let _ = self.0.send(Notice::Ask(Box::new(request), sender));
        Box::pin(async move {
            match answer.await {
                Ok(answer) => answer,
                // The question was left open because the run is cancelled: that is its answer.
                Err(_) => std::future::pending().await,
            }
        })
    }
}

impl PlanReviewer for Desk {
    fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        let (sender, answer) = oneshot::channel();
        let _ = self.0.send(Notice::Review(review, sender));
        Box::pin(async move { answer.await.unwrap_or(PlanAnswer::Dismissed) })
    }
}
