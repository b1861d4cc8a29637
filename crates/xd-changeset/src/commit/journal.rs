//! The journal: what a commit is about to do, and how far it came.
//!
//! It is written whole under another name, and gets its own when that is safe: a journal that cannot
//! be read was damaged, and never one that was only begun.
//!
//! One record a line, `<crc32> <json>`. Every record is preceded by a line feed of its own, so
//! that half a record left by a failed write cannot spoil the next one; a line whose checksum is
//! wrong is no record.

use std::io;

use serde::{Deserialize, Serialize};

use super::lock::state_path;
use super::plan::Plan;
use crate::RelPath;
use crate::disk::Disk;

/// One fact of a commit, durable before what follows from it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    /// What is going to be done. Always the first.
    Plan(Plan),
    /// Every name to be vacated is; written only where names are also filled again.
    Vacated,
    /// Everything is done; only clearing away is left.
    Committed,
    /// The commit is being taken back, whatever was recorded before.
    Aborting,
    /// Every filled name is free again; written only where `Vacated` is.
    Unfilled,
    /// Everything is taken back; only clearing away is left.
    Closed,
}

/// The first record as it is written: the same text, without a copy of the plan.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Begin<'a> {
    Plan(&'a Plan),
}

/// How far a commit came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Planned,
    Vacated,
    Unfilled,
    Committed,
    Closed,
}

pub(super) fn path() -> RelPath {
    state_path("journal")
}

/// What is to become the journal, until it is whole. Nothing was done where it is left over.
pub(super) fn draft() -> RelPath {
    state_path("journal.new")
}

/// Makes the journal with its plan.
pub(super) fn begin(disk: &dyn Disk, plan: &Plan) -> io::Result<()> {
    let (draft, path) = (draft(), path());
    disk.create(&draft, &line(&Begin::Plan(plan)), 0o600)?;
    if plan.durable {
        disk.sync(&draft)?;
    }
    disk.rename(&draft, &path)?;
    if plan.durable {
        disk.sync_folder(path.parent().as_ref())?;
        // The state folder itself may be new.
        disk.sync_folder(None)?;
    }
    Ok(())
}

/// Adds a record.
pub(super) fn add(disk: &dyn Disk, record: &Record, durable: bool) -> io::Result<()> {
    let path = path();
    disk.append(&path, &line(record))?;
    if durable { disk.sync(&path) } else { Ok(()) }
}

/// Removes a journal, and what was to become one, of a commit that has done nothing.
pub(super) fn forget(disk: &dyn Disk) -> io::Result<()> {
    // The one that says what was done goes last.
    disk.remove_if_any(&draft())?;
    disk.remove_if_any(&path())
}

/// The plan and how far it came; none where there is no journal. One whose plan cannot be read is
/// an error ([`InvalidData`](io::ErrorKind::InvalidData)).
pub(super) fn read(disk: &dyn Disk) -> io::Result<Option<(Plan, Progress)>> {
    let bytes = match disk.read(&path()) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut records = bytes.split(|byte| *byte == b'\n').filter_map(parse);
    let Some(Record::Plan(plan)) = records.next() else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let mut progress = Progress::Planned;
    for record in records {
        progress = match record {
            Record::Plan(_) => progress,
            Record::Vacated => Progress::Vacated,
            Record::Committed => Progress::Committed,
            Record::Aborting if plan.chained => Progress::Vacated,
            Record::Aborting => Progress::Planned,
            Record::Unfilled => Progress::Unfilled,
            Record::Closed => Progress::Closed,
        };
    }
    Ok(Some((plan, progress)))
}

fn line(record: &impl Serialize) -> Vec<u8> {
    // The sum is put in when what it is of is there.
    let mut line = b"\n00000000 ".to_vec();
    let json = line.len();
    serde_json::to_writer(&mut line, record)
        .unwrap_or_else(|_| unreachable!("records have string keys only"));
    let sum = format!("{:08x}", crc32fast::hash(&line[json..]));
    line[1..=sum.len()].copy_from_slice(sum.as_bytes());
    line.push(b'\n');
    line
}

fn parse(line: &[u8]) -> Option<Record> {
    let (sum, json) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let whole = u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(json.as_bytes());
    if whole { serde_json::from_str(json).ok() } else { None }
}
