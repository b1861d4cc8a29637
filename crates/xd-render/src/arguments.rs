//! The arguments of a call while they stream: a push decoder of partial JSON.

use std::collections::HashMap;

use serde_json::Value;

use crate::text_decoder::TextDecoder;

/// The top-level fields of a JSON object whose bytes arrive in chunks of any size (cases 99, 101,
/// 103, 105).
///
/// It decodes for display: it never fails, and it never looks at a byte twice. What is broken ends
/// the decoding ([`Shape::Broken`]) and leaves the fields as they are.
///
/// **Invariant N3:** while bytes arrive, fields are only added and their texts only grow; the one
/// exception is a key that comes a second time, whose field starts again, because the last one is
/// what a tool will be given.
///
/// ```
/// let mut arguments = xd_render::Arguments::new();
/// arguments.push(br#"{"path": "xd://resolve", "content": "Renames eve"#);
/// assert!(arguments.field("path").unwrap().complete);
/// assert_eq!(arguments.field("content").unwrap().text, "Renames eve");
/// assert!(!arguments.field("content").unwrap().complete);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    fields: Vec<Stored>,
    index: HashMap<String, usize>,
    state: State,
    decoder: TextDecoder,
    key: String,
    steps: u64,
    events: u64,
}

/// One top-level field as far as it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The key.
    pub name: &'a str,
    /// The decoded text of a string; the source of any other value.
    pub text: &'a str,
    /// Whether the value is a string.
    pub is_string: bool,
    /// Whether the value is all there.
    pub complete: bool,
    /// How often the key has begun anew.
    pub repeats: u32,
}

/// What the bytes so far amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Nothing but white space yet.
    Empty,
    /// An object that goes on.
    Open,
    /// A whole object.
    Closed,
    /// A value that is no object: no tool takes it.
    NotAnObject,
    /// An object that stopped being JSON.
    Broken,
}

#[derive(Debug, Clone)]
struct Stored {
    name: String,
    text: String,
    is_string: bool,
    complete: bool,
    repeats: u32,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Start,
    BeforeKey,
    Key,
    Colon,
    BeforeValue,
    Text {
        field: usize,
    },
    Raw {
        field: usize,
        depth: u32,
        quoted: bool,
        escaped: bool,
    },
    AfterValue,
    Closed,
    NotAnObject,
    Broken,
}

impl Arguments {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The arguments of a call that has arrived whole.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let mut arguments = Self::new();
        // Providers answer null for "no arguments"; every shape is drawn from its bytes.
        arguments.push(value.to_string().as_bytes());
        arguments
    }

    /// Takes the next bytes. Cost: proportional to their number.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.steps += 1;
            self.step(*byte);
        }
    }

    /// The field called `name`, if its value has begun.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field<'_>> {
        self.index.get(name).map(|at| self.fields[*at].view())
    }

    /// The fields whose values have begun, in the order in which their keys came first.
    pub fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        self.fields.iter().map(Stored::view)
    }

    /// What the bytes so far amount to.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self.state {
            State::Start => Shape::Empty,
            State::BeforeKey
            | State::Key
            | State::Colon
            | State::BeforeValue
            | State::Text { .. }
            | State::Raw { .. }
            | State::AfterValue => Shape::Open,
            State::Closed => Shape::Closed,
            State::NotAnObject => Shape::NotAnObject,
            State::Broken => Shape::Broken,
        }
    }

    /// The work done so far: one step for each byte taken. For tests and for tuning.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many values have begun or ended. While this stays the same, one text has grown at most.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    fn step(&mut self, byte: u8) {
        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.state {
            State::Start if blank => {}
            State::Start if byte == b'{' => self.state = State::BeforeKey,
            State::Start => self.state = State::NotAnObject,
            State::BeforeKey => match byte {
                b'"' => {
                    self.key.clear();
                    self.decoder = TextDecoder::default();
                    self.state = State::Key;
                }
                b'}' => self.state = State::Closed,
                _ if blank => {}
                _ => self.state = State::Broken,
            },
            State::Key => {
                if self.decoder.push(byte, &mut self.key) {
                    self.state = State::Colon;
                }
            }
            State::Colon if blank => {}
            State::Colon if byte == b':' => self.state = State::BeforeValue,
            State::Colon => self.state = State::Broken,
            State::BeforeValue if blank => {}
            State::BeforeValue => self.begin(byte),
            State::Text { field } => {
                let stored = &mut self.fields[field];
                if self.decoder.push(byte, &mut stored.text) {
                    stored.complete = true;
                    self.events += 1;
                    self.state = State::AfterValue;
                }
            }
            State::Raw { field, depth, quoted, escaped } => {
                self.raw(byte, field, depth, quoted, escaped);
            }
            State::AfterValue => match byte {
                b',' => self.state = State::BeforeKey,
                b'}' => self.state = State::Closed,
                _ if blank => {}
                _ => self.state = State::Broken,
            },
            State::Closed | State::NotAnObject | State::Broken => {}
        }
    }

    /// The first byte of a value.
    fn begin(&mut self, byte: u8) {
        if matches!(byte, b',' | b'}' | b']' | b':') {
            self.state = State::Broken;
            return;
        }
        let is_string = byte == b'"';
        let field = self.store(is_string);
        self.decoder = TextDecoder::default();
        if is_string {
            self.state = State::Text { field };
        } else {
            self.raw(byte, field, 0, false, false);
        }
    }

    /// A place for the value of the current key.
    fn store(&mut self, is_string: bool) -> usize {
        self.events += 1;
        if let Some(at) = self.index.get(&self.key) {
            let stored = &mut self.fields[*at];
            stored.text.clear();
            stored.is_string = is_string;
            stored.complete = false;
            stored.repeats += 1;
            return *at;
        }
        let name = std::mem::take(&mut self.key);
        self.index.insert(name.clone(), self.fields.len());
        self.fields.push(Stored {
            name,
            text: String::new(),
            is_string,
            complete: false,
            repeats: 0,
        });
        self.fields.len() - 1
    }

    /// One byte of a value that is no string, in its source form.
    fn raw(&mut self, byte: u8, field: usize, depth: u32, quoted: bool, escaped: bool) {
        let (mut depth, mut quoted, mut escaped) = (depth, quoted, escaped);
        let stored = &mut self.fields[field];
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => depth += 1,
                // A number or a word ends with the first byte that is no part of it.
                b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => {
                    self.decoder.settle(&mut stored.text);
                    stored.complete = true;
                    self.events += 1;
                    self.state = State::AfterValue;
                    self.step(byte);
                    return;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.decoder.raw(byte, &mut stored.text);
                        self.decoder.settle(&mut stored.text);
                        stored.complete = true;
                        self.events += 1;
                        self.state = State::AfterValue;
                        return;
                    }
                }
                _ => {}
            }
        }
        self.decoder.raw(byte, &mut stored.text);
        self.state = State::Raw { field, depth, quoted, escaped };
    }
}

impl Stored {
    fn view(&self) -> Field<'_> {
        Field {
            name: &self.name,
            text: &self.text,
            is_string: self.is_string,
            complete: self.complete,
            repeats: self.repeats,
        }
    }
}
