//! Staged previews: what is proposed, file by file, and the diff.

use xd_protocol::notice;
use xd_resolve::ToolResult;

use crate::block::{Block, split_label};
use crate::diff::Diff;
use crate::icon;
use crate::options::Options;
use crate::style::{Line, Role, Style};

/// What has become of a previewed action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PreviewState {
    /// It waits for a decision.
    #[default]
    Pending,
    /// Somebody decided and it is being carried out.
    BeingResolved,
    /// It was carried out.
    Applied,
    /// It was dropped by decision.
    Discarded,
    /// It can no longer be decided.
    Void,
    /// The host took it away to deal with it itself.
    Withdrawn,
}

impl PreviewState {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::BeingResolved => "being resolved",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
            Self::Void => "void",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Its sign, the word in front of the summary, and how both look.
    fn title(self) -> (&'static str, &'static str, Role) {
        match self {
            Self::Pending | Self::BeingResolved => (icon::PENDING, "Proposed", Role::Warning),
            Self::Applied => (icon::SUCCESS, "Applied", Role::Success),
            Self::Discarded => (icon::DISCARD, "Discarded", Role::Warning),
            Self::Void => (icon::DISCARD, "Void", Role::Muted),
            Self::Withdrawn => (icon::DISCARD, "Withdrawn", Role::Muted),
        }
    }
}

/// A staged action as it is shown before the decision, or after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// The action's number.
    pub number: Option<u64>,
    /// The action's label: `AST Edit: 2 replacements in 1 file`.
    pub label: Option<String>,
    /// The tool that staged it.
    pub source: Option<String>,
    /// What has become of it.
    pub state: PreviewState,
    /// Why it can no longer be applied as it is, where that is known.
    pub stale: Option<String>,
    /// The preview: a unified diff, with notes around it if need be.
    pub text: String,
    /// How to see all of a diff that is cut: `xd show 3`.
    pub see_all: Option<String>,
}

impl Preview {
    /// The preview that a staging tool's result carries; none for any other result.
    ///
    /// Such a result begins with the notice of `CONTRACT S4`; the preview is what follows its blank
    /// line. `number` and `label` are taken from the details where those hold them.
    #[must_use]
    pub fn of(tool_name: &str, result: &ToolResult) -> Option<Self> {
        let text = result.joined();
        if result.is_error || !text.starts_with(notice::STAGED_HEAD) {
            return None;
        }
        let details = result.details.as_ref();
        let number = details.and_then(|details| details.get("number")?.as_u64());
        let label = details.and_then(|details| details.get("label")?.as_str());
        Some(Self {
            number,
            label: label.map(Into::into),
            source: Some(tool_name.to_owned()),
            state: PreviewState::Pending,
            stale: None,
            text: text.split_once("\n\n").map_or("", |(_, preview)| preview).to_owned(),
            see_all: number.map(|number| format!("read xd://resolve@{number}")),
        })
    }
}

/// The block of a preview: title, every file with its counts, then the diff up to
/// [`Options::max_lines`], with the cut stated (cases 107 and 109).
#[must_use]
pub fn preview_block(preview: &Preview, options: &Options) -> Vec<Line> {
    let mut all = Vec::new();
    draw_preview(preview, options, &mut |lines| all.extend(lines));
    all
}

/// The same in pieces, a file at a time: a large preview need not be in memory as lines.
pub fn draw_preview(preview: &Preview, options: &Options, print: &mut dyn FnMut(Vec<Line>)) {
    let (icon, word, role) = preview.state.title();
    let title = Style::new(role).bold();
    let (source, summary) = split_label(preview.label.as_deref(), preview.source.as_deref());
    let mut header = Line::of(icon, role);
    header.add(" ", Role::Text);
    match summary {
        Some(summary) => {
            header.add(&format!("{word}:"), title);
            header.add(&format!(" {summary}"), Role::Text);
        }
        None => header.add(word, title),
    }
    if let Some(source) = source {
        header.add(" ", Role::Text);
        header.add(&format!("[{source}]"), Role::Title);
    }
    let word = if preview.stale.is_some() { "stale" } else { preview.state.word() };
    let badge = match preview.number {
        Some(number) => format!("@{number} {word}"),
        None => word.to_owned(),
    };
    let block = Block::bare(options);
    let mut lines = block.header(&header, &Line::of(&badge, role));
    if let Some(stale) = &preview.stale {
        lines.extend(block.body(stale, Style::new(Role::Error), usize::MAX));
    }
    // Many previews begin with the label, which stands in the header already.
    let label = preview.label.as_deref().unwrap_or("");
    let text = match preview.text.strip_prefix(label) {
        Some(rest) if rest.starts_with('\n') => rest,
        Some(_) | None => &preview.text,
    };
    let diff = Diff::parse(text.trim_start_matches('\n'));
    lines.extend(diff.summary(options));
    let more = diff.line_count() > 0 || diff.has_notes();
    if more {
        lines.push(Line::new());
    }
    print(lines);
    if more {
        diff.draw(options, preview.see_all.as_deref(), print);
    }
}
