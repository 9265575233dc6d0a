//! Graded axes taken together: hard vetoes first, in order, then a weighted mean (Doctor-R1, StitchCUDA, RecRM-Bench).
//!
//!   s_i = (clamp(v_i, low_i, high_i) − low_i) / (high_i − low_i),   R = Σ_i w_i s_i / Σ_i w_i
//!
//! The first axis below its `veto_below` decides alone and pays its `veto_value`. Where the axis named by `gate` is too low,
//! the axes it guards count as their worst: an additive rubric could otherwise out-pay an honest result. An axis that does
//! not apply is left out of both sums.

use super::rubric_axis::{Axis, AxisConfig, Closed, RubricGateConfig};
use crate::prelude::*;

/// Weighted mean of graded axes after hard vetoes in order; one axis may gate the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rubric {
    /// The axes, in the order of their vetoes; at least one.
    pub axes: Vec<AxisConfig>,
    /// What the mean is scaled to.
    #[serde(default)]
    pub scale: RubricScale,
    /// An axis without which others count as their worst. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<RubricGateConfig>,
}

/// What the mean of a rubric is scaled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RubricScale {
    /// From 0, every axis at its `low`, to 1, every axis at its `high`.
    #[default]
    Unit,
    /// From −1 to 1, as where axes are graded about a neutral 0.
    Signed,
}

impl Component for Rubric {
    const ABOUT: About = About {
        name: "rubric",
        summary: "Weighted mean of graded axes after hard vetoes in order; one axis may gate the others.",
        paper: "Doctor-R1: Mastering Clinical Inquiry with Experiential Agentic Reinforcement Learning (2025)",
    };
    const EXAMPLE: &'static str = r#"
scale = "unit"
axes = [
  { name = "form", of = { type = "format" }, weight = 0.2, veto_below = 0.5, veto_value = -0.5 },
  { name = "tools", of = { type = "tool-success" }, weight = 0.3 },
  { name = "answer", of = { type = "exact-answer" }, weight = 0.5 },
]
gate = { axis = "form", at_least = 1.0, guards = ["tools"] }
"#;
}

impl Combinator for Rubric {
    fn children(&self) -> Vec<&RewardConfig> {
        self.axes.iter().filter_map(|axis| axis.of.children()).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if self.axes.is_empty() {
            return Err(compiler.error(Problem::Setting("`rubric` has no `axes`; list at least one".into())));
        }
        let gate = self.gate.as_ref().map(|gate| gate.compile(&self.axes)).transpose();
        let gate = gate.map_err(|problem| compiler.error(problem))?;
        let axes = self.axes.iter().enumerate().map(|(i, axis)| {
            if self.axes[..i].iter().any(|other| other.name == axis.name) {
                let text = format!("there are two axes called `{}`; rename one", axis.name);
                return Err(compiler.error(Problem::Setting(text)));
            }
            axis.compile(i, compiler)
        });
        let axes = axes.collect::<Result<Vec<Axis>, RewardError>>()?;
        if axes.iter().all(|axis| axis.config.weight == 0.0) {
            let text = "every axis has weight 0; there is nothing to take the mean of".to_owned();
            return Err(compiler.error(Problem::Setting(text)));
        }
        Ok(Arc::new(RubricNode { axes, scale: self.scale, gate }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        let range = |advice: &Advice<'_>, i: usize| {
            self.axes.get(i).and_then(|axis| advice.deciding(&format!("axes[{i}].of"), &axis.of))
        };
        for (i, axis) in self.axes.iter().enumerate() {
            advice.adds_width(&format!("axes[{i}]"), axis.weight);
            let (Some(range), Some(below)) = (range(advice, i), axis.veto_below) else { continue };
            let subject = format!("the veto of axis `{}`", axis.name);
            let threshold = Threshold::new(format!("axes[{i}]"), subject, range, Bound::Below(below));
            advice.threshold(Threshold { vetoes: true, lost_if_always: vec![String::new()], ..threshold });
        }
        if let Some(gate) = &self.gate {
            let Some(axis) = self.axes.iter().position(|axis| axis.name == gate.axis) else { return };
            let guards = self.axes.iter().enumerate().filter(|(i, other)| match &gate.guards {
                Some(names) => names.contains(&other.name),
                None => *i != axis,
            });
            let lost_if_never = guards.map(|(i, _)| format!("axes[{i}].of")).collect();
            let Some(range) = range(advice, axis) else { return };
            let subject = format!("the gate of axis `{}`", gate.axis);
            let threshold = Threshold::new("", subject, range, Bound::AtLeast(gate.at_least));
            advice.threshold(Threshold { gate: true, lost_if_never, ..threshold });
        }
    }
}

struct RubricNode {
    axes: Vec<Axis>,
    scale: RubricScale,
    gate: Option<Closed>,
}

impl RubricNode {
    /// The axes that count as their worst, by position.
    fn guarded(&self, values: &[Value], tracer: &mut Tracer) -> &[usize] {
        match &self.gate {
            Some(gate) if values[gate.axis].number().is_some_and(|value| value < gate.at_least) => {
                let name = &self.axes[gate.axis].config.name;
                tracer.note(|| {
                    format!("`{name}` is below {}: the axes it guards count as their worst", gate.at_least)
                });
                &gate.guards
            }
            _ => &[],
        }
    }

    fn mean(&self, values: &[Value], guarded: &[usize]) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (i, (axis, value)) in self.axes.iter().zip(values).enumerate() {
            let Some(value) = value.number() else { continue };
            let share = if guarded.contains(&i) { 0.0 } else { axis.share(value) };
            sum += axis.config.weight * share;
            weights += axis.config.weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

impl Expression for RubricNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let values: Vec<Value> = self.axes.iter().map(|axis| axis.of.evaluate(context, tracer)).collect();
        if let Some(stopper) = stopper(&values) {
            return stopper;
        }
        for (axis, value) in self.axes.iter().zip(&values) {
            if let (Some(veto), Some(value)) = (axis.veto, value.number())
                && value < veto.below
            {
                tracer.note(|| format!("`{}` vetoes: {value} is below {}", axis.config.name, veto.below));
                return Value::Number(veto.value);
            }
        }
        let guarded = self.guarded(&values, tracer);
        match (self.mean(&values, guarded), self.scale) {
            (None, _) => Value::NotApplicable("no axis with a weight applies".to_owned()),
            (Some(mean), RubricScale::Unit) => Value::Number(mean),
            (Some(mean), RubricScale::Signed) => Value::Number(2.0 * mean - 1.0),
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "rubric".to_owned()
    }

    fn range(&self, _: &[Range]) -> Range {
        let mean = match self.scale {
            RubricScale::Unit => Range::UNIT,
            RubricScale::Signed => Range::between(-1.0, 1.0),
        };
        self.axes
            .iter()
            .filter_map(|axis| axis.veto)
            .fold(mean, |range, veto| range.hull(Range::only(veto.value)))
    }
}
