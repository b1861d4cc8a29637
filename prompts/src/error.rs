//! What can go wrong when templates are loaded and when one is rendered.

use std::path::PathBuf;

use crate::PromptName;

/// Why a set of overrides was refused. Nothing of a refused set is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// An override for a template that does not exist.
    #[error("{origin}: there is no prompt called `{name}`; the prompts are {}", known_names())]
    UnknownName {
        /// The file, or the name again where no file is involved.
        origin: String,
        /// The name that nothing answers to.
        name: String,
    },
    /// A file whose name does not end in `.md.j2` or `.md`.
    #[error(
        "{file}: a prompt's file is called `<prompt>.md.j2` or `<prompt>.md`; the prompts are {}",
        known_names()
    )]
    UnknownFile {
        /// The file.
        file: String,
    },
    /// Two overrides for one template.
    #[error("{second}: the prompt `{name}` is already replaced by {first}; keep one of them")]
    Duplicate {
        /// The template.
        name: PromptName,
        /// Where the first override comes from.
        first: String,
        /// Where the second override comes from.
        second: String,
    },
    /// An override that does not parse, or does not render with a sample context.
    #[error("{origin}:{line}: {message}")]
    Template {
        /// The file, or the template's name where no file is involved.
        origin: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, naming the variable where one is unknown.
        message: String,
        /// The template that was to be replaced.
        name: PromptName,
    },
    /// The folder or a file in it cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// Why a prompt did not render.
///
/// Built-in templates and accepted overrides have rendered with every sample already, so this is
/// seen only where an override asks for more than the samples could show.
#[derive(Debug, thiserror::Error)]
#[error("prompt `{name}`, line {line}: {message}")]
#[non_exhaustive]
pub struct RenderError {
    /// The template.
    pub name: PromptName,
    /// The line in it, counted from 1.
    pub line: usize,
    /// What is wrong, naming the variable where one is unknown.
    pub message: String,
}

impl RenderError {
    /// The facts of an engine error. An error inside an included template names that template.
    pub(crate) fn new(name: PromptName, error: &minijinja::Error) -> Self {
        let mut message = match error.detail() {
            Some(detail) => format!("{}: {detail}", error.kind()),
            None => error.kind().to_string(),
        };
        let inside = error.name().filter(|inside| *inside != name.as_str());
        if let Some(inside) = inside {
            message.push_str(&format!(" (in `{inside}`)"));
        }
        Self { name, line: error.line().unwrap_or(1), message }
    }
}

/// The names of all templates, for a sentence.
fn known_names() -> String {
    PromptName::ALL.map(|name| format!("`{name}`")).join(", ")
}
