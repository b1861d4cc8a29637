//! A call of `apply_patch`: every hunk of every file placed, all of them proposed or none.

use std::fmt::{self, Write as _};

use xd_changeset::{BuildError, Root};
use xd_protocol::Visible;

use crate::draft::{DraftFault, Drafts};
use crate::edit::{EditFault, check_encoding};
use crate::fold::line_at;
use crate::limits::{Control, Limits};
use crate::patch::{Action, FilePatch, HunkFaults, ParseError, Patch, Side};
use crate::proposal::Proposal;
use crate::summary::{Summary, Unit};
use xd_changeset::ByteEdit;

/// Files whose faults are told in full; the others are listed.
const IN_FULL: usize = 10;

/// Why a patch is refused as a whole. Nothing is staged (`CONTRACT S7`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It is longer than a call takes.
    #[error("the patch has {bytes} bytes, and at most {most} are taken in one call; split it")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// It cannot be read.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It has too many hunks or files.
    #[error(
        "the patch has {hunks} hunks in {files} files, and at most {most_hunks} in {most_files} are taken in one call; split it"
    )]
    TooMany {
        /// Its hunks.
        hunks: usize,
        /// Its files.
        files: usize,
        /// The limit of hunks.
        most_hunks: usize,
        /// The limit of files.
        most_files: usize,
    },
    /// Some files cannot be patched; all that cannot are listed.
    #[error("{}", listed(*of, faults))]
    Faults {
        /// How many files the patch has.
        of: usize,
        /// The failing ones.
        faults: Vec<PatchFault>,
    },
    /// The patch leaves everything as it was.
    #[error("no change needed: the patch leaves every file as it is")]
    NothingChanges,
    /// The changes do not make a change set.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The caller ended the call.
    #[error("cancelled; nothing is staged")]
    Cancelled,
}

/// A file that cannot be patched.
#[derive(Debug)]
pub struct PatchFault {
    /// The line of the patch, from 1, where the file begins.
    pub line: usize,
    /// The file as the patch names it.
    pub path: String,
    /// Why.
    pub fault: PatchFaultKind,
}

/// Why a file cannot be patched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchFaultKind {
    /// The file itself stands against it.
    #[error(transparent)]
    File(#[from] DraftFault),
    /// It is no text, or text of another encoding.
    #[error(transparent)]
    Encoding(#[from] EditFault),
    /// Hunks have no place.
    #[error(transparent)]
    Hunks(#[from] HunkFaults),
    /// It is to go, and has more than the patch shows.
    #[error("the patch deletes it and shows less than it has; nothing unseen is deleted")]
    MoreThanShown,
    /// The patch is to create it and has lines of something that was there.
    #[error("the patch creates it and has lines of a file before it")]
    NotNew,
    /// Lines that are not ASCII would go into a file that is not UTF-8.
    #[error(
        "the file is not UTF-8 (byte {byte}, line {line}), so that added lines may only be ASCII: \
         other characters would be in another encoding than the rest of the file"
    )]
    OtherEncoding {
        /// Offset of the first byte that is not UTF-8.
        byte: usize,
        /// Its line.
        line: usize,
    },
}

/// Reads a patch and tries it below `root`; writes nothing. Where a file is in it twice, the
/// second part is tried on the result of the first.
///
/// # Errors
/// [`PatchError`]: where any hunk of any file has no place nothing is proposed.
pub fn propose_patch(
    root: &Root,
    patch: &[u8],
    limits: &Limits,
    control: &Control<'_>,
) -> Result<Proposal, PatchError> {
    if patch.len() > limits.text_bytes {
        return Err(PatchError::TooLong { bytes: patch.len(), most: limits.text_bytes });
    }
    let Patch { files, mut notes } = Patch::parse(patch)?;
    let hunks = files.iter().map(|file| file.hunks.len()).sum();
    if hunks > limits.edits || files.len() > limits.files {
        return Err(PatchError::TooMany {
            hunks,
            files: files.len(),
            most_hunks: limits.edits,
            most_files: limits.files,
        });
    }
    let mut drafts = Drafts::new(root, *limits);
    let mut faults = Vec::new();
    for (index, file) in files.iter().enumerate() {
        if (control.cancelled)() {
            return Err(PatchError::Cancelled);
        }
        match take(&mut drafts, index, file) {
            Ok(more) => {
                notes.extend(
                    more.into_iter().map(|note| format!("'{}': {note}", Visible(&file.path))),
                );
            }
            Err(fault) => {
                faults.push(PatchFault { line: file.line, path: file.path.clone(), fault });
            }
        }
        (control.progress)(index + 1);
    }
    if !faults.is_empty() {
        return Err(PatchError::Faults { of: files.len(), faults });
    }
    let change_set = drafts.build()?;
    if change_set.is_empty() {
        return Err(PatchError::NothingChanges);
    }
    let notes = notes.into_iter().map(|note| note + ".").collect();
    let summary = Summary::of(Unit::Hunk, &change_set, notes, |path| drafts.changes_in(path));
    Ok(Proposal { change_set, summary })
}

