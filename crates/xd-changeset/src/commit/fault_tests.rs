//! Failing at every operation, once and for ever, with every error that matters.

use rustix::io::Errno;

use super::crash_tests::stopped_at;
use super::proof_tests::prove;
use super::recover::recover;
use super::scenarios::{all, an_edit_beside_a_chain_of_equal_files, names_that_part};
use super::{ApplyError, apply_locked_either_way, apply_locked_for_tests as apply};
use crate::ChangeSet;
use crate::disk::sim::{Lasting, SimDisk};

const ERRORS: [Errno; 7] =
    [Errno::IO, Errno::NOSPC, Errno::ACCESS, Errno::ROFS, Errno::MFILE, Errno::XDEV, Errno::INTR];

#[test]
fn f3_case_013_case_015_a_fault_at_every_operation_leaves_all_or_nothing() {
    let tried = every_fault(true) + every_fault(false);
    prove("errors_tried", ERRORS.len());
    prove("faults_at_an_operation_once_and_for_ever", tried);
}

/// Every fault in every scenario; answers how many.
fn every_fault(durable: bool) -> usize {
    let apply = |disk: &SimDisk, set: &ChangeSet| apply_locked_either_way(disk, set, durable);
    let mut tried = 0;
    for scenario in all() {
        let before = scenario.disk.picture();
        let whole = scenario.disk.fork();
        let works = apply(&whole, &scenario.set).is_ok();
        let after = whole.picture();
        for lasting in [Lasting::Once, Lasting::ForEver] {
            // In the largest every operation meets one of the errors, in all others every one.
            let large = scenario.set.len() > 20;
            let errors = ERRORS.iter().enumerate().filter(|(n, _)| !large || *n == 0);
            for (at, (n, _)) in (0..).flat_map(|at| errors.clone().map(move |error| (at, error))) {
                let errno = if large { ERRORS[at % ERRORS.len()] } else { ERRORS[n] };
                let disk = scenario.disk.fork();
                disk.with(|state| {
                    (state.operations, state.fault) = (0, Some((at, errno, lasting)))
                });
                let result = apply(&disk, &scenario.set);
                let reached = disk.with(|state| state.operations) > at;
                disk.with(|state| state.fault = None);
                tried += 1;
                let context = format!(
                    "{} {durable} {lasting:?} {errno:?} at {at}: {result:?}",
                    scenario.name
                );
                match &result {
                    Ok(applied) => {
                        if applied.leftovers {
                            recover(&disk).unwrap();
                        }
                        assert_eq!(disk.picture(), after, "{context}");
                    }
                    Err(ApplyError::Stale(_) | ApplyError::Io { .. }) => {
                        let targets = |picture: &crate::disk::sim::Picture| {
                            let mut picture = picture.clone();
                            // Prepared files that could not be cleared yet.
                            picture.retain(|path, seen| {
                                !path.contains(".xd-") && seen.0 != crate::EntryKind::Folder
                            });
                            picture.values_mut().for_each(|seen| seen.4 = 0);
                            picture
                        };
                        assert_eq!(targets(&disk.picture()), targets(&before), "{context}");
                        recover(&disk).unwrap();
                        assert_eq!(disk.picture(), before, "{context}");
                    }
                    Err(ApplyError::RollbackFailed { .. }) => {
                        recover(&disk).unwrap_or_else(|error| panic!("{context}: {error}"));
                        assert_eq!(disk.picture(), before, "{context}");
                    }
                    Err(ApplyError::Undecided { .. }) => {
                        recover(&disk).unwrap();
                        assert!(disk.picture() == after || disk.picture() == before, "{context}");
                    }
                    Err(ApplyError::Locked(_) | ApplyError::Recover(_)) => panic!("{context}"),
                }
                if !reached {
                    assert_eq!(result.is_ok(), works, "{context}");
                    break;
                }
            }
        }
    }
    tried
}

