//! The seam of a term: a settings struct that evaluates one episode, alone or among its group and batch.
//!
//! A term implements [`Component`] (name, help, example, checks) and [`Term`]; one that must make something ready first, such
//! as a verifier, implements [`PreparedTerm`] instead. What every term of a reward may say besides its own keys is read apart
//! from them ([`CommonSettings`]): a term never sees its name or weight. Whatever goes wrong in a term is a recorded outcome.
//! What enters the expression is the raw value, or what the parse-failure path puts in its place, times the weight.

use crate::ScoreContext;
use crate::error_rates::ErrorRates;
use crate::range::Range;
use crate::terms::Pay;
use merit_core::registry::{Component, Kind, Refusal};
use merit_core::{Annotation, Conclusion, Episode, Evidence, Judgement, TermOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// A term of a reward: the settings struct, which evaluates itself. Pure: the same context gives the same result.
///
/// ```
/// use merit_reward::prelude::*;
///
/// /// Pays for short answers.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Brief { chars: usize }
///
/// impl Component for Brief {
///     const ABOUT: About = About { name: "brief", summary: "1 where the answer is short.", paper: "" };
/// }
///
/// impl Term for Brief {
///     fn kind(&self) -> TermKind { TermKind::VERDICT }
///
///     fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
///         match context.episode.answer() {
///             Some(text) => TermResult::verdict(text.len() <= self.chars, Evidence::new("counted", "its characters")),
///             None => TermResult::not_applicable("there is no answer"),
///         }
///     }
/// }
///
/// let components = merit_reward::register(Components::default()).with(entry!(Brief as dyn Term));
/// let config = components.reading(|| RewardConfig::from_toml("type = 'brief'\nchars = 3\nweight = 0.5"))?;
/// assert_eq!(Scorer::compile(&config)?.term_names(), ["brief"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Term: Any + Send + Sync {
    /// What it is, apart from its settings.
    fn kind(&self) -> TermKind;

    /// The annotations that must be handed in with a batch for it to say anything. Most terms need none.
    fn needs(&self) -> Vec<AnnotationNeed> {
        Vec::new()
    }

    /// Makes ready what evaluation needs, once for a compiled reward. Absent: the settings evaluate themselves. Opens nothing:
    /// no file, no process.
    fn prepare(&self) -> Result<Option<Arc<dyn Term>>, Refusal> {
        Ok(None)
    }

    /// Starts what evaluation needs, where the reward is about to be used, so that what is missing is known before the first
    /// episode. Never called by a check. Most terms start nothing.
    fn open(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Called once per batch, before the first episode is evaluated. Most terms count nothing.
    fn count(&self, _batch: &[&Episode]) -> BatchCounts {
        BatchCounts::new()
    }

    /// What it says of the episode. Called once per episode, on any thread, and never for an episode that broke. Terms that
    /// look at the episode alone read `context.episode` and nothing else.
    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult;
}

impl Kind for dyn Term {
    const KIND: &'static str = "reward term";
}

/// A term that makes something ready before it evaluates: a verifier, a cache, a channel to a program.
pub trait PreparedTerm: Component + Clone {
    /// What [`PreparedTerm::prepare`] makes.
    type Prepared: Send + Sync + 'static;

    /// What it is, apart from its settings.
    fn kind(&self) -> TermKind;

    /// The annotations that must be handed in with a batch for it to say anything.
    fn needs(&self) -> Vec<AnnotationNeed> {
        Vec::new()
    }

    /// Makes it ready, once for a compiled reward. Opens nothing: no file, no process.
    fn prepare(&self) -> Result<Self::Prepared, Refusal>;

    /// Starts what evaluation needs, where the reward is about to be used. Never called by a check.
    fn open(&self, _prepared: &Self::Prepared) -> Result<(), Refusal> {
        Ok(())
    }

    /// What it says of the episode; `Err` is a result found early, so that `?` works.
    fn evaluate(
        &self,
        prepared: &Self::Prepared,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult>;
}

impl<T: PreparedTerm> Term for T {
    fn kind(&self) -> TermKind {
        PreparedTerm::kind(self)
    }

    fn needs(&self) -> Vec<AnnotationNeed> {
        PreparedTerm::needs(self)
    }

    fn prepare(&self) -> Result<Option<Arc<dyn Term>>, Refusal> {
        let prepared = PreparedTerm::prepare(self)?;
        Ok(Some(Arc::new(Ready { settings: self.clone(), prepared })))
    }

    fn evaluate(&self, _: &EvalContext<'_>) -> TermResult {
        TermResult::broken("it was evaluated before it was prepared")
    }
}

/// A term with what it made ready.
struct Ready<T: PreparedTerm> {
    settings: T,
    prepared: T::Prepared,
}

impl<T: PreparedTerm> Term for Ready<T> {
    fn kind(&self) -> TermKind {
        PreparedTerm::kind(&self.settings)
    }

    fn open(&self) -> Result<(), Refusal> {
        PreparedTerm::open(&self.settings, &self.prepared)
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        self.settings.evaluate(&self.prepared, context).unwrap_or_else(|early| early)
    }
}

/// What a term is, apart from its settings: which of the common settings make sense for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermKind {
    /// It gives a verdict, so error rates make sense. A count or a cost is no verdict.
    pub judges: bool,
    /// It may fail to parse what the policy wrote, so a parse-failure path makes sense.
    pub parses: bool,
    /// It reads what the environment tells of a turn, so a first turn that was cut is a parse failure.
    pub needs_a_turn: bool,
    /// Its raw value 1 says that the task was solved. The first such term of a reward tells so, where no `solved-by` names another.
    pub solves: bool,
    /// The raw values it can give.
    pub range: Range,
}

impl TermKind {
    /// A verdict or share in [0, 1] that never fails to parse.
    pub const VERDICT: Self =
        Self { judges: true, parses: false, needs_a_turn: false, solves: false, range: Range::UNIT };
    /// A verdict or share in [0, 1] that may fail to parse.
    pub const PARSED_VERDICT: Self = Self { parses: true, ..Self::VERDICT };
    /// A measure in [0, 1] that is no verdict.
    pub const MEASURE: Self = Self { judges: false, ..Self::VERDICT };
    /// Any number, and no verdict.
    pub const NUMBER: Self = Self { range: Range::ALL, ..Self::MEASURE };
}

/// An annotation that a term reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnnotationNeed {
    pub name: String,
    /// Without it the term fails; otherwise the term does not apply. Neither is 0.
    pub required: bool,
}

