//! Terms that can never matter: parts that come to one value whatever their terms say, and terms that nothing looks at.

use super::tree::{Part, Tree, shown};
use super::{Severity, Warning, WarningKind};
use crate::RewardConfig;
use serde_json::Value;

/// Every part that is flat, and every idle term.
pub(crate) fn check(tree: &Tree<'_>) -> Vec<Warning> {
    let flat: Vec<Warning> = tree.parts.iter().filter_map(|part| flat(tree, part)).collect();
    let idle = tree.parts.iter().filter_map(|part| idle(tree, part));
    // A term of weight 0 in a product was the finding already.
    let idle = idle.filter(|warning| {
        let above = warning.at.rsplit_once('.').map_or("", |(above, _)| above);
        !flat.iter().any(|flat| flat.at == above)
    });
    let idle: Vec<Warning> = idle.collect();
    flat.into_iter().chain(idle).collect()
}

/// The innermost part that loses what its parts say.
fn flat(tree: &Tree<'_>, part: &Part<'_>) -> Option<Warning> {
    let children = below(tree, part.at);
    let moving = children.iter().any(|child| child.range.width() > 0.0);
    let zero = children.iter().find(|child| child.range.low == 0.0 && child.range.high == 0.0);
    let told = tree.told(part);
    let why = match zero {
        Some(zero) if moving && told.multiplies => {
            format!("`{}` is always 0, and everything else is multiplied by it", zero.at)
        }
        _ if told.transparent => return None,
        _ if moving && part.range.width() == 0.0 => {
            let ranges: Vec<String> = children.iter().map(|child| shown(child.range)).collect();
            format!("it is {}, while what is inside can come to {}", shown(part.range), ranges.join(" and "))
        }
        _ => return None,
    };
    Some(Warning {
        at: part.at.to_owned(),
        severity: Severity::Warning,
        kind: WarningKind::Flat,
        what: format!("this part loses everything its terms say: {}", tree.terms_at(part.at)),
        why,
        advice: "widen its bounds, give it a factor other than 0, or remove it".to_owned(),
    })
}

/// The parts one level below.
fn below<'t, 'a>(tree: &'t Tree<'a>, at: &str) -> Vec<&'t Part<'a>> {
    let Some(part) = tree.part(at) else { return Vec::new() };
    let inside = part.config.children();
    tree.parts.iter().filter(|other| inside.iter().any(|child| std::ptr::eq(*child, other.config))).collect()
}

fn idle(tree: &Tree<'_>, part: &Part<'_>) -> Option<Warning> {
    let name = part.config.term_name()?;
    let term = tree.scorer.terms.iter().find(|term| term.name == name)?;
    if term.weight != 0.0 || referred_to(tree, &name) || tells_solved(tree, &name) {
        return None;
    }
    Some(Warning {
        at: part.at.to_owned(),
        severity: Severity::Hint,
        kind: WarningKind::IdleTerm,
        what: format!("term `{name}` is reported and never paid"),
        why: "its weight is 0, and no condition looks at it".to_owned(),
        advice: "give it a weight, or leave it if it is only to be watched".to_owned(),
    })
}

/// Whether some setting other than a `name` names the term.
fn referred_to(tree: &Tree<'_>, name: &str) -> bool {
    fn says(value: &Value, name: &str) -> bool {
        match value {
            Value::String(text) => text == name,
            Value::Array(list) => list.iter().any(|value| says(value, name)),
            Value::Object(map) => {
                map.iter().any(|(key, value)| key != "name" && key != "type" && says(value, name))
            }
            _ => false,
        }
    }
    serde_json::to_value(tree.config).is_ok_and(|config| says(&config, name))
}

/// Without `solved-by` the first term that says of itself that it tells does.
fn tells_solved(tree: &Tree<'_>, name: &str) -> bool {
    match tree.parts.iter().find_map(|part| tree.told(part).solved_by) {
        Some(term) => term == name,
        None => telling_term(tree.config).as_deref() == Some(name),
    }
}

/// The first term whose full value says that the task was solved.
pub(crate) fn telling_term(config: &RewardConfig) -> Option<String> {
    let own = config.term_name().filter(|_| config.tells_solved());
    own.or_else(|| config.children().into_iter().find_map(telling_term))
}
