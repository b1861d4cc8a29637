//! The full-screen reviewer of what is pending: what is on the screen, and what a key does to it.
//!
//! *Layer:* beside the producers, above `xd-render`. *Uses:* `xd-render` for inert text and its
//! measure, the data of `xd-changeset`, the reasons of `xd-protocol`, and a buffer of cells to draw
//! into. *Never touches:* the terminal, files, the environment, a clock. The binary reads keys,
//! shows the buffer and carries [`Effect`]s out; [`Review`] decides which there are.
//!
//! # The rules
//! - **Invariant K1:** an effect is about what is on the screen: what is accepted was unfolded there
//!   as it is now, and a change of it from elsewhere folds the question back
//!   ([`Event::Pending`]).
//! - **Invariant K2:** no decision without a reason that the protocol takes (`CONTRACT D2`).
//! - **Invariant K3:** nothing that comes from outside reaches the screen but as inert text, and no
//!   cell outside the screen is drawn at any size (`CONTRACT V3, V4`).
//! - **Invariant K4:** every key there is stands in [`KEYS`], which the help shows, and does what
//!   is said there.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use xd_changeset::{Change, ChangeSet, FileKind, RelPath};
//! use xd_protocol::{StageNumber, Verdict};
//! use xd_review::{Effect, Event, Item, Key, Review};
//!
//! let change = Change::Create {
//!     path: RelPath::new("notes.txt")?,
//!     kind: FileKind::File,
//!     after: "Buy milk.\n".into(),
//!     mode: 0o644,
//! };
//! let set = Arc::new(ChangeSet::new(vec![change])?);
//! let number = StageNumber::new(1).unwrap();
//! let item = Item::new(number, "Write: notes.txt", "write").with_change_set(set);
//!
//! let mut review = Review::new(80, 24);
//! review.update(Event::Pending { items: vec![item], undoable: None });
//! assert!(review.update(Event::Key(Key::Char('a'))).is_none(), "first, a reason");
//! review.update(Event::Paste("It is on the list.".to_owned()));
//! let Some(Effect::Decide(decision)) = review.update(Event::Key(Key::Enter)) else { panic!() };
//! assert_eq!((decision.number, decision.verdict), (number, Verdict::Apply));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to read on
//! [`Review::update`] for what keys do, [`draw`] for what is shown, [`Item`] for what goes in.

mod draw;
mod effect;
mod item;
mod keys;
mod moving;
mod prompt;
mod review;
mod rows;

pub use draw::{Look, draw};
pub use effect::{Decision, Effect, Event, Undoable};
pub use item::Item;
pub use keys::{KEYS, Key, KeyHelp};
pub use review::Review;
