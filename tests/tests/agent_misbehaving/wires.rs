//! Replies on their way over a real wire, and what happens to them there.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use xd_agent::{DeltaSink, Model, ModelError, Reply, Request, StopReason, provider::HttpModel};
use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};

use crate::{
    bodies::measure,
    episode::{self, Mouth, Tally},
    flavour::{ALL, Flavour, Say},
    rules,
    server::{Answer, Server, Step},
    wild::{self, Random},
};

/// A provider that answers what is put down for it, and what it saw.
struct Provider {
    flavour: Flavour,
    server: Server,
    model: HttpModel,
    next: Arc<Mutex<Next>>,
}

#[derive(Default)]
struct Next {
    answers: VecDeque<Answer>,
    /// The serial of the next stream.
    serial: usize,
    /// How a request broke the provider's rules; none may.
    broken: Option<String>,
}

impl Provider {
    async fn start(flavour: Flavour) -> Self {
        let next: Arc<Mutex<Next>> = Arc::default();
        let put_down = Arc::clone(&next);
        let server = Server::start(move |exchange| {
            let mut next = put_down.lock().unwrap();
            if let Err(refused) = rules::check(flavour, exchange) {
                // Whether a choice is refused is for the provider to say, and for us to learn.
                let body = String::from_utf8_lossy(&exchange.body).into_owned();
                let said = words(&refused);
                if !(said.contains("tool_choice") && forces(&exchange.json()["tool_choice"])) {
                    next.broken.get_or_insert(format!("{said}\n{body}"));
                }
                return refused;
            }
            // What is tried again gets an answer in the end.
            next.answers.pop_front().unwrap_or_else(|| {
                next.serial += 1;
                let stream = flavour.stream(&Say::text("Once more."), next.serial - 1);
                Answer::stream(&stream, 333)
            })
        })
        .await;
        let model = flavour.model(&server);
        Self { flavour, server, model, next }
    }

    /// What becomes of a turn: some failures that pass, then its end.
    fn put_down(&self, random: &mut Random, request: &Request) {
        let mut answers = VecDeque::new();
        for _ in 0..random.below(8).saturating_sub(5) {
            answers.push_back(passing(random));
        }
        let serial = self.next.lock().unwrap().serial;
        match wild::reply(random) {
            Ok(reply) => {
                let stream = self.stream(random, &reply, serial);
                let whole = fragments(random, &stream);
                let pieces = whole.steps.len() as u64;
                match random.below(10) {
                    0 => answers.push_back(whole.cut_after(random.below(pieces + 1) as usize)),
                    1 => {
                        let broken = self.broken_off(random, &stream);
                        answers.push_back(fragments(random, &broken));
                    }
                    2 => answers.push_back(garbage(random, &stream)),
                    _ => answers.push_back(whole),
                }
            }
            Err(_) => answers.push_back(lasting(random, request)),
        }
        let mut next = self.next.lock().unwrap();
        next.serial += 1;
        next.answers = answers;
    }

    /// The reply as its provider streams it, cut at the token limit where it is.
    fn stream(&self, random: &mut Random, reply: &Reply, serial: usize) -> String {
        let mut say = Say::text(&reply.text);
        for call in &reply.calls {
            say = say.and(&call.name, &written(random, &call.arguments));
        }
        let stream = self.flavour.stream(&say, serial);
        if reply.stop != StopReason::Length {
            return stream;
        }
        match self.flavour {
            Flavour::Anthropic | Flavour::AnthropicThinking => stream
                .replace("\"stop_reason\":\"end_turn\"", "\"stop_reason\":\"max_tokens\"")
                .replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"max_tokens\""),
            Flavour::OpenAiChat | Flavour::DeepSeekThinking | Flavour::Mistral => stream
                .replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\"")
                .replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"length\""),
            Flavour::Responses => stream.replace("response.completed", "response.incomplete"),
        }
    }

    /// The stream up to some event, and an error in place of the rest.
    fn broken_off(&self, random: &mut Random, stream: &str) -> String {
        let end = if stream.contains("\r\n\r\n") { "\r\n\r\n" } else { "\n\n" };
        let events: Vec<&str> = stream.split_inclusive(end).collect();
        let kept = random.below(events.len() as u64) as usize;
        let kind = random.of(&["overloaded_error", "rate_limit_error", "invalid_request_error"]);
        let error = json!({ "type": kind, "code": kind, "message": "It broke." });
        let error = match self.flavour {
            Flavour::Responses => {
                json!({ "type": "response.failed", "response": { "error": error } })
            }
            _ => json!({ "type": "error", "error": error }),
        };
        let kind = error["type"].as_str().unwrap_or_default();
        format!(
            "{}event: {kind}{}data: {error}{end}",
            events[..kept].concat(),
            &end[..end.len() / 2]
        )
    }
}

