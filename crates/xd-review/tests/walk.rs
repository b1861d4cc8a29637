//! Keys and news in any order (**Invariants K1 to K4**).
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;
use ratatui_core::{buffer::Buffer, layout::Rect};
use xd_changeset::{Change, ChangeSet, Content, FileKind, FileState, Pick, RelPath};
use xd_protocol::{Reason, StageNumber, Verdict};
use xd_review::{Effect, Event, Item, KEYS, Key, Look, Review, Undoable, draw};

fn n(number: u64) -> StageNumber {
    StageNumber::new(number).unwrap()
}

fn edit(path: &str, before: &str, after: &str) -> Change {
    let before = Content::new(before);
    Change::Replace {
        path: RelPath::new(path).unwrap(),
        from: FileState::of(FileKind::File, &before, 0o644),
        before,
        after: Content::new(after),
        mode: 0o644,
    }
}

fn lines(with: &[(usize, &str)]) -> String {
    let with: BTreeMap<usize, &str> = with.iter().copied().collect();
    (1..=30).map(|at| with.get(&at).map_or(format!("line {at}\n"), |t| format!("{t}\n"))).collect()
}

/// Two files, one of two changes, called with whatever a terminal would obey.
fn item(number: u64, word: &str) -> Item {
    let old = lines(&[]);
    let new = lines(&[(2, word), (20, "\u{1b}[2J\u{202e}日本\u{7}")]);
    let created = Change::Create {
        path: RelPath::new("b\u{9b}.txt").unwrap(),
        kind: FileKind::File,
        after: Content::new("new\r\n"),
        mode: 0o755,
    };
    let set = ChangeSet::new(vec![edit("a.txt", &old, &new), created]).unwrap();
    Item::new(n(number), format!("Edit: {word}\u{1b}]0;x\u{7}"), "edit")
        .with_change_set(Arc::new(set))
        .with_text("A remark.\u{1b}[31m")
}

fn opened(items: Vec<Item>) -> Review {
    let mut review = Review::new(80, 24);
    review.update(Event::Pending { items, undoable: None });
    review
}

fn press(review: &mut Review, keys: &str) -> Option<Effect> {
    let mut last = None;
    for c in keys.chars() {
        let key = match c {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Esc,
            '\t' => Key::Tab,
            c => Key::Char(c),
        };
        last = review.update(Event::Key(key));
    }
    last
}

fn screen(review: &Review, columns: u16, rows: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(review, Look::Plain, &mut buffer);
    let mut text = String::new();
    for y in 0..rows {
        for x in 0..columns {
            text.push_str(buffer[(x, y)].symbol());
        }
        text.push('\n');
    }
    text
}

// Invariant K1, Invariant K2
#[test]
fn a_decision_needs_a_reason_and_names_what_the_cursor_is_in() {
    let mut review = opened(vec![item(2, "two"), item(1, "one")]);
    assert_eq!(press(&mut review, "a\n"), None);
    assert!(screen(&review, 80, 24).contains("The reason is blank"));
    let Some(Effect::Decide(whole)) = press(&mut review, "It is right.\n") else { panic!() };
    assert_eq!((whole.number, whole.picks, whole.verdict), (n(2), None, Verdict::Apply));
    assert_eq!(whole.reason, "It is right.");
    // The second change of the first file.
    let Some(Effect::Decide(hunk)) = press(&mut review, "]]rIt is wrong.\n") else { panic!() };
    let path = RelPath::new("a.txt").unwrap();
    let picks = BTreeMap::from([(path, Pick::Hunks([2].into()))]);
    assert_eq!((hunk.picks, hunk.verdict), (Some(picks), Verdict::Discard));
    // A file.
    let Some(Effect::Decide(file)) = press(&mut review, "}aIt is right.\n") else { panic!() };
    let path = RelPath::new("b\u{9b}.txt").unwrap();
    assert_eq!(file.picks, Some(BTreeMap::from([(path, Pick::Whole)])));
    // Escape leaves the line, and nothing is decided.
    assert_eq!(press(&mut review, "aWell\u{1b}"), None);
    assert!(screen(&review, 80, 24).contains("Nothing was decided."));
}

