//! Why devices were not mounted.

use xd_protocol::NameFault;

use crate::SchemaFault;

/// Why a tool was not mounted. Nothing is mounted in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// Its name cannot be a device's.
    #[error("cannot mount {name:?} as a device: {fault}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// Its name is reserved (`CONTRACT U5`).
    #[error("cannot mount {name:?} as a device: resolve, reject and propose are reserved")]
    Reserved {
        /// The name.
        name: String,
    },
    /// It is called `read` or `write`, which every session has and which nothing may shadow
    /// (`CONTRACT R1`).
    #[error(
        "{origin:?} cannot add {name:?}: `read` and `write` are tools of every session, and devices are reached through them"
    )]
    BuiltIn {
        /// The name.
        name: String,
        /// Where the refused one comes from.
        origin: String,
    },
    /// Another device or a tool has its name (`CONTRACT R1`).
    #[error(
        "cannot mount {name:?} from {second:?} as a device: {first:?} already mounted that name"
    )]
    Collision {
        /// The name.
        name: String,
        /// Where the mounted one comes from.
        first: String,
        /// Where the refused one comes from.
        second: String,
    },
    /// Two tools of a host have one name.
    #[error("cannot add a second tool called {name:?}")]
    TwoTools {
        /// The name.
        name: String,
    },
    /// Its arguments could not be checked (`CONTRACT R3`).
    #[error("cannot mount {name:?} from {origin:?} as a device: {fault}")]
    Schema {
        /// The name.
        name: String,
        /// Where the refused one comes from.
        origin: String,
        /// What is wrong with its schema.
        fault: SchemaFault,
    },
}

/// Why the devices of an origin were not refreshed. The old ones are still mounted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The origin gave no list.
    #[error(
        "the devices of {origin:?} could not be listed: {message:?}; what was mounted before stays"
    )]
    Unavailable {
        /// The origin.
        origin: String,
        /// What it said.
        message: String,
    },
    /// One of its devices cannot be mounted.
    #[error("{0}; what was mounted before stays")]
    Mount(MountError),
}
