//! Structural rewrites that are staged, not written.