// Invariant K1: what is folded is shown before it is accepted.
#[test]
fn what_was_never_unfolded_is_not_accepted_at_once() {
    let mut review = opened(vec![item(2, "two"), item(1, "one")]);
    assert_eq!(press(&mut review, "\ta"), None);
    let shown = screen(&review, 80, 24);
    assert!(shown.contains("look at all of @1"), "{shown}");
    let Some(Effect::Decide(decision)) = press(&mut review, "aIt is right.\n") else { panic!() };
    assert_eq!(decision.number, n(1));
}

// Invariant K1: an answer to a question about what is no more is no answer.
#[test]
fn what_changes_meanwhile_takes_the_question_back() {
    let mut review = opened(vec![item(1, "one")]);
    press(&mut review, "aIt is");
    let items = vec![item(1, "other")];
    review.update(Event::Pending { items, undoable: None });
    assert!(screen(&review, 80, 24).contains("@1 changed meanwhile"));
    assert_eq!(press(&mut review, "\n"), None);
    let mut review = opened(vec![item(1, "one")]);
    press(&mut review, "aIt is");
    review.update(Event::Pending { items: Vec::new(), undoable: None });
    assert!(screen(&review, 80, 24).contains("@1 was decided meanwhile"));
    assert_eq!(press(&mut review, "aright\n"), None);
    // What is the same goes on.
    let mut review = opened(vec![item(1, "one")]);
    press(&mut review, "aIt is");
    review.update(Event::Pending { items: vec![item(2, "x"), item(1, "one")], undoable: None });
    let Some(Effect::Decide(decision)) = press(&mut review, " right.\n") else { panic!() };
    assert_eq!((decision.number, decision.reason.as_str()), (n(1), "It is right."));
}

#[test]
fn undo_is_asked_for_by_name() {
    let mut review = opened(vec![item(1, "one")]);
    assert_eq!(press(&mut review, "uy"), None, "nothing was applied");
    let undoable = Some(Undoable { number: n(7), label: "Edit: seven".to_owned() });
    review.update(Event::Pending { items: Vec::new(), undoable });
    assert_eq!(press(&mut review, "u"), None);
    assert!(screen(&review, 80, 24).contains("Undo @7 (Edit: seven)?"));
    assert_eq!(press(&mut review, "n"), None);
    assert_eq!(press(&mut review, "uy"), Some(Effect::Undo(n(7))));
}

#[test]
fn a_search_unfolds_what_it_finds() {
    let mut review = opened(vec![item(2, "two"), item(1, "needle")]);
    press(&mut review, "/LINE 20\n");
    press(&mut review, "/needle\n");
    assert_eq!(press(&mut review, "n"), None);
    let shown = screen(&review, 80, 24);
    assert!(shown.contains("Here: change 1 of a.txt of @1"), "{shown}");
    press(&mut review, "/nowhere at all\n");
    assert!(screen(&review, 80, 24).contains("is nowhere"));
}

