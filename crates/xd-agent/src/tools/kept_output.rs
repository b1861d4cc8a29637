//! The output of a command: its begin and its end, and how much lies between.

use std::collections::VecDeque;

/// Keeps the first and the last bytes of a stream of any length.
#[derive(Debug)]
pub(super) struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    each: usize,
    left_out: u64,
}

impl KeptOutput {
    /// Keeps `each` bytes of the begin and as many of the end.
    pub(super) fn new(each: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), each, left_out: 0 }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        let room = self.each - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = rest;
        if bytes.len() > self.each {
            let skipped = bytes.len() - self.each;
            self.left_out += (skipped + self.tail.len()) as u64;
            self.tail.clear();
            bytes = &bytes[skipped..];
        }
        let over = (self.tail.len() + bytes.len()).saturating_sub(self.each);
        self.tail.drain(..over);
        self.left_out += over as u64;
        self.tail.extend(bytes);
    }

    /// How many bytes are left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What is kept, with a line between that says how much is left out.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!(
            "… {} bytes left out here; pipe the command into head, tail or grep, or into a file …\n",
            self.left_out
        ));
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Invariant G8
    #[test]
    fn g8_begin_and_end_are_kept_and_the_middle_is_counted() {
        for piece in [1, 3, 7, 50, 100] {
            for length in [0_usize, 5, 10, 15, 20, 21, 40, 100] {
                let all: Vec<u8> = (0..length).map(|n| b'a' + (n % 26) as u8).collect();
                let mut kept = KeptOutput::new(10);
                all.chunks(piece).for_each(|piece| kept.push(piece));
                assert_eq!(
                    kept.left_out(),
                    length.saturating_sub(20) as u64,
                    "{length} by {piece}"
                );
                let text = kept.text();
                if length <= 20 {
                    assert_eq!(text.as_bytes(), all);
                } else {
                    assert!(text.as_bytes().starts_with(&all[..10]), "{text}");
                    assert!(text.as_bytes().ends_with(&all[length - 10..]), "{text}");
                    assert!(text.contains(&format!("{} bytes left out", length - 20)), "{text}");
                }
            }
        }
    }
}
