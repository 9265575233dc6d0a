//! Weighs its parts by how fast they are being learned, so that an easy objective does not swallow the others.
//!
//! After Deep GraphRAG's DW-GRPO. Once per training step, from the mean m_k of each part over the last `window` steps:
//!
//!   s_k = least-squares slope of m_k over the steps, divided by the standard deviation of m_k
//!   u_k = softmax(−s_k / temperature),   w_k ← smoothing · w_k + (1 − smoothing) · (floor + (1 − K · floor) · u_k)
//!
//! so slow or declining parts gain weight. The weights are the same for all episodes of a step, and start equal. What is
//! kept is too old after `window` versions without news, and begins anew.

use crate::learning_speed::SpeedWeights;
use crate::prelude::*;

/// Weighs its parts by how fast they are being learned: slow ones gain weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicWeights {
    /// The parts; at least two.
    pub of: Vec<RewardConfig>,
    /// Steps over which the speed of learning is measured; at least 2.
    #[serde(default = "twenty")]
    pub window: u64,
    /// Above 0; the lower it is, the more the slowest part gets.
    #[serde(default = "crate::term::one")]
    pub temperature: f64,
    /// The least weight of each part.
    #[serde(default = "tenth")]
    pub floor: f64,
    /// Share of the old weight that stays at each step.
    #[serde(default = "nine_tenths")]
    pub smoothing: f64,
}

fn twenty() -> u64 {
    20
}

fn tenth() -> f64 {
    0.1
}

fn nine_tenths() -> f64 {
    0.9
}

impl Component for DynamicWeights {
    const ABOUT: About = About {
        name: "dynamic-weights",
        summary: "Weighs its parts by how fast they are being learned: slow ones gain weight.",
        paper: "Deep GraphRAG: A Balanced Approach to Hierarchical Retrieval and Adaptive Integration (2026)",
    };
    const EXAMPLE: &'static str = r#"
window = 20
floor = 0.1
of = [{ type = "exact-answer" }, { type = "format" }, { type = "tool-success" }]
"#;
}

impl Combinator for DynamicWeights {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("dynamic-weights")?;
        self.check().map_err(|problem| compiler.error(problem))?;
        let parts = compiler.list("dynamic-weights", &self.of)?;
        let slots = parts.iter().map(|part| compiler.slot(part)).collect();
        let node = Arc::new(DynamicWeightsNode { parts, slots, key: compiler.place(), config: self.clone() });
        compiler.after_batch(Arc::clone(&node) as Arc<dyn StateUpdate>);
        Ok(node)
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        (0..self.of.len()).for_each(|i| advice.adds(&format!("of[{i}]"), 1.0));
    }
}

impl DynamicWeights {
    fn check(&self) -> Result<(), Problem> {
        if self.of.len() < 2 {
            return Err(Problem::Setting("`dynamic-weights` needs at least two parts to weigh".into()));
        }
        if !(2..=10_000).contains(&self.window) {
            return Err(Problem::Setting(format!(
                "`window` is {}; it must be 2 to 10000 steps",
                self.window
            )));
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(Problem::NotPositive { field: "temperature", value: self.temperature });
        }
        if !(0.0..1.0).contains(&self.smoothing) {
            return Err(Problem::Setting(format!(
                "`smoothing` is {}; it must be from 0 to below 1",
                self.smoothing
            )));
        }
        let most = 1.0 / self.of.len() as f64;
        if !(0.0..=most).contains(&self.floor) {
            let text =
                format!("`floor` is {}; {} parts leave room for 0 to {most}", self.floor, self.of.len());
            return Err(Problem::Setting(text));
        }
        Ok(())
    }
}

struct DynamicWeightsNode {
    parts: Vec<Node>,
    slots: Vec<Slot>,
    key: String,
    config: DynamicWeights,
}

impl DynamicWeightsNode {
    fn weights(&self, kept: Option<&[f64]>) -> Vec<f64> {
        let equal = || vec![1.0 / self.parts.len() as f64; self.parts.len()];
        kept.filter(|weights| weights.len() == self.parts.len()).map_or_else(equal, <[f64]>::to_vec)
    }
}

impl Expression for DynamicWeightsNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let weights = self.weights(context.kept(&format!("{}#weights", self.key)));
        tracer.note(|| format!("weights {weights:?} at step {}", context.run.step));
        let parts = evaluate_all(&self.parts, context, tracer);
        if let Some(stopper) = stopper(&parts) {
            return stopper;
        }
        let entering =
            parts.iter().zip(&weights).filter_map(|(part, w)| part.number().map(|value| w * value));
        let (sum, count) = entering.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
        if count == 0 { Value::NotApplicable("no part applies".to_owned()) } else { Value::Number(sum) }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "dynamic weights".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        // Every weighting of the parts lies between the least and the greatest of them, and 0 where some are left out.
        self.parts.iter().map(|part| part.range(terms)).fold(Range::only(0.0), Range::hull)
    }
}

impl StateUpdate for DynamicWeightsNode {
    fn update(&self, values: &BatchValues, run: &ScoreContext, before: &RewardState, next: &mut RewardState) {
        // A step in which some part never applied says nothing of the speeds.
        let Some(row) = self.slots.iter().map(|&slot| values.mean(slot)).collect::<Option<Vec<f64>>>() else {
            return;
        };
        let (weights_key, means_key) = (format!("{}#weights", self.key), format!("{}#means", self.key));
        let mut means = before.get(&means_key, run.version).map_or_else(Vec::new, <[f64]>::to_vec);
        means.extend(row);
        let surplus = means.len().saturating_sub(self.config.window as usize * self.parts.len());
        means.drain(..surplus);
        let old = self.weights(before.get(&weights_key, run.version));
        let DynamicWeights { temperature, floor, smoothing, .. } = self.config;
        let weights = SpeedWeights { temperature, floor, smoothing }.next(&old, &means);
        let refresh = Refresh::After { versions: self.config.window };
        next.keep(weights_key, weights, run.version, refresh);
        next.keep(means_key, means, run.version, refresh);
    }
}
