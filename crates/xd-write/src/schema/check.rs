//! Arguments against compiled nodes.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::{ArgumentSchema, Kind, Mismatch, NodeId, Properties, Rule};
use crate::nearest::nearest;

/// How many mismatches are told at once.
const MOST_TOLD: usize = 5;
/// How many forms of an `anyOf` are told.
const MOST_FORMS: usize = 4;
/// How many known properties are told.
const MOST_KNOWN: usize = 12;
/// How many comparisons one check may take: a schema can ask for exponentially many.
const MOST_STEPS: usize = 2_000_000;
/// How deep one check may go.
const MOST_DEEP: usize = 400;

/// What of `arguments` does not fit.
pub(super) fn check(schema: &ArgumentSchema, arguments: &Value) -> Vec<Mismatch> {
    let mut run = Run { schema, steps: 0, depth: 0 };
    let mut found = Vec::new();
    run.node(0, arguments, &Path::Root, &mut found);
    if run.is_spent() {
        return vec![Mismatch::without_found(
            "",
            "are too large or too deeply nested for their schema to be checked",
        )];
    }
    found
}

/// Whether `value` fits a node.
pub(super) fn fits(schema: &ArgumentSchema, id: NodeId, value: &Value) -> bool {
    let mut run = Run { schema, steps: 0, depth: 0 };
    run.fits(id, value) && !run.is_spent()
}

/// Where a value stands.
enum Path<'a> {
    Root,
    Property(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn text(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Item(parent, i) => format!("{}[{i}]", parent.text()),
            Self::Property(parent, name) => {
                let plain = !name.is_empty()
                    && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
                match (parent, plain) {
                    (Self::Root, true) => (*name).to_owned(),
                    (parent, true) => format!("{}.{name}", parent.text()),
                    (parent, false) => format!("{}[{name:?}]", parent.text()),
                }
            }
        }
    }
}

struct Run<'s> {
    schema: &'s ArgumentSchema,
    steps: usize,
    depth: usize,
}

impl<'s> Run<'s> {
    fn is_spent(&self) -> bool {
        self.steps > MOST_STEPS
    }

    fn fits(&mut self, id: NodeId, value: &Value) -> bool {
        let mut found = Vec::new();
        self.node(id, value, &Path::Root, &mut found);
        found.is_empty()
    }

    fn node(&mut self, id: NodeId, value: &Value, at: &Path<'_>, found: &mut Vec<Mismatch>) {
        self.depth += 1;
        if self.depth > MOST_DEEP {
            self.steps = MOST_STEPS + 1;
        }
        let before = found.len();
        let schema = self.schema;
        for rule in &schema.nodes[id].rules {
            self.steps += 1;
            if self.is_spent() || found.len() >= MOST_TOLD {
                break;
            }
            self.rule(rule, value, at, found);
            // What has another type altogether has nothing more to be told of it.
            if found.len() > before && matches!(rule, Rule::Never | Rule::Type(_)) {
                break;
            }
        }
        self.depth -= 1;
    }

    fn rule(&mut self, rule: &'s Rule, value: &Value, at: &Path<'_>, found: &mut Vec<Mismatch>) {
        match rule {
            Rule::AllOf(parts) => {
                for &part in parts {
                    self.node(part, value, at, found);
                }
            }
            Rule::AnyOf(forms) => self.any_of(forms, value, at, found),
            Rule::OneOf(forms) => self.one_of(forms, value, at, found),
            Rule::If { test, then, otherwise } => {
                let next = if self.fits(*test, value) { then } else { otherwise };
                if let Some(next) = next {
                    self.node(*next, value, at, found);
                }
            }
            Rule::Not(not, written) => {
                if self.fits(*not, value) {
                    let expected = format!("must not fit {written}");
                    found.push(Mismatch::new(at.text(), expected, value));
                }
            }
            Rule::Never
            | Rule::Type(_)
            | Rule::Enum(_)
            | Rule::Const(_)
            | Rule::Minimum { .. }
            | Rule::Maximum { .. }
            | Rule::MultipleOf(_)
            | Rule::Length { .. }
            | Rule::Pattern(_)
            | Rule::Count { .. }
            | Rule::Size { .. } => {
                if let Some(expected) = expected(rule, value) {
                    found.push(Mismatch::new(at.text(), expected, value));
                }
            }
            Rule::Items { .. } | Rule::Unique | Rule::Contains { .. } => {
                if let Value::Array(items) = value {
                    self.array(rule, items, at, found);
                }
            }
            Rule::Properties(_)
            | Rule::Required(_)
            | Rule::Names(_)
            | Rule::DependentRequired(_)
            | Rule::DependentSchemas(_) => {
                if let Value::Object(map) = value {
                    self.object(rule, (value, map), at, found);
                }
            }
        }
    }

