//! The one stack of a workspace, as this process sees it (**Invariant X1**).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use tokio::sync::{Mutex as Turn, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use xd_protocol::StageNumber;
use xd_resolve::{PlanMode, Recorder};
use xd_session::Session;
use xd_write::{
    Host, MountError, PlanRecorder, Restored, StateError, StateFolder, StateLock, restage_tool,
};

use crate::{Options, plan::Reviewer, stamp::Stamp};

/// How long the lock is waited for before the call is asked whether it is still wanted.
const SLICE: Duration = Duration::from_millis(100);

/// A session as it was restored, with the tools over it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) session: Arc<Session>,
    pub(crate) host: Host,
    /// Hands on what a person said of a plan.
    pub(crate) reviewer: Arc<Reviewer>,
}

#[derive(Debug)]
struct Kept {
    opened: Arc<Opened>,
    stamp: Stamp,
}

/// The stack, and what this process remembers beside it.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) options: Options,
    /// Calls of this process take the lock in the order in which they came (`CONTRACT S3`).
    pub(crate) turn: Arc<Turn<()>>,
    /// Calls that go on though their client is gone.
    pub(crate) tasks: TaskTracker,
    work: Mutex<Option<Kept>>,
    view: Mutex<Option<Kept>>,
    memory: Mutex<Memory>,
    /// Plan mode as it holds for this server.
    plan: Mutex<PlanMode>,
    changed: watch::Sender<u64>,
    /// Whether somebody looks at the log for what other processes do.
    pub(crate) watched: AtomicBool,
}

/// What is not in the record: which calls could know of which.
#[derive(Debug, Default)]
struct Memory {
    now: u64,
    /// When calls of this process have staged what they staged.
    staged: BTreeMap<StageNumber, u64>,
    /// When the last confirm without a number ended.
    bare: u64,
    /// Actions whose apply failed here: the model may repair them (`CONTRACT G8`).
    lifted: BTreeSet<StageNumber>,
}

/// The moment at which a call came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival(u64);

/// The state in hand: nobody else stages or decides until it is dropped.
#[derive(Debug)]
pub(crate) struct Locked {
    pub(crate) opened: Arc<Opened>,
    /// What a restart had to settle, where there was something.
    pub(crate) restored: Option<Restored>,
    stack: Arc<Stack>,
    _lock: StateLock,
}

