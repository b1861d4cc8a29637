//! Chat completions, as OpenAI made them and most providers speak them.
//!
//! Providers cache by the bytes of the prompt's beginning and need no marks. What a server sent of
//! its thinking goes back under the name that it used itself: some refuse a history without it,
//! others one with a name they do not know.

mod answer;
mod request;

pub(crate) use answer::Answer;
pub(crate) use request::body;
