//! Exact edits and patches over many files, proposed as a change set and never written.
//!
//! Layer: a producer of staged actions, above `xd-changeset` and `xd-write`.
//! May use: files below one workspace root (read only), through its handle.
//! Never touches: a file for writing, anything outside the root, the environment, the terminal.
//!
//! # The two halves
//! - On **bytes**, pure: [`locate`] counts where a text stands, [`Edit::apply_to_bytes`] makes one
//!   edit, [`Patch::parse`] reads a patch, [`FilePatch::apply_to_bytes`] places its hunks,
//!   [`near_miss`] says what is closest to a text that is not there.
//! - A **call** over files: [`propose_edits`] and [`propose_patch`] answer a [`Proposal`] to stage,
//!   or every fault at once. The tools `edit` ([`TextEditTool`]) and `apply_patch`
//!   ([`ApplyPatchTool`]) stage it.
//!
//! # Edits
//! The old text must stand in one place, counted with overlaps, or all places are asked for.
//! `\r\n` and `\n` match each other, and new lines end as those that they replace; nothing else is
//! approximate: no trimming, no normalisation, no letter case. Texts that differ in line ends alone
//! are exact. Several edits of one file are made in order, each on the result of the one before;
//! one that changes what an earlier one wrote is told as a note. An empty old text creates a file,
//! or fills an empty one. Files with NUL bytes and UTF-16 are refused; others that are not UTF-8
//! are edited as bytes, and only ASCII may go into them.
//!
//! # Patches
//! Unified, git's (new, deleted, renamed, copied files and modes), or between `*** Begin Patch` and
//! `*** End Patch`. A hunk goes to the line that it says, moved by as much as the hunk before it;
//! else to the one other place where its old lines stand, which a note tells; there is no fuzz.
//! Wrong counts in a header give way to the lines, which a note tells too. A hunk that only adds
//! and shows no line around is refused, but in an empty file.
//!
//! # Rules
//! - **Invariant T1:** an edit without `replace_all` is made in the only place, or refused.
//! - **Invariant T2:** bytes outside the replaced places are the same afterwards.
//! - **Invariant T3:** several rounds of edits come to the same as their composition.
//! - **Invariant T4:** a call with any fault stages nothing, and names every fault.
//! - **Invariant T5:** a hunk is placed only where all its old lines stand.
//! - **Invariant T6:** label, preview and result show the same numbers.
//!
//! # Example
//! ```
//! use xd_changeset::{Options, Root};
//! use xd_text_edit::{Control, Edit, Limits, propose_edits, propose_patch};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.txt"), "one\r\ntwo\r\n")?;
//! let root = Root::open(folder.path())?;
//! let (limits, control) = (Limits::default(), Control::default());
//!
//! let edits = [Edit::new("a.txt", "two\n", "2\nthree\n"), Edit::new("b.txt", "", "new\n")];
//! let proposal = propose_edits(&root, &edits, &limits, &control)?;
//! assert_eq!(proposal.label(), "Edit: 1 replacement in 1 file, 1 file created");
//! assert_eq!(std::fs::read(folder.path().join("a.txt"))?, b"one\r\ntwo\r\n");
//! proposal.change_set.apply(&root, Options::new())?;
//! assert_eq!(std::fs::read(folder.path().join("a.txt"))?, b"one\r\n2\r\nthree\r\n");
//!
//! let error = propose_edits(&root, &[Edit::new("a.txt", "One", "1")], &limits, &control).unwrap_err();
//! assert!(error.to_string().contains("line 1 differs in upper and lower case"));
//!
//! let patch = b"--- a/b.txt\n+++ b/b.txt\n@@ -1 +1,2 @@\n new\n+newer\n";
//! let proposal = propose_patch(&root, patch, &limits, &control)?;
//! proposal.change_set.apply(&root, Options::new())?;
//! assert_eq!(std::fs::read(folder.path().join("b.txt"))?, b"new\nnewer\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod candidate;
mod closest;
mod compose;
mod difference;
mod draft;
mod edit;
mod edit_tool;
mod edits;
mod ending;
mod fold;
mod limits;
mod locate;
mod near_miss;
mod patch;
mod patch_tool;
mod patches;
mod proposal;
mod staging;
mod summary;
mod wording;

pub use closest::{Closest, DifferingLine};
pub use difference::Difference;
pub use draft::DraftFault;
pub use edit::{Edit, EditFault, Replaced};
pub use edit_tool::TextEditTool;
pub use edits::{EditsError, EditsFault, EditsFaultKind, propose_edits};
pub use limits::{Control, Limits};
pub use locate::{Occurrences, Place, locate};
pub use near_miss::{Hint, NearMiss, near_miss};
pub use patch::{
    Action, FilePatch, Hunk, HunkFault, HunkFaultKind, HunkFaults, HunkLine, ParseError,
    ParseFault, Patch, Patched, Side,
};
pub use patch_tool::ApplyPatchTool;
pub use patches::{PatchError, PatchFault, PatchFaultKind, propose_patch};
pub use proposal::Proposal;
pub use summary::{Counts, FileCount, Summary, Unit};
pub use xd_write::Bound;