/// Takes one file of the patch into the drafts; answers what there is to remark.
fn take(
    drafts: &mut Drafts<'_>,
    index: usize,
    file: &FilePatch,
) -> Result<Vec<String>, PatchFaultKind> {
    let named = drafts.path(&file.path);
    let path = match (&file.or_path, named) {
        (Some(other), Ok(path)) if !drafts.exists(&path) => drafts.path(other)?,
        (Some(other), Err(_)) => drafts.path(other)?,
        (_, named) => named?,
    };
    match &file.action {
        Action::Edit => {
            // Where the file is not there and the hunk starts from nothing, it is a new one.
            if !drafts.exists(&path) && starts_from_nothing(file) {
                return create(drafts, index, file, &path);
            }
            let at = drafts.open(&path)?;
            if let Some(executable) = file.executable {
                drafts.set_executable(at, executable);
            }
            patch(drafts, index, file, at)
        }
        Action::Create => create(drafts, index, file, &path),
        Action::Delete { shown: false } => {
            drafts.delete(&path)?;
            Ok(Vec::new())
        }
        Action::Delete { shown: true } => {
            let at = drafts.open(&path)?;
            let now = drafts.get(at).now();
            let done = file.apply_to_bytes(&now)?;
            let removed: usize = done.edits.iter().map(|edit| edit.range.len()).sum();
            let rest = now.len() - removed;
            let left: usize = done.edits.iter().map(|edit| edit.text.len()).sum();
            if rest + left > 0 {
                return Err(PatchFaultKind::MoreThanShown);
            }
            drafts.delete(&path)?;
            Ok(done.notes)
        }
        Action::Move { to } => {
            let to = drafts.path(to)?;
            let at = drafts.rename(&path, &to)?;
            if let Some(executable) = file.executable {
                drafts.set_executable(at, executable);
            }
            if file.hunks.is_empty() { Ok(Vec::new()) } else { patch(drafts, index, file, at) }
        }
        Action::Copy { to } => {
            let to = drafts.path(to)?;
            let from = drafts.open(&path)?;
            // A copy is as executable as what it is a copy of, unless the patch says otherwise.
            let executable = file.executable.unwrap_or_else(|| drafts.is_executable(from));
            let bytes = drafts.get(from).now().into_owned();
            let done = tried(file, &bytes)?;
            let copied = xd_changeset::apply_edits(&bytes, &done.0).unwrap_or(bytes);
            let at = drafts.create(&to)?;
            drafts.edit(at, &[ByteEdit::new(0..0, copied)], file.hunks.len(), index)?;
            drafts.set_executable(at, executable);
            Ok(done.1)
        }
    }
}

fn starts_from_nothing(file: &FilePatch) -> bool {
    match file.hunks.as_slice() {
        [hunk] => hunk.at == Some(1) && hunk.old_lines().next().is_none(),
        _other => false,
    }
}

fn create(
    drafts: &mut Drafts<'_>,
    index: usize,
    file: &FilePatch,
    path: &xd_changeset::RelPath,
) -> Result<Vec<String>, PatchFaultKind> {
    if file.hunks.len() > 1 || file.hunks.iter().any(|hunk| hunk.old_lines().next().is_some()) {
        return Err(PatchFaultKind::NotNew);
    }
    let at = drafts.create(path)?;
    let bytes = file.hunks.first().map(crate::patch::Hunk::new_bytes).unwrap_or_default();
    drafts.edit(at, &[ByteEdit::new(0..0, bytes)], file.hunks.len(), index)?;
    if let Some(executable) = file.executable {
        drafts.set_executable(at, executable);
    }
    Ok(Vec::new())
}

fn patch(
    drafts: &mut Drafts<'_>,
    index: usize,
    file: &FilePatch,
    at: usize,
) -> Result<Vec<String>, PatchFaultKind> {
    let (edits, notes) = tried(file, &drafts.get(at).now())?;
    drafts.edit(at, &edits, file.hunks.len(), index)?;
    Ok(notes)
}

fn tried(file: &FilePatch, bytes: &[u8]) -> Result<(Vec<ByteEdit>, Vec<String>), PatchFaultKind> {
    let not_utf8 = check_encoding(bytes)?;
    let foreign = |line: &crate::patch::HunkLine| match line.side {
        Side::Added => !line.text.is_ascii(),
        Side::Context | Side::Removed => false,
    };
    if let Some(byte) = not_utf8.filter(|_| file.utf8)
        && file.hunks.iter().flat_map(|hunk| &hunk.lines).any(foreign)
    {
        return Err(PatchFaultKind::OtherEncoding { byte, line: line_at(bytes, byte) });
    }
    let done = file.apply_to_bytes(bytes)?;
    Ok((done.edits, done.notes))
}

fn listed(of: usize, faults: &[PatchFault]) -> String {
    let mut text = match of {
        1 => "the file cannot be patched; nothing is staged".to_owned(),
        _ => format!("{} of {of} files cannot be patched; nothing is staged", faults.len()),
    };
    for fault in faults.iter().take(IN_FULL) {
        let _ = write!(text, "\n{fault}");
    }
    if faults.len() > IN_FULL {
        let rest: Vec<String> = faults[IN_FULL..].iter().map(PatchFault::name).collect();
        let _ = write!(text, "\nalso failing: {}", rest.join(", "));
    }
    text
}

impl PatchFault {
    fn name(&self) -> String {
        let path: String = self.path.chars().take(200).collect();
        format!("'{}' (patch line {})", Visible(&path), self.line)
    }
}

impl fmt::Display for PatchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.fault)
    }
}
