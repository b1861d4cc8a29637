//! What a node of a syntax tree is, by its name and place.
//!
//! Grammars agree on much without having agreed: a comment's name holds `comment`, a word of the
//! language is a node without a name of its own, a called function stands in the field `function`.
//! So one list of habits serves all grammars, also those that come; where a grammar has another
//! habit, its code has less colour and nothing is wrong.

use tree_sitter::Node;
use xd_render::Syntax;

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place<'t> {
    /// The kind of the node around it.
    pub(crate) parent: &'t str,
    /// Its field there.
    pub(crate) field: Option<&'t str>,
    /// The field of the node around it.
    pub(crate) outer_field: Option<&'t str>,
    /// The kind of the node around that.
    pub(crate) outer: &'t str,
}

/// What all of a node is, before what is in it is looked at; none where that says all.
pub(crate) fn of_node(node: Node<'_>, place: Place<'_>) -> Option<Syntax> {
    if !node.is_named() {
        return None;
    }
    let kind = node.kind();
    if kind.contains("comment") {
        return Some(Syntax::Comment);
    }
    if is_text(kind) {
        return Some(if is_key(place) { Syntax::Property } else { Syntax::String });
    }
    if matches!(kind, "predefined_type" | "primitive_type" | "builtin_type" | "integral_type") {
        return Some(Syntax::Type);
    }
    if kind.starts_with("atx_heading") || kind.starts_with("setext_heading") {
        return Some(Syntax::Keyword);
    }
    None
}

/// Whether a node in text is code again: `${…}`, `#{…}`, `{…}`.
pub(crate) fn is_code_in_text(kind: &str) -> bool {
    ["interpolation", "substitution", "expansion", "embedded"]
        .iter()
        .any(|part| kind.contains(part))
        || kind == "interpolated_expression"
}

/// What a leaf is; none where it is nothing in particular.
pub(crate) fn of_leaf(node: Node<'_>, place: Place<'_>, text: &str) -> Option<Syntax> {
    let kind = node.kind();
    if !node.is_named() {
        return of_word(text);
    }
    if is_value(kind) {
        return Some(Syntax::Constant);
    }
    if matches!(
        kind,
        "self" | "this" | "super" | "crate" | "mutable_specifier" | "visibility_modifier"
    ) || kind.ends_with("_modifier")
        || kind == "storage_class_specifier"
        || kind == "type_qualifier"
        || kind == "tag_name"
    {
        return Some(Syntax::Keyword);
    }
    if matches!(kind, "escape_sequence" | "lifetime" | "label" | "color_value" | "plain_value") {
        return Some(Syntax::Constant);
    }
    if is_called(place) || is_name_of(place, &["function", "method", "macro_definition"]) {
        return Some(Syntax::Function);
    }
    if is_type(kind)
        || is_name_of(place, &["class", "struct", "enum", "interface", "trait", "type", "object"])
    {
        return Some(Syntax::Type);
    }
    let property = kind.contains("property") || kind.contains("field") || kind == "attribute_name";
    (property || is_key(place)).then_some(Syntax::Property)
}

/// A node without a name of its own is a word of the language or a sign.
fn of_word(text: &str) -> Option<Syntax> {
    let word = text.trim_start_matches(['#', '@']);
    if !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '_') {
        return Some(Syntax::Keyword);
    }
    let sign = !text.is_empty() && text.chars().all(|c| c.is_ascii_punctuation());
    sign.then_some(Syntax::Punctuation)
}

fn is_text(kind: &str) -> bool {
    let named = ["string", "heredoc", "template_literal", "regex", "char_literal"]
        .iter()
        .any(|part| kind.contains(part));
    // Wrappers of types and of lists of texts have the word in their names and are none.
    let other = ["type", "concatenated", "strings"].iter().any(|part| kind.contains(part));
    named && !other
        || matches!(
            kind,
            "character"
                | "rune_literal"
                | "code_span"
                | "fenced_code_block"
                | "attribute_value"
                | "quoted_attribute_value"
                | "double_quote_scalar"
                | "single_quote_scalar"
                | "block_scalar"
        )
}

fn is_value(kind: &str) -> bool {
    let number = ["integer", "float", "number", "numeric", "decimal", "boolean"];
    let number = number.iter().any(|part| kind.contains(part)) && !is_type(kind);
    number
        || matches!(kind, "true" | "false" | "null" | "none" | "nil" | "undefined" | "null_literal")
}

fn is_type(kind: &str) -> bool {
    kind.contains("type") && !kind.contains("typeof")
        || matches!(kind, "class_name" | "constant" | "module" | "class_identifier")
}

/// Whether what stands here is called: the function of a call, or the last part of its path.
fn is_called(place: Place<'_>) -> bool {
    let call = |kind: &str| {
        ["call", "invocation", "macro_invocation"].iter().any(|part| kind.contains(part))
    };
    let callee = |field| matches!(field, Some("function" | "name" | "method" | "macro" | "target"));
    if call(place.parent) && callee(place.field) {
        return true;
    }
    let path = ["member", "field", "attribute", "selector", "scoped", "property", "navigation"];
    let last = matches!(
        place.field,
        Some("property" | "field" | "attribute" | "name" | "method" | "suffix")
    );
    last && path.iter().any(|part| place.parent.contains(part))
        && call(place.outer)
        && callee(place.outer_field)
}

/// Whether what stands here is the name of a definition of one of these kinds.
fn is_name_of(place: Place<'_>, kinds: &[&str]) -> bool {
    matches!(place.field, Some("name" | "declarator"))
        && kinds.iter().any(|kind| place.parent.contains(kind))
}

fn is_key(place: Place<'_>) -> bool {
    place.field == Some("key") || place.outer_field == Some("key") && place.parent != "pair"
}
