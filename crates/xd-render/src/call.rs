//! A tool call while it streams, waits and runs.

use std::borrow::Cow;

use xd_protocol::{Address, Device, Selection, Target, WRITE_TOOL, classify, could_become_xd_url};
use xd_resolve::ToolCall;

use crate::arguments::{Arguments, Field, Shape};
use crate::growing::Growing;
use crate::head::Head;
use crate::icon;
use crate::link::Link;
use crate::options::Options;
use crate::style::{Line, Role, Span, Style};
use crate::summary::summary_of;

/// The columns of a body's first line (`CONTRACT V1`).
const BODY_COLUMNS: usize = 72;

/// The columns of a path that are followed. No terminal draws more of it on its line.
const PATH_COLUMNS: usize = 400;

/// How far a call has come. `CONTRACT V5`: it counts as queued until it really starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Phase {
    /// Its arguments are arriving.
    #[default]
    Streaming,
    /// It is whole and waits for its turn.
    Queued,
    /// It runs.
    Running,
}

/// A tool call as it is drawn from its first byte to its result (`CONTRACT V1`).
///
/// Feed it argument bytes as they come and draw [`lines`](Self::lines) whenever
/// [`push`](Self::push) says that something changed. What is drawn already is never laid out again:
/// the whole stream costs a small constant times its length.
///
/// ```
/// use xd_render::{CallView, Options, to_plain};
///
/// let mut view = CallView::new("write");
/// view.push(br#"{"content": "Renames every caller.", "path": "xd://resol"#);
/// assert!(view.lines(&Options::new(80)).is_empty()); // xd://resolver would be another address
/// view.push(br#"ve""#);
/// let drawn = to_plain(view.lines(&Options::new(80)));
/// assert_eq!(drawn, "◌ Resolve\n  Renames every caller.\n");
/// ```
#[derive(Debug, Clone)]
pub struct CallView {
    name: String,
    /// What the name alone makes of the call.
    named: Named,
    arguments: Arguments,
    /// The events of the arguments that have been looked at.
    events: u64,
    phase: Phase,
    kind: Option<Kind>,
    /// The end of the white space in front of the path.
    path_start: usize,
    path_is_plain: bool,
    /// Whether the whole path has been classified.
    path_is_decided: bool,
    path: Head,
    body: Head,
    /// The argument that the body is taken from.
    body_key: Option<&'static str>,
    /// What a file write has of its content so far.
    content: Growing,
    summary: String,
    drawn: Option<(Options, Vec<Line>)>,
}

/// What a call turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Resolve(Selection),
    Reject(Selection),
    Propose,
    /// A mounted device; its name is the title.
    Device,
    /// A file write to the path that has arrived so far.
    File,
    /// A write to an address that nothing answers to.
    Refused,
    /// Any other tool.
    Tool,
}

/// What a call's name alone says.
#[derive(Debug, Clone, Copy)]
enum Named {
    /// All there is to know.
    Kind(Kind),
    /// A `write`: its path decides.
    ByPath,
    /// The hidden `resolve` tool: its action decides.
    ByAction,
}

