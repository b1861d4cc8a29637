//! The keys, and what is said of them (**Invariant K4**).

/// A key as far as the reviewer tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character.
    Char(char),
    /// A letter with control.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Tab.
    Tab,
    /// Shift and tab.
    BackTab,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// Keys that do one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHelp {
    /// The keys as they are written.
    pub keys: &'static str,
    /// What they do.
    pub does: &'static str,
    /// The same in a word for the last line of the screen; none where it has no room there.
    pub word: Option<&'static str>,
}

const fn key(keys: &'static str, does: &'static str) -> KeyHelp {
    KeyHelp { keys, does, word: None }
}

const fn short(keys: &'static str, word: &'static str, does: &'static str) -> KeyHelp {
    KeyHelp { keys, does, word: Some(word) }
}

/// Every key, in the order of the help; those with a word stand in the last line too, as far as they
/// fit.
pub const KEYS: &[KeyHelp] = &[
    short("?", "help", "show or close this help"),
    short("q", "quit", "quit; what is pending stays pending"),
    short("a", "accept", "accept the action, file or hunk at the cursor"),
    short("r", "reject", "reject it"),
    short("e", "edit", "edit what the file would become, and look at it again"),
    short("u", "undo", "undo the change that was applied last"),
    short("enter", "fold", "fold or unfold what the cursor is in (also o)"),
    short("/", "search", "search in what is shown and what is folded"),
    key("n N", "next, previous match"),
    short("] [", "change", "next, previous change"),
    key("} {", "next, previous file"),
    key("tab", "next action (shift: previous)"),
    key("j k", "down, up (also the arrows)"),
    key("space b", "a page down, up (also page down, page up)"),
    key("g G", "to the start, to the end (also home, end)"),
    key("left right", "fold, unfold"),
    key("z", "fold all, or unfold all"),
    key("R", "look again at what is pending"),
    key("ctrl-l", "draw the screen anew"),
    key("ctrl-z", "stop, until fg"),
    key("ctrl-c", "quit; while typing, leave the line"),
];