/// Why a call did not get the state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotLocked {
    /// Nobody wants the call any more.
    #[error("Aborted: the call did not start.")]
    Cancelled,
    /// The state cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
    /// The host cannot be built.
    #[error("{0}")]
    Mount(#[from] MountError),
    /// The work broke off.
    #[error("The state could not be opened: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

impl Stack {
    /// The stack of the options' session.
    ///
    /// # Errors
    /// What the options add cannot be mounted.
    pub(crate) fn new(options: Options) -> Result<Arc<Self>, MountError> {
        let plan = Mutex::new(options.plan);
        let stack = Arc::new(Self {
            options,
            plan,
            turn: Arc::default(),
            tasks: TaskTracker::new(),
            work: Mutex::default(),
            view: Mutex::default(),
            memory: Mutex::default(),
            changed: watch::Sender::new(0),
            watched: AtomicBool::new(false),
        });
        stack.host(&Arc::new(Session::new()), None, &Arc::default())?;
        Ok(stack)
    }

    /// A call came in.
    pub(crate) fn arrive(&self) -> Arrival {
        Arrival(self.memory().now)
    }

    /// A call ended in which these were staged, or that was a confirm without a number.
    pub(crate) fn ended(&self, staged: &[StageNumber], bare: bool) {
        let mut memory = self.memory();
        memory.now += 1;
        let now = memory.now;
        memory.staged.extend(staged.iter().map(|number| (*number, now)));
        if bare {
            memory.bare = now;
        }
    }

    /// Whether a call that came in then could know of `number`. What other processes have staged
    /// counts as known: their clients tell nobody.
    pub(crate) fn was_known(&self, number: StageNumber, arrival: Arrival) -> bool {
        self.memory().staged.get(&number).is_none_or(|at| *at <= arrival.0)
    }

    /// Whether a confirm without a number ended since then.
    pub(crate) fn bare_since(&self, arrival: Arrival) -> bool {
        self.memory().bare > arrival.0
    }

    /// These failed to apply.
    pub(crate) fn lift(&self, failed: Vec<StageNumber>) {
        self.memory().lifted.extend(failed);
    }

    /// Whether `number` failed to apply here.
    pub(crate) fn is_lifted(&self, number: StageNumber) -> bool {
        self.memory().lifted.contains(&number)
    }

    /// A call ended with plan mode being this.
    pub(crate) fn planning(&self, mode: PlanMode) {
        *locked(&self.plan) = mode;
    }

    /// Wakes those who listen for changes.
    pub(crate) fn bump(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    /// Hears of changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// How the log looks now.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::of(self.options.workspace.path(), &self.options.session)
    }

    /// Waits for the lock, and restores the session where the log is not as this process left it.
    ///
    /// # Errors
    /// [`NotLocked`]; nothing has changed but what a crash had left half done.
    pub(crate) async fn lock(
        self: &Arc<Self>,
        cancel: &CancellationToken,
    ) -> Result<Locked, NotLocked> {
        let (stack, cancel) = (Arc::clone(self), cancel.clone());
        tokio::task::spawn_blocking(move || stack.lock_now(&cancel)).await?
    }

    fn lock_now(self: &Arc<Self>, cancel: &CancellationToken) -> Result<Locked, NotLocked> {
        let options = &self.options;
        let state = StateFolder::open(&options.workspace, &options.session)?;
        let until = Instant::now() + options.patience;
        let lock = loop {
            if cancel.is_cancelled() {
                return Err(NotLocked::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            match state.lock(left.min(SLICE)) {
                Err(StateError::Locked { .. }) if left > SLICE => {}
                Err(StateError::Locked { holder, .. }) => {
                    return Err(StateError::Locked { holder, waited: options.patience }.into());
                }
                locked => break locked?,
            }
        };
        let stamp = self.stamp();
        let kept = locked(&self.work).as_ref().filter(|kept| kept.stamp == stamp).map(Kept::opened);
        let (opened, restored) = match kept {
            Some(opened) => (opened, None),
            None => {
                let recorder: Arc<dyn Recorder> = Arc::new(state.clone());
                let session = Session::with_store(|store| store.with_recorder(recorder));
                let restored = state.restore(&options.workspace, session.actions(), Some(&lock))?;
                (self.open(session, Some(&state))?, Some(restored))
            }
        };
        Ok(Locked { opened, restored, stack: Arc::clone(self), _lock: lock })
    }

    /// The session as it is, to look at. It waits for nobody and settles nothing.
    ///
    /// # Errors
    /// [`NotLocked`].
    pub(crate) async fn look(self: &Arc<Self>) -> Result<Arc<Opened>, NotLocked> {
        let stack = Arc::clone(self);
        tokio::task::spawn_blocking(move || stack.look_now()).await?
    }

    fn look_now(&self) -> Result<Arc<Opened>, NotLocked> {
        let stamp = self.stamp();
        for kept in [&self.work, &self.view] {
            if let Some(kept) = locked(kept).as_ref().filter(|kept| kept.stamp == stamp) {
                return Ok(kept.opened());
            }
        }
        let options = &self.options;
        let session = Session::new();
        let state = StateFolder::open_existing(&options.workspace, &options.session)?;
        if let Some(state) = &state {
            state.restore(&options.workspace, session.actions(), None)?;
        }
        let opened = self.open(session, state.as_ref())?;
        *locked(&self.view) = Some(Kept { opened: Arc::clone(&opened), stamp });
        Ok(opened)
    }

    fn open(
        &self,
        session: Session,
        state: Option<&StateFolder>,
    ) -> Result<Arc<Opened>, NotLocked> {
        let (session, reviewer) = (Arc::new(session), Arc::default());
        let host = self.host(&session, state, &reviewer)?;
        match *locked(&self.plan) {
            // Not written down: it holds for this server, and not for the session of the shell.
            PlanMode::On => drop(session.plan().enter()),
            PlanMode::Off => {}
        }
        Ok(Arc::new(Opened { session, host, reviewer }))
    }

    /// The tools of a server. All of them are devices: their documents can be read, and their
    /// arguments are checked; a call by their bare name reaches them too (`CONTRACT U11`).
    fn host(
        &self,
        session: &Arc<Session>,
        state: Option<&StateFolder>,
        reviewer: &Arc<Reviewer>,
    ) -> Result<Host, MountError> {
        let builder = Host::builder(Arc::clone(session), self.options.workspace.clone())
            .policy(self.options.effective_policy())
            .reviewer(Arc::<Reviewer>::clone(reviewer));
        let builder = match state {
            Some(state) => {
                let recorder: Arc<dyn PlanRecorder> = Arc::new(state.clone());
                builder.drafts(Arc::new(state.drafts())).plan_recorder(recorder)
            }
            None => builder,
        };
        let builder = builder
            .device(xd_ast_edit::AstEditTool::default())?
            .device(xd_text_edit::TextEditTool::default())?
            .device(xd_text_edit::ApplyPatchTool::default())?
            .device(restage_tool())?;
        match &self.options.extend {
            Some(extend) => extend(builder)?.try_build(),
            None => builder.try_build(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        locked(&self.memory)
    }
}

impl Kept {
    fn opened(&self) -> Arc<Opened> {
        Arc::clone(&self.opened)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Still under the lock: the log is what this process has left.
        let stamp = self.stack.stamp();
        let kept = Kept { opened: Arc::clone(&self.opened), stamp };
        *locked(&self.stack.work) = Some(kept);
        self.stack.bump();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xd_write::Workspace;

    #[test]
    fn what_came_in_meanwhile_could_not_know() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let stack = Stack::new(Options::new(workspace)).unwrap();
        let number = StageNumber::new(1).unwrap();
        let before = stack.arrive();
        assert!(stack.was_known(number, before), "another process has staged it");
        stack.ended(&[number], false);
        assert!(!stack.was_known(number, before));
        assert!(stack.was_known(number, stack.arrive()));
        assert!(!stack.bare_since(before));
        stack.ended(&[], true);
        assert!(stack.bare_since(before) && !stack.bare_since(stack.arrive()));
    }
}
