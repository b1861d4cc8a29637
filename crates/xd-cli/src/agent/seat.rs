//! Where a run sits: the workspace, the session on the disk, the tools, the history.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use xd_agent::{
    Agent, TranscriptError, TranscriptFile,
    tools::{BashTool, GlobTool, GrepTool, shell_environment},
};
use xd_resolve::{Decider, PlanMode, Recorder, Tier};
use xd_session::{PlanReviewer, Session};
use xd_write::{
    Approver, Host, Policy, Restored, Rules, StateError, StateFolder, StateLock, Workspace,
    restage_tool,
};

use super::{
    arguments::{ApprovalMode, RunArguments},
    config::Settings,
    model::AnyModel,
    told::Told,
};
use crate::{
    failure::Failure,
    place::{state_failure, workspace},
    recovered::Recovered,
    screen::Screen,
    sessions::{SESSIONS, listed},
};

/// The system text. Nothing of the protocol is in it: that comes with the tools.
const SYSTEM: &str = include_str!("system.md");
/// What the names of an agent's sessions begin with; a number follows.
const PREFIX: &str = "agent-";
/// The history of a session, in its folder.
const TRANSCRIPT: &str = "transcript.jsonl";

/// Who is asked.
pub(crate) struct People {
    /// About calls; none where nobody is there. A refusal for want of a person is no person's.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// About plans.
    pub(crate) reviewer: Arc<dyn PlanReviewer>,
}

/// An agent that is ready, and the session that it goes on with. The session's lock is held until
/// it is dropped.
pub(crate) struct Seat {
    pub(crate) agent: Agent<AnyModel>,
    pub(crate) host: Arc<Host>,
    /// The session's name.
    pub(crate) name: String,
    /// How many messages it began with.
    pub(crate) messages: usize,
    /// What of the session's decisions the model knows.
    pub(crate) told: Told,
    _lock: StateLock,
}

/// A session on the disk that nobody else is at.
struct Kept {
    name: String,
    state: StateFolder,
    lock: StateLock,
    transcript: PathBuf,
}

impl Seat {
    /// Opens the workspace in `directory` and sits down in the session that `flags` ask for.
    pub(crate) fn take(
        directory: &Path,
        flags: &RunArguments,
        settings: &Settings,
        approval: ApprovalMode,
        model: AnyModel,
        people: People,
        screen: &mut Screen,
    ) -> Result<Self, Failure> {
        let workspace = workspace(directory)?;
        let kept = match &flags.resume {
            Some(name) => resumed(&workspace, name)?,
            None => fresh(&workspace)?,
        };
        let recorder: Arc<dyn Recorder> = Arc::new(kept.state.clone());
        let session = Arc::new(Session::with_store(|store| store.with_recorder(recorder)));
        let restored: Restored = kept
            .state
            .restore(&workspace, session.actions(), Some(&kept.lock))
            .map_err(state_failure)?;
        screen.recovered(Recovered::of(&restored));
        let host = host(session, workspace, &kept.state, settings, approval, people);
        let plan = kept.state.plan().map_err(state_failure)?;
        let entered = match (plan.mode, flags.plan) {
            (PlanMode::On, _) => host.restore_plan(&plan).map(drop),
            (PlanMode::Off, true) => {
                host.enter_plan(Decider::Person, "Asked for at the start.").map(drop)
            }
            (PlanMode::Off, false) => Ok(()),
        };
        entered.map_err(|error| Failure::new(error, "Run it again without --plan."))?;
        let (transcript, resumed) =
            TranscriptFile::open(&kept.transcript).map_err(|error| unread(error, &kept.name))?;
        let messages = resumed.messages.len();
        let folder = kept.transcript.parent().unwrap_or(Path::new("."));
        let told = Told::open(kept.state.clone(), folder, messages > 0);
        let host = Arc::new(host);
        let mut agent = Agent::new(model, Arc::clone(&host))
            .with_system(system(&host))
            .with_withdrawal()
            .resume(transcript, resumed);
        if let Some(turns) = settings.max_turns {
            agent = agent.with_turn_limit(turns);
        }
        Ok(Self { agent, host, name: kept.name, messages, told, _lock: kept.lock })
    }
}