    /// The forms that fit, and what does not fit of the others.
    fn forms(
        &mut self,
        forms: &[NodeId],
        value: &Value,
        at: &Path<'_>,
    ) -> (Vec<usize>, Vec<String>) {
        let (mut fitting, mut others) = (Vec::new(), Vec::new());
        for (i, &form) in forms.iter().enumerate() {
            let mut found = Vec::new();
            self.node(form, value, at, &mut found);
            match found.first() {
                None => fitting.push(i + 1),
                Some(first) => others.push(format!("({}) {first}", i + 1)),
            }
        }
        (fitting, others)
    }

    fn any_of(
        &mut self,
        forms: &[NodeId],
        value: &Value,
        at: &Path<'_>,
        found: &mut Vec<Mismatch>,
    ) {
        // Most calls fit; telling why others do not is for those that fit none.
        if forms.iter().any(|&form| self.fits(form, value)) {
            return;
        }
        let (_, others) = self.forms(forms, value, at);
        found.push(no_form(forms.len(), &others, value, at));
    }

    fn one_of(
        &mut self,
        forms: &[NodeId],
        value: &Value,
        at: &Path<'_>,
        found: &mut Vec<Mismatch>,
    ) {
        match self.forms(forms, value, at) {
            (fitting, _) if fitting.len() == 1 => {}
            (fitting, others) if fitting.is_empty() => {
                found.push(no_form(forms.len(), &others, value, at));
            }
            (fitting, _) => {
                let fitting: Vec<String> = fitting.iter().map(usize::to_string).collect();
                let expected = format!(
                    "must fit exactly one of {} forms, but fits {}",
                    forms.len(),
                    fitting.join(" and ")
                );
                found.push(Mismatch::new(at.text(), expected, value));
            }
        }
    }

    fn array(&mut self, rule: &'s Rule, items: &[Value], at: &Path<'_>, found: &mut Vec<Mismatch>) {
        match rule {
            Rule::Items { prefix, rest } => {
                for (i, item) in items.iter().enumerate() {
                    let Some(id) = prefix.get(i).or(rest.as_ref()) else { break };
                    self.node(*id, item, &Path::Item(at, i), found);
                    if found.len() >= MOST_TOLD || self.is_spent() {
                        break;
                    }
                }
            }
            Rule::Unique => {
                for (i, item) in items.iter().enumerate() {
                    self.steps += i;
                    if self.is_spent() {
                        return;
                    }
                    if let Some(first) = items[..i].iter().position(|other| same(other, item)) {
                        let expected =
                            format!("must hold no value twice; items {first} and {i} are equal");
                        found.push(Mismatch::without_found(at.text(), expected));
                        return;
                    }
                }
            }
            Rule::Contains { schema, least, most } => {
                let fitting = items.iter().filter(|item| self.fits(*schema, item)).count() as u64;
                if fitting < *least || most.is_some_and(|most| fitting > most) {
                    let expected = format!(
                        "must hold {} of the items that its schema's `contains` describes, but holds \
                         {fitting}",
                        amount(*least, *most)
                    );
                    found.push(Mismatch::without_found(at.text(), expected));
                }
            }
            // Other rules say nothing of items.
            _ => {}
        }
    }

