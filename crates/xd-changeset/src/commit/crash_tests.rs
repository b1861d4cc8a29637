//! Stopping at every operation of a commit, and at every operation of the recovery.

use rustix::io::Errno;

use super::journal::{self, Progress};
use super::proof_tests::prove;
use super::recover::recover;
use super::scenarios::{Scenario, all, an_edit_beside_a_chain_of_equal_files, names_that_part, p};
use super::{apply_locked_either_way, apply_locked_for_tests as apply};
use crate::RecoveryOutcome;
use crate::disk::Disk as _;
use crate::disk::sim::{Lasting, Picture, SimDisk};

/// Kinds of damage at every stop: in every run, and in the one at night.
const SEEDS: u64 = 8;
const SEEDS_AT_LENGTH: u64 = 40;

/// What a scenario's tree may be.
struct Verdict {
    before: Picture,
    after: Picture,
}

impl Verdict {
    fn of(scenario: &Scenario) -> Self {
        let disk = scenario.disk.fork();
        let before = disk.picture();
        match apply(&disk, &scenario.set) {
            Ok(applied) => assert!(!applied.leftovers, "{}", scenario.name),
            Err(_) => {
                assert_eq!(disk.picture(), before, "{}: a failed apply left a trace", scenario.name)
            }
        }
        Self { before, after: disk.picture() }
    }

    fn check(&self, scenario: &Scenario, disk: &SimDisk, context: &str) {
        let picture = disk.picture();
        let whole = picture == self.before || picture == self.after;
        assert!(
            whole,
            "F3 C3: {} {context}: {:#?}",
            scenario.name,
            difference(&picture, &self.before, &self.after)
        );
    }
}

fn difference(is: &Picture, before: &Picture, after: &Picture) -> Vec<String> {
    let keys: std::collections::BTreeSet<_> =
        is.keys().chain(before.keys()).chain(after.keys()).collect();
    let show = |picture: &Picture, key: &String| {
        format!(
            "{:?}",
            picture.get(key).map(|seen| (
                String::from_utf8_lossy(&seen.1).into_owned(),
                seen.2,
                seen.4
            ))
        )
    };
    keys.into_iter()
        .filter(|key| is.get(*key) != before.get(*key) || is.get(*key) != after.get(*key))
        .map(|key| {
            format!(
                "{key}: is {} before {} after {}",
                show(is, key),
                show(before, key),
                show(after, key)
            )
        })
        .collect()
}

/// Runs `act` until it stops at changing operation `at`; whether it got there.
pub(super) fn stopped_at(disk: &SimDisk, at: usize, act: impl FnOnce(&SimDisk)) -> bool {
    disk.with(|state| (state.changes, state.stop_at) = (0, Some(at)));
    act(disk);
    disk.with(|state| state.changes > at)
}

/// Stops at every operation with each of `seeds`, recovers, and stops at every operation of the
/// recovery with each of `seeds_again`. Answers the number of states looked at.
fn explore(scenario: &Scenario, seeds: u64, seeds_again: impl Fn(usize, u64) -> Vec<u64>) -> usize {
    let verdict = Verdict::of(scenario);
    let mut states = 0;
    for at in 0.. {
        let disk = scenario.disk.fork();
        let mut result = None;
        let stopped = stopped_at(&disk, at, |disk| result = Some(apply(disk, &scenario.set)));
        let result = result.unwrap();
        for seed in 0..seeds {
            let context = format!("stopped at {at} with {seed}");
            let fresh = disk.after_stop(seed);
            states += 1;
            for again in seeds_again(at, seed) {
                states += explore_recovery(scenario, &verdict, &fresh, again, &context);
            }
            recover(&fresh).unwrap_or_else(|error| panic!("{} {context}: {error}", scenario.name));
            verdict.check(scenario, &fresh, &context);
            if !stopped {
                let expect = if result.is_ok() { &verdict.after } else { &verdict.before };
                assert_eq!(
                    fresh.picture(),
                    *expect,
                    "{} {context}: what was reported is not what is",
                    scenario.name
                );
            }
            assert_eq!(
                recover(&fresh).unwrap(),
                None,
                "{} {context}: recovered once and for all",
                scenario.name
            );
        }
        if !stopped {
            return states;
        }
    }
    unreachable!("every commit ends")
}

fn explore_recovery(
    scenario: &Scenario,
    verdict: &Verdict,
    disk: &SimDisk,
    seed: u64,
    context: &str,
) -> usize {
    for at in 0.. {
        let fork = disk.fork();
        let stopped = stopped_at(&fork, at, |disk| drop(recover(disk)));
        let fresh = fork.after_stop(seed);
        let context = format!("{context}, its recovery stopped at {at} with {seed}");
        recover(&fresh).unwrap_or_else(|error| panic!("{} {context}: {error}", scenario.name));
        verdict.check(scenario, &fresh, &context);
        if !stopped {
            return at + 1;
        }
    }
    unreachable!("every recovery ends")
}

