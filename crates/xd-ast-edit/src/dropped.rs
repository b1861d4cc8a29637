//! Comments that a rewrite takes away: all are counted, the first are told (`CONTRACT A3`).

use std::ops::Range;

use crate::engine::Edit;
use crate::tree::{Tree, Walk, glimpse, line_of, walk};

/// At most this many dropped comments of one file are told one by one; all are counted.
const COMMENTS_TOLD: usize = 20;

/// A comment that a rewrite takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedComment {
    /// Its line in the source, from 1.
    pub line: usize,
    /// How it begins.
    pub text: String,
}

/// The comments that begin inside of edits.
pub(crate) fn comments_in(tree: &Tree, edits: &[Edit], is_comment: &[bool]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    walk(tree.cursor(), |node, _| {
        let next = edits.partition_point(|edit| edit.range.end <= node.start_byte());
        if edits.get(next).is_none_or(|edit| edit.range.start >= node.end_byte()) {
            return Walk::Over;
        }
        if is_comment.get(usize::from(node.kind_id())) == Some(&true) {
            comments.push(node.byte_range());
            return Walk::Over;
        }
        Walk::Into
    });
    comments
}

/// How many comments inside of edited bytes no capture carries over, and the first of them. `kept`
/// is what captures carry over.
pub(crate) fn dropped<'k>(
    kept: impl Iterator<Item = &'k Range<usize>>,
    edits: &[Edit],
    comments: &[Range<usize>],
    source: &str,
) -> (usize, Vec<DroppedComment>) {
    let (mut count, mut told) = (0, Vec::new());
    if comments.is_empty() {
        return (count, told);
    }
    let mut kept: Vec<&Range<usize>> = kept.collect();
    kept.sort_by_key(|range| range.start);
    // Captures nest only as a whole, so the furthest end before a place decides.
    let mut ends: Vec<usize> = Vec::with_capacity(kept.len());
    for range in &kept {
        ends.push(ends.last().copied().unwrap_or(0).max(range.end));
    }
    for edit in edits {
        let first = comments.partition_point(|comment| comment.start < edit.range.start);
        for comment in comments[first..].iter().take_while(|comment| comment.start < edit.range.end)
        {
            let before = kept.partition_point(|range| range.start <= comment.start);
            if before > 0 && ends[before - 1] >= comment.end {
                continue;
            }
            count += 1;
            if told.len() < COMMENTS_TOLD {
                told.push(DroppedComment {
                    line: line_of(source, comment.start),
                    text: glimpse(source, comment.start, 60),
                });
            }
        }
    }
    (count, told)
}
