//! The `xd` protocol's own words: addresses, device names, reasons, notices.
//!
//! *Layer:* the lowest. *Uses:* `core`, nothing else; no dependency, no allocator, no standard
//! library. *Never touches:* files, the environment, a clock, a runtime. Every function here is
//! pure and allocates nothing; texts are [`core::fmt::Display`] values that write themselves.
//!
//! An agent author who only wants to recognise and answer the addresses needs this crate alone.
//!
//! # The rules
//! - **Invariant P1:** one parser, [`classify`], says what a path is. The gate, the dispatcher,
//!   the approval tier and the renderer all ask it, so they cannot disagree (`CONTRACT U9`).
//! - **Invariant P2:** an address that is broken is never taken for a file path, and neither is
//!   a near miss of one; only `./` makes such a text a path (`CONTRACT U7`).
//! - **Invariant P3:** a device name holds no separator, no white space, no control and no
//!   invisible character, and at most [`MAX_NAME_BYTES`] bytes (`CONTRACT U2`).
//! - **Invariant P4:** a reason is trimmed, never blank and at most [`MAX_REASON_CHARS`]
//!   characters (`CONTRACT D2`).
//!
//! # Example
//! ```
//! use xd_protocol::{Address, Device, Selection, Target, classify, parse_xd_url};
//!
//! // The scheme is matched in any case, the name is not.
//! let target = parse_xd_url("XD://resolve").unwrap();
//! assert_eq!(target, Target::Device(Device::Resolve(Selection::Head)));
//!
//! // A slip is neither an address nor a file.
//! let Address::NearMiss(slip) = classify("xd:/resolve") else { panic!() };
//! assert_eq!(
//!     slip.to_string(),
//!     "Unknown URI-like write target 'xd:/resolve'. Did you mean 'xd://resolve'? \
//!      Prefix the path with './' to write it as a filesystem path."
//! );
//!
//! // A path is a path.
//! assert_eq!(classify("./xd/resolve"), Address::Path("./xd/resolve"));
//! ```
//!
//! # Where to read on
//! [`classify`] and [`Address`] for addresses, [`DeviceName`] for names, [`Reason`] for the text
//! of a decision, [`confirm_of`] for the predicate that a soft requirement is satisfied by,
//! [`notice`] for the texts that a model reads, [`split_selector`] for `file.rs:3-9`,
//! [`Visible`] for showing foreign text safely.

#![no_std]

mod address;
mod confirm;
mod name;
mod near_miss;
pub mod notice;
mod number;
mod plan_slug;
mod reason;
mod selector;
mod visible;

pub use address::{
    Address, Device, Malformed, Selection, Target, classify, could_become_xd_url, parse_xd_url,
};
pub use confirm::{Confirm, Verdict, confirm_of};
pub use name::{DeviceName, MAX_NAME_BYTES, NameFault, RESERVED, is_reserved};
pub use near_miss::{ForeignScheme, NearMiss};
pub use number::StageNumber;
pub use plan_slug::{MAX_SLUG_CHARS, PlanDraft, PlanSlug, SlugFault};
pub use reason::{MAX_REASON_CHARS, Reason, ReasonFault};
pub use selector::{LineRange, LineRanges, Selector, is_selector_list, split_selector};
pub use visible::{Excerpt, MAX_EXCERPT_CHARS, Visible, is_invisible};

/// The scheme of every address.
pub const SCHEME: &str = "xd";
/// What every address begins with (`CONTRACT U1`).
pub const PREFIX: &str = "xd://";
/// The tool that finalizes a staged action (`CONTRACT G2`).
pub const WRITE_TOOL: &str = "write";
/// The tool that looks at one.
pub const READ_TOOL: &str = "read";