/// A stream in fragments of any size, most of them somewhere in the middle of it.
fn fragments(random: &mut Random, stream: &str) -> Answer {
    let mut answer = Answer::stream("", 1);
    let mut rest = stream.as_bytes();
    let usual = [1, 2, 3, 7, 64, 1_024][random.below(6) as usize].max(stream.len() as u64 / 48);
    while !rest.is_empty() {
        let most = (1 + random.below(2 * usual)).min(rest.len() as u64);
        let (piece, after) = rest.split_at(most as usize);
        answer.steps.push(Step::Bytes(piece.to_vec()));
        rest = after;
    }
    answer
}

fn words(answer: &Answer) -> String {
    let bytes = answer.steps.iter().filter_map(|step| match step {
        Step::Bytes(bytes) => Some(bytes.as_slice()),
        Step::Pause(_) | Step::Cut => None,
    });
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>().concat()).into_owned()
}

fn forces(choice: &Value) -> bool {
    let word = choice.as_str().or_else(|| choice["type"].as_str());
    !matches!(word, None | Some("auto" | "none"))
}

/// Arguments as a model may write them: what is no object as the text that it is, an object with
/// blanks between.
fn written(random: &mut Random, arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other if random.below(4) == 0 => serde_json::to_string_pretty(other).unwrap(),
        other => other.to_string(),
    }
}

/// A failure that may pass.
fn passing(random: &mut Random) -> Answer {
    let body = json!({ "error": { "type": "some_error", "message": "later" } });
    let status = [429, 500, 502, 503, 529][random.below(5) as usize];
    match random.below(3) {
        0 => Answer::error(status, &body).with_header("retry-after", "0"),
        1 => Answer::error(status, &json!("<html>Bad gateway</html>")),
        _ => Answer::error(429, &body).with_header("retry-after-ms", "1"),
    }
}

/// A failure that stays.
fn lasting(random: &mut Random, request: &Request) -> Answer {
    let error = |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message } });
    if request.tool_choice != ToolChoice::Auto {
        return Answer::error(400, &error("invalid_request_error", "no such tool_choice"));
    }
    match random.below(5) {
        0 => Answer::error(400, &error("invalid_request_error", "It is not well.")),
        1 => Answer::error(401, &error("authentication_error", "invalid x-api-key")),
        2 => Answer::error(404, &error("not_found_error", "no such model")),
        3 => Answer::error(413, &error("request_too_large", "prompt is too long")),
        _ => Answer::error(429, &json!({ "error": "later" })).with_header("retry-after", "3600"),
    }
}

/// What is no answer of this wire, or only half one.
fn garbage(random: &mut Random, stream: &str) -> Answer {
    let text = match random.below(6) {
        0 => "<html><body>It works!</body></html>".to_owned(),
        1 => String::new(),
        2 => "data: {\"half\":\n\n".to_owned(),
        3 => "data: [DONE]\n\n".to_owned(),
        // Events that nobody knows yet are passed over.
        4 => format!("event: news\ndata: {{\"type\":\"news\",\"a\":[1]}}\n\n: hm\n\n{stream}"),
        _ => stream.replacen('{', "{\"\\ud800\":1,", 5),
    };
    fragments(random, &text)
}

/// A model behind a provider of an episode.
struct Wired {
    provider: Arc<Provider>,
    forcing: Forcing,
}

impl Mouth for Wired {
    fn say<'a>(
        &'a self,
        random: &'a mut Random,
        request: &Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        self.provider.put_down(random, request);
        self.provider.model.respond_streaming(request.clone(), sink)
    }

    fn forcing(&self) -> Forcing {
        self.forcing
    }

    fn thinking(&self) -> Thinking {
        self.provider.model.thinking()
    }
}

/// Runs the episodes of `seeds`, each on one of the wires.
pub(crate) async fn episodes(seeds: Vec<u64>) -> Tally {
    let mut tally = Tally::default();
    let mut providers = Vec::new();
    for flavour in ALL {
        providers.push(Arc::new(Provider::start(flavour).await));
    }
    for seed in seeds {
        let provider = &providers[(seed / 7) as usize % providers.len()];
        let own = Arc::clone(provider);
        let run = episode::run(seed, |random| {
            // A table that is wrong costs a refusal.
            let forcing = match random.below(6) {
                0 => Forcing::Named,
                _ => own.model.forcing(),
            };
            Wired { provider: own, forcing }
        });
        tally.add(run.await);
        let seen = provider.server.take_seen();
        let broken = provider.next.lock().unwrap().broken.take();
        let name = provider.flavour.name();
        assert_eq!(broken, None, "seed {seed}: {name} refused a request");
        let measured = measure(provider.flavour, &seen);
        let kept = (measured.broken_prefixes, measured.setting_changes);
        assert_eq!(kept, (0, 0), "seed {seed}, {name}: what was sent was changed");
    }
    tally
}
