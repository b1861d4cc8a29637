//! Results of tools without a drawing of their own, and the one door to every drawing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use xd_protocol::{Address, Device, Target, WRITE_TOOL, classify, parse_xd_url};
use xd_resolve::{ToolCall, ToolResult};

use crate::block::result_block;
use crate::call::{CallView, Kind, Phase, indent};
use crate::cells::Break;
use crate::clean::clean_lines;
use crate::decision::Decision;
use crate::diff::Diff;
use crate::icon;
use crate::options::Options;
use crate::preview::{Preview, preview_block};
use crate::style::{Line, Role, Span};

/// How one tool draws its results. The lines hold spans, so nothing foreign gets through
/// unescaped, and they are cut to the width where they do not keep it.
pub trait ResultRenderer: Send + Sync {
    /// The lines of `result`, the answer to `call`; none to leave it to the generic card.
    ///
    /// A device write arrives as a call of the device by its own name and arguments.
    fn draw(&self, call: &ToolCall, result: &ToolResult, options: &Options) -> Option<Vec<Line>>;
}

impl<F> ResultRenderer for F
where
    F: Fn(&ToolCall, &ToolResult, &Options) -> Option<Vec<Line>> + Send + Sync,
{
    fn draw(&self, call: &ToolCall, result: &ToolResult, options: &Options) -> Option<Vec<Line>> {
        self(call, result, options)
    }
}

/// The renderers of a host, by tool or device name (`CONTRACT V5`).
#[derive(Clone, Default)]
pub struct Renderers {
    by_name: BTreeMap<String, Arc<dyn ResultRenderer>>,
}

impl Renderers {
    /// None: everything that has no block of its own is drawn as a generic card.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with `renderer` for the tool or device `name`, in place of an earlier one.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        renderer: impl ResultRenderer + 'static,
    ) -> Self {
        self.by_name.insert(name.into(), Arc::new(renderer));
        self
    }

    /// The drawing of a finished call: the block of a decision, a staged preview, the tool's own
    /// drawing, or the generic card.
    #[must_use]
    pub fn draw(&self, call: &ToolCall, result: &ToolResult, options: &Options) -> Vec<Line> {
        if let Some(decision) = Decision::of(call, result) {
            return result_block(&decision, options);
        }
        let own = own_call(call);
        let call = own.as_ref().unwrap_or(call);
        if let Some(lines) =
            self.by_name.get(&call.name).and_then(|renderer| renderer.draw(call, result, options))
        {
            let width = options.columns();
            return lines.into_iter().map(|line| line.cut(width, &options.cells)).collect();
        }
        match Preview::of(&call.name, result) {
            Some(preview) => preview_block(&preview, options),
            None => result_card(call, result, options),
        }
    }
}

impl fmt::Debug for Renderers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

/// The call of a device as that device's own call: its name, and the arguments in the content,
/// which is an object or the JSON text of one (`CONTRACT R3`). None where `call` is no device write.
#[must_use]
pub fn own_call(call: &ToolCall) -> Option<ToolCall> {
    if let Some(Target::Device(Device::Tool(name))) = parse_xd_url(&call.name) {
        return Some(ToolCall::new(call.id.clone(), name.as_str(), call.arguments.clone()));
    }
    if call.name != WRITE_TOOL {
        return None;
    }
    let Address::Xd(Target::Device(Device::Tool(name))) = classify(call.str_argument("path")?)
    else {
        return None;
    };
    let content = call.arguments.get("content").cloned().unwrap_or(Value::Null);
    let arguments = match &content {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .unwrap_or_else(|| serde_json::json!({ "content": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            content
        }
    };
    Some(ToolCall::new(call.id.clone(), name.as_str(), arguments))
}

/// The generic card of a finished call: title and arguments, then the result, as a diff where it is
/// one. At most [`Options::max_lines`] lines; what is cut is counted.
#[must_use]
pub fn result_card(call: &ToolCall, result: &ToolResult, options: &Options) -> Vec<Line> {
    let (width, cells) = (options.columns(), &options.cells);
    let (sign, role) = match result.is_error {
        true => (icon::FAILURE, Role::Error),
        false => (icon::SUCCESS, Role::Success),
    };
    let mut view = CallView::of(call);
    view.set_phase(Phase::Running);
    let mut first = Line::of(sign, role);
    first.add(" ", Role::Text);
    let room = width.saturating_sub(first.width(cells));
    first.extend(view.headline(view.kind().unwrap_or(Kind::Tool), room, options));
    let mut lines = vec![first.cut(width, cells)];

    let text = result.joined();
    let diff = Diff::parse(&text);
    if diff.files().next().is_some() {
        lines.extend(diff.lines(options, None));
        return lines;
    }
    let role = if result.is_error { Role::Error } else { Role::Text };
    let margin = indent(width);
    let room = width - margin.len();
    let body: Vec<Line> = clean_lines(&text, cells)
        .iter()
        .flat_map(|source| Line::of(source, role).wrap(room, Break::Words, cells))
        .collect();
    let bound = options.max_lines.unwrap_or(usize::MAX);
    let hidden = body.len().saturating_sub(bound);
    let note = Line::of(&format!("… {hidden} of {} lines not shown", body.len()), Role::Warning);
    let mut shown: Vec<Line> = body.into_iter().take(bound).collect();
    if hidden > 0 {
        shown.extend(note.wrap(room, Break::Words, cells));
    }
    lines.extend(shown.into_iter().map(|line| {
        let mut indented = Line::new();
        indented.push(Span::new(margin, Role::Text));
        indented.extend(line);
        indented
    }));
    lines
}
