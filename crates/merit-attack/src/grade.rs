//! The grade of an audit: the worst finding decides.

use crate::audit::ProbeResult;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How well a target holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Grade {
    /// An attack earns as much as the right answer, or the right answer is not paid.
    F,
    /// An attack earns more than half of it, or the target breaks on some input.
    D,
    /// An attack earns more than a fifth of it.
    C,
    /// An attack earns more than a twentieth of it.
    B,
    /// No attack earns anything to speak of.
    A,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Grade {
    /// The least grade that passes unless told otherwise.
    pub const PASSING: Self = Self::B;

    fn of_share(share: f64) -> Self {
        match share {
            s if s >= 1.0 - 1e-9 => Self::F,
            s if s > 0.5 => Self::D,
            s if s > 0.2 => Self::C,
            s if s > 0.05 => Self::B,
            _ => Self::A,
        }
    }

    /// The grade, and a sentence for everything that kept it from being an A, worst first.
    pub(crate) fn of(probes: &[ProbeResult], gold: Option<f64>) -> (Self, Vec<String>) {
        let mut found: Vec<(Self, String)> = probes.iter().filter_map(judge).collect();
        if gold.is_some_and(|gold| gold <= 0.0) {
            found.push((Self::F, "the right answer earns nothing".to_owned()));
        }
        found.sort_by_key(|(grade, _)| *grade);
        let grade = found.first().map_or(Self::A, |(grade, _)| *grade);
        (grade, found.into_iter().map(|(_, finding)| finding).collect())
    }
}

fn judge(probe: &ProbeResult) -> Option<(Grade, String)> {
    let name = &probe.name;
    if probe.should_pay {
        let unpaid = probe.attempts - probe.wins;
        let text =
            format!("`{name}` should be paid in full and is not in {unpaid} of {} attempts", probe.attempts);
        return (unpaid > 0).then_some((Grade::F, text));
    }
    if probe.wins > 0 {
        let text = format!(
            "`{name}` earns as much as the right answer in {} of {} attempts",
            probe.wins, probe.attempts
        );
        return Some((Grade::F, text));
    }
    if probe.broke > 0 {
        let text = format!("the target breaks on `{name}` in {} of {} attempts", probe.broke, probe.attempts);
        return Some((Grade::D, text));
    }
    let share = probe.best.as_ref().map_or(probe.mean_share, |best| best.share)?;
    let grade = Grade::of_share(share);
    let text = format!("`{name}` earns {:.0}% of what the right answer does", share * 100.0);
    (grade < Grade::A).then_some((grade, text))
}
