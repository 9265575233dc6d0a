//! Thresholds that decide nothing: gates, vetoes, tiers, stages and items whose condition can never, or must always, hold.

use super::decided::{Decided, Threshold};
use super::tree::{Tree, shown};
use super::{FindingKind, Severity, Warning};
use crate::{RewardConfig, StagedBy, TaskFact};

/// Every threshold that decides nothing, and every part that can never be reached.
pub(crate) fn check(tree: &Tree<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for part in &tree.parts {
        for threshold in Threshold::of(tree, part) {
            found.extend(verdict(tree, &threshold));
        }
        found.extend(never_at_work(tree, part.at, part.config));
    }
    found
}

fn verdict(tree: &Tree<'_>, threshold: &Threshold) -> Option<Warning> {
    let Threshold { at, range, condition, .. } = threshold;
    let (kind, what, lost) = match (threshold.decided()?, threshold.vetoes) {
        (Decided::Never, false) if threshold.lost_if_never.is_empty() => {
            (FindingKind::Unreachable, format!("{} can never pass", threshold.subject), String::new())
        }
        (Decided::Never, false) => {
            let lost = places(tree, &threshold.lost_if_never);
            let kind = if threshold.gate { FindingKind::NeverOpens } else { FindingKind::Unreachable };
            (kind, format!("{} can never pass", threshold.subject), format!(", so {lost} can never count"))
        }
        (Decided::Always, false) if threshold.lost_if_always.is_empty() => {
            (FindingKind::AlwaysOpen, format!("{} always passes", threshold.subject), String::new())
        }
        (Decided::Always, false) => {
            let lost = places(tree, &threshold.lost_if_always);
            (
                FindingKind::AlwaysOpen,
                format!("{} always passes", threshold.subject),
                format!(", so {lost} can never count"),
            )
        }
        (Decided::Never, true) => {
            (FindingKind::NeverVetoes, format!("{} can never fall", threshold.subject), String::new())
        }
        (Decided::Always, true) => {
            let lost = places(tree, &threshold.lost_if_always);
            (
                FindingKind::AlwaysVetoes,
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
        why: format!("what decides it can come to {}, and the condition is {condition}", shown(*range)),
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
fn never_at_work(tree: &Tree<'_>, at: &str, config: &RewardConfig) -> Option<Warning> {
    let (place, why, advice) = match config {
        RewardConfig::Staged(staged)
            if staged.by == StagedBy::Step && staged.stages.first()?.until_step == Some(0) =>
        {
            ("stages[0].of", "it is over at step 0, the first".to_owned(), "let it end later, or remove it")
        }
        RewardConfig::Blend(blend) if blend.share.from == 0.0 && blend.share.to == 0.0 => {
            ("of", "its share is 0 at every step".to_owned(), "give it a share, or remove it")
        }
        RewardConfig::Blend(blend) if blend.share.from == 1.0 && blend.share.to == 1.0 => (
            "with",
            "the other part has all of the share at every step".to_owned(),
            "give it a share, or remove it",
        ),
        RewardConfig::Router(router)
            if router.by == TaskFact::Split && router.routes.len() == 2 && router.otherwise.is_some() =>
        {
            ("otherwise", "both splits have a route".to_owned(), "remove it")
        }
        _ => return None,
    };
    let place = format!("{at}.{place}");
    Some(Warning {
        severity: Severity::Warning,
        kind: FindingKind::Unreachable,
        what: format!("this part can never count; its terms: {}", tree.terms_at(&place)),
        at: place,
        why,
        advice: advice.to_owned(),
    })
}
