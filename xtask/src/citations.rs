//! The numbers that names and comments cite: statements, cases, invariants.
//!
//! | where | form |
//! |---|---|
//! | name of a test | `u2_…`, `d3_d4_…`, `case_032_…`, `u7_case_032_…`, `invariant_r3_…`, `m1_…` |
//! | comment | the word CONTRACT and numbers, `Covers:` and numbers, `case 32`, `cases 32, 34`, `Invariant R3` |
//!
//! Numbers are separated by commas, blanks or "and"; `U1–U3` is a range.

use std::collections::BTreeSet;
use std::fmt;

/// The letters of the protocol's sections, in the order of the document.
pub const SECTION_LETTERS: &str = "USDQGWRPFAELV";

/// Letters that only invariants have: a name may begin with them as it may with
/// a statement. C is not among them, since C0 and C1 are control characters.
const INVARIANT_ONLY: &str = "MN";

/// Begins of test names that are types of the language and cite nothing.
const TYPE_NAMES: [&str; 6] = ["u16", "u32", "u64", "f16", "f32", "f64"];

/// A letter with a number: a statement (`U2`) or an invariant (`R3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The letter, upper case.
    pub letter: char,
    /// The number after it.
    pub number: u16,
}

impl Id {
    /// Reads `U2`; nothing for any other shape.
    pub fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        let letter = letters.next().filter(char::is_ascii_uppercase)?;
        Some(Self { letter, number: number(letters.as_str())? })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter, self.number)
    }
}

/// Everything that one place cites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Citations {
    /// Statements of the protocol.
    pub statements: BTreeSet<Id>,
    /// Numbers of fault cases.
    pub cases: BTreeSet<u16>,
    /// Invariants.
    pub invariants: BTreeSet<Id>,
}

impl Citations {
    /// Adds what another place cites.
    pub fn extend(&mut self, other: Self) {
        self.statements.extend(other.statements);
        self.cases.extend(other.cases);
        self.invariants.extend(other.invariants);
    }

    /// What the name of a test cites. Statements count at the beginning of the
    /// name only; cases of three digits and invariants anywhere in it.
    pub fn of_name(name: &str) -> Self {
        let parts: Vec<&str> = name.split('_').collect();
        let mut cited = Self::default();
        let mut leading = true;
        let mut at = 0;
        while at < parts.len() {
            let following = &parts[at + 1..];
            let taken = match parts[at] {
                "case" | "cases" => cited.take_cases(following, leading),
                "invariant" | "invariants" => cited.take_invariants(following),
                part if leading => cited.take_leading(part),
                _ => 0,
            };
            leading &= taken > 0;
            at += taken.max(1);
        }
        cited
    }

    /// What a comment cites, its slashes included or not.
    pub fn of_comment(text: &str) -> Self {
        let mut cited = Self::default();
        let mut expected = Expected::Nothing;
        let separators = |letter: char| ",;&+/():*`\"[]".contains(letter);
        for raw in text.split_whitespace() {
            for word in raw.split(separators).map(|word| word.trim_end_matches(['.', '!'])) {
                match word {
                    "" | "and" | "or" => {}
                    "CONTRACT" | "Covers" | "covers" => expected = Expected::Statement,
                    // "In any case, 5 files" cites nothing.
                    "case" | "cases" | "Case" | "Cases" if !raw.ends_with(',') => {
                        expected = Expected::Case;
                    }
                    "Invariant" | "Invariants" => expected = Expected::Invariant,
                    _ => {
                        if !cited.take_word(word, expected) {
                            expected = Expected::Nothing;
                        }
                    }
                }
            }
        }
        cited
    }

    /// Takes a leading `u2` as a statement, and `m2` as an invariant where no
    /// section and nothing else has the letter.
    fn take_leading(&mut self, part: &str) -> usize {
        match id_of_name(part).filter(|_| !TYPE_NAMES.contains(&part)) {
            Some(id) if SECTION_LETTERS.contains(id.letter) => self.statements.insert(id),
            Some(id) if INVARIANT_ONLY.contains(id.letter) => self.invariants.insert(id),
            _ => return 0,
        };
        1
    }

    /// Takes the numbers after `case`; answers how many parts were used, the
    /// word itself included. A short number counts only right at the beginning
    /// of a name, since `edge_case_2` cites nothing.
    fn take_cases(&mut self, following: &[&str], leading: bool) -> usize {
        let mut used = 0;
        for (place, part) in following.iter().enumerate() {
            match number(part) {
                Some(case) if part.len() == 3 || (leading && place == 0) => {
                    self.cases.insert(case);
                    used = place + 2;
                }
                _ => break,
            }
        }
        used
    }

