//! 1 where what the policy wrote is of the right length, falling off linearly outside: tokens, words or characters.
//!
//! Tokens are those the policy sampled, so they can be counted for whole turns only; where they were not counted the term is
//! not applicable. Any text of the right length is paid: gate it on the outcome.

use super::reading::Reading;
use crate::prelude::*;
use serde::{Deserialize, Serialize};

/// 1 within a window of tokens, words or characters, falling off linearly outside.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// Whether tokens, words or characters are counted.
    pub unit: LengthUnit,
    /// Shortest length that scores 1; at least 1, or saying nothing would be paid.
    pub min: usize,
    /// Longest length that scores 1.
    pub max: usize,
    /// Units outside the window after which the score is 0. 0: at once.
    #[serde(default)]
    pub decay: usize,
    /// What is measured; tokens go with `last-turn` and `all-turns` only.
    #[serde(default = "Reading::last_turn")]
    pub reading: Reading,
}

impl Component for Length {
    const ABOUT: About = About {
        name: "length",
        summary: "1 within a window of tokens, words or characters, falling off linearly outside.",
        paper: "RL-Struct: A Lightweight Reinforcement Learning Framework for Reliable Structured Output in LLMs (2025)",
    };
    const EXAMPLE: &'static str = r#"
unit = "tokens"
min = 1
max = 512
decay = 512
reading = "all-turns"
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        Refusal::unless(self.min > 0, "min", self.min, "above 0")?;
        Refusal::unless(
            self.max >= self.min,
            "max",
            self.max,
            &format!("at least `min`, {}; swap them", self.min),
        )?;
        let whole_turns = matches!(self.reading, Reading::LastTurn | Reading::AllTurns);
        if self.unit == LengthUnit::Tokens && !whole_turns {
            let why = "tokens are counted by turn: use `reading = \"last-turn\"` or `\"all-turns\"`, or count words";
            return Err(Refusal::new(why));
        }
        Ok(())
    }
}

impl Term for Length {
    fn kind(&self) -> TermKind {
        TermKind::MEASURE
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        self.judge(context.episode).unwrap_or_else(|early| early)
    }
}

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LengthUnit {
    /// Tokens that the policy sampled.
    Tokens,
    /// What stands between blanks.
    Words,
    /// Unicode scalar values.
    Chars,
}

impl Length {
    fn judge(&self, episode: &Episode) -> Result<TermResult, TermResult> {
        let Self { unit, min, max, decay, reading } = self;
        let length = match unit {
            LengthUnit::Tokens => tokens(episode, reading)?,
            LengthUnit::Words => reading.judged(episode)?.split_whitespace().count(),
            LengthUnit::Chars => reading.judged(episode)?.chars().count(),
        };
        let outside = min.saturating_sub(length).max(length.saturating_sub(*max));
        let value = match (outside, decay) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            (outside, decay) => (1.0 - outside as f64 / *decay as f64).max(0.0),
        };
        // A window that decays below its lower end must not pay for nothing at all.
        let value = if length == 0 { 0.0 } else { value };
        let finding = format!("{length} {}, {min} to {max} wanted", format!("{unit:?}").to_lowercase());
        Ok(TermResult::value(value, Evidence::new("counted", finding)))
    }
}

fn tokens(episode: &Episode, reading: &Reading) -> Result<usize, TermResult> {
    let written: Vec<&Segment> =
        episode.transcript.segments().iter().filter(|s| s.role.trainable()).collect();
    let read = match reading {
        Reading::AllTurns => &written[..],
        _ => &written[written.len().saturating_sub(1)..],
    };
    if read.iter().any(|segment| segment.known == Known::Text) {
        return Err(TermResult::not_applicable("nobody counted the episode's tokens"));
    }
    Ok(read.iter().map(|segment| segment.tokens.len()).sum())
}
