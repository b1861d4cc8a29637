//! The set of templates in use: built-in ones, some of them replaced.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use crate::error::{LoadError, RenderError};
use crate::inline::inline;
use crate::{PromptContext, PromptName, sample};

/// The prefix under which an override can include the template that it replaces.
const BUILTIN_PREFIX: &str = "builtin/";

/// A complete set of templates, ready to render. Cheap to clone, free of I/O once built.
///
/// **Invariant M1:** every template in the set has rendered with every sample of its kind.
///
/// **Invariant M2:** rendering is a function of the set and the context alone: the same bytes every
/// time, so that a prompt never breaks a provider's cache of the messages before it.
#[derive(Debug, Clone)]
pub struct Prompts {
    /// None for the built-in ones, which are compiled when the first of them is rendered: most
    /// commands begin a session and say nothing of it to a model.
    own: Option<Arc<Environment<'static>>>,
}

impl Prompts {
    /// The built-in templates.
    #[must_use]
    pub fn builtin() -> Self {
        Self { own: None }
    }

    fn engine(&self) -> &Environment<'static> {
        // Compiled once a process: a session must not pay for templates that all of them share.
        static BUILTIN: LazyLock<Arc<Environment<'static>>> =
            LazyLock::new(|| match Prompts::compile(&BTreeMap::new()) {
                Ok(engine) => engine,
                // The built-in templates are compiled in and every sample of them is a test, so this is
                // a mistake in this crate that no caller can mend.
                Err(error) => panic!("a built-in prompt is broken: {error}"),
            });
        self.own.as_ref().unwrap_or_else(|| &*BUILTIN)
    }

    /// The built-in templates with some replaced: pairs of a template's name
    /// (`resolve-reminder`) and its new source.
    ///
    /// An override may say `{% include "builtin/resolve-reminder" %}` to keep the built-in text and
    /// add to it.
    ///
    /// # Errors
    /// An unknown or repeated name; a source that does not parse or does not render with a sample
    /// context, with its line.
    pub fn with_overrides<N, S>(
        overrides: impl IntoIterator<Item = (N, S)>,
    ) -> Result<Self, LoadError>
    where
        N: Into<String>,
        S: Into<String>,
    {
        let mut accepted = BTreeMap::new();
        for (name, source) in overrides {
            let name = name.into();
            accept(&mut accepted, name.clone(), &name, source.into())?;
        }
        Self::build(accepted)
    }

    /// The set with `overrides`, each checked against the samples.
    pub(crate) fn build(overrides: BTreeMap<PromptName, Override>) -> Result<Self, LoadError> {
        Ok(Self { own: Some(Self::compile(&overrides)?) })
    }

    fn compile(
        overrides: &BTreeMap<PromptName, Override>,
    ) -> Result<Arc<Environment<'static>>, LoadError> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        engine.set_auto_escape_callback(|_| AutoEscape::None);
        engine.set_syntax(block_lines());
        engine.add_filter("inline", |text: &str| inline(text));
        for name in PromptName::ALL {
            let origin = || match overrides.get(&name) {
                Some(replaced) => replaced.origin.clone(),
                None => name.to_string(),
            };
            let refuse = |error: &minijinja::Error| {
                let RenderError { line, message, .. } = RenderError::new(name, error);
                LoadError::Template { origin: origin(), line, message, name }
            };
            let source = overrides.get(&name).map_or(name.source(), |replaced| &replaced.source);
            engine
                .add_template_owned(format!("{BUILTIN_PREFIX}{name}"), unix_lines(name.source()))
                .map_err(|error| refuse(&error))?;
            engine
                .add_template_owned(name.as_str(), unix_lines(source))
                .map_err(|error| refuse(&error))?;
        }
        let engine = Arc::new(engine);
        let prompts = Self { own: Some(Arc::clone(&engine)) };
        for sample in sample::all() {
            if let Err(RenderError { name, line, message }) =
                prompts.render_value(sample.prompt, sample.context)
            {
                let origin = match overrides.get(&name) {
                    Some(replaced) => replaced.origin.clone(),
                    None => name.to_string(),
                };
                let message = format!("{message} (with the sample context `{}`)", sample.case);
                return Err(LoadError::Template { origin, line, message, name });
            }
        }
        Ok(engine)
    }

    /// The text of the template that `context` belongs to.
    ///
    /// The text never begins or ends in a line break: blank lines at both ends are dropped, whatever
    /// the template's file ends in. Line breaks of the template are `\n`. Nothing is HTML-escaped.
    ///
    /// # Errors
    /// A variable or filter that fails for this context; it names the variable and the line.
    pub fn render<C: PromptContext>(&self, context: &C) -> Result<String, RenderError> {
        self.render_value(C::PROMPT, Value::from(Serde(context)))
    }

    fn render_value(&self, name: PromptName, context: Value) -> Result<String, RenderError> {
        let template = self
            .engine()
            .get_template(name.as_str())
            .map_err(|error| RenderError::new(name, &error))?;
        let text = template.render(context).map_err(|error| RenderError::new(name, &error))?;
        Ok(text.trim_matches('\n').to_owned())
    }

    /// Every template rendered with each of its sample contexts: pairs of a stable name
    /// (`resolve-reminder.several`) and the text.
    ///
    /// This is what a host snapshots to see what its own prompts say, and what changes in them when
    /// this crate is updated. See the front page for an example.
    pub fn samples(&self) -> impl Iterator<Item = (String, String)> + '_ {
        sample::all().into_iter().filter_map(|sample| {
            // M1: each of these has rendered when the set was built.
            let text = self.render_value(sample.prompt, sample.context).ok()?;
            Some((format!("{}.{}", sample.prompt, sample.case), text))
        })
    }
}

impl Default for Prompts {
    fn default() -> Self {
        Self::builtin()
    }
}

/// A replacement and where it comes from.
pub(crate) struct Override {
    pub(crate) origin: String,
    pub(crate) source: String,
}

/// Adds one override to `accepted`, unless its name is unknown or taken.
pub(crate) fn accept(
    accepted: &mut BTreeMap<PromptName, Override>,
    origin: String,
    name: &str,
    source: String,
) -> Result<(), LoadError> {
    let Some(known) = PromptName::parse(name) else {
        return Err(LoadError::UnknownName { origin, name: name.to_owned() });
    };
    if let Some(first) = accepted.get(&known) {
        let first = first.origin.clone();
        return Err(LoadError::Duplicate { name: known, first, second: origin });
    }
    accepted.insert(known, Override { origin, source });
    Ok(())
}

/// `source` without a byte-order mark and with `\n` line breaks, so that a checkout's line endings
/// do not change a prompt.
fn unix_lines(source: &str) -> String {
    source.strip_prefix('\u{feff}').unwrap_or(source).replace("\r\n", "\n")
}

/// Standard delimiters; a block tag alone on its line leaves no trace of that line, and the final
/// line break of a template is not part of it.
fn block_lines() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(false)
        .build()
        .expect("only custom delimiters can be refused, and there are none")
}
