//! The share of tool calls that succeed, after ARTIST's tool-execution reward: in [0, 1], by turn where calls were made.
//!
//! A call succeeds when it ran and answered; refused and timed-out calls do not. A call of which nobody says how it ended is
//! neither and is not counted. Without any call that counts the term is not applicable. `max_calls` counts only the first
//! such calls of an episode, so that a policy cannot mend its share by piling up trivial calls that always work.

use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, CallEnd, Evidence};

pub(crate) const TOOL_SUCCESS: Component = Component {
    about: About {
        name: "tool-success",
        summary: "The share of tool calls that succeed; not applicable where none was made.",
        paper: "ARTIST: Agentic Reasoning and Tool Integration for LLMs via Reinforcement Learning (2025)",
    },
    example: r#"
type = "tool-success"
weight = 0.5
max_calls = 4
"#,
};

term_config! {
    /// `tool-success`
    pub struct ToolSuccessConfig of TOOL_SUCCESS {
        /// Only this many calls count, the first of the episode. Absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_calls: Option<usize>,
    }
}

impl Default for ToolSuccessConfig {
    fn default() -> Self {
        Self { name: None, weight: 1.0, on_parse_failure: None, errors: None, max_calls: None }
    }
}

impl TermConfig for ToolSuccessConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        if self.max_calls == Some(0) {
            return Err(Problem::NoCalls);
        }
        Ok(Box::new(ToolSuccess { max_calls: self.max_calls.unwrap_or(usize::MAX) }))
    }
}

struct ToolSuccess {
    max_calls: usize,
}

impl Term for ToolSuccess {
    fn look(&self, view: &View<'_>) -> Finding {
        let episode = view.episode;
        let mut left = self.max_calls;
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
            return Finding::not_applicable(why);
        }
        let finding = format!("{good} of {counted} counted calls succeeded, {made} were made");
        Finding::value(good as f64 / counted as f64, Evidence::new("counted", finding)).with_turns(turns)
    }
}
