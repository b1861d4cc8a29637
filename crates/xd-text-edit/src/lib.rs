//! Exact edits and patches over many files, proposed as a change set and never written.

mod candidate;
mod compose;
mod difference;
mod edit;
mod ending;
mod fold;
mod locate;
mod near_miss;
mod patch;
mod wording;

pub use difference::Difference;
pub use edit::{Edit, EditFault, Replaced};
pub use locate::{Occurrences, Place, locate};
pub use near_miss::{Closest, DifferingLine, Hint, NearMiss, near_miss};
pub use patch::{
    Action, FilePatch, Hunk, HunkFault, HunkFaultKind, HunkFaults, HunkLine, ParseError,
    ParseFault, Patch, Patched, Side,
};
