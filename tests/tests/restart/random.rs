//! Random walks of staging, deciding, giving up, boundaries and restarts over small files, beside a
//! model of what must come of them (`CONTRACT E1, E3, D11, D12, L1`).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use xd_changeset::Hash;

use super::*;

const FILES: [&str; 3] = ["a.txt", "b.txt", "new/c.txt"];

/// One step of a walk. Small numbers choose among what is there at that moment.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Stages an edit of a file that is there, or makes one that is not.
    Write(usize),
    /// Stages the deletion of a file that is there.
    Delete(usize),
    /// Stages what cannot outlive the process.
    Plain,
    /// Decides on an action by its number.
    Decide(usize, Verdict),
    /// Decides on the head.
    DecideHead(Verdict),
    /// Begins to apply, is polled so often, and is dropped.
    GiveUp(usize, usize),
    /// Is cancelled before it begins.
    Cancelled(usize),
    /// Decides on one action from two sides at once.
    Twice(usize),
    /// Changes a file past all tools.
    ByHand(usize),
    /// A boundary that voids, or one that does not.
    Boundary(bool),
    /// The process ends and the next goes on.
    Restart,
    /// The process ends when the last decision was carried out and not yet written down, or half.
    CutOff(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let verdict = || prop_oneof![3 => Just(Verdict::Apply), 1 => Just(Verdict::Discard)];
    let which = || 0_usize..8;
    prop_oneof![
        6 => (0..FILES.len()).prop_map(Step::Write),
        1 => (0..FILES.len()).prop_map(Step::Delete),
        1 => Just(Step::Plain),
        4 => (which(), verdict()).prop_map(|(which, verdict)| Step::Decide(which, verdict)),
        2 => verdict().prop_map(Step::DecideHead),
        2 => (which(), 0_usize..4).prop_map(|(which, polls)| Step::GiveUp(which, polls)),
        1 => which().prop_map(Step::Cancelled),
        1 => which().prop_map(Step::Twice),
        1 => (0..FILES.len()).prop_map(Step::ByHand),
        1 => any::<bool>().prop_map(Step::Boundary),
        2 => Just(Step::Restart),
        2 => any::<bool>().prop_map(Step::CutOff),
    ]
}

type Files = BTreeMap<&'static str, String>;

/// What an action with a change set does: a file's text before and after, none where it is not
/// there.
#[derive(Debug, Clone)]
struct Change {
    path: &'static str,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Debug, Clone)]
struct Staged {
    change: Option<Change>,
    state: ActionState,
}

/// What must be so.
struct Model {
    files: Files,
    actions: Vec<Staged>,
    texts: u32,
}

impl Model {
    fn text(&mut self) -> String {
        self.texts += 1;
        format!("text {}\n", self.texts)
    }

    fn pending(&self) -> Vec<u64> {
        let newest_first = self.actions.iter().enumerate().rev();
        let pending = newest_first.filter(|(_, it)| it.state == ActionState::Pending);
        pending.map(|(at, _)| at as u64 + 1).collect()
    }

    /// What an effect that runs to its end makes of an action; answers whether it succeeds.
    fn decide(&mut self, number: u64, verdict: Verdict) -> bool {
        let action = &mut self.actions[number as usize - 1];
        match (action.state, verdict, &action.change) {
            (ActionState::Pending, Verdict::Discard, _) => action.state = ActionState::Discarded,
            (ActionState::Pending, Verdict::Apply, None) => action.state = ActionState::Applied,
            (ActionState::Pending, Verdict::Apply, Some(change)) => {
                if self.files.get(change.path) != change.before.as_ref() {
                    return false;
                }
                match &change.after {
                    Some(text) => drop(self.files.insert(change.path, text.clone())),
                    None => drop(self.files.remove(change.path)),
                }
                action.state = ActionState::Applied;
            }
            _ => return false,
        }
        true
    }

    /// The end of a process takes what has no change set.
    fn restart(&mut self) {
        for action in &mut self.actions {
            if action.change.is_none() && action.state == ActionState::Pending {
                action.state = ActionState::Void;
            }
        }
    }

