//! From a schema as JSON to nodes.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::{
    ArgumentSchema, Kind, Node, NodeId, Pattern, Properties, Rule, SchemaFault, SchemaFaultKind,
    mismatch::short, pattern,
};

/// How deep a schema may be.
const MOST_DEEP: usize = 100;
/// How many parts a schema may have.
const MOST_NODES: usize = 20_000;

/// Keywords that constrain and are not supported.
const UNSUPPORTED: [&str; 8] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
    "extends",
    "disallow",
    "divisibleBy",
    "propertyDependencies",
];

/// Compiles `schema` and checks that it can be checked.
pub(super) fn compile(schema: &Value) -> Result<ArgumentSchema, SchemaFault> {
    let mut compiler = Compiler { root: schema, nodes: Vec::new(), places: HashMap::new() };
    compiler.node(schema, String::new(), 0)?;
    let compiled = ArgumentSchema { nodes: compiler.nodes };
    if let Some(place) = endless(&compiled) {
        let at = compiler.places.iter().find(|&(_, &id)| id == place).map(|(at, _)| at.as_str());
        return Err(fault(at.unwrap_or_default(), SchemaFaultKind::Endless));
    }
    let never = compiled.nodes[0].rules.iter().any(|rule| match rule {
        Rule::Never => true,
        Rule::Type(kinds) => !kinds.contains(&Kind::Object),
        _ => false,
    });
    if never {
        return Err(fault("", SchemaFaultKind::NeverAnObject));
    }
    Ok(compiled)
}

struct Compiler<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    /// Where each node stands in the document.
    places: HashMap<String, NodeId>,
}

fn fault(at: &str, kind: SchemaFaultKind) -> SchemaFault {
    SchemaFault { at: format!("#{at}"), kind }
}

impl<'s> Compiler<'s> {
    fn node(&mut self, schema: &'s Value, at: String, depth: usize) -> Result<NodeId, SchemaFault> {
        if let Some(&id) = self.places.get(&at) {
            return Ok(id);
        }
        if depth > MOST_DEEP || self.nodes.len() >= MOST_NODES {
            return Err(fault(&at, SchemaFaultKind::TooLarge));
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.places.insert(at.clone(), id);
        let node = match schema {
            Value::Bool(true) => Node::default(),
            Value::Bool(false) => Node { rules: vec![Rule::Never], hints: Vec::new() },
            Value::Object(map) => Part { compiler: self, map, at: &at, depth }.compile()?,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(fault(&at, SchemaFaultKind::NotASchema));
            }
        };
        self.nodes[id] = node;
        Ok(id)
    }
}

/// One schema object while it is compiled.
struct Part<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    map: &'s Map<String, Value>,
    at: &'c str,
    depth: usize,
}

