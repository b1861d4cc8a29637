//! Arguments that fit a schema, for documents and errors.

use serde_json::{Map, Value, json};

use super::{ArgumentSchema, Kind, NodeId, Rule, check::fits};

/// How deep an example may be.
const MOST_DEEP: usize = 6;
/// How many ways through `anyOf` and `oneOf` are tried.
const MOST_WAYS: usize = 8;

/// Texts to try, the plainest first.
const TEXTS: [&str; 14] = [
    "…",
    "text",
    "a",
    "A",
    "1",
    "example.txt",
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "https://example.org/",
    "name@example.org",
    "123e4567-e89b-12d3-a456-426614174000",
    "1.0.0",
    "#000000",
    "/a",
];

/// The smallest object found that fits; none where nothing tried does.
pub(super) fn example(schema: &ArgumentSchema) -> Option<Value> {
    sample(schema, 0, 0).filter(Value::is_object)
}

fn sample(schema: &ArgumentSchema, id: NodeId, depth: usize) -> Option<Value> {
    if depth > MOST_DEEP {
        return None;
    }
    let fitting = |value: &Value| (depth > 0 || value.is_object()) && fits(schema, id, value);
    ways(schema, id).iter().find_map(|way| candidates(schema, way, depth).into_iter().find(fitting))
}

/// The sets of nodes that a value could have to fit, one for each choice among forms.
fn ways(schema: &ArgumentSchema, id: NodeId) -> Vec<Vec<NodeId>> {
    let mut done: Vec<Vec<NodeId>> = Vec::new();
    // Nodes of the way, and those of them still to be looked at.
    let mut open: Vec<(Vec<NodeId>, Vec<NodeId>)> = vec![(vec![id], vec![id])];
    while let Some((nodes, mut rest)) = open.pop() {
        let Some(next) = rest.pop() else {
            done.push(nodes);
            if done.len() == MOST_WAYS {
                break;
            }
            continue;
        };
        let mut grown = vec![(nodes, rest)];
        for rule in &schema.nodes[next].rules {
            match rule {
                Rule::AllOf(all) => {
                    for (nodes, rest) in &mut grown {
                        nodes.extend(all);
                        rest.extend(all);
                    }
                }
                Rule::AnyOf(forms) | Rule::OneOf(forms) => {
                    let before = std::mem::take(&mut grown);
                    for &form in forms.iter().take(MOST_WAYS) {
                        for (nodes, rest) in before.iter().take(MOST_WAYS) {
                            let (mut nodes, mut rest) = (nodes.clone(), rest.clone());
                            nodes.push(form);
                            rest.push(form);
                            grown.push((nodes, rest));
                        }
                    }
                }
                _ => {}
            }
        }
        // The first form is tried first.
        open.extend(grown.into_iter().rev());
        open.truncate(MOST_WAYS * MOST_WAYS);
    }
    done
}

fn candidates(schema: &ArgumentSchema, way: &[NodeId], depth: usize) -> Vec<Value> {
    let rules = || way.iter().flat_map(|&id| &schema.nodes[id].rules);
    let mut all: Vec<Value> = way.iter().flat_map(|&id| schema.nodes[id].hints.clone()).collect();
    let mut kinds = None;
    for rule in rules() {
        match rule {
            Rule::Const(value) => all.push(value.clone()),
            Rule::Enum(values) => all.extend(values.iter().take(TEXTS.len()).cloned()),
            Rule::Type(of) => kinds = kinds.or(Some(of.as_slice())),
            Rule::Required(_) | Rule::Properties(_) => kinds = kinds.or(Some(&[Kind::Object])),
            Rule::Items { .. } | Rule::Contains { .. } => kinds = kinds.or(Some(&[Kind::Array])),
            Rule::Minimum { .. } | Rule::Maximum { .. } => kinds = kinds.or(Some(&[Kind::Number])),
            _ => {}
        }
    }
    // Arguments are an object, whatever else the schema speaks of.
    let kinds = if depth == 0 { &[Kind::Object] } else { kinds.unwrap_or(&[Kind::String]) };
    for kind in kinds {
        match kind {
            Kind::Null => all.push(Value::Null),
            Kind::Boolean => all.extend([true.into(), false.into()]),
            Kind::Integer | Kind::Number => numbers(rules(), &mut all),
            Kind::String => texts(rules(), &mut all),
            Kind::Array => all.extend(array(schema, way, depth)),
            Kind::Object => all.extend(object(schema, way, depth)),
        }
    }
    all
}

