//! What is asked about is what runs (cases 50 and 121).

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, atomic::Ordering},
};

use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};
use xd_protocol::Verdict;
use xd_resolve::{ActionState, Decider, Tier, ToolCall, ToolResult};
use xd_session::{Finalizer, Session};
use xd_write::{FnTool, HiddenResolveTool, Policy, ToolDefinition};

use crate::desk::{BOTH, Desk, WHY, device, failing_once, n, write};

/// What lets a person's apply fail, and the apply.
type Pending = Arc<Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>>;

/// Stages @1 of write tier and @2 of exec tier, and lets a person begin to apply @2. What `fail`
/// gets lets that apply fail and waits until it has.
async fn person_applies_the_upper(desk: &Desk) -> (Pending, Arc<std::sync::atomic::AtomicUsize>) {
    desk.stage("writer", Tier::Write);
    let (release, gate) = oneshot::channel();
    let (request, runs) = failing_once(gate);
    let actions = Arc::clone(desk.host.session().actions());
    actions.stage(request).unwrap();
    let confirm = actions.confirm(n(2), Verdict::Apply, WHY, Decider::Person);
    let applying = tokio::spawn(async move { drop(confirm.await) });
    while desk.state(2) == ActionState::Pending {
        tokio::task::yield_now().await;
    }
    (Arc::new(Mutex::new(Some((release, applying)))), runs)
}

async fn fail(pending: Pending) {
    let taken = pending.lock().unwrap().take();
    if let Some((release, applying)) = taken {
        release.send(()).unwrap();
        applying.await.unwrap();
    }
}

// CONTRACT W6, W7, D14; case 121; Invariants R6, W4, W11: with nobody to ask, an exec action that
// was being applied at the batch's begin does not run in the name of the one below it.
#[tokio::test]
async fn w6_case_121_the_action_below_a_taken_head_lends_it_no_tier() {
    for finalizer in BOTH {
        let slot = Pending::default();
        let shared = Arc::clone(&slot);
        let wait = FnTool::new(
            ToolDefinition::new("wait", "Waits.", json!({ "type": "object" })),
            Tier::Read,
            move |_, _: Value| {
                let pending = Arc::clone(&shared);
                async move {
                    fail(pending).await;
                    Ok(ToolResult::text("waited"))
                }
            },
        );
        let session = Session::new().with_finalizer(finalizer);
        let desk = Desk::with(session, |builder, _| builder.tool(wait));
        let (pending, runs) = person_applies_the_upper(&desk).await;
        *slot.lock().unwrap() = pending.lock().unwrap().take();
        let calls = [ToolCall::new("0", "wait", json!({})), desk.apply()];
        let results = desk.run(&calls).await;
        assert_eq!(results[0].content, ["waited"], "{finalizer:?}");
        assert_eq!(
            results[1].content[0],
            "Not executed: refused: nobody is there to approve it. Do not try the same again.",
            "{finalizer:?}"
        );
        assert_eq!(runs.load(Ordering::Relaxed), 0);
        assert_eq!([desk.state(1), desk.state(2)], [ActionState::Pending; 2]);
    }
}

// CONTRACT W6; case 121: the person is shown the one that is applied.
#[tokio::test]
async fn w6_case_121_the_person_is_shown_the_head_of_the_batch() {
    for finalizer in BOTH {
        let desk = Desk::asking(finalizer, Tier::Read);
        let (pending, runs) = person_applies_the_upper(&desk).await;
        *desk.person.meanwhile.lock().unwrap() = Some(Box::new(|| Box::pin(fail(pending))));
        let result = desk.one(desk.apply()).await;
        assert_eq!(result.content, ["done"], "{finalizer:?}");
        let asked = desk.person.asked.lock().unwrap().remove(0);
        assert_eq!((asked.tier, asked.action.unwrap().number()), (Tier::Exec, n(2)));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!(desk.state(1), ActionState::Pending);
    }
}

