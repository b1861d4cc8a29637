//! A long text in pages of whole lines.

use std::fmt::Write as _;

use xd_protocol::{LineRange, Selector};

/// How many lines a page has at the most.
const PAGE_LINES: usize = 2_000;
/// How many bytes a page has at the most.
const PAGE_BYTES: usize = 64 * 1024;

/// How the lines of a page are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// With their numbers.
    Numbered,
    /// As they are.
    Plain,
}

/// The part of `text` that `selector` selects, as one page; a cut is stated with the address that
/// reads on. `address` is what was read, without a selector.
pub(crate) fn page(
    text: &str,
    address: &str,
    selector: Option<Selector<'_>>,
    lines: Lines,
) -> Result<String, String> {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let whole = [LineRange { first: 1, last: None }];
    let (ranges, lines): (Vec<LineRange>, Lines) = match selector {
        None | Some(Selector::Empty) => (whole.to_vec(), lines),
        Some(Selector::Raw) => (whole.to_vec(), Lines::Plain),
        Some(Selector::Lines(ranges)) => (ranges.iter().collect(), lines),
    };
    let mut out = String::new();
    let mut shown = 0;
    for range in ranges {
        let first = range.first as usize;
        if first > all.len().max(1) {
            return Err(format!("{address} has {} lines; line {first} does not exist", all.len()));
        }
        let last = range.last.map_or(all.len(), |last| last as usize).min(all.len());
        for number in first..=last {
            let line = all[number - 1];
            if shown == PAGE_LINES || (shown > 0 && out.len() + line.len() > PAGE_BYTES) {
                let total = all.len();
                let _ = write!(
                    out,
                    "[cut before line {number} of {total}; read {address}:{number}- for the rest]"
                );
                return Ok(out);
            }
            match lines {
                Lines::Numbered => {
                    let _ = write!(out, "{number:>6}\t{line}");
                }
                Lines::Plain => out.push_str(line),
            }
            shown += 1;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xd_protocol::split_selector;

    fn read(text: &str, path: &str) -> Result<String, String> {
        let (base, selector) = split_selector(path).unwrap();
        page(text, base, Some(selector), Lines::Numbered)
    }

    #[test]
    fn w5_pages_state_their_cut() {
        let text = "x\n".repeat(2_500);
        let first = page(&text, "xd://resolve@1", None, Lines::Plain).unwrap();
        assert!(
            first.ends_with(
                "[cut before line 2001 of 2500; read xd://resolve@1:2001- for the rest]"
            )
        );
        assert_eq!(read(&text, "a:2001-").unwrap().lines().count(), 500);
    }

    #[test]
    fn ranges_and_raw() {
        assert_eq!(read("a\nb\nc\n", "f:2").unwrap(), "     2\tb\n");
        assert_eq!(read("a\nb\nc", "f:1,3-").unwrap(), "     1\ta\n     3\tc");
        assert_eq!(read("a\nb\n", "f:raw").unwrap(), "a\nb\n");
        assert_eq!(read("a\n", "f:5").unwrap_err(), "f has 1 lines; line 5 does not exist");
        assert_eq!(read("", "f:1").unwrap(), "");
    }

    #[test]
    fn one_long_line_is_shown_whole() {
        let text = "y".repeat(PAGE_BYTES + 1);
        assert_eq!(page(&text, "f", None, Lines::Plain).unwrap(), text);
    }
}