    fn object(
        &mut self,
        rule: &'s Rule,
        (value, map): (&Value, &Map<String, Value>),
        at: &Path<'_>,
        found: &mut Vec<Mismatch>,
    ) {
        match rule {
            Rule::Required(names) => {
                for name in names.iter().filter(|name| !map.contains_key(*name)) {
                    let expected = format!("must have the property `{name}`");
                    found.push(Mismatch::without_found(at.text(), expected));
                }
            }
            Rule::DependentRequired(needs) => {
                for (name, needed) in needs.iter().filter(|(name, _)| map.contains_key(name)) {
                    for needed in needed.iter().filter(|needed| !map.contains_key(*needed)) {
                        let expected = format!("must have the property `{needed}` beside `{name}`");
                        found.push(Mismatch::without_found(at.text(), expected));
                    }
                }
            }
            Rule::DependentSchemas(needs) => {
                for (name, id) in needs {
                    if map.contains_key(name) {
                        self.node(*id, value, at, found);
                    }
                }
            }
            Rule::Names(id) => {
                for name in map.keys() {
                    let mut inner = Vec::new();
                    self.node(*id, &Value::String(name.clone()), &Path::Root, &mut inner);
                    if let Some(first) = inner.first() {
                        let expected = format!("has a name that {}", first.expected);
                        found.push(Mismatch::without_found(
                            Path::Property(at, name).text(),
                            expected,
                        ));
                    }
                }
            }
            Rule::Properties(properties) => self.properties(properties, map, at, found),
            // Other rules say nothing of properties.
            _ => {}
        }
    }

    fn properties(
        &mut self,
        properties: &Properties,
        map: &Map<String, Value>,
        at: &Path<'_>,
        found: &mut Vec<Mismatch>,
    ) {
        for (name, value) in map {
            if found.len() >= MOST_TOLD || self.is_spent() {
                return;
            }
            let here = Path::Property(at, name);
            let mut known = false;
            if let Some((_, id)) = properties.named.iter().find(|(n, _)| n == name) {
                known = true;
                self.node(*id, value, &here, found);
            }
            for (pattern, id) in &properties.patterns {
                if pattern.regex.is_match(name) {
                    known = true;
                    self.node(*id, value, &here, found);
                }
            }
            match properties.others {
                Some(others) if !known => {
                    if self.is_never(others) {
                        let expected = unknown(name, properties);
                        found.push(Mismatch::without_found(here.text(), expected));
                    } else {
                        self.node(others, value, &here, found);
                    }
                }
                Some(_) | None => {}
            }
        }
    }

    fn is_never(&self, id: NodeId) -> bool {
        matches!(self.schema.nodes[id].rules.as_slice(), [Rule::Never])
    }
}

