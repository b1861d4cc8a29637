//! Names for tools whose names come from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use xd_protocol::{Address, Device, DeviceName, Target, classify, is_reserved};
use xd_write::{MountError, Registry, device_name};

use crate::bench::named;

fn is_sound(name: &str) {
    DeviceName::new(name).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert!(name.len() <= 64 && !is_reserved(name) && !["read", "write"].contains(&name), "{name}");
    let address = format!("xd://{name}");
    let found = classify(&address);
    assert!(
        matches!(found, Address::Xd(Target::Device(Device::Tool(tool))) if tool.as_str() == name),
        "{address}: {found:?}"
    );
    // Nothing of it can be taken for a read selector.
    assert_eq!(xd_protocol::split_selector(&address), None);
}

// Cases 48 and 50: the names are the same for ever.
#[test]
fn case_048_case_050_names_are_stable() {
    for (server, tool, name) in [
        ("git", "log", "git.log"),
        ("git", "log.one_line-x", "git.log.one_line-x"),
        ("s", "a.b", "s.a.b"),
        ("s", "a_b", "s.a_b"),
    ] {
        assert_eq!(device_name(server, tool), name);
        is_sound(name);
    }
    let long = "n".repeat(70);
    for (server, tool, begin) in [
        ("s", "a b", "s.a_b-"),
        ("s.a", "b", "s_a.b-"),
        ("", "resolve", "_.resolve-"),
        ("s", "", "s._-"),
        ("s", "\u{202e}\u{1b}[2J", "s.___2J-"),
        ("s", long.as_str(), &format!("s.{}-", &long[..45])),
        ("s", "x-0123456789abcdef", "s.x-0123456789abcdef-"),
    ] {
        let name = device_name(server, tool);
        assert!(name.starts_with(begin) && name.len() == begin.len() + 16, "{name}");
        is_sound(&name);
    }
    assert_eq!(device_name("s", "a b"), STABLE);
}

/// Written down once: a restart, another machine or another release must not change it.
const STABLE: &str = "s.a_b-d4d19e7ce1b7177e";

// Case 48: what a simple replacement would fold into one stays two.
#[test]
fn case_048_nothing_folds() {
    let pairs = [
        ("s", "a.b"),
        ("s", "a_b"),
        ("s", "a b"),
        ("s", "a/b"),
        ("s", "a:b"),
        ("s.a", "b"),
        ("s_a", "b"),
        ("s a", "b"),
        ("s", "a\u{200b}b"),
        ("s", "a\nb"),
        ("", "s.a.b"),
        ("s", ".a.b"),
    ];
    let names: BTreeSet<String> = pairs.iter().map(|(s, t)| device_name(s, t)).collect();
    assert_eq!(names.len(), pairs.len(), "{names:?}");
    names.iter().for_each(|name| is_sound(name));
}

// Case 50. Ten thousand long names that differ in the middle only.
#[test]
fn case_050_long_names_that_differ_in_the_middle_stay_apart() {
    let mut state = 11_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    let mut names = BTreeMap::new();
    while names.len() < 10_000 {
        let tool = format!("{}{:014}{}", "head_".repeat(12), random(), "_tail".repeat(12));
        let name = device_name("server", &tool);
        is_sound(&name);
        assert_eq!(name, device_name("server", &tool));
        if let Some(other) = names.insert(name.clone(), tool.clone()) {
            assert_eq!(other, tool, "{name} stands for two tools");
        }
    }
}

// Cases 48 and 50: should two names fold all the same, the mount says so and names both.
#[test]
fn case_048_a_remaining_collision_is_reported() {
    let mut registry = Registry::new();
    let tools = ["server one, tool `a b`", "server two, tool `a_b`"];
    let error = registry
        .refresh(tools.iter().map(|origin| (named("s.a_b", ""), (*origin).to_owned())).collect())
        .unwrap_err();
    assert!(matches!(error, MountError::Collision { .. }));
    let text = error.to_string();
    assert!(tools.iter().all(|origin| text.contains(origin)) && text.contains("s.a_b"), "{text}");
}

proptest! {
    // Cases 48, 50: whatever a server calls itself and its tools.
    #[test]
    fn case_048_case_050_any_two_tools_have_two_sound_names(
        a in (".{0,40}", ".{0,90}"), b in (".{0,40}", ".{0,90}")
    ) {
        let (one, other) = (device_name(&a.0, &a.1), device_name(&b.0, &b.1));
        is_sound(&one);
        prop_assert_eq!(one == other, a == b);
    }
}
