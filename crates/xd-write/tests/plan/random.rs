//! W7: whatever is called in plan mode, in whatever order, the working tree stays as it was.

use proptest::prelude::*;
use serde_json::{Value, json};
use xd_resolve::{PlanMode, Tier};
use xd_session::PlanAnswer;
use xd_write::Policy;

use crate::scene::{Scene, staging, touching};

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a.txt".to_owned()),
        "(\\./|sub/|\\.\\./)?[a-c]{1,2}(\\.md|\\.txt|:1-2)?",
        "( ?[xX][dD]:/{1,2}(resolve|reject|propose|Propose|device|stager)(@[0-3]|:raw|/|/\\.\\.)? ?)",
        "(local|LOCAL|locl):/{1,3}[a-c]{0,2}(-plan\\.md|/\\.\\./a)?",
        "(xd|xd:|xdd://|dx://)/?(propose|a\\.txt)",
        "\\PC{0,8}",
    ]
}

fn call() -> impl Strategy<Value = (String, Value)> {
    let content = prop_oneof!["\\PC{0,12}", "[a-c]{1,2}", Just("{}".to_owned())];
    let write = (path(), content).prop_map(|(path, content)| {
        ("write".to_owned(), json!({ "path": path, "content": content }))
    });
    let read = path().prop_map(|path| ("read".to_owned(), json!({ "path": path })));
    let names = prop_oneof!["tool|stager|device", path()];
    let named = (names, prop_oneof![Just(json!({})), Just(json!({ "content": "Why." }))]);
    prop_oneof![4 => write, 1 => read, 2 => named]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // CONTRACT W7; Invariant W6
    #[test]
    fn w7_no_sequence_of_calls_in_plan_mode_changes_the_working_tree(
        calls in proptest::collection::vec(call(), 1..25)
    ) {
        let scene = Scene::with(|builder| {
            builder
                .policy(Policy::automatic(Tier::Exec))
                .tool(touching("tool", Tier::Write))
                .tool(staging("stager"))
                .device(touching("device", Tier::Exec))
                .unwrap()
        });
        scene.enter();
        for _ in 0..calls.len() {
            scene.script.then(|_| PlanAnswer::Refused { words: "No.".into() });
        }
        let before = scene.picture();
        for (name, arguments) in calls {
            let shown = format!("{name} {arguments}");
            scene.call(&name, arguments);
            prop_assert_eq!(&scene.picture(), &before, "{}", shown);
            prop_assert_eq!(scene.host.session().plan_mode(), PlanMode::On);
        }
    }
}
