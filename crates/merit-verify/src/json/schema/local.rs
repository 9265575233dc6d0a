//! The rules of one subschema that a value can break on its own, its contents left aside.

use super::node::{Node, kind_of};
use super::validate::FailureKind;
use crate::json::canonical::{brief, clip, equal};
use crate::json::limits::{Budget, Exhausted};
use crate::json::number;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// The first rule of this subschema alone that `value` breaks, its contents left aside.
pub(crate) fn local_failure(
    node: &Node,
    value: &Value,
    budget: &mut Budget,
) -> Result<Option<(FailureKind, String)>, Exhausted> {
    if node.always == Some(false) {
        return Ok(Some((FailureKind::Value, "nothing is allowed here".to_owned())));
    }
    if let Some(kinds) = node.kinds.filter(|kinds| !kinds.accepts(value)) {
        let why = format!("{} where {} should be", kind_of(value), kinds.names());
        return Ok(Some((FailureKind::Type, why)));
    }
    if let Some(values) = &node.one_of_values {
        budget.spend(values.len() as u64)?;
        if !values.iter().any(|known| equal(known, value)) {
            let known: Vec<String> = values.iter().take(8).map(brief).collect();
            let why = format!("{} is none of {}", brief(value), known.join(", "));
            return Ok(Some((FailureKind::Value, why)));
        }
    }
    if let Some(constant) = node.constant.as_ref().filter(|constant| !equal(constant, value)) {
        return Ok(Some((FailureKind::Value, format!("{} is not {}", brief(value), brief(constant)))));
    }
    let why = match value {
        Value::Number(n) => number_failure(node, n),
        Value::String(text) => {
            budget.spend(text.len() as u64 / 16)?;
            string_failure(node, text)
        }
        Value::Array(items) => size_failure(items.len(), node.array.min, node.array.max, "elements"),
        Value::Object(map) => size_failure(map.len(), node.object.min, node.object.max, "keys"),
        Value::Null | Value::Bool(_) => None,
    };
    Ok(why.map(|why| (FailureKind::Value, why)))
}

fn number_failure(node: &Node, n: &Number) -> Option<String> {
    let rules = &node.number;
    let broken = |bound: &Option<Number>, wrong: &[Ordering]| {
        bound.as_ref().filter(|bound| wrong.contains(&number::compare(n, bound))).map(Number::to_string)
    };
    use Ordering::{Equal, Greater, Less};
    if let Some(bound) = broken(&rules.minimum, &[Less]) {
        return Some(format!("{n} is below {bound}"));
    }
    if let Some(bound) = broken(&rules.maximum, &[Greater]) {
        return Some(format!("{n} is above {bound}"));
    }
    if let Some(bound) = broken(&rules.above, &[Less, Equal]) {
        return Some(format!("{n} is not above {bound}"));
    }
    if let Some(bound) = broken(&rules.below, &[Greater, Equal]) {
        return Some(format!("{n} is not below {bound}"));
    }
    let step = rules.multiple_of.as_ref().filter(|step| !number::is_multiple(n, step))?;
    Some(format!("{n} is no multiple of {step}"))
}

fn string_failure(node: &Node, text: &str) -> Option<String> {
    let rules = &node.string;
    if (rules.min.is_some() || rules.max.is_some())
        && let Some(why) = size_failure(text.chars().count(), rules.min, rules.max, "characters")
    {
        return Some(why);
    }
    let pattern = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
    Some(format!("`{}` does not match `{pattern}`", clip(text)))
}

fn size_failure(len: usize, min: Option<u64>, max: Option<u64>, unit: &str) -> Option<String> {
    let len = len as u64;
    match (min, max) {
        (Some(min), _) if len < min => Some(format!("{len} {unit}, fewer than {min}")),
        (_, Some(max)) if len > max => Some(format!("{len} {unit}, more than {max}")),
        _ => None,
    }
}
