//! A change set in two halves, against the whole (**Invariant C7**).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::{
    ByteEdit, Change, ChangeSet, Content, FileKind, FileState, Pick, RelPath, Split, SplitError,
    apply_edits,
};

const CONTEXT: usize = 3;

fn path(name: &str) -> RelPath {
    RelPath::new(name).unwrap()
}

fn replace(name: &str, before: &[u8], after: &[u8], mode: u32) -> Change {
    let before = Content::new(before.to_vec());
    Change::Replace {
        path: path(name),
        from: FileState::of(FileKind::File, &before, 0o644),
        before,
        after: Content::new(after.to_vec()),
        mode,
    }
}

fn hunks(name: &str, numbers: &[usize]) -> BTreeMap<RelPath, Pick> {
    BTreeMap::from([(path(name), Pick::Hunks(numbers.iter().copied().collect()))])
}

fn bytes(content: Option<&Content>) -> Vec<u8> {
    content.unwrap().bytes().unwrap().into_owned()
}

/// The lines that `set` takes away and puts there, of every file.
fn touched(set: &ChangeSet) -> BTreeSet<(String, String, String)> {
    let mut touched = BTreeSet::new();
    for file in set.diff(0) {
        for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
            touched.insert((file.path.to_string(), format!("{:?}", line.tag), line.text.clone()));
        }
    }
    touched
}

/// Every promise of a split of one changed file.
fn check(whole: &ChangeSet, split: &Split) {
    let [change] = whole.changes() else { panic!("one file is split here") };
    let [part] = split.part.changes() else { panic!("the part has the file") };
    let [after] = split.rest_after.changes() else { panic!("the rest has the file") };
    let [alone] = split.rest_alone.changes() else { panic!("the rest has the file") };
    assert_eq!(part.from_state(), change.from_state());
    assert_eq!(alone.from_state(), change.from_state());
    assert_eq!(after.from_state(), part.to_state().as_ref(), "the rest starts where the part ends");
    assert_eq!(after.to_state(), change.to_state(), "part and rest make the whole");
    assert_eq!(bytes(after.after()), bytes(change.after()));
    // Stored and read back they are believed, hashes and results included.
    for half in [&split.part, &split.rest_after, &split.rest_alone] {
        let stored = serde_json::to_string(half).unwrap();
        assert_eq!(&serde_json::from_str::<ChangeSet>(&stored).unwrap(), half);
    }
}

// Invariant C7, CONTRACT F4
#[test]
fn f4_line_endings_a_mark_and_a_missing_last_feed_survive_a_split() {
    let before = b"\xef\xbb\xbfone\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nten";
    let after = b"\xef\xbb\xbfONE\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nTEN";
    let whole = ChangeSet::new(vec![replace("a", before, after, 0o755)]).unwrap();
    let split = whole.split(&hunks("a", &[2]), CONTEXT).unwrap();
    check(&whole, &split);
    assert_eq!((split.picked, split.all), (1, 2));
    let part = &split.part.changes()[0];
    assert_eq!(
        bytes(part.after()),
        b"\xef\xbb\xbfone\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nTEN"
    );
    assert_eq!(part.to_state().unwrap().mode, 0o644, "the mode changes with the last hunk");
    assert_eq!(
        bytes(split.rest_alone.changes()[0].after()),
        b"\xef\xbb\xbfONE\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nten"
    );
}

#[test]
fn what_cannot_be_divided_says_so_and_files_are_picked_whole() {
    let created =
        Change::Create { path: path("b"), kind: FileKind::File, after: "b\n".into(), mode: 0o644 };
    let binary = replace("c", b"a\0b", b"a\0c", 0o644);
    let text = replace("d", b"1\n", b"2\n", 0o644);
    let whole = ChangeSet::new(vec![created, binary, text]).unwrap();
    for (name, what) in [("b", "created"), ("c", "binary")] {
        let refused = whole.split(&hunks(name, &[1]), CONTEXT).unwrap_err();
        assert_eq!(refused, SplitError::WholeOnly { path: path(name), what });
    }
    let refused = whole.split(&hunks("d", &[2]), CONTEXT).unwrap_err();
    assert_eq!(refused, SplitError::NoSuchHunk { path: path("d"), hunk: 2, have: 1 });
    let refused = whole.split(&hunks("x", &[1]), CONTEXT).unwrap_err();
    assert_eq!(refused, SplitError::Unknown(path("x")));
    assert_eq!(whole.split(&BTreeMap::new(), CONTEXT).unwrap_err(), SplitError::Nothing);
    let all: BTreeMap<_, _> = ["b", "c", "d"].map(|name| (path(name), Pick::Whole)).into();
    assert_eq!(whole.split(&all, CONTEXT).unwrap_err(), SplitError::Everything);
    let one = BTreeMap::from([(path("b"), Pick::Whole), (path("d"), Pick::Whole)]);
    let split = whole.split(&one, CONTEXT).unwrap();
    assert_eq!(split.part.paths(), [&path("b"), &path("d")]);
    assert_eq!(split.rest_after, split.rest_alone, "no file is in both");
    assert_eq!(split.rest_alone.paths(), [&path("c")]);
}

