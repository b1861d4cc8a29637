//! What is worked on: published TypeScript and Rust, the same files for everybody.
//!
//! The lists here are the whole definition: npm packages by version, and crates in the version
//! that `Cargo.lock` has. A file with a syntax error is left out, because what a rewrite does to
//! it is a matter of taste.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::operations::OPERATIONS;
use super::process::Call;
use super::programs::{Programs, on_path};
use super::{rounds, same, told};

/// npm packages with the folders whose `.ts` files are taken; `""` is the whole package.
pub const PACKAGES: [(&str, &[&str]); 15] = [
    ("@aws-sdk/client-ec2@3.1169.0", &["dist-types"]),
    ("@deck.gl/core@9.4.0", &["src"]),
    ("@tanstack/query-core@5.108.4", &["src"]),
    ("@tanstack/router-core@1.171.39", &["src"]),
    ("@xterm/xterm@6.0.0", &["src"]),
    ("@types/node@26.6.7", &[""]),
    ("effect@4.1.0", &["src"]),
    ("ethers@6.17.0", &["src.ts"]),
    ("maplibre-gl@6.17.0", &["src"]),
    ("matrix-js-sdk@37.5.0", &["src"]),
    ("openai@6.49.0", &["src"]),
    ("rxjs@7.8.2", &["src"]),
    ("typescript@5.9.3", &["lib"]),
    (
        "viem@2.57.20",
        &[
            "account-abstraction",
            "actions",
            "chains",
            "clients",
            "op-stack",
            "tempo",
            "types",
            "utils",
            "zksync",
        ],
    ),
    ("zod@4.6.7", &["src"]),
];

/// Crates whose sources are taken, in every version that `Cargo.lock` has of them.
pub const CRATES: [&str; 12] = [
    "clap_builder",
    "futures-util",
    "insta",
    "minijinja",
    "proptest",
    "regex-automata",
    "regex-syntax",
    "rustix",
    "serde_json",
    "time",
    "tokio",
    "winnow",
];

/// Where the corpus lies.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// Its folder.
    pub folder: PathBuf,
    /// How much there is of it.
    pub size: Size,
}

/// How much there is of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// TypeScript files.
    pub typescript: usize,
    /// Their bytes.
    pub typescript_bytes: u64,
    /// Rust files.
    pub rust: usize,
    /// Their bytes.
    pub rust_bytes: u64,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        write!(
            f,
            "{} TypeScript files with {:.1} MB and {} Rust files with {:.1} MB",
            self.typescript,
            megabytes(self.typescript_bytes),
            self.rust,
            megabytes(self.rust_bytes),
        )
    }
}

impl Size {
    fn of(folder: &Path) -> Result<Self, String> {
        let mut size = Self::default();
        for (path, bytes) in same::files(folder)? {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("ts") => {
                    size.typescript += 1;
                    size.typescript_bytes += bytes;
                }
                Some("rs") => {
                    size.rust += 1;
                    size.rust_bytes += bytes;
                }
                Some(_) | None => {}
            }
        }
        Ok(size)
    }
}

impl Corpus {
    /// Puts the corpus together below `folder`, or takes the one that is there where it is of the
    /// same lists. The inner error says why it cannot be had here.
    ///
    /// # Errors
    /// The disk, or a list that no longer fits `Cargo.lock`.
    pub fn assemble(
        root: &Path,
        folder: &Path,
        programs: &Programs,
        say: &mut dyn FnMut(&str),
    ) -> Result<Result<Self, String>, String> {
        let corpus = folder.join("corpus");
        let crates = crates(root)?;
        let list = list(&crates);
        let list_file = folder.join("corpus.list");
        if fs::read_to_string(&list_file).is_ok_and(|present| present == list) {
            same::forget(&corpus)?;
            return Ok(Ok(Self { size: Size::of(&corpus)?, folder: corpus }));
        }
        say("putting the corpus together");
        same::remove(&corpus)?;
        let packages = folder.join("packages");
        for (package, parts) in PACKAGES {
            let unpacked = match unpacked(package, &packages) {
                Ok(unpacked) => unpacked,
                Err(reason) => return Ok(Err(reason)),
            };
            for part in parts {
                let target = corpus.join("typescript").join(file_name(package)).join(part);
                take(&unpacked.join(part), &target, "ts")?;
            }
        }
        for (name, source) in &crates {
            take(source, &corpus.join("rust").join(name), "rs")?;
        }
        let mut left_out = BTreeSet::new();
        for language in ["ts", "rust"] {
            left_out.extend(unparsable(programs, &corpus, language, folder)?);
        }
        for path in &left_out {
            remove(&corpus, path)?;
        }
        // The parser also mends some files without a node that says so; `xd` leaves these alone.
        for operation in OPERATIONS {
            for path in rounds::staged(&operation, programs, &corpus, folder)?.left_alone {
                remove(&corpus, &path)?;
                left_out.insert(path);
            }
        }
        let left_out = left_out.len();
        say(&format!("{left_out} files with syntax errors are left out"));
        fs::write(&list_file, list).map_err(|error| told(&list_file, &error))?;
        Ok(Ok(Self { size: Size::of(&corpus)?, folder: corpus }))
    }
}

/// The lists as a text that is the same only for the same corpus.
fn list(crates: &[(String, PathBuf)]) -> String {
    let packages = PACKAGES.iter().map(|(package, parts)| format!("{package} {parts:?}\n"));
    let operations = OPERATIONS.iter().map(|operation| format!("{}\n", operation.pattern));
    packages.chain(crates.iter().map(|(name, _)| format!("{name}\n"))).chain(operations).collect()
}