#[test]
fn f3_a_fault_that_passes_is_taken_back_at_once() {
    // Where nothing works, the passing fault would be a second one.
    for scenario in
        all().into_iter().filter(|scenario| apply(&scenario.disk.fork(), &scenario.set).is_ok())
    {
        for at in 0.. {
            let disk = scenario.disk.fork();
            disk.with(|state| {
                (state.operations, state.fault) = (0, Some((at, Errno::IO, Lasting::Once)))
            });
            let result = apply(&disk, &scenario.set);
            if disk.with(|state| state.operations) <= at {
                break;
            }
            let told = matches!(result, Ok(_) | Err(ApplyError::Stale(_) | ApplyError::Io { .. }));
            assert!(told, "{} at {at}: {result:?}", scenario.name);
        }
    }
}

/// A recovery that fails at any operation leaves what the next one can make good.
#[test]
fn f3_c3_a_fault_at_every_operation_of_the_recovery_is_made_good_by_the_next() {
    let mut tried = 0;
    let others = names_that_part().into_iter().chain([an_edit_beside_a_chain_of_equal_files()]);
    for scenario in all().into_iter().filter(|scenario| scenario.set.len() <= 5).chain(others) {
        let before = scenario.disk.picture();
        let whole = scenario.disk.fork();
        drop(apply(&whole, &scenario.set));
        let after = whole.picture();
        for at in (0..).step_by(2) {
            let disk = scenario.disk.fork();
            let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
            let stopped_disk = disk.after_stop(1);
            for fault in 0.. {
                let disk = stopped_disk.fork();
                disk.with(|state| {
                    (state.operations, state.fault) = (0, Some((fault, Errno::IO, Lasting::Once)));
                });
                let first = recover(&disk);
                let reached = disk.with(|state| state.operations) > fault;
                disk.with(|state| state.fault = None);
                let context = format!("{} stopped at {at}, {fault}: {first:?}", scenario.name);
                recover(&disk).unwrap_or_else(|error| panic!("{context}, then {error}"));
                let picture = disk.picture();
                assert!(picture == before || picture == after, "{context}");
                tried += 1;
                if !reached {
                    break;
                }
            }
            if !stopped {
                break;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// Somebody else writes into a target before every single operation of the commit: what they
/// wrote is there afterwards, and the rest is all old or all new.
#[test]
fn f2_case_005_what_another_writes_during_the_apply_survives() {
    let tried = every_foreign_write(true) + every_foreign_write(false);
    prove("foreign_writes_during_an_apply", tried);
}

/// A foreign write before every operation of every scenario; answers how many.
fn every_foreign_write(durable: bool) -> usize {
    const THEIRS: &[u8] = b"written by somebody else";
    let apply = |disk: &SimDisk, set: &ChangeSet| apply_locked_either_way(disk, set, durable);
    let (mut stale, mut applied) = (0, 0);
    for scenario in all() {
        let before = scenario.disk.picture();
        let whole = scenario.disk.fork();
        if apply(&whole, &scenario.set).is_err() {
            continue;
        }
        let after = whole.picture();
        // Files of several names are overwritten in place, which cannot notice the last moment.
        let paths = scenario
            .set
            .changes()
            .iter()
            .filter(|change| change.after().is_some() && change.fills().is_none());
        let Some(path) =
            paths.map(|change| change.path()).find(|path| before[path.as_str()].4 == 1)
        else {
            continue;
        };
        for at in 0.. {
            let disk = scenario.disk.fork();
            disk.with(|state| {
                (state.operations, state.meddler) = (0, Some((at, path.clone(), THEIRS.to_vec())))
            });
            let result = apply(&disk, &scenario.set);
            if disk.with(|state| state.meddler.is_some()) {
                break;
            }
            let context = format!("{} before operation {at}: {result:?}", scenario.name);
            let mut picture = disk.picture();
            let theirs = picture.remove(path.as_str()).map(|seen| seen.1);
            assert_eq!(theirs.as_deref(), Some(THEIRS), "{context}");
            let mut expect = match &result {
                Ok(_) => after.clone(),
                Err(ApplyError::Stale(_)) => before.clone(),
                Err(_) => panic!("{context}"),
            };
            expect.remove(path.as_str());
            assert_eq!(picture, expect, "{context}");
            if result.is_ok() { applied += 1 } else { stale += 1 }
        }
    }
    assert!(stale > 100 && applied > 100, "{stale} stale, {applied} applied");
    stale + applied
}
