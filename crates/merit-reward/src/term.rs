//! The seam of a term: it looks at one episode, or at one among its group and batch, and says what it found.
//!
//! A term's config names it, weighs it and makes it; [`run`] calls it and turns whatever goes wrong into a recorded
//! outcome. What enters the expression is the raw value, or what the parse-failure path puts in its place, times the weight.

use crate::ScoreContext;
use crate::errors::ErrorRates;
use crate::range::Range;
use crate::terms::Pay;
use crate::worth::Worth;
use merit_core::{Conclusion, Episode, Evidence, Judgement, TermOutcome, TermScore};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a parse failure enters the expression as. The score says `ParseFailure` whichever path is taken, and
/// [`crate::Scorer::summarise`] counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParseFailurePath {
    /// This number stands in for the raw value. The default is `{ value = 0.0 }`: what the policy wrote was its own doing,
    /// and leaving it out would make unreadable output a way to escape judgement.
    Value(f64),
    /// The reward is unscorable: the episode neither earns nor trains. For output that the policy is not to blame for.
    Unscorable,
}

impl Default for ParseFailurePath {
    fn default() -> Self {
        Self::Value(0.0)
    }
}

/// What every term's config says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) weight: f64,
    pub(crate) on_parse_failure: ParseFailurePath,
    /// Absent: the verdict stands as it is.
    pub(crate) errors: Option<ErrorRates>,
}

/// What a term is, apart from its settings: which of the common settings make sense for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nature {
    /// It gives a verdict, so error rates make sense. A count or a cost is no verdict.
    pub(crate) judges: bool,
    /// It may fail to parse what the policy wrote, so a parse-failure path makes sense.
    pub(crate) parses: bool,
    /// The raw values it can give.
    pub(crate) range: Range,
}

impl Nature {
    /// A verdict or share in [0, 1] that never fails to parse.
    pub(crate) const VERDICT: Self = Self { judges: true, parses: false, range: Range::UNIT };
    /// A verdict or share in [0, 1] that may fail to parse.
    pub(crate) const PARSED_VERDICT: Self = Self { judges: true, parses: true, range: Range::UNIT };
}

/// The config of a term.
pub(crate) trait TermConfig {
    fn settings(&self) -> Settings;

    fn nature(&self) -> Nature;

    /// The term, ready to look at episodes.
    fn term(&self) -> Result<Box<dyn Term>, crate::Problem>;
}

