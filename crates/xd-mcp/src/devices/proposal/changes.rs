//! Proposed changes against the files as they are.

use std::{borrow::Cow, io, ops::Range};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use memchr::memmem;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use xd_changeset::{ByteEdit, ChangeSet, Content, FileState, RelPath, Root, Verb};

/// One change of a proposal.
#[derive(Debug, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(super) enum Change {
    Edit {
        path: String,
        expect: Option<Expected>,
        edits: Vec<Edit>,
    },
    Replace {
        path: String,
        expect: Expected,
        content: Bytes,
    },
    Create {
        path: String,
        content: Bytes,
        #[serde(default)]
        executable: bool,
    },
    Delete {
        path: String,
        expect: Expected,
    },
    Move {
        path: String,
        to: String,
        expect: Expected,
    },
}

#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    start: Option<usize>,
    old: Bytes,
    new: Bytes,
}

/// Text, or bytes in base64.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Bytes {
    Text(String),
    Encoded { base64: String },
}

/// What a file is before.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Expected {
    Bytes(Bytes),
    Hashed { sha256: String },
}

impl Bytes {
    fn decoded(&self) -> Result<Cow<'_, [u8]>, String> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text.as_bytes())),
            Self::Encoded { base64 } => match STANDARD.decode(base64) {
                Ok(bytes) => Ok(Cow::Owned(bytes)),
                Err(error) => Err(format!("its base64 cannot be read: {error}")),
            },
        }
    }
}

impl Expected {
    fn is(&self, content: &Content) -> Result<bool, String> {
        let unreadable = |error: io::Error| format!("it cannot be read: {error}");
        match self {
            Self::Bytes(bytes) => {
                Ok(content.bytes().map_err(unreadable)?.as_ref() == bytes.decoded()?.as_ref())
            }
            Self::Hashed { sha256 } => {
                let mut hasher = Sha256::new();
                let mut hash = |piece: &[u8]| {
                    hasher.update(piece);
                    Ok(())
                };
                content.pieces(&mut hash).map_err(unreadable)?;
                let digits: String =
                    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                Ok(digits.eq_ignore_ascii_case(sha256))
            }
        }
    }

    fn check(&self, content: &Content) -> Result<(), String> {
        match self.is(content)? {
            true => Ok(()),
            false => Err("it is not what the proposal starts from (`expect`); it has changed, or \
                          was read elsewhere. Have it proposed anew"
                .to_owned()),
        }
    }
}

/// The change set that `changes` are, bound to the files as they are now (`CONTRACT F1, S7`).
///
/// # Errors
/// Which change cannot be made, and why. Nothing is written whatever this answers.
pub(super) fn change_set(root: &Root, changes: &[Change]) -> Result<ChangeSet, String> {
    let mut builder = ChangeSet::builder(root);
    let mut gone = Vec::new();
    let mut creates = 0;
    for (index, change) in changes.iter().enumerate() {
        let path = change.path();
        let at = |why: String| format!("`changes[{index}]` ({path}): {why}");
        let path = RelPath::new(path).map_err(|error| at(error.to_string()))?;
        match change {
            Change::Edit { expect, edits, .. } => {
                let content = root.read(&path).map_err(|error| at(error.to_string()))?;
                let edits = ranges(&content, expect.as_ref(), edits).map_err(at)?;
                builder.edit_from(&path, content, edits);
            }
            Change::Replace { expect, content: after, .. } => {
                let content = root.read(&path).map_err(|error| at(error.to_string()))?;
                expect.check(&content).map_err(at)?;
                builder.replace_from(&path, content, after.decoded().map_err(at)?.into_owned());
            }
            Change::Create { content, executable, .. } => {
                creates += 1;
                let after = content.decoded().map_err(at)?.into_owned();
                match executable {
                    // Its mode then follows the mask of this process, as for any new file.
                    true if !root.exists(&path) => builder.put(&path, after, true),
                    true | false => builder.create(&path, after, None),
                };
            }
            Change::Delete { expect, .. } => {
                gone.push(expected(root, &path, expect).map_err(at)?);
                builder.delete(&path);
            }
            Change::Move { to, expect, .. } => {
                let to = RelPath::new(to).map_err(|error| at(error.to_string()))?;
                gone.push(expected(root, &path, expect).map_err(at)?);
                builder.rename(&path, &to);
            }
        }
    }
    let set = builder.build().map_err(|error| error.to_string())?;
    let changed = "a file changed while it was being staged; have it proposed anew";
    for (path, from) in &gone {
        let same = |change: &xd_changeset::Change| {
            change.source() == Some(path) && change.from_state() == Some(from)
        };
        if !set.changes().iter().any(same) {
            return Err(format!("'{path}': {changed}"));
        }
    }
    let filled = set.changes().iter().filter(|change| change.verb() == Verb::Create).count();
    // A file that takes the name of a deleted one is a replacement.
    if filled < creates && gone.is_empty() {
        return Err(changed.to_owned());
    }
    Ok(set)
}

