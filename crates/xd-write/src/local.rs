//! `local://` in the read and write tools: drafts (`CONTRACT P4, U7`).
//!
//! To the parser `local` is a scheme like any other that is not ours; here the host takes it.

use std::fmt::Write as _;

use xd_changeset::Hash;
use xd_protocol::{Excerpt, ForeignScheme, split_selector};
use xd_resolve::{PlanMode, ToolResult};

use crate::{
    DraftName, Expected, Host, Put,
    page::{Lines, page},
};

const SCHEME: &str = "local";

/// What stands behind `local://`; the error for a slip of it; none for another scheme.
pub(crate) fn rest_of(foreign: ForeignScheme<'_>) -> Option<Result<&str, Slip<'_>>> {
    if !foreign.scheme().eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let written = foreign.written();
    let after = &written[foreign.scheme().len()..];
    Some(after.strip_prefix("://").ok_or_else(|| {
        // As a path library would have normalised it.
        let rest = after.trim_start_matches([':', '/', '\\']);
        let meant = DraftName::new(rest).map_or("local://<name>".to_owned(), |it| it.address());
        Slip { written, meant }
    }))
}

/// A slip of a draft's address, and the right spelling.
pub(crate) struct Slip<'a> {
    written: &'a str,
    meant: String,
}

impl Slip<'_> {
    /// The error for one of the two tools, `deed`: `write` or `read`.
    pub(crate) fn told(&self, deed: &str) -> String {
        format!(
            "Unknown URI-like {deed} target '{}'. Did you mean '{}'? Prefix the path with './' to \
             {deed} it as a filesystem path.",
            Excerpt(self.written),
            self.meant
        )
    }
}

/// Writes the draft that stands behind `local://`.
pub(crate) fn write(host: &Host, rest: &str, text: &str) -> ToolResult {
    let Ok(name) = DraftName::new(rest) else {
        return ToolResult::error(format!(
            "Not written: 'local://{}' is no draft's address: {}.{}",
            Excerpt(rest),
            crate::DraftFault,
            kept(host, rest, text)
        ));
    };
    match host.drafts().put(&name, text, Expected::Anything) {
        Ok(put) => {
            let how = match put {
                Put::Created => "created",
                Put::Replaced | Put::Differs => "replaced",
            };
            let (bytes, plural) = (text.len(), if text.len() == 1 { "" } else { "s" });
            let mut answer = format!("Wrote {} ({how}, {bytes} byte{plural}).", name.address());
            if let (PlanMode::On, Some(slug)) = (host.session().plan_mode(), name.slug()) {
                let _ = write!(answer, " To submit it for approval, write {slug} to xd://propose.");
            }
            ToolResult::text(answer).with_details(serde_json::json!({
                "path": name.address(), "bytes": bytes, "created": put == Put::Created,
            }))
        }
        Err(error) => ToolResult::error(format!("Not written: {error}.")),
    }
}

/// Reads the draft that stands behind `local://`, or lists all where nothing does.
pub(crate) fn read(host: &Host, rest: &str) -> Result<String, String> {
    if rest.is_empty() {
        return list(host);
    }
    // No draft's name holds a colon, so a selector is always one.
    let (base, selector) = match split_selector(rest) {
        Some((base, selector)) => (base, Some(selector)),
        None => (rest, None),
    };
    let name = DraftName::new(base).map_err(|fault| {
        format!("read: 'local://{}' is no draft's address: {fault}.", Excerpt(base))
    })?;
    match host.drafts().read(&name) {
        Ok(Some(text)) if text.is_empty() => Ok(format!("{} is empty.", name.address())),
        Ok(Some(text)) => page(&text, &name.address(), selector, Lines::Plain),
        Ok(None) => {
            let drafts = list(host)?;
            Err(format!("read: there is no draft {}. {drafts}", name.address()))
        }
        Err(error) => Err(format!("read: {error}.")),
    }
}

fn list(host: &Host) -> Result<String, String> {
    let names = host.drafts().names().map_err(|error| format!("read: {error}."))?;
    Ok(match names.len() {
        0 => "There are no drafts.\n".to_owned(),
        n => {
            let plural = if n == 1 { "" } else { "s" };
            let mut out = format!("{n} draft{plural}:\n");
            for name in names {
                let _ = writeln!(out, "{}", name.address());
            }
            out
        }
    })
}

/// Keeps the text of a refused write as a draft that can be submitted, and says where
/// (`CONTRACT P4`); the sentence begins with a space. Nothing that is there is overwritten, and
/// the same text is not kept twice.
pub(crate) fn kept(host: &Host, hint: &str, text: &str) -> String {
    /// More drafts of one name than this are no drafts any more.
    const MOST: usize = 99;
    if text.trim().is_empty() {
        return String::new();
    }
    let hash = Hash::of(text.as_bytes());
    for n in 1..=MOST {
        let name = DraftName::made_of(hint, n);
        let is_there = match host.drafts().put(&name, text, Expected::Nothing) {
            Ok(Put::Created | Put::Replaced) => true,
            // Not UTF-8, it is another text.
            Ok(Put::Differs) => host
                .drafts()
                .read(&name)
                .is_ok_and(|found| Expected::Text(hash).is(found.as_deref())),
            Err(error) => return format!(" The text could not be kept as a draft: {error}."),
        };
        if is_there {
            let slug = name.slug().map_or("", xd_protocol::PlanSlug::as_str);
            return format!(
                " The text is kept as {}, whose slug is {slug}; read it there, it need not be \
                 written again.",
                name.address()
            );
        }
    }
    " The text could not be kept as a draft: there are too many of this name.".to_owned()
}