/// What `rule` expects of a value that does not fit it; none where it fits.
fn expected(rule: &Rule, value: &Value) -> Option<String> {
    match (rule, value) {
        (Rule::Never, _) => Some("must not be there".to_owned()),
        (Rule::Type(kinds), _) => {
            let fits = kinds.iter().any(|&kind| is(value, kind));
            (!fits).then(|| {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                format!("must be of type {}", names.join(" or "))
            })
        }
        (Rule::Enum(values), _) => {
            let fits = values.iter().any(|other| same(other, value));
            (!fits).then(|| {
                let shown: Vec<String> = values.iter().take(24).map(Value::to_string).collect();
                let more = match values.len().saturating_sub(24) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                format!("must be one of {}{more}", shown.join(", "))
            })
        }
        (Rule::Const(constant), _) => {
            (!same(constant, value)).then(|| format!("must be {constant}"))
        }
        (Rule::Minimum { limit, exclusive }, Value::Number(number)) => {
            let order = compare(number, limit);
            let fits = order.is_gt() || (order.is_eq() && !exclusive);
            let words = if *exclusive { "more than" } else { "at least" };
            (!fits).then(|| format!("must be {words} {limit}"))
        }
        (Rule::Maximum { limit, exclusive }, Value::Number(number)) => {
            let order = compare(number, limit);
            let fits = order.is_lt() || (order.is_eq() && !exclusive);
            let words = if *exclusive { "less than" } else { "at most" };
            (!fits).then(|| format!("must be {words} {limit}"))
        }
        (Rule::MultipleOf(of), Value::Number(number)) => {
            (!is_multiple(number, of)).then(|| format!("must be a multiple of {of}"))
        }
        (Rule::Length { least, most }, Value::String(text)) => {
            let length = text.chars().count() as u64;
            outside(length, *least, *most)
                .then(|| format!("must have {} characters, not {length}", amount(*least, *most)))
        }
        (Rule::Pattern(pattern), Value::String(text)) => (!pattern.regex.is_match(text))
            .then(|| format!("must match the pattern {}", pattern.source)),
        (Rule::Count { least, most }, Value::Array(items)) => {
            let count = items.len() as u64;
            outside(count, *least, *most)
                .then(|| format!("must have {} items, not {count}", amount(*least, *most)))
        }
        (Rule::Size { least, most }, Value::Object(map)) => {
            let count = map.len() as u64;
            outside(count, *least, *most)
                .then(|| format!("must have {} properties, not {count}", amount(*least, *most)))
        }
        // A limit of another type's values does not concern this one.
        (_, _) => None,
    }
}

fn outside(count: u64, least: u64, most: Option<u64>) -> bool {
    count < least || most.is_some_and(|most| count > most)
}

fn amount(least: u64, most: Option<u64>) -> String {
    match (least, most) {
        (0, Some(most)) => format!("at most {most}"),
        (least, None) => format!("at least {least}"),
        (least, Some(most)) if least == most => format!("exactly {least}"),
        (least, Some(most)) => format!("{least} to {most}"),
    }
}

fn no_form(all: usize, others: &[String], value: &Value, at: &Path<'_>) -> Mismatch {
    let mut expected = format!("must fit one of {all} forms: ");
    expected.push_str(&others[..others.len().min(MOST_FORMS)].join("; "));
    if others.len() > MOST_FORMS {
        // Writing to a string cannot fail.
        let _ = write!(expected, "; and {} more", others.len() - MOST_FORMS);
    }
    Mismatch::new(at.text(), expected, value)
}

fn unknown(name: &str, properties: &Properties) -> String {
    let mut words = "is not a known property".to_owned();
    let known = || properties.named.iter().map(|(name, _)| name.as_str());
    if let Some(near) = nearest(name, known()) {
        let _ = write!(words, " (did you mean `{near}`?)");
    } else if !properties.named.is_empty() {
        let names: Vec<&str> = known().take(MOST_KNOWN).collect();
        let more = if properties.named.len() > MOST_KNOWN { ", …" } else { "" };
        let _ = write!(words, " (known: {}{more})", names.join(", "));
    }
    words
}

fn is(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Null => value.is_null(),
        Kind::Boolean => value.is_boolean(),
        Kind::Number => value.is_number(),
        Kind::String => value.is_string(),
        Kind::Array => value.is_array(),
        Kind::Object => value.is_object(),
        Kind::Integer => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0)
        }
    }
}

/// Equality of JSON Schema: 1 and 1.0 are the same.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn compare(a: &Number, b: &Number) -> std::cmp::Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Every number of JSON is a finite float; a zero is one number, whatever its sign.
        (_, _) => float(a).total_cmp(&float(b)),
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(0.0) + 0.0
}

fn is_multiple(number: &Number, of: &Number) -> bool {
    match (integer(number), integer(of)) {
        (Some(number), Some(of)) => number % of == 0,
        (_, _) => {
            let times = number.as_f64().unwrap_or(0.0) / of.as_f64().unwrap_or(1.0);
            // 0.3 is a multiple of 0.1 to whoever wrote the schema.
            (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
        }
    }
}
