//! The predicate that a soft requirement is satisfied by.

use crate::{Device, Selection, Target, WRITE_TOOL, parse_xd_url};

/// What a confirm decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// `xd://resolve`: carry the staged action out.
    Apply,
    /// `xd://reject`: drop it.
    Discard,
}

impl Verdict {
    /// The word in details and records: `apply` or `discard`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Discard => "discard",
        }
    }

    /// The device that decides so: `resolve` or `reject`.
    #[must_use]
    pub const fn device(self) -> &'static str {
        match self {
            Self::Apply => "resolve",
            Self::Discard => "reject",
        }
    }
}

/// A decision on a staged action, as an address expresses it. The address alone decides; no word
/// of the reason does (`CONTRACT D1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Confirm {
    /// Apply or discard.
    pub verdict: Verdict,
    /// Which staged action.
    pub selection: Selection,
}

impl Confirm {
    /// The confirm that `device` stands for, if it is `resolve` or `reject`.
    #[must_use]
    pub const fn of(device: Device<'_>) -> Option<Self> {
        match device {
            Device::Resolve(selection) => Some(Self { verdict: Verdict::Apply, selection }),
            Device::Reject(selection) => Some(Self { verdict: Verdict::Discard, selection }),
            Device::Propose | Device::Tool(_) => None,
        }
    }
}

/// The confirm that a call of `tool` on `path` makes: the tool is `write` and the path parses to
/// `resolve` or `reject`, numbered ones included (`CONTRACT G2`). Allocates nothing.
#[must_use]
pub fn confirm_of(tool: &str, path: &str) -> Option<Confirm> {
    if tool != WRITE_TOOL {
        return None;
    }
    match parse_xd_url(path)? {
        Target::Root => None,
        Target::Device(device) => Confirm::of(device),
    }
}
