//! Patterns inside rules: read as ast-grep reads them, refused where that reading is broken.
//!
//! A text that parses alone means what it means there. One that does not (a class member, a match
//! arm) is read in the first of the language's contexts that fits, as the pattern of an operation
//! is; ast-grep's users write `context` and `selector` for these, and still may.

use ast_grep_core::Pattern;
use ast_grep_core::matcher::PatternNode;
use serde_json::{Value, json};

use crate::language::Lang;
use crate::pattern::{
    LONGEST, PatternError, is_placeholder, pattern_in_context, same, syntax_error,
};
use crate::tree::{Tree, Walk, walk};

/// A pattern as ast-grep-config is to read it, with what it is.
pub(crate) struct Reading {
    /// The tree of the pattern.
    pub(crate) node: PatternNode,
    /// What stands in the rule for it, where that differs from what was written.
    pub(crate) replacement: Option<Value>,
}

/// Reads the plain form, `pattern: foo($A)`.
///
/// # Errors
/// See [`PatternError`]; a syntax error is told for the text alone.
pub(crate) fn read(lang: Lang, text: &str) -> Result<Reading, PatternError> {
    let source = bounded(text)?;
    let alone = match alone(lang, source) {
        Ok(node) => return Ok(Reading { node, replacement: None }),
        Err(error) => error,
    };
    for (before, after) in lang.contexts().iter().copied().flatten() {
        if before.is_empty() && after.is_empty() {
            continue;
        }
        let Ok(Some(pattern)) = pattern_in_context(lang, source, before, after) else { continue };
        let kind = match &pattern.node {
            PatternNode::MetaVar { .. } => continue,
            PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => {
                *kind_id
            }
        };
        let grammar = ast_grep_core::tree_sitter::LanguageExt::get_ts_language(&lang.grammar());
        let Some(selector) = grammar.node_kind_for_id(kind) else { continue };
        // The selector takes the first node of its kind, which need not be the pattern itself.
        let context = format!("{before}{source}{after}");
        let chosen = Pattern::contextual(&context, selector, lang.grammar());
        if chosen.is_ok_and(|chosen| same(&chosen.node, &pattern.node)) {
            let replacement = json!({ "context": context, "selector": selector });
            return Ok(Reading { node: pattern.node, replacement: Some(replacement) });
        }
    }
    Err(alone)
}

/// Reads the object form, `pattern: {context: …, selector: …}`.
///
/// # Errors
/// See [`PatternError`]. That the selector names no kind, or finds nothing, is left to the caller.
pub(crate) fn read_in(
    lang: Lang,
    context: &str,
    selector: Option<&str>,
) -> Result<Option<PatternNode>, PatternError> {
    let source = bounded(context)?;
    let Some(selector) = selector else { return alone(lang, source).map(Some) };
    let own = lang.grammar().pre_process(source);
    let tree = Tree::parse(&own, lang).map_err(|_| PatternError::SeveralNodes)?;
    let mut range = None;
    walk(tree.cursor(), |node, _| {
        if node.kind() == selector && node.is_named() {
            range = Some(node.byte_range());
            return Walk::Stop;
        }
        Walk::Into
    });
    let Some(range) = range else { return Ok(None) };
    let fault = tree.first_error_but(|node| {
        is_placeholder(node, &own, own.len(), lang)
            || node.start_byte() >= range.end
            || node.end_byte() <= range.start
    });
    if let Some(at) = fault
        && range.contains(&at)
    {
        return Err(syntax_error(source, &own, at));
    }
    Ok(Pattern::contextual(source, selector, lang.grammar()).ok().map(|pattern| pattern.node))
}

fn bounded(text: &str) -> Result<&str, PatternError> {
    if text.len() > LONGEST {
        let what = format!("{} bytes, {LONGEST} are allowed", text.len());
        return Err(PatternError::TooLarge { what });
    }
    Ok(text)
}

/// The pattern of a text that parses by itself.
fn alone(lang: Lang, source: &str) -> Result<PatternNode, PatternError> {
    let own = lang.grammar().pre_process(source);
    let tree = Tree::parse(&own, lang).map_err(|_| PatternError::SeveralNodes)?;
    let fault = tree.first_error_but(|node| is_placeholder(node, &own, own.len(), lang));
    if let Some(at) = fault {
        return Err(syntax_error(source, &own, at));
    }
    Pattern::try_new(source, lang.grammar())
        .map(|pattern| pattern.node)
        .map_err(|_| PatternError::SeveralNodes)
}

/// What a language makes of a pattern's text before it parses it.
trait PreProcess {
    fn pre_process(&self, source: &str) -> String;
}

impl PreProcess for ast_grep_language::SupportLang {
    fn pre_process(&self, source: &str) -> String {
        ast_grep_core::Language::pre_process_pattern(self, source).into_owned()
    }
}
