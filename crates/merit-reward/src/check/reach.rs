//! Thresholds that decide nothing: gates, vetoes, tiers, stages and items whose condition can never, or must always, hold.

use super::advice::{Decided, Threshold};
use super::tree::{Tree, shown};
use super::{Severity, Warning, WarningKind};

/// Every threshold that decides nothing, and every part that can never be reached.
pub(crate) fn check(tree: &Tree<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for part in &tree.parts {
        let told = tree.told(part);
        found.extend(told.thresholds.iter().filter_map(|threshold| verdict(tree, threshold)));
        found.extend(
            told.never.into_iter().map(|(place, why, advice)| never_at_work(tree, place, why, advice)),
        );
    }
    found
}

fn verdict(tree: &Tree<'_>, threshold: &Threshold) -> Option<Warning> {
    let Threshold { at, range, bound, .. } = threshold;
    let (kind, what, lost) = match (threshold.decided()?, threshold.vetoes) {
        (Decided::Never, false) if threshold.lost_if_never.is_empty() => {
            (WarningKind::Unreachable, format!("{} can never pass", threshold.subject), String::new())
        }
        (Decided::Never, false) => {
            let lost = places(tree, &threshold.lost_if_never);
            let kind = if threshold.gate { WarningKind::NeverOpens } else { WarningKind::Unreachable };
            (kind, format!("{} can never pass", threshold.subject), format!(", so {lost} can never count"))
        }
        (Decided::Always, false) if threshold.lost_if_always.is_empty() => {
            (WarningKind::AlwaysOpen, format!("{} always passes", threshold.subject), String::new())
        }
        (Decided::Always, false) => {
            let lost = places(tree, &threshold.lost_if_always);
            (
                WarningKind::AlwaysOpen,
                format!("{} always passes", threshold.subject),
                format!(", so {lost} can never count"),
            )
        }
        (Decided::Never, true) => {
            (WarningKind::NeverVetoes, format!("{} can never fall", threshold.subject), String::new())
        }
        (Decided::Always, true) => {
            let lost = places(tree, &threshold.lost_if_always);
            (
                WarningKind::AlwaysVetoes,
                format!("{} always falls", threshold.subject),
                format!(", so {lost} can never count"),
            )
        }
    };
    Some(Warning {
        at: at.clone(),
        severity: Severity::Warning,
        kind,
        what: format!("{what}{lost}"),
        why: format!("what decides it can come to {}, and the condition is {bound}", shown(*range)),
        advice: "move the threshold inside that range, or remove the condition".to_owned(),
    })
}

/// `reward.then` (terms `a`, `b`) and so on, for a sentence.
fn places(tree: &Tree<'_>, places: &[String]) -> String {
    let text = |place: &String| match tree.terms_at(place) {
        terms if terms.is_empty() => format!("`{place}`"),
        terms => format!("`{place}` ({terms})"),
    };
    places.iter().map(text).collect::<Vec<String>>().join(" and ")
}

/// Parts whose turn never comes, whatever the episodes are.
fn never_at_work(tree: &Tree<'_>, place: String, why: String, advice: &str) -> Warning {
    Warning {
        severity: Severity::Warning,
        kind: WarningKind::Unreachable,
        what: format!("this part can never count; its terms: {}", tree.terms_at(&place)),
        at: place,
        why,
        advice: advice.to_owned(),
    }
}