impl CallView {
    /// A call of the tool `name`, nothing of whose arguments has arrived.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let named = match xd_protocol::parse_xd_url(&name) {
            Some(Target::Device(device)) => Named::Kind(kind_of(device)),
            Some(Target::Root) | None => match name.as_str() {
                WRITE_TOOL => Named::ByPath,
                "resolve" => Named::ByAction,
                _ => Named::Kind(Kind::Tool),
            },
        };
        let mut view = Self {
            name,
            named,
            arguments: Arguments::new(),
            events: 0,
            phase: Phase::Streaming,
            kind: None,
            path_start: 0,
            path_is_plain: false,
            path_is_decided: false,
            path: Head::new(PATH_COLUMNS),
            body: Head::new(BODY_COLUMNS),
            body_key: None,
            content: Growing::default(),
            summary: String::new(),
            drawn: None,
        };
        view.refresh();
        view
    }

    /// A call that has arrived whole.
    #[must_use]
    pub fn of(call: &ToolCall) -> Self {
        let mut view = Self::new(call.name.clone());
        view.arguments = Arguments::of(&call.arguments);
        view.set_phase(Phase::Queued);
        view
    }

    /// Takes the next bytes of the arguments. True where what is drawn has changed.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        self.arguments.push(bytes);
        let grown = self.follow_content();
        // The usual case by far: a long text grows whose drawn part stands already.
        if self.events == self.arguments.events() && self.is_settled() {
            return grown;
        }
        self.events = self.arguments.events();
        self.refresh() || grown
    }

    /// Tells how far the call has come. Everything but [`Phase::Streaming`] means that no more
    /// arguments will arrive: what is undecided is then drawn for what it is.
    pub fn set_phase(&mut self, phase: Phase) {
        if self.phase != phase {
            self.phase = phase;
            self.drawn = None;
            self.refresh();
        }
    }

    /// The arguments so far.
    #[must_use]
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// The work done so far, in bytes looked at. For tests and for tuning.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.arguments.steps() + self.path.steps() + self.body.steps() + self.content.steps()
    }

    /// The call as lines: none until it is clear what it is, then the title with a pending icon and
    /// the first line of its body; of a file write that streams, the last
    /// [`live_lines`](Options::live_lines) of its content. Laid out once for the same options, unless
    /// something changed.
    pub fn lines(&mut self, options: &Options) -> &[Line] {
        if self.drawn.as_ref().is_none_or(|(for_options, _)| for_options != options) {
            self.drawn = Some((options.clone(), self.draw(options)));
            self.add_content(options);
        }
        self.drawn.as_ref().map_or(&[], |(_, lines)| lines)
    }

    /// Follows the content of what may be a file write. True where more of it is to be drawn.
    fn follow_content(&mut self) -> bool {
        let streams = matches!(self.named, Named::ByPath) && self.phase == Phase::Streaming;
        let Some(content) =
            self.arguments.field("content").filter(|field| streams && field.is_string)
        else {
            return false;
        };
        let repeats = self.content.repeats();
        if !self.content.advance(content.text, content.repeats) || self.kind != Some(Kind::File) {
            return false;
        }
        if repeats != self.content.repeats() {
            self.drawn = None;
        }
        // The title stands; what is below it is brought up to date.
        if let Some((options, lines)) = &mut self.drawn
            && options.live_lines > 0
        {
            self.content.bring_up(content.text, self.path.text(), options, lines);
        }
        true
    }

    /// Adds what is to be drawn of a file's content below the title.
    fn add_content(&mut self, options: &Options) {
        if self.kind != Some(Kind::File)
            || self.phase != Phase::Streaming
            || options.live_lines == 0
        {
            return;
        }
        let Some(content) = self.arguments.field("content").filter(|field| field.is_string) else {
            return;
        };
        if let Some((_, lines)) = &mut self.drawn {
            lines.extend(self.content.lines(content.text, self.path.text(), options));
        }
    }

    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// The title and what stands beside it, without an icon. A path is cut at its start to fit in
    /// `room` cells.
    pub(crate) fn headline(&self, kind: Kind, room: usize, options: &Options) -> Line {
        let mut line = Line::new();
        let title = Style::new(Role::Title);
        match kind {
            Kind::Resolve(selection) => numbered("Resolve", selection, &mut line),
            Kind::Reject(selection) => numbered("Reject", selection, &mut line),
            Kind::Propose => line.add("Propose", title),
            Kind::Device => line.add(&unmistakable("xd://", self.device_name()), title),
            Kind::File => {
                line.add("Write ", title);
                let path = options.cells.cut_start(self.path.text(), room.saturating_sub(6));
                line.push(Span::new(&path, Role::Path).linked(self.path_link(options)));
            }
            Kind::Refused => {
                line.add("Write ", title);
                line.add(self.path.text(), Role::Warning);
            }
            Kind::Tool => {
                line.add(&unmistakable("tool ", &self.name), title);
                if !self.summary.is_empty() {
                    line.add(" ", Role::Text);
                    line.add(&self.summary, Role::Muted);
                }
            }
        }
        line
    }

    fn draw(&self, options: &Options) -> Vec<Line> {
        let Some(kind) = self.kind else { return Vec::new() };
        let (width, cells) = (options.columns(), &options.cells);
        let mut first = Line::of(icon::PENDING, Role::Muted);
        first.add(" ", Role::Text);
        let phase = match self.phase {
            Phase::Streaming => "",
            Phase::Queued => " · queued",
            Phase::Running => " · running",
        };
        let room = width.saturating_sub(first.width(cells) + cells.width(phase));
        first.extend(self.headline(kind, room, options));
        first.add(phase, Role::Muted);
        let mut lines = vec![first.cut(width, cells)];
        // A path that came twice may have turned a confirm into a file write, which shows no body.
        let has_body = match kind {
            Kind::Resolve(_) | Kind::Reject(_) | Kind::Propose | Kind::Device => true,
            Kind::File | Kind::Refused | Kind::Tool => false,
        };
        if has_body && !self.body.text().is_empty() {
            let text = cells.cut(self.body.text(), BODY_COLUMNS);
            let mut body = Line::of(indent(width), Role::Text);
            body.add(&text, Role::Muted);
            lines.push(body.cut(width, cells));
        }
        if let Some(fault) = self.fault() {
            let mut line = Line::of(indent(width), Role::Text);
            line.add(fault, Role::Warning);
            lines.push(line.cut(width, cells));
        }
        lines
    }

    /// What is wrong with arguments that will not go on.
    fn fault(&self) -> Option<&'static str> {
        if self.phase == Phase::Streaming {
            return None;
        }
        match self.arguments.shape() {
            Shape::Closed => None,
            Shape::Empty => Some("no arguments"),
            Shape::NotAnObject => Some("the arguments are no JSON object"),
            Shape::Open => Some("the arguments end too early"),
            Shape::Broken => Some("the arguments are no valid JSON"),
        }
    }

    /// Looks at what has arrived since. True where something that is drawn has changed.
    fn refresh(&mut self) -> bool {
        let (kind, mut changed) = self.decide();
        changed |= kind != self.kind;
        self.kind = kind;
        changed |= match kind {
            Some(Kind::Resolve(_) | Kind::Reject(_) | Kind::Propose) => {
                self.advance_body(match self.named {
                    Named::Kind(_) => &["content", "reason"],
                    Named::ByPath => &["content"],
                    Named::ByAction => &["reason"],
                })
            }
            Some(Kind::Device) => self.advance_body(&["content"]),
            Some(Kind::Tool) => {
                let summary = summary_of(&self.arguments);
                let differs = summary != self.summary;
                self.summary = summary;
                differs
            }
            Some(Kind::File | Kind::Refused) | None => false,
        };
        if changed {
            self.drawn = None;
        }
        changed
    }

    /// The kind of the call, as far as it is certain, and whether the path that is drawn changed.
    fn decide(&mut self) -> (Option<Kind>, bool) {
        match self.named {
            Named::Kind(kind) => (Some(kind), false),
            Named::ByPath => self.decide_by_path(),
            Named::ByAction => (self.decide_by_action(), false),
        }
    }

    /// Whether a text that merely grows can change nothing that is drawn.
    fn is_settled(&self) -> bool {
        match self.kind {
            None => false,
            Some(Kind::Resolve(_) | Kind::Reject(_) | Kind::Propose | Kind::Device) => {
                self.body.is_closed()
            }
            Some(Kind::File | Kind::Refused) => self.path_is_decided || self.path.is_closed(),
            // A summary holds whole arguments only.
            Some(Kind::Tool) => true,
        }
    }

    /// A `write`: certain once its path is whole, or can no longer become an address.
    fn decide_by_path(&mut self) -> (Option<Kind>, bool) {
        let over = self.phase != Phase::Streaming;
        let Some(path) = self.arguments.field("path") else {
            return (over.then_some(Kind::Tool), false);
        };
        let restarted = path.repeats != self.path.repeats();
        if restarted {
            self.path_is_plain = false;
            self.path_is_decided = false;
            self.path_start = 0;
        }
        if self.path_is_decided {
            return (self.kind, false);
        }
        let waits = !path.complete && !over;
        if waits && !path.is_string {
            return (None, restarted);
        }
        if waits && !self.path_is_plain {
            let text = &path.text[self.path_start..];
            let blank = text.len() - text.trim_start().len();
            self.path_start += blank;
            if could_become_xd_url(&text[blank..]) {
                // What was drawn of an earlier path under the same key is void.
                self.path.advance("", path.repeats);
                return (None, restarted);
            }
            self.path_is_plain = true;
        }
        let changed = self.path.advance(path.text, path.repeats);
        if waits {
            return (Some(Kind::File), changed);
        }
        let kind = match classify(path.text) {
            // Only a whole string is an address; the rest of it could have made it another one.
            Address::Xd(_) if !path.is_string || !path.complete => Kind::Refused,
            Address::Xd(Target::Device(device)) => kind_of(device),
            Address::Xd(Target::Root) | Address::Malformed(_) | Address::NearMiss(_) => {
                Kind::Refused
            }
            Address::Path(_) | Address::Foreign(_) if path.is_string => Kind::File,
            Address::Path(_) | Address::Foreign(_) => Kind::Refused,
        };
        self.path_is_decided = path.complete;
        // A whole path gets its link, even where its text stays the same.
        (Some(kind), changed || path.complete)
    }

    /// The hidden `resolve` tool (`CONTRACT D15`): certain once its action is whole.
    fn decide_by_action(&self) -> Option<Kind> {
        let over = self.phase != Phase::Streaming;
        match self.arguments.field("action") {
            Some(action) if action.complete || over => Some(match action.text {
                "apply" => Kind::Resolve(Selection::Head),
                "discard" => Kind::Reject(Selection::Head),
                _ => Kind::Tool,
            }),
            Some(_) => None,
            None => over.then_some(Kind::Tool),
        }
    }

    /// Follows the first of `keys` that the arguments have.
    fn advance_body(&mut self, keys: &[&'static str]) -> bool {
        let found = keys.iter().find_map(|key| Some((*key, self.arguments.field(key)?)));
        let Some((key, Field { text, repeats, .. })) = found else { return false };
        let other = self.body_key.is_some_and(|before| before != key);
        self.body_key = Some(key);
        if other {
            self.body.restart();
        }
        self.body.advance(text, repeats) || other
    }

    /// The link to the file that is written, once its path is whole.
    fn path_link(&self, options: &Options) -> Option<Link> {
        let path = self.arguments.field("path").filter(|path| path.complete)?;
        Link::file(&options.link_root.as_ref()?.join(path.text))
    }

    /// The name of the device that the call runs.
    fn device_name(&self) -> &str {
        let path = self.arguments.field("path").map(|path| path.text);
        let target = xd_protocol::parse_xd_url(&self.name)
            .or_else(|| path.and_then(xd_protocol::parse_xd_url));
        match target {
            Some(Target::Device(device)) => device.name(),
            Some(Target::Root) | None => &self.name,
        }
    }
}

fn kind_of(device: Device<'_>) -> Kind {
    match device {
        Device::Resolve(selection) => Kind::Resolve(selection),
        Device::Reject(selection) => Kind::Reject(selection),
        Device::Propose => Kind::Propose,
        Device::Tool(_) => Kind::Device,
    }
}

/// A foreign name as a title; with `sort` in front where it could be taken for one of our own
/// titles. Case counts in names, so a device may well be called `Resolve`.
fn unmistakable<'n>(sort: &str, name: &'n str) -> Cow<'n, str> {
    let taken = ["Resolve", "Reject", "Propose", "Write"];
    let head = name.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    if taken.contains(&head) { Cow::Owned(format!("{sort}{name}")) } else { Cow::Borrowed(name) }
}

fn numbered(title: &str, selection: Selection, line: &mut Line) {
    line.add(title, Role::Title);
    match selection {
        Selection::Head => {}
        Selection::Numbered(number) => line.add(&format!(" @{number}"), Role::Muted),
    }
}

/// The indentation of a body, where there is room for one.
pub(crate) fn indent(width: usize) -> &'static str {
    if width > 8 { "  " } else { "" }
}