    fn take_invariants(&mut self, following: &[&str]) -> usize {
        let mut used = 0;
        for (place, part) in following.iter().enumerate() {
            let Some(id) = id_of_name(part) else { break };
            self.invariants.insert(id);
            used = place + 2;
        }
        used
    }

    fn take_word(&mut self, word: &str, expected: Expected) -> bool {
        match expected {
            Expected::Nothing => false,
            Expected::Statement => ids(word).map(|ids| self.statements.extend(ids)).is_some(),
            Expected::Invariant => ids(word).map(|ids| self.invariants.extend(ids)).is_some(),
            Expected::Case => number(word).map(|case| self.cases.insert(case)).is_some(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Expected {
    Nothing,
    Statement,
    Case,
    Invariant,
}

/// `U2`, or `U1–U3` (with or without the second letter) as all of its members.
fn ids(word: &str) -> Option<Vec<Id>> {
    if let Some(id) = Id::parse(word) {
        return Some(vec![id]);
    }
    let (from, to) = ["–", "..", "-"].into_iter().find_map(|dash| word.split_once(dash))?;
    let from = Id::parse(from)?;
    let to = number(to.strip_prefix(from.letter).unwrap_or(to))?;
    (from.number < to && to - from.number < 100)
        .then(|| (from.number..=to).map(|number| Id { number, ..from }).collect())
}

fn id_of_name(part: &str) -> Option<Id> {
    let letter = part.chars().next().filter(char::is_ascii_lowercase)?;
    Some(Id { letter: letter.to_ascii_uppercase(), number: number(&part[1..])? })
}

/// One to three digits.
fn number(text: &str) -> Option<u16> {
    let digits = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cited: &Citations) -> String {
        let ids = |ids: &BTreeSet<Id>| ids.iter().map(Id::to_string).collect::<Vec<_>>().join(" ");
        let cases: Vec<_> = cited.cases.iter().map(u16::to_string).collect();
        format!("{}|{}|{}", ids(&cited.statements), cases.join(" "), ids(&cited.invariants))
    }

    #[test]
    fn names_cite_by_their_beginning() {
        for (name, expect) in [
            ("u2_root_is_no_device", "U2||"),
            ("d3_d4_nothing_pending", "D3 D4||"),
            ("g10", "G10||"),
            ("case_032_near_miss", "|32|"),
            ("case_5_stale", "|5|"),
            ("case_032_034_targets", "|32 34|"),
            ("cases_032_case_034_targets", "|32 34|"),
            ("u7_case_032_near_miss", "U7|32|"),
            ("case_032_u7_near_miss", "U7|32|"),
            ("invariant_r3_taken_once", "||R3"),
            ("d11_invariant_r3_r4_taken_once", "D11||R3 R4"),
            ("stale_target_case_005", "|5|"),
            ("m1_every_template_renders", "||M1"),
            ("c1_is_escaped", "||"),
            ("takes_u2", "||"),
            ("edge_case_2_of_3", "||"),
            ("u32_overflow", "||"),
            ("f64_rounds", "||"),
            ("case_sensitive", "||"),
            ("b2_b3", "||"),
        ] {
            assert_eq!(shown(&Citations::of_name(name)), expect, "{name}");
        }
    }

    #[test]
    fn comments_cite_after_their_key_words() {
        for (comment, expect) in [
            ("// CONTRACT U2, U3", "U2 U3||"),
            ("/// One sentence (`CONTRACT F2`).", "F2||"),
            ("// CONTRACT D11 and D12: at once", "D11 D12||"),
            ("// CONTRACT U1–U3, S2", "S2 U1 U2 U3||"),
            ("// CONTRACT F2, case 5", "F2|5|"),
            ("// case 32", "|32|"),
            ("// cases 32, 34 and 36.", "|32 34 36|"),
            ("// Covers: G5, G7, case 73, Invariant P1", "G5 G7|73|P1"),
            ("/// **Invariant R3:** once.", "||R3"),
            ("// U2 without the word", "||"),
            ("// in any case, 5 files", "||"),
            ("// CONTRACT says U2", "||"),
            ("// CONTRACT Z9", "Z9||"),
        ] {
            assert_eq!(shown(&Citations::of_comment(comment)), expect, "{comment}");
        }
    }
}
