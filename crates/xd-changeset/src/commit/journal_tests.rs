//! The journal: nothing is done before it is safe, and nothing is made of one that is damaged.

use super::RecoverError;
use super::apply_locked_for_tests as apply;
use super::crash_tests::stopped_at;
use super::journal;
use super::recover::{look, recover};
use super::scenarios::all;
use crate::RecoveryOutcome::{Completed, NotBegun, TakenBack};
use crate::disk::Disk as _;

#[test]
// Invariant C2, CONTRACT F3
fn c2_nothing_of_a_target_changes_before_the_journal_is_durable() {
    for scenario in all() {
        let disk = scenario.disk.fork();
        drop(apply(&disk, &scenario.set));
        let log = disk.with(|state| state.log.clone());
        let first = |what: &str| log.iter().position(|line| line == what);
        let (Some(synced), Some(named), Some(kept)) =
            (first("sync .xd/journal.new"), first("rename .xd/journal"), first("sync_folder .xd"))
        else {
            continue;
        };
        assert!(synced < named && named < kept, "{}", scenario.name);
        let durable = kept.max(first("sync_folder .").unwrap());
        for line in &log[..durable] {
            assert!(
                line.contains(" .xd") || line.ends_with(" ."),
                "{}: '{line}' before the journal",
                scenario.name
            );
        }
        // What was displaced goes only after the word of completion, the first sync of the journal
        // under its name at the earliest.
        let syncs: Vec<_> = log
            .iter()
            .enumerate()
            .filter(|(_, line)| *line == "sync .xd/journal")
            .map(|(at, _)| at)
            .collect();
        let removals = log.iter().enumerate().filter(|(_, line)| line.starts_with("remove "));
        for (at, line) in removals.filter(|(_, line)| !line.ends_with(".xd/journal")) {
            let by_link = scenario.disk.with(|state| state.quirks.no_rename_new);
            assert!(
                by_link || syncs.first().is_some_and(|word| at > *word),
                "{}: '{line}' too early",
                scenario.name
            );
        }
    }
}

/// Whatever of the journal's plan is damaged, and however far the commit had come: nothing is done,
/// the journal stays, and the way out is named. Only an end that is missing is a commit's own.
#[test]
fn c3_a_damaged_plan_is_never_taken_for_one_never_begun() {
    let mut met = 0;
    for scenario in all().into_iter().filter(|scenario| scenario.set.len() == 2) {
        for at in 0.. {
            let disk = scenario.disk.fork();
            let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
            let fresh = disk.after_stop(1);
            let whole = fresh.read(&journal::path()).unwrap_or_default();
            if !whole.is_empty() {
                let plan = whole.iter().skip(1).position(|byte| *byte == b'\n').unwrap();
                let flip = |at: usize| {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 1;
                    bytes
                };
                let noise = (0..1_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8);
                let damaged = [
                    flip(1),
                    flip(12),
                    flip(plan - 1),
                    whole[..plan / 2].to_vec(),
                    vec![0; whole.len()],
                    noise.collect(),
                    Vec::new(),
                ];
                for bytes in damaged {
                    let fork = fresh.fork();
                    fork.overwrite_all(&journal::path(), &bytes).unwrap();
                    let picture = fork.picture();
                    let error = recover(&fork).unwrap_err();
                    assert!(matches!(error, RecoverError::Damaged), "{error}");
                    assert!(error.to_string().contains("remove '.xd/journal'"), "{error}");
                    assert!(look(&fork).is_err());
                    assert_eq!(fork.picture(), picture, "{} stopped at {at}", scenario.name);
                    assert_eq!(fork.read(&journal::path()).unwrap(), bytes);
                    met += 1;
                }
            }
            if !stopped {
                break;
            }
        }
    }
    assert!(met > 100, "{met}");
}

/// A journal that was only begun is removed, whatever is in it, also beside one that is whole.
#[test]
fn c3_a_journal_that_was_only_begun_is_removed() {
    let scenario = all().into_iter().find(|scenario| scenario.set.len() == 2).unwrap();
    let mut outcomes = Vec::new();
    for at in 0.. {
        let disk = scenario.disk.fork();
        let stopped = stopped_at(&disk, at, |disk| drop(apply(disk, &scenario.set)));
        let fresh = disk.after_stop(1);
        for draft in [&b""[..], b"half", &[0; 64]] {
            let fork = fresh.fork();
            let known = fork.stat(&journal::draft()).is_ok();
            if !known && fork.create(&journal::draft(), draft, 0o600).is_err() {
                // The state folder is not there yet.
                continue;
            }
            let seen = look(&fork).unwrap().unwrap();
            let recovery = recover(&fork).unwrap().unwrap();
            assert_eq!(recovery, seen);
            outcomes.push(recovery.outcome);
            assert!(fork.stat(&journal::draft()).is_err(), "stopped at {at}");
            assert_eq!(look(&fork).unwrap(), None);
        }
        if !stopped {
            break;
        }
    }
    outcomes.dedup();
    assert_eq!(outcomes, [NotBegun, TakenBack, Completed, NotBegun]);
}
