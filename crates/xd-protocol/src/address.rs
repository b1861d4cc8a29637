//! The one parser of addresses (**Invariant P1**).

use core::fmt;

use crate::{
    DeviceName, Excerpt, ForeignScheme, NameFault, NearMiss, PREFIX, StageNumber, near_miss,
};

/// What a path that a tool was given turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address<'a> {
    /// No address: a path in the file system, as it was given.
    Path(&'a str),
    /// A well-formed `xd://` address.
    Xd(Target<'a>),
    /// It begins with `xd://` but names nothing that could exist.
    Malformed(Malformed<'a>),
    /// A slip of an `xd://` address; it must touch nothing (`CONTRACT U7`).
    NearMiss(NearMiss<'a>),
    /// Another `scheme://`; a host that knows the scheme may take it, a file it is not.
    Foreign(ForeignScheme<'a>),
}

/// What a well-formed address points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// `xd://`: the list of devices.
    Root,
    /// `xd://<name>`: one device.
    Device(Device<'a>),
}

/// A device: one of the three reserved ones, or a mounted tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device<'a> {
    /// `xd://resolve` or `xd://resolve@<n>`: apply.
    Resolve(Selection),
    /// `xd://reject` or `xd://reject@<n>`: discard.
    Reject(Selection),
    /// `xd://propose`: submit the plan.
    Propose,
    /// `xd://<tool>`: a mounted tool.
    Tool(DeviceName<'a>),
}

impl<'a> Device<'a> {
    /// The device's name without a number: `resolve` for `xd://resolve@3`.
    #[must_use]
    pub const fn name(self) -> &'a str {
        match self {
            Self::Resolve(_) => "resolve",
            Self::Reject(_) => "reject",
            Self::Propose => "propose",
            Self::Tool(name) => name.as_str(),
        }
    }
}

/// Which staged action an address means (`CONTRACT U6`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selection {
    /// The most recently staged one that is still pending.
    Head,
    /// The one with this number.
    Numbered(StageNumber),
}

/// An address that begins rightly and then breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed<'a> {
    url: &'a str,
    fault: NameFault,
}

impl<'a> Malformed<'a> {
    /// The address, trimmed.
    #[must_use]
    pub const fn url(self) -> &'a str {
        self.url
    }

    /// What is wrong with its name.
    #[must_use]
    pub const fn fault(self) -> NameFault {
        self.fault
    }
}

impl fmt::Display for Malformed<'_> {
    /// The text for a write (`CONTRACT U8`); [`crate::notice::MalformedRead`] is the one for a read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid xd:// URL: {}. Use xd://<tool>.", Excerpt(self.url))
    }
}

impl core::error::Error for Malformed<'_> {}

/// Says what `input` is; the richer form of [`parse_xd_url`] (`CONTRACT U3`).
///
/// Surrounding white space is trimmed for addresses and slips of them; a path is given back
/// untouched. Linear in the input, allocates nothing.
#[must_use]
pub fn classify(input: &str) -> Address<'_> {
    let text = input.trim();
    if let Some(name) = strip_prefix(text) {
        return match target_of(name) {
            Ok(target) => Address::Xd(target),
            Err(fault) => Address::Malformed(Malformed { url: text, fault }),
        };
    }
    match near_miss::scheme_of(text) {
        near_miss::Scheme::None => Address::Path(input),
        near_miss::Scheme::Slip(slip) => Address::NearMiss(slip),
        near_miss::Scheme::Other(foreign) => Address::Foreign(foreign),
    }
}

/// The target that `input` addresses, or none: for a path, a slip and a malformed address alike
/// (`CONTRACT U3`).
#[must_use]
pub fn parse_xd_url(input: &str) -> Option<Target<'_>> {
    match classify(input) {
        Address::Xd(target) => Some(target),
        Address::Path(_) | Address::Malformed(_) | Address::NearMiss(_) | Address::Foreign(_) => {
            None
        }
    }
}

/// Whether some continuation of `partial` begins with the prefix, white space before it aside
/// (`CONTRACT U4`).
///
/// For streamed arguments: while this holds nothing can be drawn yet. Once false for a text it is
/// false for every longer one.
#[must_use]
pub fn could_become_xd_url(partial: &str) -> bool {
    let text = partial.trim_start().as_bytes();
    let shared = text.len().min(PREFIX.len());
    text[..shared].eq_ignore_ascii_case(&PREFIX.as_bytes()[..shared])
}

fn strip_prefix(text: &str) -> Option<&str> {
    let head = text.get(..PREFIX.len())?;
    head.eq_ignore_ascii_case(PREFIX).then(|| &text[PREFIX.len()..])
}

/// The target of the address whose text behind the prefix is `name`.
pub(crate) fn target_of(name: &str) -> Result<Target<'_>, NameFault> {
    if name.is_empty() {
        return Ok(Target::Root);
    }
    let device = match name.split_once('@') {
        Some(("resolve", number)) => Device::Resolve(numbered(number)?),
        Some(("reject", number)) => Device::Reject(numbered(number)?),
        Some(_) | None => match name {
            "resolve" => Device::Resolve(Selection::Head),
            "reject" => Device::Reject(Selection::Head),
            "propose" => Device::Propose,
            _ => Device::Tool(DeviceName::new(name)?),
        },
    };
    Ok(Target::Device(device))
}

fn numbered(text: &str) -> Result<Selection, NameFault> {
    StageNumber::parse(text).map(Selection::Numbered).ok_or(NameFault::NotANumber)
}
