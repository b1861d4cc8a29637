//! Random change sets on random trees: what was previewed lands, what was taken back is back.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::apply_locked_for_tests as apply;
use super::scenarios::p;
use crate::disk::Disk as _;
use crate::disk::sim::{Quirks, SimDisk};
use crate::root::Root;
use crate::{BuildError, Builder, ByteEdit, ChangeSet};

/// How many random change sets are tried.
const CASES: u32 = 10_000;

#[test]
fn the_number_of_cases_is_checked_in() {
    super::proof_tests::prove("random_change_sets", CASES as usize);
}

const NAMES: [&str; 9] = ["a", "b", "c", "d/a", "d/b", "d/e/f", "n/new", "d/new", "new"];

/// Contents of the kinds that other tools damage.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(b"one\r\ntwo\r\n".to_vec()),
        Just(b"\xef\xbb\xbfwith a mark\r\n".to_vec()),
        Just(b"no final newline".to_vec()),
        Just(b"mixed\r\nendings\nhere\r".to_vec()),
        Just(b"caf\xe9 in Latin-1\n".to_vec()),
        Just("astral 😀𝒳 and combining e\u{301}\n".as_bytes().to_vec()),
        Just(b"\x00\x01binary\xff\xfe".to_vec()),
        Just(b"a\0".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

#[derive(Debug, Clone)]
enum Op {
    Edit(usize, usize, usize, Vec<u8>),
    Replace(usize, Vec<u8>),
    Create(usize, Vec<u8>, Option<u32>),
    Put(usize, Vec<u8>, bool),
    Delete(usize),
    Rename(usize, usize),
    SetMode(usize, u32),
}

fn op() -> impl Strategy<Value = Op> {
    let name = 0..NAMES.len();
    let mode = prop_oneof![Just(0o644u32), Just(0o755), Just(0o600)];
    prop_oneof![
        3 => (name.clone(), 0usize..40, 0usize..10, content()).prop_map(|(n, at, len, text)| Op::Edit(n, at, len, text)),
        1 => (name.clone(), content()).prop_map(|(n, text)| Op::Replace(n, text)),
        2 => (name.clone(), content(), proptest::option::of(mode.clone())).prop_map(|(n, text, mode)| Op::Create(n, text, mode)),
        1 => (name.clone(), content(), any::<bool>()).prop_map(|(n, text, x)| Op::Put(n, text, x)),
        1 => name.clone().prop_map(Op::Delete),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Op::Rename(from, to)),
        1 => (name, mode).prop_map(|(n, mode)| Op::SetMode(n, mode)),
    ]
}

fn stage(builder: &mut Builder, op: &Op, lens: &BTreeMap<usize, usize>) {
    match op {
        Op::Edit(n, at, len, text) => {
            let whole = lens.get(n).copied().unwrap_or(0);
            let start = (*at).min(whole);
            builder.edit(
                &p(NAMES[*n]),
                vec![ByteEdit::new(start..(start + len).min(whole), text.clone())],
            );
        }
        Op::Replace(n, text) => drop(builder.replace(&p(NAMES[*n]), text.clone())),
        Op::Create(n, text, mode) => drop(builder.create(&p(NAMES[*n]), text.clone(), *mode)),
        Op::Put(n, text, executable) => drop(builder.put(&p(NAMES[*n]), text.clone(), *executable)),
        Op::Delete(n) => drop(builder.delete(&p(NAMES[*n]))),
        Op::Rename(from, to) => drop(builder.rename(&p(NAMES[*from]), &p(NAMES[*to]))),
        Op::SetMode(n, mode) => drop(builder.set_mode(&p(NAMES[*n]), *mode)),
    }
}

