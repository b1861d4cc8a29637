//! Text measured in terminal cells, by grapheme cluster.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a terminal measures what it draws (`CONTRACT V3`).
///
/// All measures expect text without control characters; [`clean_line`](crate::clean_line) gives
/// such text, and every [`Span`](crate::Span) holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Cells {
    /// Whether characters of ambiguous width (Greek, box drawing, `…`) take two cells, as they do
    /// in terminals set up for East Asian text.
    pub ambiguous_wide: bool,
    /// Whether the terminal draws the parts of a joined emoji one by one instead of as one glyph.
    pub split_emoji: bool,
}

impl Cells {
    /// The cells that `text` takes.
    #[must_use]
    pub fn width(&self, text: &str) -> usize {
        if is_plain(text) {
            return text.len();
        }
        text.graphemes(true).map(|cluster| self.cluster(cluster)).sum()
    }

    /// The sign that something was cut: one cell wide in every terminal.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        if self.ambiguous_wide { "~" } else { "…" }
    }

    /// `text`, or as much of its start as fits in `width` cells with an ellipsis behind it.
    #[must_use]
    pub fn cut<'t>(&self, text: &'t str, width: usize) -> Cow<'t, str> {
        match self.cut_at(text, width) {
            None => Cow::Borrowed(text),
            Some(_) if width == 0 => Cow::Borrowed(""),
            Some(end) => Cow::Owned(format!("{}{}", &text[..end], self.ellipsis())),
        }
    }

    /// `text`, or as much of its end as fits in `width` cells with an ellipsis in front. For paths,
    /// whose end tells more.
    #[must_use]
    pub fn cut_start<'t>(&self, text: &'t str, width: usize) -> Cow<'t, str> {
        let (mut used, mut start) = (0, text.len());
        for (offset, cluster) in text.grapheme_indices(true).rev() {
            let next = used + self.cluster(cluster);
            if next > width {
                let sign = if width == 0 { "" } else { self.ellipsis() };
                return Cow::Owned(format!("{sign}{}", &text[start..]));
            }
            used = next;
            if used < width {
                start = offset;
            }
        }
        Cow::Borrowed(text)
    }

    /// Where to cut `text` so that the start and an ellipsis fit in `width` cells; none where the
    /// whole fits. Looks no further than the cut.
    pub(crate) fn cut_at(&self, text: &str, width: usize) -> Option<usize> {
        let (mut used, mut end) = (0, 0);
        for (offset, cluster) in text.grapheme_indices(true) {
            let next = used + self.cluster(cluster);
            if next > width {
                return Some(end);
            }
            used = next;
            if used < width {
                end = offset + cluster.len();
            }
        }
        None
    }

    /// The ranges of `text` that make up its lines at `width` cells. A cluster that is wider than
    /// a whole line gives an empty range, for which the caller draws a stand-in.
    pub(crate) fn wrap(&self, text: &str, width: usize, at: Break) -> Vec<Range<usize>> {
        let width = width.max(1);
        if is_plain(text) && (text.len() <= width || at == Break::Anywhere) {
            let starts = (0..text.len().max(1)).step_by(width);
            return starts.map(|start| start..text.len().min(start + width)).collect();
        }
        let mut clusters = Vec::new();
        let mut total = 0;
        for (offset, cluster) in text.grapheme_indices(true) {
            clusters.push((offset, total, cluster == " "));
            total += self.cluster(cluster);
        }
        let count = clusters.len();
        let offset_of = |i: usize| clusters.get(i).map_or(text.len(), |c| c.0);
        let before = |i: usize| clusters.get(i).map_or(total, |c| c.1);
        let mut ranges = Vec::new();
        let (mut start, mut space, mut i) = (0, None, 0);
        while i < count {
            if before(i + 1) - before(start) <= width {
                if clusters[i].2 {
                    space = Some(i);
                }
                i += 1;
                continue;
            }
            let words = at == Break::Words;
            let blank = |upto: usize| clusters[start..upto].iter().all(|c| c.2);
            if words && clusters[i].2 && !blank(i) {
                ranges.push(trimmed(text, offset_of(start)..offset_of(i)));
                start = i + clusters[i..].iter().take_while(|c| c.2).count();
                i = start;
            } else if let Some(gap) = space.filter(|gap| words && !blank(*gap)) {
                ranges.push(trimmed(text, offset_of(start)..offset_of(gap)));
                start = gap + 1;
            } else if i == start {
                ranges.push(offset_of(i)..offset_of(i));
                i += 1;
                start = i;
            } else {
                ranges.push(offset_of(start)..offset_of(i));
                start = i;
            }
            space = None;
        }
        if start < count || ranges.is_empty() {
            ranges.push(offset_of(start)..text.len());
        }
        ranges
    }

    fn cluster(&self, cluster: &str) -> usize {
        if self.split_emoji {
            let of = |c: char| match self.ambiguous_wide {
                true => c.width_cjk(),
                false => c.width(),
            };
            return cluster.chars().filter_map(of).sum();
        }
        if self.ambiguous_wide { cluster.width_cjk() } else { cluster.width() }
    }
}

/// Where a line may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// Between words, whose blanks at the break are dropped; inside a word only if it is longer
    /// than a line. For prose.
    Words,
    /// Anywhere between grapheme clusters, dropping nothing. For code.
    Anywhere,
}

/// Whether every byte of `text` is a cell, as in most of code.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text[range.clone()].trim_end_matches(' ').len();
    range.start..range.start + kept
}