fn numbers<'a>(rules: impl Iterator<Item = &'a Rule>, all: &mut Vec<Value>) {
    all.extend([json!(1), json!(0)]);
    for rule in rules {
        match rule {
            Rule::Minimum { limit, .. } | Rule::Maximum { limit, .. } => {
                let near = [0, 1, -1].map(|by| limit.as_i64().and_then(|n| n.checked_add(by)));
                all.extend(near.into_iter().flatten().map(Value::from));
                all.push(Value::Number(limit.clone()));
                all.extend(limit.as_f64().map(|limit| json!(limit + 0.5)));
                all.extend(limit.as_f64().map(|limit| json!(limit - 0.5)));
            }
            Rule::MultipleOf(of) => {
                all.push(Value::Number(of.clone()));
                // The first multiple beyond any lower limit met so far.
                let largest = all.iter().filter_map(Value::as_i64).max().unwrap_or(0);
                let of = of.as_i64().filter(|&of| of > 0);
                all.extend(of.and_then(|of| (largest / of + 1).checked_mul(of)).map(Value::from));
            }
            _ => {}
        }
    }
}

fn texts<'a>(rules: impl Iterator<Item = &'a Rule>, all: &mut Vec<Value>) {
    all.extend(TEXTS.map(Value::from));
    for rule in rules {
        if let Rule::Length { least, .. } = rule
            && let Ok(least @ 1..=200) = usize::try_from(*least)
        {
            all.extend(["x", "1"].map(|c| Value::from(c.repeat(least))));
        }
    }
}

fn array(schema: &ArgumentSchema, way: &[NodeId], depth: usize) -> Vec<Value> {
    let (mut prefix, mut item, mut least) = (Vec::new(), None, 1);
    for rule in way.iter().flat_map(|&id| &schema.nodes[id].rules) {
        match rule {
            Rule::Items { prefix: p, rest } => {
                prefix.extend(p.iter().filter_map(|&id| sample(schema, id, depth + 1)));
                item = item.or(*rest);
            }
            Rule::Contains { schema, .. } => item = item.or(Some(*schema)),
            Rule::Count { least: l, .. } => least = usize::try_from(*l).unwrap_or(0).min(16),
            _ => {}
        }
    }
    let item = item.map_or(Some("…".into()), |id| sample(schema, id, depth + 1));
    let mut items = prefix;
    while let Some(item) = item.as_ref().filter(|_| items.len() < least) {
        items.push(item.clone());
    }
    vec![Value::Array(items), Value::Array(Vec::new())]
}

fn object(schema: &ArgumentSchema, way: &[NodeId], depth: usize) -> Option<Value> {
    let rules = || way.iter().flat_map(|&id| &schema.nodes[id].rules);
    let mut map = Map::new();
    for rule in rules() {
        let Rule::Required(names) = rule else { continue };
        for name in names {
            let found = rules().find_map(|rule| match rule {
                Rule::Properties(p) => p.named.iter().find(|(n, _)| n == name).map(|(_, id)| *id),
                _ => None,
            });
            let value = match found {
                Some(id) => sample(schema, id, depth + 1)?,
                None => "…".into(),
            };
            map.entry(name.clone()).or_insert(value);
        }
    }
    Some(Value::Object(map))
}
