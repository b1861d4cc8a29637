//! Where the time goes, from samples of `perf`.

use std::path::Path;
use std::process::Command;

use super::corpus::Corpus;
use super::operations::{self, ABSENT, OPERATIONS};
use super::process::Call;
use super::programs::{Programs, on_path, output};
use super::same;

/// What stands between the fields of a report; no name of a function holds one.
const SEPARATOR: &str = "\t";

/// How many symbols a profile names.
const NAMED: usize = 12;

/// One command and where its time went.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// What ran.
    pub what: String,
    /// Shares of the samples by what they are for, in percent, largest first.
    pub parts: Vec<(&'static str, f64)>,
    /// The largest symbols with their shares.
    pub symbols: Vec<(String, f64)>,
}

/// A line of the report: share in percent, object, symbol.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Percent of all samples.
    pub share: f64,
    /// The object that the symbol is in.
    pub object: String,
    /// The function.
    pub symbol: String,
}

/// What a function is for, by the words in its name; the first line that fits counts.
const PARTS: [(&str, &[&str]); 10] = [
    ("hashing", &["blake3"]),
    ("finding matches", &["ast_grep_core", "xd_ast_edit::engine", "xd_ast_edit::pattern"]),
    ("parsing", &["ts_", "tree_sitter", "stack_", "lexer", "_scan", "reusable_node"]),
    ("comparing lines for the preview", &["similar::"]),
    ("searching for the literal", &["memchr", "memmem"]),
    ("walking", &["ignore::", "globset::", "walkdir::"]),
    ("writing and reading state", &["serde", "xd_write::state", "base64", "crc32"]),
    ("change sets", &["xd_changeset"]),
    ("preview and rewriting", &["xd_ast_edit", "xd_render"]),
    ("moving and allocating memory", &["alloc", "free", "memmove", "memcpy", "memset", "memcmp"]),
];

const SYSTEM: &str = "the system: files, pages, threads";
const OTHER: &str = "other";

/// What a sample is for.
#[must_use]
pub fn part(sample: &Sample) -> &'static str {
    if sample.object.starts_with("[kernel") || sample.symbol.starts_with("[k]") {
        return SYSTEM;
    }
    let symbol = sample.symbol.trim_start_matches("[.]").trim();
    let fits = |words: &&[&str]| {
        words.iter().any(|word| match *word {
            "ts_" | "stack_" => symbol.starts_with(word),
            word => symbol.contains(word),
        })
    };
    PARTS.iter().find(|(_, words)| fits(words)).map_or(OTHER, |(name, _)| name)
}

/// Reads the report of `perf report` with `SEPARATOR` between the fields: share, object, symbol,
/// and perhaps more.
#[must_use]
pub fn samples(report: &str) -> Vec<Sample> {
    let lines = report.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| {
        let mut fields = line.split(SEPARATOR);
        let (share, object, symbol) = (fields.next()?, fields.next()?, fields.next()?);
        let share = share.trim().trim_end_matches('%').parse().ok()?;
        Some(Sample { share, object: object.trim().to_owned(), symbol: symbol.trim().to_owned() })
    });
    fields.collect()
}

impl Profile {
    /// Adds up the samples of a command.
    #[must_use]
    pub fn of(what: impl Into<String>, samples: &[Sample]) -> Self {
        let mut parts: Vec<(&'static str, f64)> = Vec::new();
        for sample in samples {
            let name = part(sample);
            match parts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, share)) => *share += sample.share,
                None => parts.push((name, sample.share)),
            }
        }
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut sorted: Vec<&Sample> =
            samples.iter().filter(|sample| part(sample) != SYSTEM).collect();
        sorted.sort_by(|one, other| other.share.total_cmp(&one.share));
        let symbols = sorted.into_iter().take(NAMED);
        let symbols = symbols.map(|sample| (short(&sample.symbol), sample.share)).collect();
        Self { what: what.into(), parts, symbols }
    }
}

