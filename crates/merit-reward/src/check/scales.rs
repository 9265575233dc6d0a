//! Parts that are added together and do not go together: one drowns another, one has no bounds, one grows with every turn.

use super::tree::{Part, Tree, shown};
use super::{Severity, Warning, WarningKind};

/// How many times the spread of one part may be that of another.
const MOST: f64 = 20.0;

pub(crate) fn check(tree: &Tree<'_>) -> Vec<Warning> {
    let mut found: Vec<Warning> = tree.parts.iter().filter_map(|part| farmable(tree, part)).collect();
    let farms: Vec<String> = found.iter().map(|warning| warning.at.clone()).collect();
    for part in &tree.parts {
        let added = tree.told(part).added;
        found.extend(mismatch(part.at, &added));
        found.extend(added.iter().filter_map(|(place, _)| unbounded(tree, place, added.len(), &farms)));
    }
    found
}

fn mismatch(at: &str, added: &[(String, f64)]) -> Option<Warning> {
    let moving = || added.iter().filter(|(_, width)| width.is_finite() && *width > 0.0);
    let (small, least) = moving().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (large, most) = moving().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if most / least <= MOST {
        return None;
    }
    Some(Warning {
        at: at.to_owned(),
        severity: Severity::Warning,
        kind: WarningKind::ScaleMismatch,
        what: format!("`{large}` drowns `{small}`"),
        why: format!(
            "one can move the whole by {most}, the other by {least}: {:.0} times less",
            most / least
        ),
        advice: "bring their weights nearer, or use `normalised-sum` or `lexicographic`".to_owned(),
    })
}

/// A part without bounds, by the doing of one of its terms, beside others.
fn unbounded(tree: &Tree<'_>, place: &str, beside: usize, farms: &[String]) -> Option<Warning> {
    let part = tree.part(place)?;
    let names = part.config.term_names();
    let own = |test: fn(crate::Range) -> bool| {
        let terms = tree.scorer.terms.iter().filter(|term| names.contains(&term.name));
        terms.filter(|term| test(term.weighted_range())).map(|term| format!("`{}`", term.name)).next()
    };
    let farmed = farms.iter().any(|farm| farm.starts_with(place));
    let up = own(|range| range.high == f64::INFINITY).filter(|_| part.range.high == f64::INFINITY && !farmed);
    let down = own(|range| range.low == f64::NEG_INFINITY).filter(|_| part.range.low == f64::NEG_INFINITY);
    let (severity, term, consequence) = match (up, down) {
        (Some(term), _) => (Severity::Warning, term, "enough of it buys everything else"),
        (None, Some(term)) => (Severity::Hint, term, "enough of it outweighs everything else"),
        (None, None) => return None,
    };
    (beside > 1).then(|| Warning {
        at: place.to_owned(),
        severity,
        kind: WarningKind::Unbounded,
        what: format!("{term} has no bound here: {consequence}"),
        why: format!("this part can come to {}", shown(part.range)),
        advice: "put it inside a `clip`".to_owned(),
    })
}

/// A sum over turns that nothing above it caps.
fn farmable(tree: &Tree<'_>, part: &Part<'_>) -> Option<Warning> {
    let inside = tree.part(&tree.told(part).farmed?)?.range;
    let capped = tree.parts.iter().any(|other| part.at.starts_with(other.at) && other.range.high.is_finite());
    if inside.high <= 0.0 || capped {
        return None;
    }
    Some(Warning {
        at: part.at.to_owned(),
        severity: Severity::Warning,
        kind: WarningKind::Farmable,
        what: "every further turn adds to this sum, so turns are farmed".to_owned(),
        why: format!("a turn can pay up to {}, and nothing caps their sum", inside.high),
        advice: "use `reduce = \"mean\"`, or put it inside a `clip`".to_owned(),
    })
}