/// The session `name`, or the last one for an empty name.
fn resumed(workspace: &Workspace, name: &str) -> Result<Kept, Failure> {
    let names = sessions(workspace);
    let hint = || match names.len() {
        0 => "`xd agent` without --resume begins one.".to_owned(),
        _ => format!("There are {}; --resume alone takes the last one used.", listed(&names)),
    };
    let name = match name {
        "" => names.first().cloned().ok_or_else(|| {
            Failure::new("there is no session of the agent to resume here", hint())
        })?,
        name => name.to_owned(),
    };
    let transcript = workspace.path().join(SESSIONS).join(&name).join(TRANSCRIPT);
    let state = StateFolder::open_existing(workspace, &name).map_err(state_failure)?;
    let Some(state) = state.filter(|_| transcript.is_file()) else {
        return Err(Failure::new(format!("no session of the agent is named '{name}'"), hint()));
    };
    let lock = state.lock(Duration::ZERO).map_err(|error| busy(error, &name))?;
    Ok(Kept { name, state, lock, transcript })
}

/// A session that is new, under the next free number.
fn fresh(workspace: &Workspace) -> Result<Kept, Failure> {
    let number = |name: &String| name.strip_prefix(PREFIX)?.parse::<u64>().ok();
    let last = sessions(workspace).iter().filter_map(number).max().unwrap_or(0);
    for number in last + 1.. {
        let name = format!("{PREFIX}{number}");
        let state = StateFolder::open(workspace, &name).map_err(state_failure)?;
        let lock = match state.lock(Duration::ZERO) {
            Ok(lock) => lock,
            // Another run took the number just now.
            Err(StateError::Locked { .. }) => continue,
            Err(error) => return Err(state_failure(error)),
        };
        let transcript = workspace.path().join(SESSIONS).join(&name).join(TRANSCRIPT);
        if !transcript.exists() {
            return Ok(Kept { name, state, lock, transcript });
        }
    }
    Err(Failure::new("no number is left for a session", "Remove old ones from .xd/sessions."))
}

/// The sessions of the agent, the one used last first.
fn sessions(workspace: &Workspace) -> Vec<String> {
    let Ok(entries) = fs::read_dir(workspace.path().join(SESSIONS)) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let used = fs::metadata(entry.path().join(TRANSCRIPT)).ok()?.modified().ok()?;
            Some((used, entry.file_name().into_string().ok()?))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, name)| name).collect()
}

fn busy(error: StateError, name: &str) -> Failure {
    match &error {
        StateError::Locked { .. } => Failure::new(
            format!("the session '{name}' is in use: {error}"),
            "End the other run, or begin a new session without --resume.",
        ),
        _ => state_failure(error),
    }
}

fn unread(error: TranscriptError, name: &str) -> Failure {
    let hint = format!("It is {SESSIONS}/{name}/{TRANSCRIPT}; without --resume a new one begins.");
    Failure::new(error, hint)
}

/// The tools, the devices, and who may do what.
fn host(
    session: Arc<Session>,
    workspace: Workspace,
    state: &StateFolder,
    settings: &Settings,
    approval: ApprovalMode,
    people: People,
) -> Host {
    let automatic = match approval {
        ApprovalMode::Ask => Tier::Read,
        ApprovalMode::Write => Tier::Write,
        ApprovalMode::Yolo => Tier::Exec,
    };
    // Staging changes nothing: a person is asked once, with the change in view, when it is applied.
    let rules = Rules::new().allow("edit").allow("ast_edit").allow("apply_patch").allow("restage");
    let mut policy = Policy::automatic(automatic).with_rules(rules);
    if let Some(approver) = people.approver {
        policy = policy.asking(approver);
    }
    if settings.stage_writes {
        policy = policy.stage_writes();
    }
    let mut builder = Host::builder(session, workspace)
        .policy(policy)
        .drafts(Arc::new(state.drafts()))
        .plan_recorder(Arc::new(state.clone()))
        .reviewer(people.reviewer)
        .tool(xd_text_edit::TextEditTool::default())
        .tool(xd_ast_edit::AstEditTool::default())
        .tool(GrepTool::default())
        .tool(GlobTool::default());
    if settings.allow_bash {
        let environment = shell_environment(std::env::vars_os(), &settings.bash_env);
        builder = builder.tool(BashTool::new(environment));
    }
    builder
        .device(xd_text_edit::ApplyPatchTool::default())
        .and_then(|builder| builder.device(restage_tool()))
        .unwrap_or_else(|error| panic!("{error}"))
        .build()
}

/// The system text with the devices that are mounted (`CONTRACT R5`): the same bytes in every run
/// with the same devices.
pub(crate) fn system(host: &Host) -> String {
    let devices = host.with_registry(|registry| registry.prompt_section(host.session().prompts()));
    match devices.trim() {
        "" => SYSTEM.to_owned(),
        devices => format!("{SYSTEM}\n{devices}\n"),
    }
}