    /// The process ended before the log had what came of `verdict` on `number`: the files say
    /// whether it was carried out.
    fn cut_off(&mut self, number: u64, verdict: Verdict) {
        let action = &mut self.actions[number as usize - 1];
        action.state = match (&action.change, verdict) {
            (None, _) => ActionState::Void,
            (Some(_), Verdict::Discard) => ActionState::Pending,
            (Some(change), Verdict::Apply) => {
                match self.files.get(change.path) == change.after.as_ref() {
                    true => ActionState::Applied,
                    false => ActionState::Pending,
                }
            }
        };
    }
}

struct Walk {
    process: Option<Process>,
    model: Model,
}

impl Walk {
    fn new() -> Self {
        let texts = [(FILES[0], "text a\n"), (FILES[1], "text b\n")];
        let process = Process::start(Bench::quick(&texts).folder()).unwrap();
        let files = texts.map(|(path, text)| (path, text.to_owned())).into();
        let model = Model { files, actions: Vec::new(), texts: 0 };
        Self { process: Some(process), model }
    }

    fn process(&self) -> &Process {
        self.process.as_ref().unwrap()
    }

    fn bench(&self) -> &Bench {
        &self.process().bench
    }

    /// A pending number, where there is one.
    fn pick(&self, which: usize) -> Option<u64> {
        let pending = self.model.pending();
        (!pending.is_empty()).then(|| pending[which % pending.len()])
    }

    fn staged(&mut self, change: Option<Change>, result: &ToolResult) {
        assert!(!result.is_error, "{result:?}");
        self.model.actions.push(Staged { change, state: ActionState::Pending });
    }

    async fn stage(&mut self, path: &'static str, after: Option<String>) {
        let before = self.model.files.get(path).cloned();
        let arguments = match (&before, &after) {
            (Some(old), Some(new)) => {
                json!({ "edits": [{ "path": path, "old": old, "new": new }] })
            }
            (None, Some(new)) => json!({ "create": [{ "path": path, "content": new }] }),
            (Some(_), None) => json!({ "delete": [path] }),
            (None, None) => return,
        };
        let result = self.bench().stage(arguments).await;
        self.staged(Some(Change { path, before, after }), &result);
    }

    async fn decide(&mut self, number: u64, address: &str, verdict: Verdict) {
        let address = format!("xd://{}{address}", verdict.device());
        let result = self.bench().write(&address, WHY).await;
        assert_eq!(!result.is_error, self.model.decide(number, verdict), "{result:?}");
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Write(at) => {
                let text = self.model.text();
                self.stage(FILES[at], Some(text)).await;
            }
            Step::Delete(at) => self.stage(FILES[at], None).await,
            Step::Plain => {
                self.process().stage_plain("Plain");
                self.staged(None, &ToolResult::default());
            }
            Step::Decide(which, verdict) => {
                if let Some(number) = self.pick(which) {
                    self.decide(number, &format!("@{number}"), verdict).await;
                }
            }
            Step::DecideHead(verdict) => {
                if let Some(number) = self.pick(0) {
                    self.decide(number, "", verdict).await;
                }
            }
            Step::GiveUp(which, polls) => {
                if let Some(number) = self.pick(which) {
                    self.give_up(number, polls).await;
                }
            }
            Step::Cancelled(which) => {
                if let Some(number) = self.pick(which) {
                    let scope = CallScope::model();
                    scope.cancel.cancel();
                    let call = write_call("w", &format!("xd://resolve@{number}"), WHY);
                    let result = self.bench().host.run_batch(&[call], &scope).await;
                    assert!(result[0].joined().starts_with("Aborted"), "{result:?}");
                }
            }
            Step::Twice(which) => {
                if let Some(number) = self.pick(which) {
                    let address = format!("xd://resolve@{number}");
                    let once = || self.bench().write(&address, WHY);
                    let (one, other) = tokio::join!(once(), once());
                    let done = [one, other].iter().filter(|it| !it.is_error).count();
                    assert_eq!(done, usize::from(self.model.decide(number, Verdict::Apply)));
                }
            }
            Step::ByHand(at) => {
                let text = self.model.text();
                self.bench().put(FILES[at], &text);
                self.model.files.insert(FILES[at], text);
            }
            Step::Boundary(voids) => {
                let boundary = if voids { Boundary::Branch } else { Boundary::Move };
                self.bench().session().boundary(boundary);
                for action in self.model.actions.iter_mut().filter(|_| voids) {
                    if action.state == ActionState::Pending {
                        action.state = ActionState::Void;
                    }
                }
            }
            Step::Restart => self.restart(|_| {}),
            Step::CutOff(half) => self.cut_off(half),
        }
    }