// Invariant K4
#[test]
fn the_help_shows_every_key_at_any_size() {
    for (columns, rows) in [(80, 24), (20, 6)] {
        let mut review = opened(vec![item(1, "one")]);
        review.update(Event::Resize(columns, rows));
        press(&mut review, "?");
        let mut seen = String::new();
        for _ in 0..120 {
            seen.push_str(&screen(&review, columns, rows));
            press(&mut review, "j");
        }
        for key in KEYS {
            assert!(seen.contains(key.keys), "{} at {columns}", key.keys);
        }
    }
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => proptest::sample::select("?qareuon/Nnjk b][}{gGzRxy".chars().collect::<Vec<_>>())
            .prop_map(Key::Char),
        1 => any::<char>().prop_map(Key::Char),
        1 => proptest::sample::select(vec!['c', 'l', 'z', 'u', 'w', 'h', 'd']).prop_map(Key::Ctrl),
        6 => proptest::sample::select(vec![
            Key::Enter, Key::Enter, Key::Esc, Key::Backspace, Key::Tab, Key::BackTab, Key::Up,
            Key::Down, Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home, Key::End,
        ]),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let items = proptest::collection::vec((1u64..5, 0usize..3), 0..4).prop_map(|mut all| {
        all.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        all.dedup_by_key(|(number, _)| *number);
        let words = ["one", "two", "three"];
        let items = all.into_iter().map(|(number, word)| item(number, words[word])).collect();
        let undoable = Some(Undoable { number: n(9), label: "x".to_owned() });
        Event::Pending { items, undoable }
    });
    prop_oneof![
        12 => key().prop_map(Event::Key),
        1 => ".{0,40}".prop_map(Event::Paste),
        1 => (0u16..90, 0u16..30).prop_map(|(columns, rows)| Event::Resize(columns, rows)),
        2 => items,
        1 => (1u64..5).prop_map(|number| Event::Show(n(number))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    // Invariants K1, K2, K3: whatever comes, nothing panics, each effect is about what was last
    // told and shown, and no cell holds anything but text.
    #[test]
    fn any_events_in_any_order(events in proptest::collection::vec(event(), 1..60)) {
        let mut review = Review::new(80, 24);
        let mut size = (80, 24);
        for event in events {
            if let Event::Resize(columns, rows) = &event {
                size = (*columns, *rows);
            }
            let shown_before = review.items().to_vec();
            let effect = review.update(event);
            match effect {
                Some(Effect::Decide(decision)) => {
                    let item = shown_before.iter().find(|i| i.number() == decision.number);
                    prop_assert!(item.is_some(), "{:?} is not pending", decision.number);
                    prop_assert!(Reason::new(&decision.reason).is_ok());
                    prop_assert!(review.shows(decision.number, &decision.shown.clone().unwrap()));
                    if let Some(picks) = &decision.picks {
                        let set = decision.shown.unwrap();
                        prop_assert!(set.split(picks, 3).is_ok(), "{picks:?}");
                    }
                }
                Some(Effect::Edit { number, path, shown }) => {
                    prop_assert!(review.shows(number, &shown));
                    prop_assert!(shown.paths().contains(&&path));
                }
                Some(Effect::Undo(number)) => prop_assert_eq!(number, n(9)),
                Some(
                    Effect::Refresh | Effect::Redraw | Effect::Suspend | Effect::Quit
                ) | None => {}
            }
            let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            let cursor = draw(&review, Look::Colour, &mut buffer);
            for cell in &buffer.content {
                let inert = cell.symbol().chars().all(|c| {
                    !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                });
                prop_assert!(inert, "{:?}", cell.symbol());
            }
            if let Some((x, y)) = cursor {
                prop_assert!(x < size.0.max(1) && y < size.1.max(1), "{x} {y} of {size:?}");
            }
        }
    }
}

// Invariant K3: the same screens at every size that matters, as they are.
#[test]
fn the_screens() {
    for (columns, rows) in [(80, 24), (40, 12), (200, 60), (20, 6)] {
        let stale =
            item(1, "one").with_stale(Some("The preview is stale: 'a.txt' changed.".into()));
        let mut review = opened(vec![item(2, "two"), stale]);
        review.update(Event::Resize(columns, rows));
        let mut all = screen(&review, columns, rows);
        for keys in ["]", "\tao", "rIt is not what was asked for", "\u{1b}?"] {
            press(&mut review, keys);
            all.push_str(&"=".repeat(usize::from(columns)));
            all.push('\n');
            all.push_str(&screen(&review, columns, rows));
        }
        let all: Vec<&str> = all.lines().map(str::trim_end).collect();
        insta::assert_snapshot!(format!("{columns}x{rows}"), all.join("\n"));
    }
}
