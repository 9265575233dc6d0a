//! What an episode was run for: its phase, and the arm it belongs to.
//!
//! Written as one word, in ids and in the store: `train`, `eval-before`, `eval-step`, `eval-after`, `demonstration`, `rollout`;
//! an arm other than the main one stands behind an `@`: `train@no-tool`. A stage that a recipe names stands behind a `:`, after
//! what is done in it: `learn:second`, `collect:tries`, `evaluate:hard`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an episode was run for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Phase {
    /// To show the policy its first manners.
    Demonstration,
    /// To learn from by supervision; metrics only.
    Warm,
    /// To learn from by reward.
    Train(Arm),
    /// To measure a state of a training episode: a continuation that is not learned from.
    Probe(Arm),
    /// To measure the policy on held-out tasks.
    Eval(Arm, When),
    /// For a stage that its recipe names.
    Stage(StageKind, String),
    /// To show what the policy does; nothing learns from it.
    Rollout,
    /// By somebody else.
    Import,
    /// For a purpose of its own, e.g. `attack`.
    Other(String),
}

/// An arm of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Arm {
    /// The recipe itself.
    #[default]
    Main,
    /// A control, by name.
    Control(String),
}

/// What is done in a stage that its recipe names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageKind {
    /// Learning by supervision; metrics only.
    Imitate,
    /// Episodes for a dataset.
    Collect,
    /// A dataset from another; metrics only.
    Make,
    /// Learning by reward.
    Learn,
    /// Continuations of its episodes that are not learned from.
    Probe,
    /// Held-out evaluations between its steps.
    Between,
    /// Learning from preferences; metrics only.
    Prefer,
    /// A held-out evaluation.
    Evaluate,
    /// Several samples of each task of an evaluation.
    Samples,
    /// A model beside the policy learns; metrics only.
    Fit,
    /// Weights of several stages become one; metrics only.
    Merge,
    /// A judge made of checks learns what is better; metrics only.
    Evolve,
}

impl StageKind {
    const ALL: [Self; 12] = [
        Self::Imitate,
        Self::Collect,
        Self::Make,
        Self::Learn,
        Self::Probe,
        Self::Between,
        Self::Prefer,
        Self::Evaluate,
        Self::Samples,
        Self::Fit,
        Self::Merge,
        Self::Evolve,
    ];

    /// The word in front of the stage's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Imitate => "imitate",
            Self::Collect => "collect",
            Self::Make => "make",
            Self::Learn => "learn",
            Self::Probe => "probe",
            Self::Between => "between",
            Self::Prefer => "prefer",
            Self::Evaluate => "evaluate",
            Self::Samples => "samples",
            Self::Fit => "fit",
            Self::Merge => "merge",
            Self::Evolve => "evolve",
        }
    }
}

/// When a held-out evaluation was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// Before learning by reward.
    Before,
    /// In between, after some step.
    Step,
    /// After the last step.
    After,
}

impl Arm {
    /// The name in tables: `main`, or the control's.
    pub fn name(&self) -> &str {
        match self {
            Self::Main => "main",
            Self::Control(name) => name,
        }
    }
}

impl Phase {
    /// The arm it belongs to; demonstrations, rollouts and other people's episodes belong to none.
    pub fn arm(&self) -> Option<&Arm> {
        match self {
            Self::Train(arm) | Self::Probe(arm) | Self::Eval(arm, _) => Some(arm),
            Self::Demonstration
            | Self::Warm
            | Self::Stage(..)
            | Self::Rollout
            | Self::Import
            | Self::Other(_) => None,
        }
    }

    /// Training of the main arm.
    pub fn train() -> Self {
        Self::Train(Arm::Main)
    }

    /// A held-out evaluation of the main arm.
    pub fn eval(when: When) -> Self {
        Self::Eval(Arm::Main, when)
    }

    /// Whether it is a held-out evaluation.
    pub fn is_eval(&self) -> bool {
        matches!(self, Self::Eval(..) | Self::Stage(StageKind::Between | StageKind::Evaluate, _))
    }

    /// Whether its episodes are learned from by reward.
    pub fn is_train(&self) -> bool {
        matches!(self, Self::Train(_) | Self::Stage(StageKind::Learn, _))
    }

