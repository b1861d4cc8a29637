//! The name that was probably meant.

/// The candidate fewest edits away from `name`, if that is few for its length. The last part of a
/// name with dots counts as well: models leave out the server's name.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Of a name of one or two letters nothing is left after an edit: only its case may differ.
    let most = name.chars().count() / 3;
    candidates
        .map(|candidate| {
            let part = candidate.rsplit('.').next().filter(|part| part.len() < candidate.len());
            let by_part = part.map_or(usize::MAX, |part| edits(name, part).saturating_add(1));
            (edits(name, candidate).min(by_part), candidate)
        })
        .filter(|&(edits, _)| edits <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions, substitutions and swaps of neighbours lie between the two, letter
/// case aside.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && (x, y) == (b[j - 1], a[i - 1]) {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn r4_offers_the_nearest_or_nothing() {
        let names = || ["resolve", "browser", "grep"].into_iter();
        assert_eq!(nearest("Resolve", names()), Some("resolve"));
        assert_eq!(nearest("resovle", names()), Some("resolve"));
        assert_eq!(nearest("grp", names()), Some("grep"));
        assert_eq!(nearest("database", names()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
        // Two letters swapped are one slip, in a short name as well.
        assert_eq!(nearest("wriet", ["read", "write"].into_iter()), Some("write"));
        assert_eq!(nearest("dve", ["dev"].into_iter()), Some("dev"));
        assert_eq!(nearest("erad", ["read", "write"].into_iter()), Some("read"));
        assert_eq!(nearest("vde", ["dev"].into_iter()), None);
        assert_eq!(nearest("b", ["A", "a", "ab"].into_iter()), None);
        assert_eq!(nearest("b", ["A", "B"].into_iter()), Some("B"));
        assert_eq!(nearest("log", ["git.log", "git.show"].into_iter()), Some("git.log"));
    }
}
