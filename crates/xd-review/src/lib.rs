//! Placeholder while dependencies are fetched.
