//! One episode: a workspace, an agent, three prompts, and what must hold whatever the model does.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use xd_agent::{Agent, DeltaSink, Message, Model, ModelError, Reply, Request, Stop, StopReason};
use xd_resolve::{ActionState, BoxFuture, StageRequest};
use xd_session::{Directive, Forcing, Session, Thinking, ToolChoice};
use xd_tests::{Bench, Picture, assert_paired, assert_requests};
use xd_write::Host;

use crate::wild::Random;

/// The most turns that a prompt may take here.
const TURN_LIMIT: u64 = 40;
/// Only against hanging: an episode takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// How the replies reach the agent.
pub(crate) trait Mouth: Send + Sync {
    /// What the model says to `request`.
    fn say<'a>(
        &'a self,
        random: &'a mut Random,
        request: &Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;

    /// How far the provider lets a request force, as the model says.
    fn forcing(&self) -> Forcing;

    /// Whether the model thinks.
    fn thinking(&self) -> Thinking;
}

/// What was counted.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) episodes: u64,
    pub(crate) turns: u64,
    pub(crate) staged: u64,
    pub(crate) applied: u64,
    pub(crate) discarded: u64,
    pub(crate) forced: u64,
    pub(crate) parked: u64,
    pub(crate) failed: u64,
    pub(crate) aborted: u64,
    pub(crate) withdrawn: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        let Self { episodes, turns, staged, applied, discarded, forced, .. } = other;
        self.episodes += episodes;
        self.turns += turns;
        self.staged += staged;
        self.applied += applied;
        self.discarded += discarded;
        self.forced += forced;
        self.parked += other.parked;
        self.failed += other.failed;
        self.aborted += other.aborted;
        self.withdrawn += other.withdrawn;
    }
}

/// What the model keeps between its turns.
struct Mind {
    random: Random,
    requests: Vec<Request>,
    /// The files that only a confirm may change, as they were at the last turn.
    files: Picture,
    /// Whether the last reply held a call that decides.
    confirmed: bool,
    /// Turns and forced turns spent on each head in this prompt.
    spent: BTreeMap<u64, (u32, u32)>,
}

struct Wild<M> {
    mouth: M,
    mind: Mutex<Option<Mind>>,
    host: Arc<Host>,
    picture: Box<dyn Fn() -> Picture + Send + Sync>,
}

impl<M: Mouth> Wild<M> {
    fn session(&self) -> &Session {
        self.host.session()
    }

    /// Nothing but a confirm changes the guarded files.
    fn look_at_files(&self, mind: &mut Mind) {
        let now = (self.picture)();
        assert!(now == mind.files || mind.confirmed, "a file changed without a confirm");
        mind.files = now;
    }

    /// Looks at the mind between turns.
    fn with_mind<R>(&self, look: impl FnOnce(&mut Mind) -> R) -> R {
        look(self.mind.lock().unwrap().as_mut().expect("no turn is under way"))
    }

    async fn answer(
        &self,
        mind: &mut Mind,
        request: Request,
        sink: &dyn DeltaSink,
    ) -> Result<Reply, ModelError> {
        self.look_at_files(mind);
        let forced = u32::from(request.tool_choice != ToolChoice::Auto);
        let head = match self.session().next_tool_choice_directive() {
            Directive::Soft(requirement) => Some(requirement.number.get()),
            _ => None,
        };
        match head {
            Some(head) => {
                let spent = mind.spent.entry(head).or_default();
                *spent = (spent.0 + 1, spent.1 + forced);
                assert!(spent.0 <= 8 && spent.1 <= 3, "{spent:?} turns on one head");
            }
            None => assert_eq!(forced, 0, "forced with nothing to resolve"),
        }
        let reply = self.mouth.say(&mut mind.random, &request, sink).await;
        mind.requests.push(request);
        let finalizer = self.session().finalizer();
        mind.confirmed = match &reply {
            Ok(reply) => reply.calls.iter().any(|call| finalizer.is_confirm(call)),
            Err(_) => false,
        };
        // A turn that failed or was aborted is not spent (`CONTRACT G12`).
        let void = reply.as_ref().map_or(true, |reply| reply.stop == StopReason::Aborted);
        if let Some(spent) = head.filter(|_| void).and_then(|head| mind.spent.get_mut(&head)) {
            *spent = (spent.0 - 1, spent.1 - forced);
        }
        reply
    }
}

/// The wild model, kept by the test too.
struct Shared<M>(Arc<Wild<M>>);

