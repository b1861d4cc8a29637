//! OpenAI Responses.
//!
//! Nothing is stored with the provider: every request carries the history whole, reasoning in its
//! encrypted form included, so that a transcript is all that is needed to go on.

mod answer;
mod request;

pub(crate) use answer::Answer;
pub(crate) use request::body;