// CONTRACT W6, D15: the hidden tool beside the devices is shown and measured alike.
#[tokio::test]
async fn w6_d15_the_hidden_tool_beside_the_devices_shows_what_it_applies() {
    let session = Arc::new(Session::new());
    let hidden = HiddenResolveTool::new(Arc::clone(&session));
    let folder = tempfile::tempdir().unwrap();
    let person = Arc::new(crate::desk::Person::default());
    let host = xd_write::Host::builder(session, crate::desk::workspace(folder.path()))
        .tool(hidden)
        .policy(Policy::automatic(Tier::Read).asking(person.clone()))
        .build();
    let desk = Desk { folder, host: Arc::new(host), person };
    desk.stage("writer", Tier::Exec);
    let call = ToolCall::new("1", "resolve", json!({ "action": "apply", "reason": WHY }));
    assert_eq!(desk.host.tier(&call), Tier::Exec);
    desk.one(call).await;
    let asked = desk.person.asked.lock().unwrap().remove(0);
    assert_eq!((asked.tier, asked.action.map(|it| it.number())), (Tier::Exec, Some(n(1))));
    assert!(desk.folder.path().is_dir());
}

// CONTRACT W6, R2; case 50; Invariant W11: while a person is asked about one device, another takes
// its place, or none does: what was approved is gone, and nothing runs in its name.
#[tokio::test]
async fn w6_case_050_what_takes_a_devices_place_was_not_approved() {
    for by_name in [false, true] {
        for put in [Some(Tier::Exec), Some(Tier::Write), None] {
            let desk = Desk::asking(Finalizer::Write, Tier::Read);
            desk.host
                .with_registry(|it| {
                    it.refresh_origin("a", Ok::<_, Infallible>(vec![device(Tier::Write)]))
                })
                .unwrap();
            let host = Arc::clone(&desk.host);
            *desk.person.meanwhile.lock().unwrap() = Some(Box::new(move || {
                let listed: Result<_, Infallible> = Ok(put.map(device).into_iter().collect());
                host.with_registry(|it| it.refresh_origin("a", listed)).unwrap();
                Box::pin(std::future::ready(()))
            }));
            let call = || match by_name {
                true => ToolCall::new("1", "dev", json!({})),
                false => write("xd://dev", "{}"),
            };
            let result = desk.one(call()).await;
            assert!(result.is_error, "{put:?}: {result:?}");
            assert!(
                result.content[0].starts_with("Not executed: xd://dev was replaced or taken away"),
                "{result:?}"
            );
            // CONTRACT R6
            assert_eq!(result.details.unwrap()["xdev"]["tool"], "dev");
            assert_eq!(desk.person.asked(), 1);
            if let Some(tier) = put {
                assert_eq!(desk.one(call()).await.content, [format!("ran {tier:?}")]);
                assert_eq!(desk.person.asked.lock().unwrap()[1].tier, tier);
            }
        }
    }
}

// CONTRACT R2: a refresh that brings the same tool again takes nothing away.
#[tokio::test]
async fn r2_a_refresh_that_keeps_the_tool_keeps_the_approval() {
    let desk = Desk::asking(Finalizer::Write, Tier::Read);
    let tool = device(Tier::Write);
    let refresh = move |host: &xd_write::Host| {
        let listed: Result<_, Infallible> = Ok(vec![Arc::clone(&tool)]);
        host.with_registry(|it| it.refresh_origin("a", listed)).unwrap();
    };
    refresh(&desk.host);
    let host = Arc::clone(&desk.host);
    *desk.person.meanwhile.lock().unwrap() = Some(Box::new(move || {
        refresh(&host);
        Box::pin(std::future::ready(()))
    }));
    assert_eq!(desk.one(write("xd://dev", "{}")).await.content, ["ran Write"]);
    assert_eq!(desk.person.asked(), 1);
}
