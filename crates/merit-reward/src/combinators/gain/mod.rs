//! What a part is worth beyond a baseline (AI-SearchPlanner's gain over a generator without planning).
//!
//! The baseline is one of: the mean of the part over the *other* members of the group (an episode never lowers its own
//! bar); the greatest of some reference numbers in the task's payload, all of which must be there, since a missing reference
//! would make the gain look larger; or a mean kept for the task from earlier steps. Without a baseline there is no gain, and
//! the part does not apply. The baseline is taken away at the end; what the part pays by turn stays where it was earned.

mod kept;

use super::task_fact::PayloadPointer;
use crate::prelude::*;
pub use kept::KeptConfig;
use kept::{Kept, task_name};
use merit_core::stats::mean;

/// What a part is worth beyond a baseline: of the group, of the task, or kept from earlier steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// The part whose value is compared with the baseline.
    pub of: Box<RewardConfig>,
    /// What it is compared with.
    pub baseline: BaselineConfig,
    /// Whether a loss counts as 0.
    #[serde(default)]
    pub floor_at_zero: bool,
}

/// What a gain is measured from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineConfig {
    /// The mean over the other members of the group.
    Group,
    /// The greatest of the numbers that the task's payload holds at these JSON pointers.
    Payload(Vec<PayloadPointer>),
    /// The mean over the earlier episodes of the same task.
    Kept(KeptConfig),
}

impl Component for Gain {
    const ABOUT: About = About {
        name: "gain",
        summary: "What a part is worth beyond a baseline: of the group, of the task, or kept from earlier steps.",
        paper: "AI-SearchPlanner: Modular Agentic Search via Pareto-Optimal Multi-Objective Reinforcement Learning \
                (2025), arXiv:2508.20368",
    };
    const EXAMPLE: &'static str = r#"
of = { type = "exact-answer" }
baseline = { payload = ["/references/no_search", "/references/one_search"] }
"#;
}

impl Combinator for Gain {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if !matches!(self.baseline, BaselineConfig::Payload(_)) {
            compiler.whole_episodes("gain")?;
        }
        let of = compiler.part("of", &self.of)?;
        let baseline = match &self.baseline {
            BaselineConfig::Group => Baseline::Group(compiler.slot(&of)),
            BaselineConfig::Payload(pointers) if pointers.is_empty() => {
                let text = "`baseline.payload` is empty; name at least one JSON pointer";
                return Err(compiler.error(Problem::Setting(text.into())));
            }
            BaselineConfig::Payload(pointers) => Baseline::Payload(pointers.clone()),
            BaselineConfig::Kept(config) => {
                config.check().map_err(|problem| compiler.error(problem))?;
                let (value, task) = (compiler.slot(&of), compiler.slot(&task_name()));
                let key = format!("{}#means", compiler.place());
                let kept = Arc::new(Kept { value, task, key, config: config.clone() });
                compiler.after_batch(Arc::clone(&kept) as Arc<dyn StateUpdate>);
                Baseline::Kept(kept)
            }
        };
        Ok(Arc::new(GainNode { of, baseline, floor_at_zero: self.floor_at_zero }))
    }
}

enum Baseline {
    Group(Slot),
    Payload(Vec<PayloadPointer>),
    Kept(Arc<Kept>),
}

struct GainNode {
    of: Node,
    baseline: Baseline,
    floor_at_zero: bool,
}

impl GainNode {
    /// The baseline and where it comes from.
    fn baseline(&self, context: &NodeContext<'_>) -> Result<(f64, String), Value> {
        match &self.baseline {
            Baseline::Group(slot) => {
                let others: Vec<f64> = context.others(*slot).into_iter().filter_map(Value::number).collect();
                let none = || {
                    Value::NotApplicable("nobody else of the group has a value to compare with".to_owned())
                };
                let mean = mean(&others).ok_or_else(none)?;
                Ok((mean, format!("the mean of {} others of the group", others.len())))
            }
            Baseline::Payload(pointers) => {
                let numbers =
                    pointers.iter().map(|p| number_at(p, context)).collect::<Result<Vec<f64>, Value>>()?;
                let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Ok((most, format!("the greatest of {} references of the task", numbers.len())))
            }
            Baseline::Kept(kept) => kept.baseline(context),
        }
    }
}

fn number_at(pointer: &PayloadPointer, context: &NodeContext<'_>) -> Result<f64, Value> {
    let found = pointer.find(context.episode)?;
    let wrong = || Value::Broken(format!("the task's payload holds no number at `{pointer}`"));
    found.as_f64().filter(|number| number.is_finite()).ok_or_else(wrong)
}

impl Expression for GainNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let own = match evaluate(self.of.as_ref(), context, tracer) {
            Value::Number(own) => own,
            other => return other,
        };
        match self.baseline(context) {
            Ok((baseline, from)) => {
                tracer.note(|| format!("{own} against {baseline}, {from}"));
                let gain = own - baseline;
                if self.floor_at_zero && gain < 0.0 {
                    tracer.note(|| format!("the loss of {} counts as 0", -gain));
                    return Value::Number(0.0);
                }
                Value::Number(gain)
            }
            Err(why) => why,
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        let over = match &self.baseline {
            Baseline::Group(_) => "the group",
            Baseline::Payload(_) => "the task's references",
            Baseline::Kept(_) => "earlier steps",
        };
        format!("gain over {over}")
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        // A loss that counts as 0 was earned at no turn.
        let floored = self.floor_at_zero
            && self.value(context, &mut Tracer::off()).number().is_some_and(|gain| gain <= 0.0);
        if floored { None } else { self.of.paid_by_turn(context) }
    }

    fn range(&self, terms: &[Range]) -> Range {
        let of = self.of.range(terms);
        let baseline = match &self.baseline {
            Baseline::Group(_) => of,
            Baseline::Payload(_) => Range::ALL,
            Baseline::Kept(kept) => kept.config.start.map_or(of, |start| of.hull(Range::only(start))),
        };
        let gain = of.plus(baseline.scaled(-1.0));
        if self.floor_at_zero { Range { low: gain.low.max(0.0), high: gain.high.max(0.0) } } else { gain }
    }
}
