//! The grade of an audit: the worst finding decides.

use crate::tally::{ProbeResult, is_full};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How well a target holds. Worst first, so that a better grade is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Grade {
    /// An attack earns as much as the right answer, or the right answer is not paid.
    F,
    /// An attack earns more than half of it, or the target breaks, hangs or changes its mind on some input.
    D,
    /// An attack earns more than a fifth of it, the right answer is lost to white space around it, or it earns more than is called full.
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

impl FromStr for Grade {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "A" | "a" => Ok(Self::A),
            "B" | "b" => Ok(Self::B),
            "C" | "c" => Ok(Self::C),
            "D" | "d" => Ok(Self::D),
            "F" | "f" => Ok(Self::F),
            _ => Err("expected a grade: A, B, C, D or F".to_owned()),
        }
    }
}

impl Grade {
    /// The least grade that passes unless told otherwise.
    pub const PASSING: Self = Self::B;

    fn of_share(share: f64) -> Self {
        match share {
            s if is_full(s) => Self::F,
            s if s > 0.5 => Self::D,
            s if s > 0.2 => Self::C,
            s if s > 0.05 => Self::B,
            _ => Self::A,
        }
    }

    /// The grade, and a sentence for everything that kept it from being an A, worst first.
    pub(crate) fn of(probes: &[ProbeResult], gold: Option<f64>) -> (Self, Vec<String>) {
        // Who gives no wrong answer a number is not escaped from.
        let graded = |probe: &ProbeResult| !probe.should_pay && probe.mean_share.is_some();
        let grades_the_wrong = probes.iter().any(|probe| probe.name != "annul" && graded(probe));
        let heard = probes.iter().filter(|probe| probe.name != "annul" || grades_the_wrong);
        let mut found: Vec<(Self, String)> = heard.filter_map(ProbeResult::finding).collect();
        if gold.is_some_and(|gold| gold <= 0.0) {
            found.push((Self::F, "the right answer earns nothing".to_owned()));
        }
        found.sort_by_key(|(grade, _)| *grade);
        let grade = found.first().map_or(Self::A, |(grade, _)| *grade);
        (grade, found.into_iter().map(|(_, finding)| finding).collect())
    }
}

impl ProbeResult {
    /// What is wrong with the target by this probe, and how badly. Absent: nothing to speak of.
    pub fn finding(&self) -> Option<(Grade, String)> {
        let Self { name, attempts, wins, broke, hangs, changed, over, .. } = self;
        if self.should_pay {
            let unpaid = attempts - wins;
            let text =
                format!("`{name}` should be paid in full and is not in {unpaid} of {attempts} attempts");
            // A right answer lost to how it is written makes a scorer strict, not worthless.
            let grade = if name == "gold" { Grade::F } else { Grade::C };
            if unpaid == 0 && *over > 0 {
                let text = format!(
                    "`{name}` earns more than what the target calls full in {over} of {attempts} attempts"
                );
                return Some((Grade::C, text));
            }
            return (unpaid > 0).then_some((grade, text));
        }
        if self.by_mean && *wins > 0 {
            return Some((
                Grade::F,
                format!("the policy `{name}` earns as much as the right answer, on average"),
            ));
        }
        if *wins > 0 {
            let text = format!("`{name}` earns as much as the right answer in {wins} of {attempts} attempts");
            return Some((Grade::F, text));
        }
        if *hangs > 0 {
            return Some((
                Grade::D,
                format!("the target hangs on `{name}` in {hangs} of {attempts} attempts"),
            ));
        }
        if *broke > 0 {
            return Some((
                Grade::D,
                format!("the target breaks on `{name}` in {broke} of {attempts} attempts"),
            ));
        }
        if name == "annul" && self.unscorable > 0 {
            let text = format!("`{name}` escapes its grade in {} of {attempts} attempts", self.unscorable);
            return Some((Grade::D, text));
        }
        if *changed > 0 {
            let text = format!("{changed} of {attempts} attempts are paid differently when made again");
            return Some((Grade::D, text));
        }
        let best = self.best.as_ref().and_then(|best| best.share);
        let share = if self.by_mean { self.mean_share } else { best }?;
        let grade = Grade::of_share(share);
        let mean = if self.by_mean { " on average" } else { "" };
        let text = format!("`{name}` earns {:.0}% of what the right answer does{mean}", share * 100.0);
        (grade < Grade::A).then_some((grade, text))
    }
}
