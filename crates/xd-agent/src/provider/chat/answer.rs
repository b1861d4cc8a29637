//! An answer of chat completions, put together from its chunks.

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::request::{assistant_on_wire, call_on_wire};
use crate::{
    Delta, ModelError, ProviderError, Reply, StopReason, Usage, Verbatim,
    provider::{
        Wire,
        call::{CallDraft, Taken, one_more},
        failure,
        sse::Frame,
        wire::{Assembler, read},
    },
};

/// The answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    model: String,
    taken: Taken,
    text: String,
    /// Thinking under the name that the server gives it.
    thinking: Vec<(&'static str, String)>,
    /// Thinking in pieces with structure, to be sent back as they are.
    details: Vec<Map<String, Value>>,
    calls: Vec<Call>,
    stop: Option<String>,
    usage: Usage,
}

#[derive(Debug, Default)]
struct Call {
    /// The server's number, where it numbers.
    number: Option<u64>,
    draft: CallDraft,
    /// What the server put beside the call and wants to see again: signatures.
    beside: Map<String, Value>,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    usage: Option<Counts>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Piece>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Piece {
    content: Option<Value>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: Option<Vec<Map<String, Value>>>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
    extra_content: Option<Value>,
}

#[derive(Deserialize, Default)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Answer {
    pub(crate) fn new(model: &str, taken: Taken) -> Self {
        Self {
            model: model.to_owned(),
            taken,
            text: String::new(),
            thinking: Vec::new(),
            details: Vec::new(),
            calls: Vec::new(),
            stop: None,
            usage: Usage::default(),
        }
    }

    fn add(&mut self, piece: Piece, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let named =
            [("reasoning_content", piece.reasoning_content), ("reasoning", piece.reasoning)];
        let mut shown = false;
        for (name, text) in named {
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            match self.thinking.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push_str(&text),
                None => self.thinking.push((name, text.clone())),
            }
            // Some servers send the same under both names.
            if !std::mem::replace(&mut shown, true) {
                out.push(Delta::Thinking { text });
            }
        }
        for detail in piece.reasoning_details.unwrap_or_default() {
            self.add_detail(detail);
        }
        match piece.content {
            Some(Value::String(text)) => self.add_text(text, out),
            Some(Value::Array(parts)) => self.add_parts(&parts, out),
            _ => {}
        }
        if let Some(refusal) = piece.refusal {
            self.add_text(refusal, out);
        }
        for call in piece.tool_calls.unwrap_or_default() {
            self.add_call(call, out)?;
        }
        Ok(())
    }

    fn add_text(&mut self, text: String, out: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.text.push_str(&text);
            out.push(Delta::Text { text });
        }
    }

    /// Content in parts, as Mistral's thinking models send it.
    fn add_parts(&mut self, parts: &[Value], out: &mut Vec<Delta>) {
        for part in parts {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.add_text(text.to_owned(), out);
            }
            let thoughts = part.get("thinking").and_then(Value::as_array);
            for thought in thoughts.into_iter().flatten() {
                if let Some(text) = thought.get("text").and_then(Value::as_str) {
                    out.push(Delta::Thinking { text: text.to_owned() });
                }
            }
        }
    }

    /// A structured piece continues the last one where that is of the same type and number: its
    /// text grows, everything else is as it was said last.
    fn add_detail(&mut self, detail: Map<String, Value>) {
        let same = |last: &Map<String, Value>| {
            ["type", "index"].iter().all(|key| last.get(*key) == detail.get(*key))
        };
        let Some(last) = self.details.last_mut().filter(|last| same(last)) else {
            self.details.push(detail);
            return;
        };
        for (key, value) in detail {
            match (last.get_mut(&key), value) {
                (Some(Value::String(all)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    all.push_str(&more);
                }
                (Some(_), Value::Null) => {}
                (_, value) => drop(last.insert(key, value)),
            }
        }
    }

    fn add_call(&mut self, piece: CallPiece, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let function = piece.function.unwrap_or_default();
        let id = piece.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let at = self.place_of(piece.index, &id, &name);
        let fresh = at == self.calls.len();
        if fresh {
            one_more(at)?;
            self.calls.push(Call { number: piece.index, ..Call::default() });
        }
        let Call { draft, beside, .. } = &mut self.calls[at];
        if draft.id.is_empty() {
            draft.id = id;
        }
        if draft.name.is_empty() {
            draft.name = name;
        }
        if fresh {
            let (id, name) = (draft.id.clone(), draft.name.clone());
            out.push(Delta::CallStarted { index: at, id, name });
        }
        if let Some(extra) = piece.extra_content {
            beside.insert("extra_content".to_owned(), extra);
        }
        let fragment = match function.arguments.as_deref().map(RawValue::get) {
            None | Some("null") => String::new(),
            Some(text) if text.starts_with('"') => read::<String>(text)?,
            // Some servers send the object itself.
            Some(object) => object.to_owned(),
        };
        draft.arguments.push_str(&fragment);
        if !fragment.is_empty() {
            out.push(Delta::CallArguments { index: at, fragment });
        }
        Ok(())
    }

    /// Which call a piece belongs to. Servers number their calls, or give each an id and a name of
    /// its own under one number, or give neither and send one call after the other.
    fn place_of(&self, number: Option<u64>, id: &str, name: &str) -> usize {
        let known = match number {
            Some(_) => self.calls.iter().rposition(|call| call.number == number),
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.draft.id == id),
        };
        let another = |at: &usize| {
            let draft = &self.calls[*at].draft;
            !id.is_empty() && !name.is_empty() && !draft.id.is_empty() && draft.id != id
        };
        known.filter(|at| !another(at)).unwrap_or(self.calls.len())
    }

    fn count(&mut self, counts: &Counts) {
        let details = counts.prompt_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        let cached = cached.or(counts.prompt_cache_hit_tokens).unwrap_or(0);
        self.usage = Usage {
            input: counts.prompt_tokens.unwrap_or(0).saturating_sub(cached),
            cached,
            output: counts.completion_tokens.unwrap_or(0),
        };
    }
}