#[test]
fn a_name_that_one_change_leaves_to_another_keeps_them_together() {
    let text = Content::new("x\n");
    let from = FileState::of(FileKind::File, &text, 0o644);
    let whole = ChangeSet::new(vec![
        Change::Delete { path: path("a"), from: from.clone(), before: text.clone() },
        Change::Move {
            source: path("b"),
            path: path("a"),
            from,
            before: text.clone(),
            after: text,
            mode: 0o644,
        },
        replace("d", b"1\n", b"2\n", 0o644),
    ])
    .unwrap();
    let refused = whole.split(&BTreeMap::from([(path("b"), Pick::Whole)]), CONTEXT).unwrap_err();
    assert!(matches!(refused, SplitError::Entangled { .. }), "{refused}");
    let split = whole.split(&BTreeMap::from([(path("a"), Pick::Whole)]), CONTEXT).unwrap();
    assert_eq!(split.part.len(), 2);
}

#[test]
fn f1_another_content_of_one_file_leaves_the_others_and_the_start_alone() {
    let created =
        Change::Create { path: path("b"), kind: FileKind::File, after: "b\n".into(), mode: 0o644 };
    let whole = ChangeSet::new(vec![created, replace("d", b"1\n", b"2\n", 0o644)]).unwrap();
    let other = whole.with_content(&path("d"), "3\n".into()).unwrap();
    assert_eq!(bytes(other.changes()[1].after()), b"3\n");
    assert_eq!(other.changes()[1].from_state(), whole.changes()[1].from_state());
    assert_eq!(other.changes()[0], whole.changes()[0]);
    let without = whole.with_content(&path("d"), "1\n".into()).unwrap();
    assert_eq!(without.paths(), [&path("b")]);
    let refused = without.with_content(&path("d"), "x".into()).unwrap_err();
    assert_eq!(refused, SplitError::Unknown(path("d")));
    let mode = ChangeSet::new(vec![replace("d", b"1\n", b"2\n", 0o755)]).unwrap();
    let mode = mode.with_content(&path("d"), "1\n".into()).unwrap();
    assert!(matches!(mode.changes(), [Change::SetMode { mode: 0o755, .. }]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    // Invariant C7: over any two texts, any hunks, any context.
    #[test]
    fn part_and_rest_make_the_whole_and_neither_touches_the_other(
        lines in proptest::collection::vec(0usize..6, 1..40),
        changed in proptest::collection::vec((0usize..40, 0usize..3, 0usize..6), 1..8),
        ends in (any::<bool>(), any::<bool>(), any::<bool>()),
        picks in proptest::collection::vec(any::<bool>(), 12),
        context in 0usize..4,
    ) {
        let (crlf, old_ends, new_ends) = ends;
        let end = if crlf { "\r\n" } else { "\n" };
        let text = |lines: &[String], ended: bool| {
            let text = lines.join(end);
            if ended { text + end } else { text }
        };
        // Each line is told apart by its place, so that lines touched can be compared.
        let old: Vec<String> =
            lines.iter().enumerate().map(|(at, line)| format!("{at}:{line}")).collect();
        let mut new = old.clone();
        for (at, how, with) in changed {
            let at = at % new.len();
            match how {
                0 => new[at] = format!("new {at} {with}"),
                1 if new.len() > 1 => drop(new.remove(at)),
                _ => new.insert(at, format!("put {at} {with} {}", new.len())),
            }
        }
        let (before, after) = (text(&old, old_ends), text(&new, new_ends));
        prop_assume!(before != after);
        let change = replace("a", before.as_bytes(), after.as_bytes(), 0o644);
        let whole = ChangeSet::new(vec![change]).unwrap();
        let count = whole.diff(context)[0].hunks.len();
        let wanted: Vec<usize> = (1..=count).filter(|n| picks[n % picks.len()]).collect();
        prop_assume!(!wanted.is_empty() && wanted.len() < count);
        let split = whole.split(&hunks("a", &wanted), context).unwrap();
        check(&whole, &split);
        prop_assert_eq!((split.picked, split.all), (wanted.len(), count));
        // Exactly the lines of the picked hunks are in the part, and of the others in the rest.
        let of = |numbers: &dyn Fn(usize) -> bool| {
            let diff = &whole.diff(context)[0];
            let mut lines = BTreeSet::new();
            for (_, hunk) in (1..).zip(&diff.hunks).filter(|(n, _)| numbers(*n)) {
                for line in hunk.lines.iter().filter(|l| l.tag != crate::LineTag::Context) {
                    lines.insert(("a".to_owned(), format!("{:?}", line.tag), line.text.clone()));
                }
            }
            lines
        };
        prop_assert_eq!(touched(&split.part), of(&|n| wanted.contains(&n)));
        prop_assert_eq!(touched(&split.rest_alone), of(&|n| !wanted.contains(&n)));
        prop_assert_eq!(touched(&split.rest_after), of(&|n| !wanted.contains(&n)));
        // In the other order they make the whole too: the rest alone, then the part moved along.
        let Change::Edit { before, edits, after, .. } = &split.part.changes()[0] else {
            panic!("a divided file is edited")
        };
        let edits: Vec<ByteEdit> = edits.clone();
        prop_assert_eq!(
            apply_edits(&before.bytes().unwrap(), &edits).unwrap(),
            after.bytes().unwrap().into_owned()
        );
    }
}
