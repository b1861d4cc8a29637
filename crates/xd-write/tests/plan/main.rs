//! P1–P4, W7, U7: plan mode through a host, on real files.

mod drafts;
mod policy;
mod proposals;
mod refusals;
mod scene;