impl<M: Mouth> Model for Shared<M> {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        self.respond_streaming(request, &xd_agent::Unheard)
    }

    fn respond_streaming<'a>(
        &'a self,
        request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let mut mind = self.0.mind.lock().unwrap().take().expect("one turn at a time");
            let reply = self.0.answer(&mut mind, request, sink).await;
            *self.0.mind.lock().unwrap() = Some(mind);
            reply
        })
    }

    fn forcing(&self) -> Forcing {
        self.0.mouth.forcing()
    }

    fn thinking(&self) -> Thinking {
        self.0.mouth.thinking()
    }
}

/// The guarded files of a workspace: all but the model's own.
fn guarded(mut picture: Picture) -> Picture {
    picture.retain(|path, _| !path.starts_with("own"));
    picture
}

/// Says which episode it was where one fails.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("it was the episode of seed {}", self.0);
        }
    }
}

/// Runs the episode of `seed`.
pub(crate) async fn run<M: Mouth + 'static>(
    seed: u64,
    mouth: impl FnOnce(&mut Random) -> M,
) -> Tally {
    let _named = Named(seed);
    let episode = tokio::time::timeout(PATIENCE, episode(seed, mouth)).await;
    episode.unwrap_or_else(|_| panic!("it did not end"))
}

async fn episode<M: Mouth + 'static>(seed: u64, mouth: impl FnOnce(&mut Random) -> M) -> Tally {
    let mut random = Random(seed);
    let bench = Arc::new(Bench::quick(&[("a.txt", "0\n"), ("b.txt", "1\n")]));
    // Something may be pending before the first prompt, and it may fail.
    if random.below(3) == 0 {
        let fails = random.below(2) == 0;
        let request = StageRequest::new("Plain", move |_| async move {
            if fails { Err("no luck".into()) } else { Ok(xd_resolve::ToolResult::text("Done.")) }
        });
        bench.session().actions().stage(request).unwrap();
    }
    let mouth = mouth(&mut random);
    let takes_back = random.below(2) == 0;
    let looked_at = Arc::clone(&bench);
    let model = Arc::new(Wild {
        mouth,
        mind: Mutex::new(Some(Mind {
            random,
            requests: Vec::new(),
            files: guarded(bench.picture()),
            confirmed: false,
            spent: BTreeMap::new(),
        })),
        host: Arc::clone(&bench.host),
        picture: Box::new(move || guarded(looked_at.picture())),
    });
    let withdrawn = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&withdrawn);
    let mut agent = Agent::new(Shared(Arc::clone(&model)), Arc::clone(&bench.host))
        .with_turn_limit(TURN_LIMIT)
        .on_event(move |event| {
            *counted.lock().unwrap() += u64::from(matches!(event, xd_agent::Event::Withdrawn));
        });
    if takes_back {
        agent = agent.with_withdrawal();
    }
    let mut tally = Tally { episodes: 1, ..Tally::default() };
    for _ in 0..3 {
        model.with_mind(|mind| mind.spent.clear());
        match agent.prompt("Go on.").await {
            Ok(Stop::Unresolved { number }) => {
                tally.parked += 1;
                assert!(bench.pending().contains(&number), "parked, and so pending");
            }
            Ok(Stop::Done | Stop::Truncated) => {
                // The gate lets a run end with a pending action only where it was lifted or lies
                // below one that was.
                let directive = bench.session().next_tool_choice_directive();
                assert!(matches!(directive, Directive::None), "{directive:?}");
            }
            Ok(Stop::Aborted) => tally.aborted += 1,
            Ok(Stop::TurnLimit | Stop::Forbidden { .. }) => {}
            Err(_) => tally.failed += 1,
            Ok(Stop::SessionEnded) => panic!("nobody ended the session"),
        }
        assert_paired(agent.messages());
        model.with_mind(|mind| model.look_at_files(mind));
    }
    model.with_mind(|mind| {
        assert_requests(&mind.requests);
        tally.turns = mind.requests.len() as u64;
        let forced = mind.requests.iter().filter(|it| it.tool_choice != ToolChoice::Auto);
        tally.forced = forced.count() as u64;
    });
    // What was executed has one result a call, and never more than one apply an action.
    for (number, state) in bench.session().actions().states() {
        assert!(!matches!(state, ActionState::Taken(_)), "@{number} hangs");
        tally.staged += 1;
        tally.applied += u64::from(state == ActionState::Applied);
        tally.discarded += u64::from(state == ActionState::Discarded);
    }
    // One reminder a head at the most.
    let reminds = |message: &&Message| matches!(message, Message::Custom { custom_type, .. } if custom_type == "resolve-reminder");
    assert!(agent.messages().iter().filter(reminds).count() as u64 <= tally.staged);
    tally.withdrawn = *withdrawn.lock().unwrap();
    tally
}
