//! `xd agent` and `xd record`: a model at work in the workspace, with a person beside it.
//!
//! The flow: [`arguments`] and [`config`] say what is wanted, [`model`] makes the model, [`seat`]
//! puts session, tools and history together, [`servers`] mounts what other servers have, [`run`] drives one prompt and hands everything that
//! happens to a front, which [`show`] draws; [`person`] asks, [`dialogue`] holds the conversation.

pub(crate) mod arguments;
pub(crate) mod config;
pub(crate) mod desk;
pub(crate) mod dialogue;
pub(crate) mod front;
pub(crate) mod model;
pub(crate) mod person;
pub(crate) mod run;
pub(crate) mod seat;
pub(crate) mod servers;
pub(crate) mod show;
pub(crate) mod spinner;
pub(crate) mod told;