/// A symbol without its kind, its hash, and what would break a table.
fn short(symbol: &str) -> String {
    let symbol = symbol.trim_start_matches("[.]").trim();
    let symbol = match symbol.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 => name,
        Some(_) | None => symbol,
    };
    let mut text = symbol.replace('|', "\\|");
    if let Some((end, _)) = text.char_indices().nth(90) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Profiles staging the common and the absent pattern, and applying the common one.
///
/// # Errors
/// Why there is no profile; the measurements stand without.
pub fn take(
    folder: &Path,
    corpus: &Corpus,
    programs: &Programs,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Profile>, String> {
    let perf = on_path("perf").ok_or("there is no `perf` here to take a profile with")?;
    say("profiling");
    let place = folder.join("ours");
    same::copy_anew(&corpus.folder, &place)?;
    let common = OPERATIONS[0];
    let calls = [
        (format!("preview: {}", ABSENT.name), ABSENT.stage(programs, &place)),
        (format!("preview: {}", common.name), common.stage(programs, &place)),
        (format!("apply after the preview: {}", common.name), operations::apply(programs, &place)),
    ];
    let mut profiles = Vec::new();
    for (what, call) in calls {
        profiles.push(Profile::of(what, &record(&perf, folder, &call)?));
    }
    Ok(profiles)
}

fn record(perf: &Path, folder: &Path, call: &Call) -> Result<Vec<Sample>, String> {
    let data = folder.join("perf.data");
    let status = Command::new(perf)
        .args(["record", "--quiet", "-e", "cpu-clock", "-F", "1999", "-o"])
        .arg(&data)
        .arg("--")
        .args(call.words())
        .current_dir(call.folder())
        .output()
        .map_err(|error| format!("perf: {error}"))?;
    if !data.is_file() {
        let said = String::from_utf8_lossy(&status.stderr).trim().to_owned();
        return Err(format!("`perf` takes no profile here: {said}"));
    }
    let file = data.display().to_string();
    let how = ["report", "--stdio", "--no-children", "--sort", "dso,symbol", "-t", SEPARATOR, "-i"];
    let report = output(perf, &[&how[..], &[file.as_str()]].concat());
    // A record that stays would be taken for the next one's.
    let _ = std::fs::remove_file(&data);
    let samples = samples(&report?);
    if samples.is_empty() { Err("`perf` took no samples".to_owned()) } else { Ok(samples) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# Overhead\tShared Object\tSymbol\tIPC\n\n\
         40.00%\txd\t[.] ts_parser_parse\t-\n\
         25.50%\t[kernel.kallsyms]\t[k] copy_page\t-\n\
         20.00%\txd\t[.] <ast_grep_core::matcher::Pattern as X>::m::h0123456789abcdef \t-\n\
         10.00%\txd\t[.] ts_lexer_advance\n\
         4.50%\tlibc.so.6\t[.] __memmove_avx\t-\n";

    #[test]
    fn samples_are_added_up_by_what_they_are_for() {
        let samples = samples(REPORT);
        assert_eq!(samples.len(), 5);
        let profile = Profile::of("a", &samples);
        let wanted = [
            ("parsing", 50.0),
            (SYSTEM, 25.5),
            ("finding matches", 20.0),
            ("moving and allocating memory", 4.5),
        ];
        assert_eq!(profile.parts, wanted);
        assert_eq!(profile.symbols.len(), 4);
        assert_eq!(profile.symbols[0], ("ts_parser_parse".to_owned(), 40.0));
        assert_eq!(profile.symbols[1].0, "<ast_grep_core::matcher::Pattern as X>::m");
    }

    #[test]
    fn what_is_not_known_is_other() {
        let sample = Sample { share: 1.0, object: "xd".to_owned(), symbol: "[.] main".to_owned() };
        assert_eq!(part(&sample), OTHER);
        assert!(samples("no fields\n# 1\ta\tb\nx\ta\tb\n").is_empty());
    }
}