/// Declares the config of a term: its own keys after the common ones `name`, `weight`, `on_parse_failure` and `errors`.
macro_rules! term_config {
    (
        $(#[$about:meta])*
        pub struct $config:ident of $component:ident {
            $( $(#[$doc:meta])* pub $field:ident : $type:ty, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $config {
            /// Name in the score. Absent: the term's type.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub name: Option<String>,
            /// Factor of the raw value.
            #[serde(default = "crate::term::one")]
            pub weight: f64,
            /// What output that cannot be parsed enters as. Refused where the term parses nothing.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub on_parse_failure: Option<$crate::ParseFailurePath>,
            /// Makes the verdict wrong now and then. Refused where the term gives no verdict.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub errors: Option<$crate::ErrorRates>,
            $( $(#[$doc])* pub $field: $type, )*
        }

        impl $config {
            fn common(&self) -> $crate::term::Settings {
                $crate::term::Settings {
                    name: self.name.clone().unwrap_or_else(|| $component.about.name.to_owned()),
                    weight: self.weight,
                    on_parse_failure: self.on_parse_failure.unwrap_or_default(),
                    errors: self.errors,
                }
            }
        }
    };
}
pub(crate) use term_config;

/// What a term looks at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) episode: &'a Episode,
    /// The members of the episode's group that did not break, itself included; itself alone when scored alone.
    pub(crate) group: &'a [&'a Episode],
    /// Position of the episode in `group`.
    pub(crate) place: usize,
    /// Every episode of the batch that did not break.
    pub(crate) batch: &'a [&'a Episode],
    pub(crate) context: &'a ScoreContext,
    /// What the term counted over the batch beforehand.
    pub(crate) survey: &'a Survey,
}

/// What a term counts over the whole batch before it looks at single episodes, by whatever it counts.
pub(crate) type Survey = HashMap<String, usize>;

/// Looks at one episode. Called once per episode and never for an episode that broke. Terms that look at the episode alone
/// read `view.episode` and nothing else.
pub(crate) trait Term: Send + Sync {
    /// Called once per batch, before the first look. Most terms count nothing.
    fn survey(&self, _batch: &[&Episode]) -> Survey {
        Survey::new()
    }

    fn look(&self, view: &View<'_>) -> Finding;
}

/// What a term found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) outcome: TermOutcome,
    /// One per turn, or empty.
    pub(crate) turns: Vec<Option<f64>>,
    pub(crate) evidence: Vec<Evidence>,
}

impl Finding {
    pub(crate) fn value(value: f64, evidence: Evidence) -> Self {
        Self { outcome: TermOutcome::Value { value }, turns: Vec::new(), evidence: vec![evidence] }
    }

    /// 1 or 0.
    pub(crate) fn verdict(yes: bool, evidence: Evidence) -> Self {
        Self::value(f64::from(u8::from(yes)), evidence)
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        let outcome = TermOutcome::NotApplicable { why: why.into() };
        Self { outcome, turns: Vec::new(), evidence: Vec::new() }
    }

    pub(crate) fn parse_failure(why: impl Into<String>, evidence: Evidence) -> Self {
        let outcome = TermOutcome::ParseFailure { why: why.into() };
        Self { outcome, turns: Vec::new(), evidence: vec![evidence] }
    }

    /// The term itself could not do its work: a bad reference, a missing database.
    pub(crate) fn broken(why: impl Into<String>) -> Self {
        Self {
            outcome: TermOutcome::GraderFailed { why: why.into() },
            turns: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// What a verifier's judgement comes to, with `pay` of its score as the value. Whose doing it is stays as the verifier says:
    /// a task or grader at fault is never a 0.
    pub(crate) fn judged<D>(judgement: &Judgement<D>, pay: Pay, evidence: Evidence) -> Self {
        match (&judgement.conclusion, judgement.score) {
            (Conclusion::Pass | Conclusion::Fail, Some(score)) => {
                Self::value(pay.of(score, judgement.conclusion == Conclusion::Pass), evidence)
            }
            (Conclusion::Pass | Conclusion::Fail, None) => {
                Self::not_applicable("nothing with a weight was measured")
            }
            (Conclusion::Unreadable { why }, _) => Self::parse_failure(why.clone(), evidence),
            (Conclusion::Refused { why }, _) => Self::value(0.0, Evidence::new(evidence.act, why.clone())),
            (Conclusion::NotApplicable { why }, _) => Self::not_applicable(why.clone()),
            (Conclusion::BadReference { why } | Conclusion::GraderFailed { why }, _) => {
                Self::broken(why.clone())
            }
        }
    }

    pub(crate) fn with_turns(mut self, turns: Vec<Option<f64>>) -> Self {
        self.turns = turns;
        self
    }

    pub(crate) fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

/// Lets `term` count over the batch, and catches whatever goes wrong.
pub(crate) fn survey(term: &dyn Term, batch: &[&Episode]) -> Result<Survey, String> {
    catch_unwind(AssertUnwindSafe(|| term.survey(batch))).map_err(|panic| panicked(panic.as_ref()))
}

/// What a term said, and what it would have said without its error rates, where it has any.
pub(crate) struct Looked {
    pub(crate) score: TermScore,
    /// Absent: the same as the score's.
    pub(crate) undisturbed: Option<TermOutcome>,
}

/// Lets `term` look, and catches whatever goes wrong.
pub(crate) fn run(
    settings: &Settings,
    term: &dyn Term,
    view: &View<'_>,
    survey: &Result<Survey, String>,
) -> Looked {
    let look = |survey| catch_unwind(AssertUnwindSafe(|| term.look(&View { survey, ..*view })));
    let mut finding = match survey.as_ref().map(look) {
        Ok(Ok(finding)) => sound(finding, view.episode.turns.len()),
        Ok(Err(panic)) => Finding::broken(panicked(panic.as_ref())),
        Err(why) => Finding::broken(why.clone()),
    };
    let undisturbed = settings.errors.map(|errors| {
        let before = finding.outcome.clone();
        errors.disturb(&mut finding, view.context.seed, &settings.name, &view.episode.id);
        before
    });
    let score = TermScore {
        name: settings.name.clone(),
        outcome: finding.outcome,
        weight: settings.weight,
        turns: finding.turns,
        evidence: finding.evidence,
    };
    Looked { score, undisturbed }
}

fn sound(finding: Finding, turns: usize) -> Finding {
    if let TermOutcome::Value { value } = finding.outcome
        && !value.is_finite()
    {
        return Finding::broken(format!("it came to {value}"));
    }
    if finding.turns.iter().flatten().any(|value| !value.is_finite()) {
        return Finding::broken("a turn's value is not finite");
    }
    if !finding.turns.is_empty() && finding.turns.len() != turns {
        return Finding::broken(format!("it gave {} values for {turns} turns", finding.turns.len()));
    }
    finding
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "no message".to_owned()))
}

/// What a term's outcome is worth in the expression, before its weight.
pub(crate) fn worth(outcome: &TermOutcome, path: ParseFailurePath) -> Worth {
    match (outcome, path) {
        (TermOutcome::Value { value }, _) => Worth::Number(*value),
        (TermOutcome::NotApplicable { why }, _) => Worth::NotApplicable(why.clone()),
        (TermOutcome::ParseFailure { .. }, ParseFailurePath::Value(value)) => Worth::Number(value),
        (TermOutcome::ParseFailure { why }, ParseFailurePath::Unscorable) => Worth::Unscorable(why.clone()),
        (TermOutcome::GraderFailed { why }, _) => Worth::Broken(why.clone()),
    }
}

pub(crate) fn one() -> f64 {
    1.0
}