    /// Whoever waits goes away: what had begun ends all the same, and what had not is pending.
    async fn give_up(&mut self, number: u64, polls: usize) {
        {
            let call = [write_call("w", &format!("xd://resolve@{number}"), WHY)];
            let scope = CallScope::model();
            let mut run = Box::pin(self.bench().host.run_batch(&call, &scope));
            for _ in 0..polls {
                let polled =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(run.as_mut().poll(cx))).await;
                if polled.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        let began = Instant::now();
        while matches!(self.process().state(number), ActionState::Taken(_)) {
            assert!(began.elapsed() < Duration::from_secs(20), "@{number} is left taken");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Begun, it went as it must.
        if polls > 0 {
            self.model.decide(number, Verdict::Apply);
        }
    }

    /// Ends the process, lets `between` at its log, and looks at the next one.
    fn restart(&mut self, between: impl FnOnce(&std::path::Path)) {
        let process = self.process.take().unwrap();
        let (folder, log) = (process.bench.folder(), process.log_path());
        drop(process);
        between(&log);
        self.process = Some(Process::start(folder).unwrap());
        self.model.restart();
        self.check();
        self.check_log();
    }

    /// The last line is lost, where it says what came of a decision.
    fn cut_off(&mut self, half: bool) {
        let last = self.process().state.log().unwrap().pop().map(|line| line.event);
        let Some(LogEvent::Decided { number, action: Some(action), .. }) = last else { return };
        self.model.cut_off(number, action.into());
        self.restart(|log| {
            let bytes = fs::read(log).unwrap();
            let whole = bytes[..bytes.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
            let kept = if half { whole + (bytes.len() - whole) / 2 } else { whole };
            fs::write(log, &bytes[..kept]).unwrap();
        });
    }

    /// What is there is what the model says.
    fn check(&self) {
        for path in FILES {
            let found = fs::read_to_string(self.bench().at(path)).ok();
            assert_eq!(found.as_ref(), self.model.files.get(path), "{path}");
        }
        let states = self.bench().session().actions().states();
        let states: Vec<ActionState> = states.into_iter().map(|(_, state)| state).collect();
        let expected: Vec<ActionState> = self.model.actions.iter().map(|it| it.state).collect();
        assert_eq!(states, expected);
        assert_eq!(self.bench().pending(), self.model.pending());
    }

    /// The log tells the same: nothing applied twice, and the files are what was applied last, but
    /// for what was changed by hand.
    fn check_log(&self) {
        let log = self.process().state.log().unwrap();
        let (mut applied, mut last) = (BTreeSet::new(), BTreeMap::new());
        for line in log {
            let LogEvent::Decided { number, outcome: Outcome::Applied, files, .. } = line.event
            else {
                continue;
            };
            assert!(applied.insert(number), "@{number} is applied twice");
            for file in files {
                last.insert(file.path.to_string(), file.after.map(|state| state.hash));
            }
        }
        let of_model = (1..).zip(&self.model.actions);
        let of_model = of_model.filter(|(_, it)| it.state == ActionState::Applied);
        assert_eq!(applied, of_model.map(|(number, _)| number).collect());
        for (path, hash) in last {
            let found = fs::read(self.bench().at(&path)).ok();
            let by_hand = self.model.files.get(path.as_str()).is_some_and(|text| {
                !self.model.actions.iter().any(|it| {
                    it.change.as_ref().is_some_and(|change| change.after.as_ref() == Some(text))
                })
            });
            assert!(by_hand || found.map(|bytes| Hash::of(&bytes)) == hash, "{path}");
        }
    }

    /// What is offered again can be read under its number, and its change is the one that was
    /// staged.
    async fn check_offers(&self) {
        for number in self.model.pending() {
            let shown = self.bench().read(&format!("xd://resolve@{number}")).await.joined();
            assert!(shown.starts_with(&format!("Staged action @{number}: ")), "{shown}");
            assert!(shown.contains("(pending)"), "{shown}");
            let change = self.model.actions[number as usize - 1].change.as_ref();
            for (sign, text) in change
                .into_iter()
                .flat_map(|change| [('-', change.before.as_ref()), ('+', change.after.as_ref())])
            {
                let Some(text) = text else { continue };
                assert!(shown.contains(&format!("\n{sign}{text}")), "{sign}{text} in {shown}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // CONTRACT E1, E3, D11, D12, F2, L1; Invariants R3, R4: whatever is staged, decided, given up and
    // cut off in whatever order, a restart offers what is pending under its numbers, applies nothing
    // twice, leaves nothing taken, and files and log agree.
    #[test]
    fn e3_any_walk_goes_on_after_any_restart(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut walk = Walk::new();
            for step in steps.into_iter().chain([Step::Restart, Step::DecideHead(Verdict::Apply), Step::Restart]) {
                walk.take(step).await;
                walk.check();
                if matches!(step, Step::Restart | Step::CutOff(_)) {
                    walk.check_offers().await;
                }
            }
        });
    }
}