/// What a term may read of an episode.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct EvalContext<'a> {
    pub episode: &'a Episode,
    /// The members of the episode's group that did not break, itself included; itself alone when scored alone.
    pub group: &'a [&'a Episode],
    /// Position of the episode in `group`.
    pub place: usize,
    /// Every episode of the batch that did not break.
    pub batch: &'a [&'a Episode],
    /// Step, policy version, seed and discount.
    pub run: &'a ScoreContext,
    /// What the term counted over the batch beforehand.
    pub counts: &'a BatchCounts,
    /// What the annotators said of the episode before scoring.
    pub annotations: &'a [Annotation],
}

impl<'a> EvalContext<'a> {
    /// The annotation a term needs, or the result that its absence is.
    pub fn annotation(&self, need: &AnnotationNeed) -> Result<&'a Annotation, TermResult> {
        let found = self.annotations.iter().find(|annotation| annotation.name == need.name);
        found.ok_or_else(|| {
            let why = format!("nobody gave the annotation `{}`", need.name);
            if need.required { TermResult::broken(why) } else { TermResult::not_applicable(why) }
        })
    }
}

/// What a term counts over the whole batch before it evaluates single episodes, by whatever it counts.
pub type BatchCounts = HashMap<String, usize>;

/// What a term says of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct TermResult {
    /// A number, or why there is none.
    pub outcome: TermOutcome,
    /// One per turn, or empty.
    pub turns: Vec<Option<f64>>,
    pub evidence: Vec<Evidence>,
}

impl TermResult {
    pub fn value(value: f64, evidence: Evidence) -> Self {
        Self { outcome: TermOutcome::Value { value }, turns: Vec::new(), evidence: vec![evidence] }
    }

    /// 1 or 0.
    pub fn verdict(yes: bool, evidence: Evidence) -> Self {
        Self::value(f64::from(u8::from(yes)), evidence)
    }

    /// Nothing to say of this episode.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self::without_value(TermOutcome::NotApplicable { why: why.into() })
    }

    /// What the policy wrote could not be parsed.
    pub fn parse_failure(why: impl Into<String>, evidence: Evidence) -> Self {
        Self::without_value(TermOutcome::ParseFailure { why: why.into() }).with_evidence(evidence)
    }

    /// The term itself could not do its work: a bad reference, a missing database.
    pub fn broken(why: impl Into<String>) -> Self {
        Self::without_value(TermOutcome::GraderFailed { why: why.into() })
    }

    fn without_value(outcome: TermOutcome) -> Self {
        Self { outcome, turns: Vec::new(), evidence: Vec::new() }
    }

    /// What a verifier's judgement comes to, with `pay` of its score as the value. Whose doing it is stays as the verifier says:
    /// a task or grader at fault is never a 0.
    pub fn judged<D>(judgement: &Judgement<D>, pay: Pay, evidence: Evidence) -> Self {
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

    /// The same, told by turn.
    #[must_use]
    pub fn with_turns(mut self, turns: Vec<Option<f64>>) -> Self {
        self.turns = turns;
        self
    }

    /// The same with one more piece of evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

/// What a parse failure enters the expression as. The score says `ParseFailure` whichever path is taken, and
/// [`crate::Scorer::summarise`] counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// What every term of a reward may say besides its own settings. These four keys are taken out of a term's table before its
/// own are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommonSettings {
    /// Name in the score. Absent: the term's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Factor of the raw value.
    pub weight: f64,
    /// What output that cannot be parsed enters as. Refused where the term parses nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_parse_failure: Option<ParseFailurePath>,
    /// Makes the verdict wrong now and then. Refused where the term gives no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorRates>,
}

impl Default for CommonSettings {
    fn default() -> Self {
        Self { name: None, weight: 1.0, on_parse_failure: None, errors: None }
    }
}

impl CommonSettings {
    const KEYS: [&'static str; 4] = ["name", "weight", "on_parse_failure", "errors"];

    /// The same error, with the common keys beside those that were expected where it is one of `keys`, the term's own, that is
    /// unknown.
    pub(crate) fn beside(message: String, keys: &[String]) -> String {
        let Some((head, rest)) = message.split_once("unknown field `") else { return message };
        let mut quoted = rest.split('`');
        let Some(key) = quoted.next().filter(|key| keys.iter().any(|own| own == key)) else { return message };
        let own = quoted.skip(1).step_by(2);
        let expected: Vec<String> = own.chain(Self::KEYS).map(|key| format!("`{key}`")).collect();
        format!("{head}unknown field `{key}`, expected one of {}", expected.join(", "))
    }

    /// Takes the common keys out of a term's table.
    pub(crate) fn take(table: &mut toml::Table) -> Result<Self, String> {
        let taken = Self::KEYS.iter().filter_map(|key| table.remove_entry(*key)).collect();
        Self::deserialize(toml::Value::Table(taken)).map_err(|error| error.message().trim().to_owned())
    }
}

/// A weight of 1, for settings that start there.
pub(crate) fn one() -> f64 {
    1.0
}
