//! A score: a vector of named terms with evidence (rule 5), never a bare number.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What the reward says of one episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// Every term of the reward, in the order of the reward's file.
    pub terms: Vec<TermScore>,
    /// What the whole expression came to.
    pub reward: Reward,
    /// The reward of each turn, where the reward is paid by turn; empty when it is paid at the end.
    pub turn_rewards: Vec<f64>,
    /// Whether the task was solved. Absent: the reward has no term that can tell.
    pub solved: Option<bool>,
}

impl Score {
    /// A score without terms that is paid at the end and does not say whether the task was solved.
    ///
    /// ```
    /// use merit_core::{Reward, Score};
    /// let score = Score::new(Reward::Value { value: 1.0 }).with_solved(Some(true));
    /// assert_eq!(score.reward.value(), Some(1.0));
    /// ```
    pub fn new(reward: Reward) -> Self {
        Self { terms: Vec::new(), reward, turn_rewards: Vec::new(), solved: None }
    }

    /// The same with these terms.
    #[must_use]
    pub fn with_terms(mut self, terms: Vec<TermScore>) -> Self {
        self.terms = terms;
        self
    }

    /// The same, paid by turn.
    #[must_use]
    pub fn with_turn_rewards(mut self, turn_rewards: Vec<f64>) -> Self {
        self.turn_rewards = turn_rewards;
        self
    }

    /// The same, which says whether the task was solved.
    #[must_use]
    pub fn with_solved(mut self, solved: Option<bool>) -> Self {
        self.solved = solved;
        self
    }
}

/// The value of a reward expression, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Reward {
    /// A number to learn from.
    Value {
        /// What the episode is paid; never infinite and never NaN.
        value: f64,
    },
    /// The output cannot be scored; this is not 0.
    Unscorable {
        /// What of the output cannot be scored.
        why: String,
    },
    /// The grader broke; this is not 0.
    GraderFailed {
        /// What the grader said when it broke.
        why: String,
    },
}

impl Reward {
    /// The number, where there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value } => Some(*value),
            Self::Unscorable { .. } | Self::GraderFailed { .. } => None,
        }
    }
}

/// One term of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TermScore {
    /// Name within the reward.
    pub name: String,
    /// The raw value, or why there is none.
    pub outcome: TermOutcome,
    /// The weight it entered with; what it means is up to the expression.
    pub weight: f64,
    /// Per-turn values, one per turn with `None` where the term does not apply; empty when it looks at the whole episode.
    pub turns: Vec<Option<f64>>,
    /// What was parsed, executed, compared or asked.
    pub evidence: Vec<Evidence>,
}

impl TermScore {
    /// A term with weight 1 that looks at the whole episode and has shown no evidence yet.
    ///
    /// ```
    /// use merit_core::{Evidence, TermOutcome, TermScore};
    /// let short = TermScore::new("short", TermOutcome::Value { value: 1.0 })
    ///     .with_weight(0.5)
    ///     .with_evidence(vec![Evidence::new("counted", "2 words")]);
    /// assert_eq!((short.outcome.value(), short.weight), (Some(1.0), 0.5));
    /// ```
    pub fn new(name: impl Into<String>, outcome: TermOutcome) -> Self {
        Self { name: name.into(), outcome, weight: 1.0, turns: Vec::new(), evidence: Vec::new() }
    }

    /// The same with this weight.
    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// The same, told by turn.
    #[must_use]
    pub fn with_turns(mut self, turns: Vec<Option<f64>>) -> Self {
        self.turns = turns;
        self
    }

    /// The same, resting on this evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Vec<Evidence>) -> Self {
        self.evidence = evidence;
        self
    }
}

/// What a term found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum TermOutcome {
    /// The term applies and has a value.
    Value {
        /// The raw value, before the weight; never infinite and never NaN.
        value: f64,
    },
    /// The term has nothing to say of this episode; this is not 0.
    NotApplicable {
        /// What the episode lacks that the term reads.
        why: String,
    },
    /// The output could not be parsed; its own outcome with its own path and count.
    ParseFailure {
        /// What could not be parsed.
        why: String,
    },
    /// The term itself broke.
    GraderFailed {
        /// What the term said when it broke.
        why: String,
    },
}

impl TermOutcome {
    /// The number, where there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value } => Some(*value),
            _ => None,
        }
    }
}

/// A piece of evidence: what was done and what it showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// `parsed`, `executed`, `compared`, `counted` or `asked`.
    pub act: Cow<'static, str>,
    /// What came of it, in words.
    pub finding: String,
}

impl Evidence {
    /// Evidence that `act` was done and showed `finding`.
    pub fn new(act: impl Into<Cow<'static, str>>, finding: impl Into<String>) -> Self {
        Self { act: act.into(), finding: finding.into() }
    }
}
