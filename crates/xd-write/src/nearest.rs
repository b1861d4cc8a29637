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

/// The Levenshtein distance, letter case aside.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = substituted.min(corner + 1).min(row[j] + 1);
        }
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
        assert_eq!(nearest("b", ["A", "a", "ab"].into_iter()), None);
        assert_eq!(nearest("b", ["A", "B"].into_iter()), Some("B"));
        assert_eq!(nearest("log", ["git.log", "git.show"].into_iter()), Some("git.log"));
    }
}
