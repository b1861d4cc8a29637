//! Edits of edits: what two rounds of byte edits come to, as edits of the first contents.

use xd_changeset::ByteEdit;

/// One step over contents.
#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Keep(usize),
    Drop(usize),
    Put(&'a [u8]),
}

/// The edits that do to a file what `first` and then `second` do, where the ranges of `second` are
/// offsets into what `first` makes. Both are sorted and disjoint, and so is the answer.
///
/// The cost is linear in the number of edits and the bytes of their texts.
pub(crate) fn compose(first: &[ByteEdit], second: &[ByteEdit]) -> Vec<ByteEdit> {
    let (mut first, mut second) = (Steps::of(first), Steps::of(second));
    let mut out = Edits::default();
    loop {
        match (first.next, second.next) {
            (Some(Step::Drop(len)), _) => {
                out.drop(len);
                first.take_all();
            }
            (_, Some(Step::Put(text))) => {
                out.put(text);
                second.take_all();
            }
            (None, None) => return out.finish(),
            // Beyond its last edit a round keeps everything.
            (None, Some(Step::Keep(len))) => {
                out.keep(len);
                second.take_all();
            }
            (None, Some(Step::Drop(len))) => {
                out.drop(len);
                second.take_all();
            }
            (Some(Step::Keep(len)), None) => {
                out.keep(len);
                first.take_all();
            }
            (Some(Step::Put(text)), None) => {
                out.put(text);
                first.take_all();
            }
            (
                Some(one @ (Step::Keep(_) | Step::Put(_))),
                Some(other @ (Step::Keep(_) | Step::Drop(_))),
            ) => {
                let len = one.len().min(other.len());
                match (one, other) {
                    (Step::Keep(_), Step::Drop(_)) => out.drop(len),
                    (Step::Put(text), Step::Keep(_)) => out.put(&text[..len]),
                    // What was put and is dropped again leaves nothing.
                    (Step::Put(_), Step::Drop(_)) => {}
                    (_, _) => out.keep(len),
                }
                first.take(len);
                second.take(len);
            }
        }
    }
}

impl Step<'_> {
    fn len(self) -> usize {
        match self {
            Step::Keep(len) | Step::Drop(len) => len,
            Step::Put(text) => text.len(),
        }
    }

    /// What is left of it behind `len` bytes.
    fn rest(self, len: usize) -> Option<Self> {
        let rest = match self {
            Step::Keep(all) => Step::Keep(all - len),
            Step::Drop(all) => Step::Drop(all - len),
            Step::Put(text) => Step::Put(&text[len..]),
        };
        (rest.len() > 0).then_some(rest)
    }
}

/// A list of edits read as steps.
struct Steps<'a> {
    edits: std::slice::Iter<'a, ByteEdit>,
    at: usize,
    put: Option<&'a [u8]>,
    drop: Option<usize>,
    next: Option<Step<'a>>,
}

impl<'a> Steps<'a> {
    fn of(edits: &'a [ByteEdit]) -> Self {
        let mut steps = Self { edits: edits.iter(), at: 0, put: None, drop: None, next: None };
        steps.take_all();
        steps
    }

    /// Goes on to the next step.
    fn take_all(&mut self) {
        self.next = self.following();
    }

    /// Goes on by `len` bytes within the present step, or to the next one at its end.
    fn take(&mut self, len: usize) {
        self.next = match self.next.and_then(|step| step.rest(len)) {
            Some(rest) => Some(rest),
            None => self.following(),
        };
    }

    fn following(&mut self) -> Option<Step<'a>> {
        loop {
            if let Some(len) = self.drop.take().filter(|len| *len > 0) {
                return Some(Step::Drop(len));
            }
            if let Some(text) = self.put.take().filter(|text| !text.is_empty()) {
                return Some(Step::Put(text));
            }
            let edit = self.edits.next()?;
            let kept = edit.range.start - self.at;
            self.at = edit.range.end;
            self.drop = Some(edit.range.len());
            self.put = Some(&edit.text);
            if kept > 0 {
                return Some(Step::Keep(kept));
            }
        }
    }
}

/// Steps gathered into edits; what touches becomes one.
#[derive(Default)]
struct Edits {
    at: usize,
    open: Option<ByteEdit>,
    done: Vec<ByteEdit>,
}

impl Edits {
    fn keep(&mut self, len: usize) {
        self.done.extend(self.open.take());
        self.at += len;
    }

    fn drop(&mut self, len: usize) {
        self.at += len;
        let at = self.at;
        self.current(at - len).range.end = at;
    }

    fn put(&mut self, text: &[u8]) {
        let at = self.at;
        self.current(at).text.extend_from_slice(text);
    }

    fn current(&mut self, at: usize) -> &mut ByteEdit {
        self.open.get_or_insert_with(|| ByteEdit::new(at..at, ""))
    }

    fn finish(mut self) -> Vec<ByteEdit> {
        self.done.extend(self.open.take());
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xd_changeset::apply_edits;

    fn edits(len: usize, cuts: &[(usize, usize, Vec<u8>)]) -> Vec<ByteEdit> {
        let mut at = 0;
        let mut edits = Vec::new();
        for (skip, drop, text) in cuts {
            let start = at + skip;
            let end = start + drop;
            if end > len {
                break;
            }
            edits.push(ByteEdit::new(start..end, text.clone()));
            at = end + 1;
        }
        edits
    }

    fn cuts() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
        proptest::collection::vec(
            (0usize..8, 0usize..5, proptest::collection::vec(any::<u8>(), 0..6)),
            0..8,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        // Invariant T3
        #[test]
        fn invariant_t3_composed_edits_do_what_the_rounds_do(
            source in proptest::collection::vec(any::<u8>(), 0..60), one in cuts(), two in cuts(),
            three in cuts(),
        ) {
            let first = edits(source.len(), &one);
            let middle = apply_edits(&source, &first).unwrap();
            let second = edits(middle.len(), &two);
            let after = apply_edits(&middle, &second).unwrap();
            let both = compose(&first, &second);
            prop_assert_eq!(&apply_edits(&source, &both).unwrap(), &after);
            let third = edits(after.len(), &three);
            let all = compose(&both, &third);
            prop_assert_eq!(apply_edits(&source, &all).unwrap(), apply_edits(&after, &third).unwrap());
        }
    }
}
