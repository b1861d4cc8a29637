//! The write and read tools, the device registry, approval and confinement.
