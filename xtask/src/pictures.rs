//! The pictures in the documents: made of real output, or checked against it.
//!
//! Each is an SVG that the binary makes of what it prints, so a picture cannot show what the program
//! does not do. A picture of something else is a row of [`PICTURES`] more.

use std::{path::Path, process::Command};

use crate::Finding;

/// Where they lie.
pub const FOLDER: &str = "docs/pictures";

/// Every picture: its file, and what `xd` is given to make it.
pub const PICTURES: &[(&str, &[&str])] = &[
    ("demo-dark.svg", &["demo", "--act", "1", "--svg", "--theme", "dark"]),
    ("demo-light.svg", &["demo", "--act", "1", "--svg", "--theme", "light"]),
    ("detour.svg", &["demo", "--act", "3", "--svg", "--theme", "dark"]),
];

/// The picture of the reviewer, of this project with these edits staged.
const REVIEWER: &str = "reviewer.svg";
const PROJECT: &[(&str, &str)] = &[
    (
        "src/orders.ts",
        "import { log } from './log';\n\nexport function place(order: Order) {\n  log('placed', \
         order.id);\n  queue.push(order);\n  return order.id;\n}\n\nexport function cancel(order: \
         Order) {\n  queue.remove(order);\n  log('cancelled', order.id);\n}\n",
    ),
    ("src/cart.ts", "import { log } from './log';\n\nlog('cart', items.length);\n"),
];
const EDIT: &[&str] =
    &["edit", "-p", "log($WHAT, $ID)", "-r", "log.info($WHAT, { id: $ID })", "src"];
const REVIEW: &[&str] = &["review", "--svg", "--theme", "dark"];

/// A picture as `root` makes it now: its path in the repository, and its text.
pub type Picture = (String, String);

/// Makes all of them.
///
/// # Errors
/// What went wrong, for a person: the build or a command failed, or made no picture.
pub fn make(root: &Path) -> Result<Vec<Picture>, String> {
    let mut pictures: Vec<Picture> = PICTURES
        .iter()
        .map(|(name, arguments)| Ok((format!("{FOLDER}/{name}"), one(root, root, arguments)?)))
        .collect::<Result<_, String>>()?;
    pictures.push((format!("{FOLDER}/{REVIEWER}"), reviewer(root)?));
    Ok(pictures)
}

/// The reviewer over a project of its own, which is gone afterwards.
fn reviewer(root: &Path) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("xtask-review-{}", std::process::id()));
    let made = || -> std::io::Result<()> {
        for (path, text) in PROJECT {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    };
    let picture = made()
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| run(root, &folder, EDIT))
        .and_then(|_| one(root, &folder, REVIEW));
    // A scratch folder that stays behind harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    picture
}

fn one(root: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let picture = run(root, folder, arguments)?;
    let whole = picture.starts_with("<svg ") && picture.ends_with("</svg>\n");
    if whole { Ok(picture) } else { Err(format!("xd {} prints no picture", arguments.join(" "))) }
}

/// What `xd` prints in a folder.
fn run(root: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let run = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--locked", "--package", "xd-cli", "--", "-C"])
        .arg(folder)
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo run: {error}"))?;
    if !run.status.success() {
        let words = arguments.join(" ");
        return Err(format!("xd {words}: {}", String::from_utf8_lossy(&run.stderr)));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// Writes all of them, and answers their paths.
///
/// # Errors
/// As [`make`], or a file cannot be written.
pub fn write(root: &Path) -> Result<Vec<String>, String> {
    let pictures = make(root)?;
    let told = |path: &str, error: std::io::Error| format!("cannot write {path}: {error}");
    std::fs::create_dir_all(root.join(FOLDER)).map_err(|error| told(FOLDER, error))?;
    for (path, text) in &pictures {
        std::fs::write(root.join(path), text).map_err(|error| told(path, error))?;
    }
    Ok(pictures.into_iter().map(|(path, _)| path).collect())
}

/// Finds nothing where each is there, is current, and nothing else lies among them.
#[must_use]
pub fn check(root: &Path) -> Vec<Finding> {
    match make(root) {
        Ok(pictures) => compare(root, &pictures),
        Err(error) => vec![Finding::new(FOLDER, error, MEND)],
    }
}

const MEND: &str = "cargo xtask pictures";

/// What of the files differs from `pictures`.
fn compare(root: &Path, pictures: &[Picture]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, wanted) in pictures {
        match std::fs::read_to_string(root.join(path)) {
            Ok(text) if text == *wanted => {}
            Ok(_) => findings.push(Finding::new(path, "it shows what is no longer so", MEND)),
            Err(error) => findings.push(Finding::new(path, error.to_string(), MEND)),
        }
    }
    let found = std::fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten();
    for entry in found {
        let path = format!("{FOLDER}/{}", entry.file_name().to_string_lossy());
        if pictures.iter().all(|(known, _)| *known != path) {
            let what = "it is made by nothing: add it to PICTURES or remove it";
            findings.push(Finding::new(&path, what, MEND));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_differs_or_is_left_over_is_found() {
        let root = std::env::temp_dir().join(format!("xtask-pictures-{}", std::process::id()));
        std::fs::create_dir_all(root.join(FOLDER)).unwrap();
        let picture = |name: &str| (format!("{FOLDER}/{name}"), "<svg />".to_owned());
        let pictures = [picture("a.svg"), picture("b.svg"), picture("c.svg")];
        std::fs::write(root.join(&pictures[0].0), "<svg />").unwrap();
        std::fs::write(root.join(&pictures[1].0), "<svg other/>").unwrap();
        std::fs::write(root.join(FOLDER).join("d.svg"), "<svg />").unwrap();
        let found = crate::finding::report(&compare(&root, &pictures));
        std::fs::remove_dir_all(&root).unwrap();
        for (name, wanted) in [("a.svg", false), ("b.svg", true), ("c.svg", true), ("d.svg", true)]
        {
            assert_eq!(found.contains(name), wanted, "{name}: {found}");
        }
    }
}
