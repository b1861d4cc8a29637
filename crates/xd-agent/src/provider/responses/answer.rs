//! An answer of OpenAI's Responses, put together from its events.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::request::function_call;
use crate::{
    Delta, ModelError, ProviderError, Reply, StopReason, Usage, Verbatim,
    provider::{
        Wire,
        call::{CallDraft, Taken, name_on_wire, one_more},
        failure,
        sse::Frame,
        wire::{Assembler, malformed, read},
    },
};

/// The answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    model: String,
    taken: Taken,
    items: BTreeMap<u64, Item>,
    calls: usize,
    end: Option<End>,
    usage: Usage,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Complete,
    Truncated,
    Filtered,
}

#[derive(Debug, Default)]
struct Item {
    text: String,
    /// A call's place among the calls, and the call.
    call: Option<(usize, CallDraft)>,
    /// The whole item, once it is done.
    done: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    output_index: Option<u64>,
    delta: Option<String>,
    item: Option<Box<RawValue>>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    usage: Option<Counts>,
    error: Option<Value>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

/// What is read of an item.
#[derive(Deserialize)]
struct Seen {
    #[serde(rename = "type", default)]
    kind: String,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    encrypted_content: Option<Value>,
    content: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

impl Answer {
    pub(crate) fn new(model: &str, taken: Taken) -> Self {
        Self {
            model: model.to_owned(),
            taken,
            items: BTreeMap::new(),
            calls: 0,
            end: None,
            usage: Usage::default(),
        }
    }

    fn begin(&mut self, at: u64, seen: &Seen, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if seen.kind != "function_call" {
            return Ok(());
        }
        let item = self.items.entry(at).or_default();
        if item.done.is_some() {
            return Err(malformed("an item begins after its end"));
        }
        if item.call.is_none() {
            one_more(self.calls)?;
            let index = self.calls;
            self.calls += 1;
            let id = seen.call_id.clone().unwrap_or_default();
            let name = seen.name.clone().unwrap_or_default();
            out.push(Delta::CallStarted { index, id: id.clone(), name: name.clone() });
            item.call = Some((index, CallDraft { id, name, arguments: String::new() }));
        }
        Ok(())
    }

    /// The whole item is here: what its pieces left out is made up for.
    fn complete(
        &mut self,
        at: u64,
        whole: Box<RawValue>,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        let seen: Seen = read(whole.get())?;
        self.begin(at, &seen, out)?;
        let item = self.items.entry(at).or_default();
        if item.done.is_some() || (item.call.is_some() && seen.kind != "function_call") {
            return Err(malformed("an item ends twice, or as another than it began"));
        }
        if let Some((index, draft)) = &mut item.call {
            let arguments = seen.arguments.unwrap_or_default();
            if draft.arguments.is_empty() && !arguments.is_empty() {
                let (index, fragment) = (*index, arguments.clone());
                out.push(Delta::CallArguments { index, fragment });
            }
            draft.arguments = arguments;
        }
        let parts = seen.content.unwrap_or_default();
        if seen.kind == "message" {
            let parts = parts.into_iter().filter_map(|part| part.text.or(part.refusal));
            let text: String = parts.collect();
            if item.text.is_empty() && !text.is_empty() {
                out.push(Delta::Text { text: text.clone() });
            }
            item.text = text;
        }
        // Reasoning without its encrypted form is known to nobody but the provider, who has not
        // stored it.
        let lost = seen.kind == "reasoning" && seen.encrypted_content.is_none_or(|v| v.is_null());
        item.done = (!lost).then_some(whole);
        Ok(())
    }

