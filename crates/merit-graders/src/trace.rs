//! Rules over the sequence of tool calls: what must be called, what must not, what comes first, how often, with arguments
//! taken from what was seen.
//!
//! The value is the mean of the rules' shares, or 1 only where all hold (`pay = "pass"`). By turn: 0 where a call of the turn
//! broke a rule, 1 where calls were made and broke none. Rules that forbid hold where nothing was called, so an episode
//! without calls can score: gate it on the outcome. A rule that takes too much work is the grader's failure.

use crate::counted_calls::Calls;
use merit_reward::prelude::*;
use merit_verify::calls::{Rule, RuleVerdict, TraceRules};
use merit_verify::json::Limits;
use schemars::JsonSchema;

/// How far the sequence of tool calls keeps to rules: must, must not, before, at most, no repeats.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The rules; at least one.
    pub rules: Vec<Rule>,
    /// The mean of the rules' shares, or all or nothing.
    #[serde(default)]
    pub pay: Pay,
    /// Sizes and work of one rule.
    #[serde(default)]
    pub limits: Limits,
}

impl Component for Trace {
    const ABOUT: About = About {
        name: "trace",
        summary: "How far the sequence of tool calls keeps to rules: must, must not, before, at most, no repeats.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
pay = "pass"
rules = [
  { must_call = { tool = "calc" } },
  { at_most = { tool = "calc", n = 3 } },
  { no_repeat = {} },
]
"#;

    fn check(&self) -> Result<(), Refusal> {
        if self.rules.is_empty() {
            Err(Refusal::new("there are no `rules`; list at least one"))
        } else {
            Ok(())
        }
    }
}

impl PreparedTerm for Trace {
    type Prepared = TraceRules;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<TraceRules, Refusal> {
        TraceRules::compile(self.rules.clone(), self.limits).map_err(|why| Refusal::new(why.to_string()))
    }

    fn evaluate(&self, rules: &TraceRules, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let looks_back = self.rules.iter().any(|rule| matches!(rule, Rule::ArgsFromObservations(_)));
        let calls = if looks_back { Calls::with_observations(episode) } else { Calls::all(episode) };
        let verdicts = rules.apply(&calls.trace).map_err(|why| TermResult::broken(why.to_string()))?;
        let mean = verdicts.iter().map(|v| v.share).sum::<f64>() / verdicts.len() as f64;
        let passed = verdicts.iter().all(|v| v.passed);
        let held = verdicts.iter().filter(|v| v.passed).count();
        let counted = format!("{held} of {} rules hold", verdicts.len());
        let value = TermResult::value(self.pay.of(mean, passed), Evidence::new("counted", counted));
        let value = value.with_turns(by_turn(&calls.turns, &verdicts, episode.turns.len()));
        Ok(verdicts.iter().fold(value, |value, v| {
            let sign = if v.passed { "holds" } else { "is broken" };
            value.with_evidence(Evidence::new("compared", format!("`{}` {sign}: {}", v.name, v.evidence)))
        }))
    }
}

fn by_turn(turn_of: &[usize], verdicts: &[RuleVerdict], turns: usize) -> Vec<Option<f64>> {
    let mut values = vec![None; turns];
    turn_of.iter().for_each(|&turn| values[turn] = Some(1.0));
    let broken = verdicts.iter().filter(|v| !v.passed).filter_map(|v| turn_of.get(v.call?));
    broken.for_each(|&turn| values[turn] = Some(0.0));
    values
}