    /// The held-out evaluations between the steps of this learning.
    pub fn between(&self) -> Self {
        match self {
            Self::Stage(_, name) => Self::Stage(StageKind::Between, name.clone()),
            other => Self::Eval(other.arm().cloned().unwrap_or_default(), When::Step),
        }
    }

    /// The continuations that this learning measures.
    pub fn probes(&self) -> Self {
        match self {
            Self::Stage(_, name) => Self::Stage(StageKind::Probe, name.clone()),
            other => Self::Probe(other.arm().cloned().unwrap_or_default()),
        }
    }

    /// The learning that an evaluation belongs to: what a reward had kept by then is what it kept there. Absent: none.
    pub fn learning(&self) -> Option<Self> {
        match self {
            Self::Eval(arm, _) => Some(Self::Train(arm.clone())),
            Self::Stage(StageKind::Between, name) => Some(Self::Stage(StageKind::Learn, name.clone())),
            _ => None,
        }
    }

    /// The name of whatever it belongs to: of the stage, else of the arm.
    pub fn owner(&self) -> &str {
        match self {
            Self::Stage(_, name) => name,
            other => other.arm().map_or("main", Arm::name),
        }
    }

    /// The word without the arm.
    fn word(&self) -> &str {
        match self {
            Self::Demonstration => "demonstration",
            Self::Warm => "warm",
            Self::Train(_) => "train",
            Self::Probe(_) => "probe",
            Self::Eval(_, When::Before) => "eval-before",
            Self::Eval(_, When::Step) => "eval-step",
            Self::Eval(_, When::After) => "eval-after",
            Self::Stage(kind, _) => kind.word(),
            Self::Rollout => "rollout",
            Self::Import => "import",
            Self::Other(word) => word,
        }
    }

    /// The name that the seeds of its episodes descend from. A control's differ from the main arm's.
    pub fn seed_name(&self) -> String {
        match self {
            Self::Train(Arm::Control(name)) => format!("train-{name}"),
            Self::Eval(Arm::Control(name), When::After) => format!("eval-{name}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Stage(kind, name) = self {
            return f.pad(&format!("{}:{name}", kind.word()));
        }
        match self.arm() {
            Some(Arm::Control(name)) => f.pad(&format!("{}@{name}", self.word())),
            _ => f.pad(self.word()),
        }
    }
}

impl From<&str> for Phase {
    fn from(text: &str) -> Self {
        if let Some((word, name)) = text.split_once(':')
            && let Some(kind) = StageKind::ALL.into_iter().find(|kind| kind.word() == word)
        {
            return Self::Stage(kind, name.to_owned());
        }
        let (word, arm) = match text.split_once('@') {
            Some((word, name)) => (word, Arm::Control(name.to_owned())),
            None => (text, Arm::Main),
        };
        match (word, &arm) {
            ("train", _) => Self::Train(arm),
            ("probe", _) => Self::Probe(arm),
            ("eval-before", _) => Self::Eval(arm, When::Before),
            ("eval-step", _) => Self::Eval(arm, When::Step),
            ("eval-after", _) => Self::Eval(arm, When::After),
            ("demonstration", Arm::Main) => Self::Demonstration,
            ("warm", Arm::Main) => Self::Warm,
            ("rollout", Arm::Main) => Self::Rollout,
            ("import", Arm::Main) => Self::Import,
            _ => Self::Other(text.to_owned()),
        }
    }
}

impl From<String> for Phase {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&Phase> for Phase {
    fn from(phase: &Phase) -> Self {
        phase.clone()
    }
}

impl From<Phase> for String {
    fn from(phase: Phase) -> Self {
        phase.to_string()
    }
}

/// In the order of the words, as a store sorts them.
impl Ord for Phase {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for Phase {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_read_as_it_is_written() {
        for text in [
            "train",
            "train@no-tool",
            "eval-before",
            "eval-step@a",
            "eval-after",
            "rollout",
            "attack",
            "import@x",
            "learn:second",
            "evaluate:hard",
            "odd:word",
        ] {
            assert_eq!(Phase::from(text).to_string(), text);
        }
        assert_eq!(Phase::from("train@no-tool"), Phase::Train(Arm::Control("no-tool".into())));
        assert_eq!(Phase::from("eval-step").arm(), Some(&Arm::Main));
        assert_eq!(Phase::from("samples:hard"), Phase::Stage(StageKind::Samples, "hard".into()));
        assert_eq!(Phase::from("learn:second").between().to_string(), "between:second");
    }
}