#[test]
fn f3_c3_a_stop_at_every_operation_leaves_all_or_nothing() {
    let scenarios = all();
    assert!(scenarios.len() >= 25);
    let states: usize = scenarios
        .iter()
        .map(|scenario| {
            // Recoveries are stopped for every second of the stops, in the largest for every tenth.
            let large = scenario.set.len() > 20;
            explore(scenario, SEEDS, |at, seed| match (large, seed) {
                (true, 2) if at % 10 == 0 => vec![3],
                (true, _) => vec![],
                (false, 1) if at % 2 == 0 => vec![1],
                (false, 2) if at % 2 == 1 => vec![at as u64 + 7],
                (false, _) => vec![],
            })
        })
        .sum();
    assert!(states >= 20_000, "{states} states only");
    prove("scenarios", scenarios.len());
    prove("kinds_of_damage_each", usize::try_from(SEEDS).unwrap());
    prove("states_after_a_stop", states);
}

/// A file that is written under one name while another of its names leaves is taken back whichever
/// of the two comes first.
#[test]
fn f3_case_147_names_of_one_file_that_part_are_taken_back() {
    for scenario in names_that_part() {
        explore(&scenario, SEEDS, |at, seed| if seed == 1 { vec![at as u64] } else { vec![] });
        for at in 0.. {
            let disk = scenario.disk.fork();
            disk.with(|state| {
                (state.operations, state.fault) = (0, Some((at, Errno::IO, Lasting::Once)))
            });
            let result = apply(&disk, &scenario.set);
            if disk.with(|state| state.operations) <= at {
                break;
            }
            let told = matches!(
                result,
                Ok(_) | Err(super::ApplyError::Io { .. } | super::ApplyError::Stale(_))
            );
            assert!(told, "{} at {at}: {result:?}", scenario.name);
        }
    }
}

/// A fault, and then a stop while what was done is being taken back.
#[test]
fn f3_c3_a_stop_while_taking_back_leaves_all_or_nothing() {
    let mut states = 0;
    for scenario in all().into_iter().filter(|scenario| scenario.set.len() <= 10) {
        let verdict = Verdict::of(&scenario);
        for fault in (0..).step_by(9) {
            let mut reached = true;
            for stop in (2..).step_by(2) {
                let disk = scenario.disk.fork();
                disk.with(|state| {
                    (state.operations, state.fault) = (0, Some((fault, Errno::IO, Lasting::Once)))
                });
                let stopped = stopped_at(&disk, stop, |disk| drop(apply(disk, &scenario.set)));
                reached = disk.with(|state| state.operations > fault);
                for seed in [0, 1, (fault * 31 + stop) as u64] {
                    let fresh = disk.after_stop(seed);
                    let context = format!("fault at {fault}, stopped at {stop} with {seed}");
                    recover(&fresh)
                        .unwrap_or_else(|error| panic!("{} {context}: {error}", scenario.name));
                    verdict.check(&scenario, &fresh, &context);
                    states += 1;
                }
                if !stopped {
                    break;
                }
            }
            if !reached {
                break;
            }
        }
    }
    prove("states_after_a_fault_and_a_stop_while_taking_back", states);
}

#[test]
#[ignore = "the nightly script runs it: several minutes"]
fn f3_c3_a_stop_at_every_operation_at_length() {
    let states: usize = all()
        .iter()
        .map(|scenario| {
            explore(scenario, SEEDS_AT_LENGTH, |at, seed| {
                if seed < 8 { vec![0, 1, at as u64 * 41 + seed] } else { vec![] }
            })
        })
        .sum();
    assert!(states >= 500_000, "{states} states only");
    prove("kinds_of_damage_each_at_length", usize::try_from(SEEDS_AT_LENGTH).unwrap());
    prove("states_after_a_stop_at_length", states);
}

#[test]
fn f3_a_set_applied_without_durability_survives_the_end_of_the_process() {
    let mut states = 0;
    for scenario in all() {
        let verdict = Verdict::of(&scenario);
        for at in 0.. {
            let disk = scenario.disk.fork();
            let stopped = stopped_at(&disk, at, |disk| {
                drop(apply_locked_either_way(disk, &scenario.set, false));
            });
            let fresh = disk.after_stop(1);
            let context = format!("not durable, ended at {at}");
            // The next process ends too, at every operation of its recovery.
            if scenario.set.len() <= 20 || at % 10 == 0 {
                states += explore_recovery(&scenario, &verdict, &fresh, 1, &context);
            }
            recover(&fresh).unwrap();
            verdict.check(&scenario, &fresh, &context);
            states += 1;
            if !stopped {
                break;
            }
        }
    }
    assert!(states > 500, "{states} states only");
    prove("states_after_the_end_of_the_process_without_durability", states);
}