/// A set of as many of the operations as go together.
fn build(root: &Root, ops: &[Op], lens: &BTreeMap<usize, usize>) -> Result<ChangeSet, BuildError> {
    let mut accepted: Vec<&Op> = Vec::new();
    for op in ops {
        let mut builder = ChangeSet::builder(root);
        accepted.iter().chain([&op]).for_each(|op| stage(&mut builder, op, lens));
        if builder.build().is_ok() {
            accepted.push(op);
        }
    }
    let mut builder = ChangeSet::builder(root);
    accepted.iter().for_each(|op| stage(&mut builder, op, lens));
    builder.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// **Invariants C1 and C5.** `CONTRACT F1`, `F2`, `F4`, `F6`; cases 29, 131, 135, 137.
    #[test]
    fn c1_c5_stage_apply_undo(
        files in proptest::collection::btree_map(0usize..6, (content(), prop_oneof![Just(0o644u32), Just(0o755)]), 0..6),
        twin in any::<bool>(),
        ops in proptest::collection::vec(op(), 1..6),
        (no_exchange, no_rename_new) in any::<(bool, bool)>(),
    ) {
        let disk = SimDisk::default();
        disk.make_folder(&p("d"), 0o777).unwrap();
        disk.make_folder(&p("d/e"), 0o777).unwrap();
        for (n, (bytes, mode)) in &files {
            disk.create(&p(NAMES[*n]), bytes, *mode).unwrap();
        }
        if let (true, Some(n)) = (twin, files.keys().next()) {
            disk.link(&p(NAMES[*n]), &p("d/e/twin")).unwrap();
        }
        disk.settle();
        disk.with(|state| state.quirks = Quirks { no_exchange, no_rename_new, ..Quirks::default() });
        let before = disk.picture();
        let root = Root::on(Arc::new(disk.clone()));
        let lens = files.iter().map(|(n, (bytes, _))| (*n, bytes.len())).collect();

        let set = build(&root, &ops, &lens).unwrap();
        prop_assert_eq!(&disk.picture(), &before, "staging and rejecting leave everything as it was");
        let stored = serde_json::to_string(&set).unwrap();
        prop_assert_eq!(&serde_json::from_str::<ChangeSet>(&stored).unwrap(), &set);
        prop_assert!(set.unified(3).is_empty() == set.is_empty());
        if set.is_empty() {
            return Ok(());
        }

        apply(&disk, &set).unwrap();
        let after = disk.picture();
        for change in set.changes() {
            let seen = after.get(change.path().as_str());
            match change.to_state() {
                Some(state) => {
                    let (_, bytes, mode, _, _) = seen.unwrap();
                    prop_assert_eq!(crate::Hash::of(bytes), state.hash);
                    prop_assert_eq!(*mode, state.mode);
                    if let Some(content) = change.after() {
                        prop_assert_eq!(bytes.as_slice(), content.slice().unwrap());
                    }
                }
                None => prop_assert!(seen.is_none() || set.changes().iter().any(|other| other.fills() == Some(change.path()))),
            }
        }
        let touched: Vec<_> = set.paths().into_iter().map(|path| path.as_str().to_owned()).collect();
        for (path, seen) in &before {
            if !touched.contains(path) && path != "d/e/twin" {
                let (kind, bytes, ..) = after.get(path).unwrap();
                prop_assert!((kind, bytes) == (&seen.0, &seen.1) || twin, "{path} was not touched");
            }
        }
        prop_assert!(!after.keys().any(|path| path.contains(".xd-")));
        let undo = set.inverse();
        apply(&disk, &undo).unwrap();
        let restored = disk.picture();
        // A deleted name of a hard-linked file comes back as a file of its own.
        let plain = |picture: &crate::disk::sim::Picture| -> Vec<_> {
            picture.iter().map(|(path, seen)| (path.clone(), seen.0, seen.1.clone(), seen.2)).collect()
        };
        prop_assert_eq!(plain(&restored), plain(&before));
        apply(&disk, &undo.inverse()).unwrap();
        prop_assert_eq!(plain(&disk.picture()), plain(&after), "redo");
    }
}
