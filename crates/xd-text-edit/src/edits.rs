//! A call of `edit`: every edit tried in order, all of them proposed or none.

use std::fmt::{self, Write as _};

use xd_changeset::{BuildError, Root};
use xd_protocol::Visible;

use crate::draft::{DraftFault, Drafts};
use crate::edit::{Edit, EditFault};
use crate::limits::{Control, Limits};
use crate::locate::locate;
use crate::proposal::Proposal;
use crate::summary::{Summary, Unit};
use crate::wording::counted;

/// Faults that are told in full; the others are listed.
const IN_FULL: usize = 10;
/// Edits that are named in one message.
const NAMED: usize = 5;

/// Why a call is refused as a whole. Nothing is staged (`CONTRACT S7`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditsError {
    /// There is no edit.
    #[error("edits is empty; give at least one")]
    NoEdits,
    /// There are too many.
    #[error("{given} edits are given, and at most {most} are made in one call; split it")]
    TooMany {
        /// How many there are.
        given: usize,
        /// The limit.
        most: usize,
    },
    /// The texts are too long together.
    #[error("the texts have {bytes} bytes, and at most {most} are taken in one call; split it")]
    TooLong {
        /// Their length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// Some edits fail; all that do are listed.
    #[error("{}", listed(*of, faults))]
    Faults {
        /// How many edits the call has.
        of: usize,
        /// The failing ones.
        faults: Vec<EditsFault>,
    },
    /// The edits leave every byte of a file as it was.
    #[error("no change needed: the edits together leave {} as it is", files(paths))]
    NothingChanges {
        /// The files.
        paths: Vec<String>,
    },
    /// The changes do not make a change set.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The caller ended the call.
    #[error("cancelled; nothing is staged")]
    Cancelled,
}

/// One failing edit.
#[derive(Debug)]
pub struct EditsFault {
    /// Its index in the call, from 0.
    pub index: usize,
    /// The file as the call names it.
    pub path: String,
    /// Why it fails.
    pub fault: EditsFaultKind,
    /// Edits of the same file that failed before it, so that it may fail for that alone.
    pub after: Option<usize>,
}

/// Why an edit fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditsFaultKind {
    /// The file cannot be edited.
    #[error(transparent)]
    File(#[from] DraftFault),
    /// The text cannot be replaced.
    #[error(transparent)]
    Edit(#[from] EditFault),
    /// The old text was there before the call and is not after its earlier edits.
    #[error(
        "old_text is no longer there: {} of this call changed it; edits of one file are made in \
         order, each on the result of the one before, so make them one edit or write old_text as \
         it is by then",
        edits(by)
    )]
    ChangedBefore {
        /// The earlier edits of the file.
        by: Vec<usize>,
    },
}

/// Tries `edits` in order below `root` and writes nothing. Several edits of one file are made one
/// after the other, each on the result of the one before.
///
/// **Invariant T4:** where any edit fails nothing is proposed, and the error lists every edit that
/// does.
///
/// An edit with an empty `old_text` creates the file, or fills it where it is empty.
///
/// # Errors
/// [`EditsError`].
pub fn propose_edits(
    root: &Root,
    edits: &[Edit],
    limits: &Limits,
    control: &Control<'_>,
) -> Result<Proposal, EditsError> {
    if edits.is_empty() {
        return Err(EditsError::NoEdits);
    }
    if edits.len() > limits.edits {
        return Err(EditsError::TooMany { given: edits.len(), most: limits.edits });
    }
    let bytes = edits.iter().map(|edit| edit.old_text.len() + edit.new_text.len()).sum();
    if bytes > limits.text_bytes {
        return Err(EditsError::TooLong { bytes, most: limits.text_bytes });
    }
    let mut drafts = Drafts::new(root, *limits);
    let mut faults: Vec<EditsFault> = Vec::new();
    let mut notes = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        if (control.cancelled)() {
            return Err(EditsError::Cancelled);
        }
        let look = faults.len() < IN_FULL;
        match make(&mut drafts, index, edit, limits, look) {
            Ok(note) => notes.extend(note.map(|note| format!("edits[{index}]: {note}."))),
            Err(fault) => {
                let after = faults.iter().find(|one| one.path == edit.path).map(|one| one.index);
                faults.push(EditsFault { index, path: edit.path.clone(), fault, after });
            }
        }
        (control.progress)(index + 1);
    }
    if !faults.is_empty() {
        return Err(EditsError::Faults { of: edits.len(), faults });
    }
    let paths: Vec<String> = drafts.unchanged().map(|draft| draft.path.to_string()).collect();
    if !paths.is_empty() {
        return Err(EditsError::NothingChanges { paths });
    }
    let change_set = drafts.build()?;
    let summary =
        Summary::of(Unit::Replacement, &change_set, notes, |path| drafts.changes_in(path));
    Ok(Proposal { change_set, summary })
}