impl Change {
    fn path(&self) -> &str {
        match self {
            Self::Edit { path, .. }
            | Self::Replace { path, .. }
            | Self::Create { path, .. }
            | Self::Delete { path, .. }
            | Self::Move { path, .. } => path,
        }
    }
}

/// The file or link at `path` as it is, where that is what is expected: its real name and its state,
/// to be found again in the set.
fn expected(
    root: &Root,
    path: &RelPath,
    expect: &Expected,
) -> Result<(RelPath, FileState), String> {
    let alone = ChangeSet::builder(root).delete(path).build().map_err(|error| error.to_string())?;
    let found = alone.changes().first().and_then(|change| {
        Some((change.path().clone(), change.from_state()?.clone(), change.before()?.clone()))
    });
    let (real, from, before) = found.ok_or_else(|| "it cannot be read".to_owned())?;
    expect.check(&before)?;
    Ok((real, from))
}

/// The edits as byte ranges of `content`.
fn ranges(
    content: &Content,
    expect: Option<&Expected>,
    edits: &[Edit],
) -> Result<Vec<ByteEdit>, String> {
    if let Some(expect) = expect {
        expect.check(content)?;
    }
    let bytes = content.bytes().map_err(|error| format!("it cannot be read: {error}"))?;
    let ranged = edits.iter().enumerate().map(|(index, edit)| {
        let at = |why: String| format!("`edits[{index}]`: {why}");
        let (old, new) = (edit.old.decoded().map_err(at)?, edit.new.decoded().map_err(at)?);
        let range = range(&bytes, edit.start, &old, expect.is_some()).map_err(at)?;
        Ok(ByteEdit::new(range, new.into_owned()))
    });
    ranged.collect()
}

fn range(
    bytes: &[u8],
    start: Option<usize>,
    old: &[u8],
    is_bound: bool,
) -> Result<Range<usize>, String> {
    if old.is_empty() && !is_bound {
        return Err(
            "`old` is empty, so nothing says what the file is; give `expect` too".to_owned()
        );
    }
    match start {
        Some(start) => {
            let range = start..start.saturating_add(old.len());
            match bytes.get(range.clone()) {
                Some(there) if there == old => Ok(range),
                Some(_) | None => Err(format!(
                    "`old` does not stand at byte {start}; the file has changed, or the offset is \
                     none in bytes"
                )),
            }
        }
        None if old.is_empty() => Err("`old` is empty and there is no `start`".to_owned()),
        None => {
            let found = places(bytes, old);
            match found.as_slice() {
                [at] => Ok(*at..at + old.len()),
                [] => Err("`old` does not stand in the file".to_owned()),
                _ => Err("`old` stands in the file more than once; give `start`".to_owned()),
            }
        }
    }
}

/// Where `old` stands, two places at most. Two that share bytes are two (case 11).
fn places(bytes: &[u8], old: &[u8]) -> Vec<usize> {
    let first = memmem::find(bytes, old);
    let second = first.and_then(|at| Some(memmem::find(&bytes[at + 1..], old)? + at + 1));
    first.into_iter().chain(second).collect()
}