#[test]
fn f3_recovery_says_what_it_did() {
    let scenario = &all()[0];
    let mut outcomes = Vec::new();
    for at in 0.. {
        let disk = scenario.disk.fork();
        let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
        let fresh = disk.after_stop(1);
        let foreseen = super::recover::look(&fresh).unwrap();
        let recovery = recover(&fresh).unwrap();
        assert_eq!(foreseen, recovery);
        outcomes.extend(recovery.map(|recovery| recovery.outcome));
        if !stopped {
            break;
        }
    }
    outcomes.dedup();
    assert_eq!(
        outcomes,
        [RecoveryOutcome::NotBegun, RecoveryOutcome::TakenBack, RecoveryOutcome::Completed]
    );
}

/// **Invariant C3:** once a commit is recorded as taken back, what stands at its targets is
/// somebody else's, even where it looks like what the commit would have made.
#[test]
fn c3_a_file_made_after_the_taking_back_is_not_taken_for_ours() {
    let scenario = all().into_iter().find(|scenario| scenario.name == "one creation").unwrap();
    let whole = scenario.disk.fork();
    apply(&whole, &scenario.set).unwrap();
    let (_, bytes, mode, ..) = whole.picture().remove("n").unwrap();
    let mut met = 0;
    for at in 0.. {
        let disk = scenario.disk.fork();
        let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
        for again in 0..12 {
            let fork = disk.after_stop(1);
            stopped_at(&fork, again, |disk| drop(recover(disk)));
            let fresh = fork.after_stop(1);
            if journal::read(&fresh)
                .unwrap()
                .is_some_and(|(_, progress)| progress == Progress::Closed)
            {
                met += 1;
                fresh.create(&p("n"), &bytes, mode).unwrap();
                recover(&fresh).unwrap();
                assert!(
                    fresh.picture().contains_key("n"),
                    "stopped at {at}, its recovery at {again}"
                );
            }
        }
        if !stopped {
            break;
        }
    }
    assert!(met > 0);
}

/// Somebody writes into a target between the interruption and the recovery: neither what they
/// wrote nor what the commit had displaced is lost, and the conflict is named.
#[test]
fn c3_what_is_written_before_the_recovery_is_a_conflict_and_not_lost() {
    const THEIRS: &[u8] = b"theirs";
    let mut conflicts = 0;
    for (name, target) in
        [("one edit", "a"), ("one move", "a2"), ("names cannot be exchanged", "many0/f0")]
    {
        let scenario = all().into_iter().find(|scenario| scenario.name == name).unwrap();
        let change =
            scenario.set.changes().iter().find(|change| change.path().as_str() == target).unwrap();
        let old = change.before().unwrap().slice().unwrap();
        for at in 0.. {
            let disk = scenario.disk.fork();
            let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
            let fresh = disk.after_stop(1);
            if fresh.overwrite_all(&p(target), THEIRS).is_ok() {
                let keeps =
                    |picture: &Picture, bytes: &[u8]| picture.values().any(|seen| seen.1 == bytes);
                let displaced = keeps(&fresh.picture(), old);
                let committed = journal::read(&fresh).unwrap().is_none_or(|(_, progress)| {
                    matches!(progress, Progress::Committed | Progress::Closed)
                });
                let result = recover(&fresh);
                let picture = fresh.picture();
                assert!(keeps(&picture, THEIRS), "{name} at {at}: {result:?}");
                assert!(
                    committed || !displaced || keeps(&picture, old),
                    "{name} at {at}: {result:?}"
                );
                if let Err(error) = result {
                    assert!(error.to_string().contains(target), "{error}");
                    conflicts += 1;
                }
            }
            if !stopped {
                break;
            }
        }
    }
    assert!(conflicts > 5, "{conflicts}");
}

/// A recovery that met a conflict has put back what it could; once the conflict is out of the way
/// the next one puts back the rest, and takes nothing that is at its place for what had been moved.
#[test]
fn c3_after_a_conflict_is_settled_the_rest_is_taken_back() {
    let scenario = an_edit_beside_a_chain_of_equal_files();
    let before = scenario.disk.picture();
    let mut conflicts = 0;
    for at in 0.. {
        let disk = scenario.disk.fork();
        let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
        let fresh = disk.after_stop(1);
        let was = fresh.picture();
        fresh.overwrite_all(&p("a"), b"theirs").unwrap();
        if recover(&fresh).is_err() {
            conflicts += 1;
            fresh.overwrite_all(&p("a"), &was["a"].1).unwrap();
            recover(&fresh).unwrap_or_else(|error| panic!("stopped at {at}: {error}"));
            assert_eq!(fresh.picture(), before, "stopped at {at}");
        }
        if !stopped {
            break;
        }
    }
    assert!(conflicts > 0);
}
