//! An answer of Anthropic's Messages, put together from its events.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue, value::to_raw_value};

use super::request::tool_use;
use crate::{
    Delta, ModelError, ProviderError, Reply, StopReason, Usage, Verbatim,
    provider::{
        Wire,
        call::{CallDraft, Taken, one_more},
        failure,
        sse::Frame,
        wire::{Assembler, is_blank, malformed, raw, read},
    },
};

/// The answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    model: String,
    taken: Taken,
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    stop: Option<String>,
    usage: Usage,
    ended: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        thinking: String,
        signature: String,
    },
    Call {
        index: usize,
        draft: CallDraft,
    },
    /// Something that is only to be sent back: redacted thinking, and what nobody knows.
    Opaque(Box<RawValue>),
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    index: Option<u64>,
    content_block: Option<Box<RawValue>>,
    delta: Option<Piece>,
    message: Option<Start>,
    usage: Option<Counts>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Start {
    usage: Option<Counts>,
}

#[derive(Deserialize, Default)]
struct Counts {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Piece {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

/// A block as it begins.
#[derive(Deserialize)]
struct Opening {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    signature: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    input: Option<Box<RawValue>>,
}

impl Answer {
    pub(crate) fn new(model: &str, taken: Taken) -> Self {
        Self {
            model: model.to_owned(),
            taken,
            blocks: BTreeMap::new(),
            calls: 0,
            stop: None,
            usage: Usage::default(),
            ended: false,
        }
    }

    fn count(&mut self, counts: &Counts) {
        let cached = counts.cache_read_input_tokens;
        if let Some(input) = counts.input_tokens {
            self.usage.input =
                input.saturating_add(counts.cache_creation_input_tokens.unwrap_or(0));
        }
        self.usage.cached = cached.unwrap_or(self.usage.cached);
        self.usage.output = counts.output_tokens.unwrap_or(self.usage.output);
    }

    fn open(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let (Some(at), Some(content)) = (event.index, &event.content_block) else {
            return Err(malformed("a block begins without an index or content"));
        };
        if self.blocks.contains_key(&at) {
            return Err(malformed("a block begins twice"));
        }
        let opening: Opening = read(content.get())?;
        let block = match opening.kind.as_str() {
            "text" => {
                text_piece(opening.text.clone(), out);
                Block::Text(opening.text)
            }
            "thinking" => {
                thinking_piece(opening.thinking.clone(), out);
                Block::Thinking { thinking: opening.thinking, signature: opening.signature }
            }
            "tool_use" => {
                one_more(self.calls)?;
                let index = self.calls;
                self.calls += 1;
                let (id, name) = (opening.id, opening.name);
                out.push(Delta::CallStarted { index, id: id.clone(), name: name.clone() });
                // It comes in pieces; only gateways send it whole.
                let given = opening.input.as_deref().map(RawValue::get);
                let arguments = given.filter(|input| !matches!(*input, "{}" | "null" | "\"\""));
                let arguments = arguments.unwrap_or_default().to_owned();
                if !arguments.is_empty() {
                    out.push(Delta::CallArguments { index, fragment: arguments.clone() });
                }
                Block::Call { index, draft: CallDraft { id, name, arguments } }
            }
            _ => Block::Opaque(content.clone()),
        };
        self.blocks.insert(at, block);
        Ok(())
    }

    fn add(&mut self, event: Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let piece = event.delta.unwrap_or_default();
        let block = event.index.and_then(|at| self.blocks.get_mut(&at));
        match block {
            None => return Err(malformed("a piece of a block that has not begun")),
            Some(Block::Text(text)) => {
                let more = piece.text.unwrap_or_default();
                text.push_str(&more);
                text_piece(more, out);
            }
            Some(Block::Thinking { thinking, signature }) => {
                let more = piece.thinking.unwrap_or_default();
                thinking.push_str(&more);
                signature.push_str(&piece.signature.unwrap_or_default());
                thinking_piece(more, out);
            }
            Some(Block::Call { index, draft }) => {
                let fragment = piece.partial_json.unwrap_or_default();
                draft.arguments.push_str(&fragment);
                if !fragment.is_empty() {
                    out.push(Delta::CallArguments { index: *index, fragment });
                }
            }
            Some(Block::Opaque(_)) => {}
        }
        Ok(())
    }
}

fn text_piece(text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Text { text });
    }
}

fn thinking_piece(text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Thinking { text });
    }
}

impl Assembler for Answer {
    fn take(&mut self, frame: &Frame, out: &mut Vec<Delta>) -> Result<bool, ModelError> {
        let event: Event = read(&frame.data)?;
        let kind = if event.kind.is_empty() { frame.event.clone() } else { event.kind.clone() };
        match kind.as_str() {
            "message_start" => {
                let counts = event.message.and_then(|message| message.usage).unwrap_or_default();
                self.count(&counts);
            }
            "content_block_start" => self.open(&event, out)?,
            "content_block_delta" => self.add(event, out)?,
            "message_delta" => {
                self.count(&event.usage.unwrap_or_default());
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop = reason.or(self.stop.take());
            }
            "message_stop" => self.ended = true,
            "error" => return Err(failure::in_stream(&event.error.unwrap_or_default())),
            // `ping`, `content_block_stop`, and what is still to be invented.
            _ => {}
        }
        Ok(self.ended)
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, ModelError> {
        let stop = match (self.ended, self.stop.as_deref()) {
            (false, _) => return Err(ProviderError::Cut.into()),
            (true, Some("max_tokens" | "model_context_window_exceeded")) => StopReason::Length,
            (true, Some("refusal")) => {
                let message = "the model declined to answer".to_owned();
                return Err(ProviderError::Filtered { message }.into());
            }
            (true, _) => StopReason::EndTurn,
        };
        let drafts = self.blocks.values_mut().filter_map(|block| match block {
            Block::Call { draft, .. } => Some(draft),
            Block::Text(_) | Block::Thinking { .. } | Block::Opaque(_) => None,
        });
        self.taken.tell_apart(drafts);
        let mut reply = Reply { usage: self.usage, ..Reply::text("").stopped(stop) };
        let (mut content, mut text_alone) = (Vec::new(), true);
        for block in self.blocks.into_values() {
            let block = match block {
                Block::Text(text) => {
                    reply.text.push_str(&text);
                    if is_blank(&text) {
                        continue;
                    }
                    to_raw_value(&json!({ "type": "text", "text": text }))
                }
                Block::Thinking { thinking, signature } => {
                    text_alone = false;
                    to_raw_value(&json!({
                        "type": "thinking", "thinking": thinking, "signature": signature
                    }))
                }
                Block::Call { draft, .. } => {
                    text_alone = false;
                    reply.calls.push(draft.call());
                    raw(draft.sent_back().into_owned())
                        .and_then(|input| tool_use(&draft.id, &draft.name, input))
                }
                Block::Opaque(block) => {
                    text_alone = false;
                    Ok(block)
                }
            };
            content.push(block.map_err(ModelError::failed)?);
        }
        if !text_alone {
            let json = serde_json::to_string(&content).map_err(ModelError::failed)?;
            let wire = Wire::AnthropicMessages.as_str().to_owned();
            reply.verbatim = Some(Verbatim { wire, model: self.model, json });
        }
        Ok(reply)
    }
}
