//! How far "for the session" goes (cases 97 and 119).

use std::{convert::Infallible, sync::atomic::Ordering};

use xd_resolve::Tier;
use xd_session::Boundary;
use xd_write::Approval;

use crate::desk::{BOTH, Desk, device, write};

// CONTRACT W6; case 97; Invariant W12: a yes for the session to a confirm covers what the same tool
// stages, up to the tier that was shown; whatever reaches farther, or comes from elsewhere, is asked
// about with its change in view.
#[tokio::test]
async fn w6_case_097_a_grant_covers_its_tier_and_its_producer() {
    for finalizer in BOTH {
        let desk = Desk::asking(finalizer, Tier::Read);
        let (mut asked, mut at) = (0, 0);
        for (source, tier, answer, is_asked) in [
            ("editor", Tier::Write, Approval::GrantedForSession, true),
            ("editor", Tier::Write, Approval::Granted, false),
            ("editor", Tier::Exec, Approval::Granted, true),
            ("editor", Tier::Exec, Approval::GrantedForSession, true),
            ("editor", Tier::Exec, Approval::Granted, false),
            ("editor", Tier::Write, Approval::Granted, false),
            ("other", Tier::Write, Approval::Granted, true),
            ("resolve", Tier::Write, Approval::Granted, true),
            ("other\nwrite\neditor", Tier::Write, Approval::Granted, true),
        ] {
            let runs = desk.stage(source, tier);
            at += 1;
            if is_asked {
                asked += 1;
                desk.person.says(answer);
            }
            desk.one(desk.apply()).await;
            assert_eq!(desk.person.asked(), asked, "{finalizer:?}, {at}: {source}, {tier:?}");
            assert_eq!(runs.load(Ordering::Relaxed), 1, "{at}");
            if is_asked {
                let shown = desk.person.asked.lock().unwrap()[asked - 1].action.clone().unwrap();
                assert_eq!(shown.number().get(), at);
            }
        }
        // Case 119: not in the session that follows.
        desk.host.session().boundary(Boundary::New);
        desk.stage("editor", Tier::Write);
        desk.one(desk.apply()).await;
        assert_eq!(desk.person.asked(), asked + 1);
    }
}

// CONTRACT W6; Invariant W12: a device that comes to reach farther than it did is asked about anew;
// what the host has granted by name stands, and says nothing of what is staged.
#[tokio::test]
async fn w6_a_grant_for_a_device_covers_its_tier() {
    let desk = Desk::asking(xd_session::Finalizer::Write, Tier::Read);
    let mount = |tier| {
        let listed: Result<_, Infallible> = Ok(vec![device(tier)]);
        desk.host.with_registry(|it| it.refresh_origin("a", listed)).unwrap();
    };
    desk.person.says(Approval::GrantedForSession);
    for (tier, asked) in [(Tier::Write, 1), (Tier::Write, 1), (Tier::Exec, 2), (Tier::Write, 2)] {
        mount(tier);
        let result = desk.one(write("xd://dev", "{}")).await;
        assert_eq!(result.content, [format!("ran {tier:?}")]);
        assert_eq!(desk.person.asked(), asked);
    }
    desk.host.session().grant("dev");
    desk.host.session().grant("resolve");
    mount(Tier::Exec);
    desk.one(write("xd://dev", "{}")).await;
    assert_eq!(desk.person.asked(), 2);
    desk.stage("dev", Tier::Write);
    desk.one(desk.apply()).await;
    assert_eq!(desk.person.asked(), 3);
}