/// Makes one edit of the drafts; answers what there is to remark.
fn make(
    drafts: &mut Drafts<'_>,
    index: usize,
    edit: &Edit,
    limits: &Limits,
    look: bool,
) -> Result<Option<String>, EditsFaultKind> {
    let path = drafts.path(&edit.path)?;
    if edit.old_text == edit.new_text {
        return Err(EditFault::Same.into());
    }
    let at = match drafts.exists(&path) {
        true => drafts.open(&path)?,
        false if edit.old_text.is_empty() => drafts.create(&path)?,
        false => return Err(DraftFault::Missing.into()),
    };
    let draft = drafts.get(at);
    let done = match edit.try_on(&draft.now(), limits.replacements, look) {
        Ok(done) => done,
        Err(EditFault::NotFound { .. }) if was_there(draft, edit) => {
            return Err(EditsFaultKind::ChangedBefore { by: draft.by.clone() });
        }
        Err(fault) => return Err(fault.into()),
    };
    let mut notes = Vec::new();
    notes.extend(done.note());
    if draft.touches_own(&done.edits) {
        notes.push("it changes text that an earlier edit of this call put there".to_owned());
    }
    drafts.edit(at, &done.edits, done.edits.len(), index)?;
    Ok((!notes.is_empty()).then(|| notes.join("; ")))
}

fn was_there(draft: &crate::draft::Draft, edit: &Edit) -> bool {
    draft.original().is_some_and(|was| locate(&was, edit.old_text.as_bytes()).total > 0)
}

fn listed(of: usize, faults: &[EditsFault]) -> String {
    let mut text = format!(
        "{} of {}; nothing is staged",
        match faults.len() {
            1 => "1 edit fails".to_owned(),
            many => format!("{many} edits fail"),
        },
        of
    );
    for fault in faults.iter().take(IN_FULL) {
        let _ = write!(text, "\n{fault}");
    }
    if faults.len() > IN_FULL {
        let rest: Vec<String> = faults[IN_FULL..].iter().map(EditsFault::name).collect();
        let _ = write!(text, "\nalso failing: {}", rest.join(", "));
    }
    text
}

impl EditsFault {
    /// `edits[2] 'a.rs'`.
    fn name(&self) -> String {
        let path: String = self.path.chars().take(200).collect();
        format!("edits[{}] '{}'", self.index, Visible(&path))
    }
}

impl fmt::Display for EditsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.fault)?;
        match self.after {
            Some(index) => write!(f, "\n  (edits[{index}] of this file failed before it)"),
            None => Ok(()),
        }
    }
}

fn edits(by: &[usize]) -> String {
    let mut names: Vec<String> = by.iter().take(NAMED).map(|at| format!("edits[{at}]")).collect();
    if by.len() > NAMED {
        names.push(format!("{} more", by.len() - NAMED));
    }
    names.join(", ")
}

fn files(paths: &[String]) -> String {
    let mut names: Vec<String> = paths.iter().take(NAMED).map(|path| format!("'{path}'")).collect();
    if paths.len() > NAMED {
        names.push(counted(paths.len() - NAMED, "more file"));
    }
    names.join(", ")
}