impl Assembler for Answer {
    fn take(&mut self, frame: &Frame, out: &mut Vec<Delta>) -> Result<bool, ModelError> {
        if frame.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let chunk: Chunk = read(&frame.data)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(failure::in_stream(&error));
        }
        if let Some(counts) = &chunk.usage {
            self.count(counts);
        }
        for choice in chunk.choices.unwrap_or_default().into_iter().take(1) {
            if let Some(piece) = choice.delta {
                self.add(piece, out)?;
            }
            self.stop = choice.finish_reason.or(self.stop.take());
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        let Self { model, taken, text, thinking, details, mut calls, stop, usage } = *self;
        let stop = match stop.as_deref() {
            None => return Err(ProviderError::Cut.into()),
            Some("length") => StopReason::Length,
            Some("content_filter" | "sensitive") => {
                let message = "the answer was stopped half-way".to_owned();
                return Err(ProviderError::Filtered { message }.into());
            }
            Some("insufficient_system_resource" | "network_error" | "error") => {
                let message = "the answer was stopped half-way".to_owned();
                return Err(ProviderError::Overloaded { after: None, message }.into());
            }
            Some(_) => StopReason::EndTurn,
        };
        taken.tell_apart(calls.iter_mut().map(|call| &mut call.draft));
        let mut beside = Map::new();
        for (name, text) in thinking {
            beside.insert(name.to_owned(), Value::String(text));
        }
        if !details.is_empty() {
            let details = details.into_iter().map(Value::Object).collect();
            beside.insert("reasoning_details".to_owned(), Value::Array(details));
        }
        let made = calls.iter().map(|call| call.draft.call()).collect();
        let verbatim = (!beside.is_empty() || !calls.is_empty()).then(|| {
            let calls = calls.into_iter().map(|Call { draft, beside, .. }| {
                call_on_wire(&draft.id, &draft.name, &draft.sent_back(), beside)
            });
            let message = assistant_on_wire(&text, beside, calls.collect());
            let wire = Wire::ChatCompletions.as_str().to_owned();
            Verbatim { wire, model, json: message.to_string() }
        });
        Ok(Reply { text, calls: made, stop, usage, verbatim })
    }
}
