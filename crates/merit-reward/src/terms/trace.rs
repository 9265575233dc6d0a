//! Rules over the sequence of tool calls: what must be called, what must not, what comes first, how often, with arguments
//! taken from what was seen.
//!
//! The value is the mean of the rules' shares, or 1 only where all hold (`pay = "pass"`). By turn: 0 where a call of the turn
//! broke a rule, 1 where calls were made and broke none. Rules that forbid hold where nothing was called, so an episode
//! without calls can score: gate it on the outcome. A rule that takes too much work is the grader's failure.

use super::counted_calls::Calls;
use super::pay::Pay;
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Evidence};
use merit_verify::calls::{Rule, RuleVerdict, TraceRules};
use merit_verify::json::Limits;

pub(crate) const TRACE: Component = Component {
    about: About {
        name: "trace",
        summary: "How far the sequence of tool calls keeps to rules: must, must not, before, at most, no repeats.",
        paper: "",
    },
    example: r#"
type = "gate"
when = { type = "exact-answer" }
at_least = 1
then = { type = "trace", pay = "pass", rules = [
  { must_call = { tool = "calc" } },
  { at_most = { tool = "calc", n = 3 } },
  { no_repeat = {} },
] }
"#,
};

term_config! {
    /// `trace`
    pub struct TraceConfig of TRACE {
        /// The rules; at least one.
        pub rules: Vec<Rule>,
        /// The mean of the rules' shares, or all or nothing.
        #[serde(default)]
        pub pay: Pay,
        /// Sizes and work of one rule.
        #[serde(default)]
        pub limits: Limits,
    }
}

impl TermConfig for TraceConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        if self.rules.is_empty() {
            return Err(Problem::Setting("`trace` has no `rules`; list at least one".to_owned()));
        }
        let rules = TraceRules::compile(self.rules.clone(), self.limits);
        let rules = rules.map_err(|why| Problem::Setting(why.to_string()))?;
        let looks_back = self.rules.iter().any(|rule| matches!(rule, Rule::ArgsFromObservations(_)));
        Ok(Box::new(Trace { rules, looks_back, pay: self.pay }))
    }
}

struct Trace {
    rules: TraceRules,
    /// Some rule asks what the agent had seen.
    looks_back: bool,
    pay: Pay,
}

impl Term for Trace {
    fn look(&self, view: &View<'_>) -> Finding {
        let episode = view.episode;
        let calls = if self.looks_back { Calls::with_observations(episode) } else { Calls::all(episode) };
        let verdicts = match self.rules.apply(&calls.trace) {
            Ok(verdicts) => verdicts,
            Err(why) => return Finding::broken(why.to_string()),
        };
        let mean = verdicts.iter().map(|v| v.share).sum::<f64>() / verdicts.len() as f64;
        let passed = verdicts.iter().all(|v| v.passed);
        let held = verdicts.iter().filter(|v| v.passed).count();
        let counted = format!("{held} of {} rules hold", verdicts.len());
        let value = Finding::value(self.pay.of(mean, passed), Evidence::new("counted", counted));
        let value = value.with_turns(by_turn(&calls.turns, &verdicts, episode.turns.len()));
        verdicts.iter().fold(value, |value, v| {
            let sign = if v.passed { "holds" } else { "is broken" };
            value.with_evidence(Evidence::new("compared", format!("`{}` {sign}: {}", v.name, v.evidence)))
        })
    }
}

fn by_turn(turn_of: &[usize], verdicts: &[RuleVerdict], turns: usize) -> Vec<Option<f64>> {
    let mut values = vec![None; turns];
    turn_of.iter().for_each(|&turn| values[turn] = Some(1.0));
    let broken = verdicts.iter().filter(|v| !v.passed).filter_map(|v| turn_of.get(v.call?));
    broken.for_each(|&turn| values[turn] = Some(0.0));
    values
}