    fn count(&mut self, counts: &Counts) {
        let details = counts.input_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens).unwrap_or(0);
        self.usage = Usage {
            input: counts.input_tokens.unwrap_or(0).saturating_sub(cached),
            cached,
            output: counts.output_tokens.unwrap_or(0),
        };
    }
}

impl Assembler for Answer {
    fn take(&mut self, frame: &Frame, out: &mut Vec<Delta>) -> Result<bool, ModelError> {
        if frame.data.trim() == "[DONE]" {
            return Ok(self.end.is_some());
        }
        let event: Event = read(&frame.data)?;
        let at = event.output_index.unwrap_or(0);
        match event.kind.as_str() {
            "response.output_item.added" => {
                let item = event.item.ok_or_else(|| malformed("an item begins without itself"))?;
                self.begin(at, &read(item.get())?, out)?;
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let text = event.delta.unwrap_or_default();
                self.items.entry(at).or_default().text.push_str(&text);
                out.push(Delta::Text { text });
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(Delta::Thinking { text: event.delta.unwrap_or_default() });
            }
            "response.function_call_arguments.delta" => {
                let item = self.items.get_mut(&at).and_then(|item| item.call.as_mut());
                let (index, draft) =
                    item.ok_or_else(|| malformed("arguments of a call that has not begun"))?;
                let fragment = event.delta.unwrap_or_default();
                draft.arguments.push_str(&fragment);
                out.push(Delta::CallArguments { index: *index, fragment });
            }
            "response.output_item.done" => {
                let item = event.item.ok_or_else(|| malformed("an item ends without itself"))?;
                self.complete(at, item, out)?;
            }
            "response.completed" | "response.incomplete" => {
                let response = event.response;
                if let Some(counts) = response.as_ref().and_then(|r| r.usage.as_ref()) {
                    self.count(counts);
                }
                let details = response.and_then(|response| response.incomplete_details);
                let reason = details.and_then(|details| details.reason);
                self.end = Some(match (event.kind.as_str(), reason.as_deref()) {
                    ("response.completed", _) => End::Complete,
                    (_, Some("content_filter")) => End::Filtered,
                    _ => End::Truncated,
                });
            }
            "response.failed" => {
                let error = event.response.and_then(|response| response.error);
                return Err(failure::in_stream(&error.unwrap_or_default()));
            }
            "error" => return Err(failure::in_stream(&read(&frame.data)?)),
            // Marks of progress, and what is still to be invented.
            _ => {}
        }
        Ok(self.end.is_some())
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, ModelError> {
        let stop = match self.end {
            None => return Err(ProviderError::Cut.into()),
            Some(End::Complete) => StopReason::EndTurn,
            Some(End::Truncated) => StopReason::Length,
            Some(End::Filtered) => {
                let message = "the answer was stopped half-way".to_owned();
                return Err(ProviderError::Filtered { message }.into());
            }
        };
        let drafts = self.items.values_mut().filter_map(|item| item.call.as_mut());
        let given: Vec<String> = drafts.map(|(_, draft)| draft.id.clone()).collect();
        let drafts = self.items.values_mut().filter_map(|item| item.call.as_mut());
        self.taken.tell_apart(drafts.map(|(_, draft)| draft));
        let mut reply = Reply { usage: self.usage, ..Reply::text("").stopped(stop) };
        let (mut own, mut given) = (Vec::new(), given.into_iter());
        for item in self.items.into_values() {
            reply.text.push_str(&item.text);
            let Some((_, draft)) = item.call else {
                own.extend(item.done);
                continue;
            };
            reply.calls.push(draft.call());
            let back = draft.sent_back();
            let as_given = given.next().is_some_and(|id| id == draft.id)
                && name_on_wire(&draft.name) == draft.name
                && back == draft.arguments;
            let item = match item.done.filter(|_| as_given) {
                Some(item) => item,
                None => function_call(&draft.id, &draft.name, &back).map_err(ModelError::failed)?,
            };
            own.push(item);
        }
        if !own.is_empty() {
            let json = serde_json::to_string(&own).map_err(ModelError::failed)?;
            let wire = Wire::OpenaiResponses.as_str().to_owned();
            reply.verbatim = Some(Verbatim { wire, model: self.model, json });
        }
        Ok(reply)
    }
}