/// The name of a package's archive without its end: `@a/b@1` is `a-b-1`.
fn file_name(package: &str) -> String {
    package.trim_start_matches('@').replace(['/', '@'], "-")
}

/// The folder with what a package holds; fetched and unpacked where it is not there yet.
fn unpacked(package: &str, packages: &Path) -> Result<PathBuf, String> {
    let target = packages.join(file_name(package));
    if target.is_dir() {
        return Ok(target);
    }
    let missing = |why: &str| format!("the corpus needs the npm package {package}: {why}");
    fs::create_dir_all(packages).map_err(|error| told(packages, &error))?;
    let npm = on_path("npm").ok_or_else(|| missing("there is no npm"))?;
    let archive = packages.join(format!("{}.tgz", file_name(package)));
    if !archive.is_file() {
        run(Command::new(npm).args(["pack", "--silent", package]).current_dir(packages))
            .map_err(|error| missing(&error))?;
    }
    let partial = packages.join("partial");
    same::remove(&partial)?;
    fs::create_dir_all(&partial).map_err(|error| told(&partial, &error))?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&archive).arg("-C").arg(&partial).arg("--strip-components=1");
    run(&mut tar).map_err(|error| missing(&error))?;
    fs::rename(&partial, &target).map_err(|error| told(&target, &error))?;
    Ok(target)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

/// Copies the files below `source` whose names end in `.extension`, but for those of packages
/// inside the package.
fn take(source: &Path, target: &Path, extension: &str) -> Result<(), String> {
    for path in same::files(source)?.into_keys() {
        let inner = path.components().any(|part| part.as_os_str() == "node_modules");
        if inner || path.extension().is_none_or(|end| end != extension) {
            continue;
        }
        let copy = target.join(&path);
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent).map_err(|error| told(parent, &error))?;
        }
        fs::copy(source.join(&path), &copy).map_err(|error| told(&copy, &error))?;
    }
    Ok(())
}

/// `NAME-VERSION` and the sources of every crate of the list, in order.
fn crates(root: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    listed(&answer)
}

/// The crates of the list among the packages that Cargo describes.
fn listed(answer: &Value) -> Result<Vec<(String, PathBuf)>, String> {
    let mut found = Vec::new();
    for name in CRATES {
        let before = found.len();
        for package in answer["packages"].as_array().into_iter().flatten() {
            let (Some(version), Some(manifest)) =
                (package["version"].as_str(), package["manifest_path"].as_str())
            else {
                continue;
            };
            if package["name"] == name
                && let Some(folder) = Path::new(manifest).parent()
            {
                found.push((format!("{name}-{version}"), folder.to_owned()));
            }
        }
        if found.len() == before {
            return Err(format!(
                "Cargo.lock has no crate {name}; take another one into CRATES in \
                 xtask/src/compare/corpus.rs"
            ));
        }
    }
    found.sort();
    Ok(found)
}

fn remove(corpus: &Path, path: &Path) -> Result<(), String> {
    fs::remove_file(corpus.join(path)).map_err(|error| told(path, &error))
}

/// The files in which the parser finds an error.
fn unparsable(
    programs: &Programs,
    corpus: &Path,
    language: &str,
    folder: &Path,
) -> Result<BTreeSet<PathBuf>, String> {
    let output = folder.join("errors.json");
    let words = ["run", "--kind", "ERROR", "-l", language, "--json=stream", "."];
    Call::new(&programs.ast_grep, words, corpus).or_nothing_found().run_into(&output)?;
    let lines = BufReader::new(fs::File::open(&output).map_err(|error| told(&output, &error))?);
    let mut files = BTreeSet::new();
    for line in lines.lines() {
        let line = line.map_err(|error| told(&output, &error))?;
        let hit: Value = serde_json::from_str(&line)
            .map_err(|error| format!("ast-grep --json=stream: {error}"))?;
        files.extend(hit["file"].as_str().map(PathBuf::from));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_package_is_named_as_its_archive() {
        assert_eq!(file_name("@aws-sdk/client-ec2@3.1.0"), "aws-sdk-client-ec2-3.1.0");
        assert_eq!(file_name("rxjs@7.8.2"), "rxjs-7.8.2");
        for (package, parts) in PACKAGES {
            let version = package.rsplit_once('@').map(|(_, version)| version);
            let exact = version.is_some_and(|version| {
                version.split('.').count() == 3
                    && version.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
            });
            assert!(exact && !parts.is_empty(), "{package} has no exact version");
        }
    }

    #[test]
    fn every_crate_of_the_list_has_to_be_in_the_lock_file() {
        let package = |name: &str, version: &str| {
            let manifest = format!("/srv/{name}-{version}/Cargo.toml");
            json!({ "name": name, "version": version, "manifest_path": manifest })
        };
        let mut packages: Vec<Value> = CRATES.iter().map(|name| package(name, "1.0.0")).collect();
        packages.push(package("tokio", "2.0.0"));
        packages.push(package("not-in-the-list", "1.0.0"));
        let found = listed(&json!({ "packages": packages })).unwrap();
        assert_eq!(found.len(), CRATES.len() + 1);
        assert!(found.contains(&("tokio-2.0.0".to_owned(), "/srv/tokio-2.0.0".into())));
        packages.retain(|package| package["name"] != "winnow");
        assert!(listed(&json!({ "packages": packages })).unwrap_err().contains("winnow"));
    }

    #[test]
    fn the_list_changes_with_a_version() {
        let one = list(&[("tokio-1.0.0".to_owned(), PathBuf::new())]);
        assert_ne!(one, list(&[("tokio-1.0.1".to_owned(), PathBuf::new())]));
        assert!(one.starts_with(PACKAGES[0].0));
    }
}