impl<'s> Part<'_, 's> {
    fn compile(mut self) -> Result<Node, SchemaFault> {
        for keyword in self.map.keys() {
            let nested_id = keyword == "$id" && !self.at.is_empty();
            if UNSUPPORTED.contains(&keyword.as_str()) && !self.is_true(keyword) || nested_id {
                return Err(self.fault(SchemaFaultKind::Unsupported { keyword: keyword.clone() }));
            }
        }
        let mut rules = Vec::new();
        self.values(&mut rules)?;
        self.numbers(&mut rules)?;
        self.sizes(&mut rules)?;
        self.arrays(&mut rules)?;
        self.objects(&mut rules)?;
        self.combined(&mut rules)?;
        let examples = self.map.get("examples").and_then(Value::as_array).into_iter().flatten();
        let hints = examples.chain(self.map.get("default")).cloned().collect();
        Ok(Node { rules, hints })
    }

    fn is_true(&self, keyword: &str) -> bool {
        self.map.get(keyword) == Some(&Value::Bool(true))
    }

    fn values(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        if let Some(types) = self.map.get("type") {
            let expected = "a type of JSON Schema, or a list of them";
            let names: Vec<&Value> = match types {
                Value::Array(names) if !names.is_empty() => names.iter().collect(),
                one => vec![one],
            };
            let kind =
                |name: &&Value| Kind::ALL.into_iter().find(|k| name.as_str() == Some(k.name()));
            let kinds: Option<Vec<Kind>> = names.iter().map(kind).collect();
            rules.push(Rule::Type(kinds.ok_or_else(|| self.malformed("type", expected))?));
        }
        if let Some(values) = self.array("enum", "a list of values")? {
            rules.push(Rule::Enum(values.clone()));
        }
        if let Some(value) = self.map.get("const") {
            rules.push(Rule::Const(value.clone()));
        }
        Ok(())
    }

    fn numbers(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        // An earlier draft has `exclusiveMinimum: true` beside `minimum`.
        let (below, above) = (self.is_true("exclusiveMinimum"), self.is_true("exclusiveMaximum"));
        if let Some(limit) = self.number("minimum")? {
            rules.push(Rule::Minimum { limit, exclusive: below });
        }
        if let Some(limit) = self.number("maximum")? {
            rules.push(Rule::Maximum { limit, exclusive: above });
        }
        if !self.is_bool("exclusiveMinimum")
            && let Some(limit) = self.number("exclusiveMinimum")?
        {
            rules.push(Rule::Minimum { limit, exclusive: true });
        }
        if !self.is_bool("exclusiveMaximum")
            && let Some(limit) = self.number("exclusiveMaximum")?
        {
            rules.push(Rule::Maximum { limit, exclusive: true });
        }
        if let Some(of) = self.number("multipleOf")? {
            if of.as_f64().is_none_or(|of| of <= 0.0) {
                return Err(self.malformed("multipleOf", "a number above 0"));
            }
            rules.push(Rule::MultipleOf(of));
        }
        Ok(())
    }

    fn sizes(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        if let Some((least, most)) = self.limits("minLength", "maxLength")? {
            rules.push(Rule::Length { least, most });
        }
        if let Some((least, most)) = self.limits("minItems", "maxItems")? {
            rules.push(Rule::Count { least, most });
        }
        if let Some((least, most)) = self.limits("minProperties", "maxProperties")? {
            rules.push(Rule::Size { least, most });
        }
        match self.map.get("pattern") {
            Some(Value::String(source)) => rules.push(Rule::Pattern(self.pattern(source)?)),
            Some(_) => return Err(self.malformed("pattern", "a string")),
            None => {}
        }
        match self.map.get("uniqueItems") {
            Some(Value::Bool(unique)) => rules.extend(unique.then_some(Rule::Unique)),
            Some(_) => return Err(self.malformed("uniqueItems", "true or false")),
            None => {}
        }
        Ok(())
    }

    fn arrays(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        // An earlier draft has a list under `items`, and the rest under `additionalItems`.
        let listed = matches!(self.map.get("items"), Some(Value::Array(_)));
        let (prefix, rest) =
            if listed { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let prefix = self.children(prefix)?;
        let rest = self.child(rest)?;
        if !prefix.is_empty() || rest.is_some() {
            rules.push(Rule::Items { prefix, rest });
        }
        if let Some(schema) = self.child("contains")? {
            let (least, most) = self.limits("minContains", "maxContains")?.unwrap_or((1, None));
            let least = if self.map.contains_key("minContains") { least } else { 1 };
            rules.push(Rule::Contains { schema, least, most });
        }
        Ok(())
    }

    fn objects(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        if let Some(required) = self.map.get("required") {
            let names = self.strings("required", required)?;
            rules.push(Rule::Required(names));
        }
        let named = self.children_by_name("properties")?;
        let mut patterns = Vec::new();
        for (source, id) in self.children_by_name("patternProperties")? {
            patterns.push((self.pattern(&source)?, id));
        }
        let others = self.child("additionalProperties")?;
        if !named.is_empty() || !patterns.is_empty() || others.is_some() {
            rules.push(Rule::Properties(Properties { named, patterns, others }));
        }
        if let Some(names) = self.child("propertyNames")? {
            rules.push(Rule::Names(names));
        }
        let mut schemas = self.children_by_name("dependentSchemas")?;
        let mut names = Vec::new();
        for keyword in ["dependentRequired", "dependencies"] {
            let Some(map) = self.object(keyword)? else { continue };
            for (name, needs) in map {
                if keyword == "dependencies" && !needs.is_array() {
                    let at = format!("{}/{keyword}/{}", self.at, token(name));
                    let id = self.compiler.node(needs, at, self.depth + 1)?;
                    schemas.push((name.clone(), id));
                } else {
                    names.push((name.clone(), self.strings(keyword, needs)?));
                }
            }
        }
        if !names.is_empty() {
            rules.push(Rule::DependentRequired(names));
        }
        if !schemas.is_empty() {
            rules.push(Rule::DependentSchemas(schemas));
        }
        Ok(())
    }

    fn combined(&mut self, rules: &mut Vec<Rule>) -> Result<(), SchemaFault> {
        if let Some(reference) = self.map.get("$ref") {
            let Some(reference) = reference.as_str() else {
                return Err(self.malformed("$ref", "a string"));
            };
            rules.push(Rule::AllOf(vec![self.follow(reference)?]));
        }
        for (keyword, rule) in [
            ("allOf", Rule::AllOf as fn(Vec<NodeId>) -> Rule),
            ("anyOf", Rule::AnyOf),
            ("oneOf", Rule::OneOf),
        ] {
            if self.map.contains_key(keyword) {
                let parts = self.children(keyword)?;
                if parts.is_empty() {
                    return Err(self.malformed(keyword, "a list of at least one schema"));
                }
                rules.push(rule(parts));
            }
        }
        if let Some(not) = self.child("not")? {
            rules.push(Rule::Not(not, short(&self.map["not"])));
        }
        if let Some(test) = self.child("if")? {
            let (then, otherwise) = (self.child("then")?, self.child("else")?);
            rules.push(Rule::If { test, then, otherwise });
        }
        Ok(())
    }

    /// A reference within the document.
    fn follow(&mut self, reference: &str) -> Result<NodeId, SchemaFault> {
        let lost = || SchemaFaultKind::Reference { reference: reference.to_owned() };
        let place = reference.strip_prefix('#').and_then(decoded);
        let place = place.ok_or_else(|| self.fault(lost()))?;
        let found = self.compiler.root.pointer(&place).ok_or_else(|| self.fault(lost()))?;
        self.compiler.node(found, place, self.depth + 1)
    }

    fn child(&mut self, keyword: &str) -> Result<Option<NodeId>, SchemaFault> {
        let Some(schema) = self.map.get(keyword) else { return Ok(None) };
        let at = format!("{}/{keyword}", self.at);
        self.compiler.node(schema, at, self.depth + 1).map(Some)
    }

    fn children(&mut self, keyword: &str) -> Result<Vec<NodeId>, SchemaFault> {
        let Some(schemas) = self.array(keyword, "a list of schemas")? else {
            return Ok(Vec::new());
        };
        let mut ids = Vec::with_capacity(schemas.len());
        for (i, schema) in schemas.iter().enumerate() {
            let at = format!("{}/{keyword}/{i}", self.at);
            ids.push(self.compiler.node(schema, at, self.depth + 1)?);
        }
        Ok(ids)
    }

    fn children_by_name(&mut self, keyword: &str) -> Result<Vec<(String, NodeId)>, SchemaFault> {
        let Some(schemas) = self.object(keyword)? else { return Ok(Vec::new()) };
        let mut ids = Vec::with_capacity(schemas.len());
        for (name, schema) in schemas {
            let at = format!("{}/{keyword}/{}", self.at, token(name));
            ids.push((name.clone(), self.compiler.node(schema, at, self.depth + 1)?));
        }
        Ok(ids)
    }

    fn array(
        &self,
        keyword: &str,
        expected: &'static str,
    ) -> Result<Option<&'s Vec<Value>>, SchemaFault> {
        match self.map.get(keyword) {
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(_) => Err(self.malformed(keyword, expected)),
            None => Ok(None),
        }
    }

    fn object(&self, keyword: &str) -> Result<Option<&'s Map<String, Value>>, SchemaFault> {
        match self.map.get(keyword) {
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(self.malformed(keyword, "an object")),
            None => Ok(None),
        }
    }

    fn strings(&self, keyword: &str, value: &Value) -> Result<Vec<String>, SchemaFault> {
        let strings = value.as_array().and_then(|values| {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        });
        strings.ok_or_else(|| self.malformed(keyword, "a list of property names"))
    }

    fn number(&self, keyword: &str) -> Result<Option<Number>, SchemaFault> {
        match self.map.get(keyword) {
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(self.malformed(keyword, "a number")),
            None => Ok(None),
        }
    }

    fn is_bool(&self, keyword: &str) -> bool {
        self.map.get(keyword).is_some_and(Value::is_boolean)
    }

    /// Two limits, where one of them is set.
    fn limits(&self, least: &str, most: &str) -> Result<Option<(u64, Option<u64>)>, SchemaFault> {
        let limit = |keyword: &str| match self.number(keyword)? {
            // 2.0 is an integer to JSON Schema.
            Some(number) => match number.as_u64().or_else(|| whole(&number)) {
                Some(limit) => Ok(Some(limit)),
                None => Err(self.malformed(keyword, "a whole number from 0")),
            },
            None => Ok(None),
        };
        let (least, most) = (limit(least)?, limit(most)?);
        Ok((least.is_some() || most.is_some()).then_some((least.unwrap_or(0), most)))
    }

    fn pattern(&self, source: &str) -> Result<Pattern, SchemaFault> {
        pattern::compile(source)
            .map_err(|why| self.fault(SchemaFaultKind::Pattern { pattern: source.to_owned(), why }))
    }

    fn malformed(&self, keyword: &str, expected: &'static str) -> SchemaFault {
        self.fault(SchemaFaultKind::Malformed { keyword: keyword.to_owned(), expected })
    }

    fn fault(&self, kind: SchemaFaultKind) -> SchemaFault {
        fault(self.at, kind)
    }
}

fn whole(number: &Number) -> Option<u64> {
    let float = number.as_f64().filter(|f| f.fract() == 0.0 && (0.0..1e15).contains(f))?;
    format!("{float:.0}").parse().ok()
}

/// A property's name as part of a JSON pointer.
fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A node that asks for itself of the same value.
fn endless(schema: &ArgumentSchema) -> Option<NodeId> {
    /// Of the depth-first search: not seen, on the way, done.
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; schema.nodes.len()];
    for start in 0..schema.nodes.len() {
        let mut stack = vec![(start, false)];
        while let Some((id, left)) = stack.pop() {
            if left {
                marks[id] = Mark::Done;
                continue;
            }
            match marks[id] {
                Mark::Done => continue,
                Mark::Open => return Some(id),
                Mark::New => marks[id] = Mark::Open,
            }
            stack.push((id, true));
            for next in schema.nodes[id].rules.iter().flat_map(Rule::in_place) {
                match marks[next] {
                    Mark::Open => return Some(next),
                    Mark::New => stack.push((next, false)),
                    Mark::Done => {}
                }
            }
        }
    }
    None
}
