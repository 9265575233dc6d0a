//! What an episode was run for: its phase, and the arm it belongs to.
//!
//! Written as one word, in ids and in the store: `train`, `eval-before`, `eval-step`, `eval-after`, `demonstration`, `rollout`;
//! an arm other than the main one stands behind an `@`: `train@no-tool`.

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
    /// To measure a state of a training episode: a continuation that nobody learns from.
    Probe(Arm),
    /// To measure the policy on held-out tasks.
    Eval(Arm, When),
    /// To be looked at.
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

/// When a held-out evaluation was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// Before learning by reward.
    Before,
    /// In between, after some step.
    Step,
    /// At the end.
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
            Self::Demonstration | Self::Warm | Self::Rollout | Self::Import | Self::Other(_) => None,
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
        matches!(self, Self::Eval(..))
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
        match self.arm() {
            Some(Arm::Control(name)) => f.pad(&format!("{}@{name}", self.word())),
            _ => f.pad(self.word()),
        }
    }
}

impl From<&str> for Phase {
    fn from(text: &str) -> Self {
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
        ] {
            assert_eq!(Phase::from(text).to_string(), text);
        }
        assert_eq!(Phase::from("train@no-tool"), Phase::Train(Arm::Control("no-tool".into())));
        assert_eq!(Phase::from("eval-step").arm(), Some(&Arm::Main));
    }
}
