//! Which stretch of a file is most like a text, found in time linear in the file.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::difference::bare;

/// A line that stands more often than this in the file says nothing about the place.
const COMMON: usize = 64;
/// A line of the text that stands in it more often than this neither.
const REPEATED: usize = 4;
/// Lines with fewer characters than this (a brace, a bracket) vote only where nothing else does.
const TELLING: usize = 4;
/// How many lines around the place are compared as well, for texts that leave lines out.
const SLACK: usize = 12;
/// The part of a text's runs of three characters that a stretch must share to be like it.
const LIKE: f64 = 0.5;

/// A stretch of a file's lines to compare a text with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The lines, from 0.
    pub(crate) search: Range<usize>,
    /// Whether the text's lines are those of the stretch one by one.
    pub(crate) aligned: bool,
}

/// The stretch of `file` that is most like `text`, if any is like it at all.
pub(crate) fn closest_window(file: &[&[u8]], text: &[&[u8]]) -> Option<Window> {
    if file.is_empty() || text.is_empty() {
        return None;
    }
    by_lines(file, text, TELLING)
        .or_else(|| by_runs(file, text))
        .or_else(|| by_lines(file, text, 1))
}

/// By the rare lines that both have: each votes for the offset between its two places.
fn by_lines(file: &[&[u8]], text: &[&[u8]], telling: usize) -> Option<Window> {
    let mut anchors: HashMap<u64, Anchor> = HashMap::new();
    for (at, line) in text.iter().enumerate() {
        let (hash, len) = hash(line);
        if len >= telling {
            let anchor = anchors.entry(hash).or_insert_with(|| Anchor { len, ..Anchor::default() });
            anchor.text.push(at);
        }
    }
    anchors.retain(|_, anchor| anchor.text.len() <= REPEATED);
    if anchors.is_empty() {
        return None;
    }
    for (at, line) in file.iter().enumerate() {
        if let Some(anchor) = anchors.get_mut(&hash(line).0) {
            anchor.count += 1;
            if anchor.count <= COMMON {
                anchor.file.push(at);
            }
        }
    }
    let mut votes: BTreeMap<isize, usize> = BTreeMap::new();
    for anchor in anchors.values().filter(|anchor| (1..=COMMON).contains(&anchor.count)) {
        let weight = (1_000 * anchor.len.min(64)) / anchor.count;
        for place in &anchor.file {
            for at in &anchor.text {
                *votes.entry(place.cast_signed() - at.cast_signed()).or_default() += weight;
            }
        }
    }
    // The first of the best, so that the answer is the same every time.
    let most = votes.values().max()?;
    let (offset, _) = votes.iter().find(|(_, weight)| *weight == most)?;
    let slack = SLACK.min(text.len());
    let at = |line: isize| usize::try_from(line).unwrap_or(0).min(file.len());
    let start = at(offset - slack.cast_signed());
    let end = at(offset + (text.len() + slack).cast_signed());
    Some(Window { search: start..end, aligned: false })
}

#[derive(Default)]
struct Anchor {
    len: usize,
    text: Vec<usize>,
    count: usize,
    file: Vec<usize>,
}

/// A hash of the bare form of a line, and its length in characters or bytes.
fn hash(line: &[u8]) -> (u64, usize) {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut len = 0;
    each_bare(line, |c| {
        state = (state ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3);
        len += 1;
    });
    (state, len)
}

/// The characters of the bare form of a line.
fn each_bare(line: &[u8], mut each: impl FnMut(u32)) {
    if line.is_ascii() {
        for byte in line.iter().filter(|byte| !byte.is_ascii_whitespace()) {
            let byte = if *byte == b'`' { b'\'' } else { byte.to_ascii_lowercase() };
            each(u32::from(byte));
        }
    } else {
        bare(&String::from_utf8_lossy(line), |c, _| each(u32::from(c)));
    }
}

/// By the runs of three characters that both have, over stretches as long as the text.
fn by_runs(file: &[&[u8]], text: &[&[u8]]) -> Option<Window> {
    let mut wanted = vec![false; 1 << 16];
    let mut of_text = 0;
    for line in text {
        of_text += runs(line, |run| wanted[run] = true);
    }
    if of_text == 0 {
        return None;
    }
    let per_line: Vec<(usize, usize)> = file
        .iter()
        .map(|line| {
            let mut shared = 0;
            let all = runs(line, |run| shared += usize::from(wanted[run]));
            (shared, all)
        })
        .collect();
    let len = text.len().min(file.len());
    let (mut shared, mut all) = (0, 0);
    let mut best: Option<(f64, usize)> = None;
    for end in 0..file.len() {
        shared += per_line[end].0;
        all += per_line[end].1;
        if end >= len {
            shared -= per_line[end - len].0;
            all -= per_line[end - len].1;
        }
        if end + 1 < len {
            continue;
        }
        let score = score(shared, all, of_text);
        if score >= LIKE && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, end + 1 - len));
        }
    }
    best.map(|(_, start)| Window { search: start..start + len, aligned: true })
}

/// How like a stretch is: mostly how much of the text it has, and a little how much else.
#[expect(clippy::cast_precision_loss, reason = "numbers of characters in files of megabytes")]
fn score(shared: usize, all: usize, of_text: usize) -> f64 {
    let (shared, all, of_text) = (shared.min(of_text) as f64, all as f64, of_text as f64);
    0.8 * shared / of_text + 0.2 * (2.0 * shared / (all + of_text))
}

/// Calls `each` with every run of three characters of the bare line, folded into 16 bits; answers
/// how many there are.
fn runs(line: &[u8], mut each: impl FnMut(usize)) -> usize {
    let (mut first, mut second, mut seen) = (0_u32, 0_u32, 0_usize);
    each_bare(line, |third| {
        seen += 1;
        if seen > 2 {
            let run = first.wrapping_mul(0x9e37).wrapping_add(second).wrapping_mul(0x85eb) ^ third;
            each(usize::from(u16::try_from((run ^ (run >> 16)) & 0xffff).unwrap_or(0)));
        }
        first = second;
        second = third;
    });
    seen.saturating_sub(2)
}
