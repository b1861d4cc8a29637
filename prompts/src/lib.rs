//! Every prompt of the protocol, as one template a file with a typed context for each.
//!
//! Layer 0: uses a template engine and serde, and nothing of this project. It touches no clock, no
//! environment and no terminal; only [`Prompts::from_folder`] reads files. What these prompts say is
//! protocol: a change to one changes what models do, so each is snapshotted.
//!
//! # Rules
//! - One template a file, in `templates/`; one context struct for each, tied by [`PromptContext`].
//! - Undefined is strict: a variable that the context does not declare is an error that names it.
//! - Nothing is HTML-escaped. Foreign words that stand in a line go through the `inline` filter,
//!   which flattens line breaks and spells out control and invisible characters.
//! - Trailing newlines: a rendered prompt never begins or ends in a line break, whatever its file
//!   ends in. Whoever joins prompts adds the breaks between them.
//! - Line breaks of a template are `\n`, however its file was checked out.
//! - **Invariant M1:** every template of a [`Prompts`] has rendered with every sample of its kind.
//! - **Invariant M2:** the same set and context give the same bytes every time.
//!
//! # Replacing a prompt
//! A host passes sources to [`Prompts::with_overrides`], or the path of a folder to
//! [`Prompts::from_folder`]: `resolve-reminder.md.j2` in it replaces `resolve-reminder`. Misspelt
//! names, broken templates and unknown variables are errors when loading, with file and line. An
//! override may `{% include "builtin/resolve-reminder" %}` and add to it.
//!
//! # Snapshotting your own
//! [`Prompts::samples`] gives every template rendered with fixed sample contexts. A host that
//! replaces prompts keeps a test beside them:
//!
//! ```no_run
//! # fn check(_: String, _: String) {}
//! # fn main() -> Result<(), xd_prompts::LoadError> {
//! let prompts = xd_prompts::Prompts::from_folder("my-prompts")?;
//! for (name, text) in prompts.samples() {
//!     check(name, text); // insta::assert_snapshot!(name, text);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Example
//! ```
//! use xd_prompts::{Prompts, ResolveReminder};
//!
//! let context = ResolveReminder { tool_name: "ast_edit".into(), number: 3, pending: vec![3] };
//! let reminder = Prompts::builtin().render(&context)?;
//! assert!(reminder.starts_with("<system-reminder>\n`ast_edit` result above: PREVIEW"));
//!
//! let short = Prompts::with_overrides([("resolve-reminder", "Finalize @{{ number }}.\n")]).unwrap();
//! assert_eq!(short.render(&context)?, "Finalize @3.");
//!
//! let wrong = Prompts::with_overrides([("resolve-reminder", "\nFinalize @{{ nummer }}.")]);
//! let message = wrong.unwrap_err().to_string();
//! assert!(message.starts_with("resolve-reminder:2: ") && message.contains("nummer"), "{message}");
//! # Ok::<(), xd_prompts::RenderError>(())
//! ```

mod context;
mod error;
mod folder;
mod inline;
mod name;
mod prompts;
mod sample;

pub use context::{
    DeviceDocs, DeviceLine, DeviceSection, PlanMode, PromptContext, ProtocolUsage, ResolveReminder,
    ResolveReminderHiddenTool,
};
pub use error::{LoadError, RenderError};
pub use name::PromptName;
pub use prompts::Prompts;
