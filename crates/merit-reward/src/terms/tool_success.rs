//! The share of tool calls that succeed, after ARTIST's tool-execution reward: in [0, 1], by turn where calls were made.
//!
//! A call succeeds when it ran and answered; refused and timed-out calls do not. A call whose end is unknown is
//! neither and is not counted. Without any call that counts the term is not applicable. `max_calls` counts only the first
//! such calls of an episode, so that a policy cannot mend its share by piling up trivial calls that always work.

use super::NO_CALLS;
use crate::prelude::*;

/// The share of tool calls that succeed; not applicable where none was made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolSuccess {
    /// Only this many calls count, the first of the episode. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<usize>,
}

impl Component for ToolSuccess {
    const ABOUT: About = About {
        name: "tool-success",
        summary: "The share of tool calls that succeed; not applicable where none was made.",
        paper: "ARTIST: Agentic Reasoning and Tool Integration for LLMs via Reinforcement Learning (2025)",
    };
    const EXAMPLE: &'static str = r#"
weight = 0.5
max_calls = 4
"#;

    fn check(&self) -> Result<(), Refusal> {
        match self.max_calls {
            Some(0) => Err(Refusal::new(NO_CALLS)),
            _ => Ok(()),
        }
    }
}

impl Term for ToolSuccess {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let episode = context.episode;
        let mut left = self.max_calls.unwrap_or(usize::MAX);
        let (mut good, mut counted, mut made) = (0, 0, 0);
        let mut turns = Vec::with_capacity(episode.turns.len());
        for turn in &episode.turns {
            let known = turn.calls.iter().filter(|record| record.end != CallEnd::Unknown).take(left);
            let (mut ok, mut here) = (0, 0);
            for record in known {
                ok += usize::from(record.end == CallEnd::Ok);
                here += 1;
            }
            turns.push((here > 0).then(|| ok as f64 / here as f64));
            left -= here;
            good += ok;
            counted += here;
            made += turn.calls.len();
        }
        if counted == 0 {
            let why = if made == 0 { "no tool was called" } else { "nobody says how the calls ended" };
            return TermResult::not_applicable(why);
        }
        let finding = format!("{good} of {counted} counted calls succeeded, {made} were made");
        TermResult::value(good as f64 / counted as f64, Evidence::new("counted", finding)).with_turns(turns)
    }
}
