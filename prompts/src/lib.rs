//! The prompt templates, each with a typed context.
