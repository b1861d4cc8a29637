//! Tool-choice queue, directives and the soft-requirement gate.
