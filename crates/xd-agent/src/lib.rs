//! The agent loop over a model trait, events out.
