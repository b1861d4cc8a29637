//! Call previews and result blocks as styled lines.
