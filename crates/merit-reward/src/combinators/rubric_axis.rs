//! An axis of a rubric, and the axis that guards others.

use crate::prelude::*;

/// An axis of `rubric`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisConfig {
    /// What it grades; no two alike.
    pub name: String,
    /// The grade: the name of a term (its raw value) or an expression.
    pub of: Condition,
    /// Its share of the mean, relative to the others; at least 0. With 0 it can only veto or guard.
    #[serde(default = "crate::term::one")]
    pub weight: f64,
    /// The worst grade; 0 unless given. Lower values count as it.
    #[serde(default)]
    pub low: f64,
    /// The best grade; 1 unless given. Higher values count as it.
    #[serde(default = "crate::term::one")]
    pub high: f64,
    /// Grades below this veto, in the units of the grade. Absent: it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub veto_below: Option<f64>,
    /// What a veto pays. With `veto_below`, and only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub veto_value: Option<f64>,
}

/// An axis without which others count as their worst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricGateConfig {
    /// The axis that decides.
    pub axis: String,
    /// Open from this grade on, in the units of the grade. Where the axis does not apply the gate is open.
    pub at_least: f64,
    /// The axes that count as their worst where it is shut. Absent: all but itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<Vec<String>>,
}

pub(crate) struct Axis {
    pub(crate) of: Deciding,
    pub(crate) veto: Option<AxisVeto>,
    pub(crate) config: AxisConfig,
}

/// When an axis decides alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisVeto {
    pub(crate) below: f64,
    pub(crate) value: f64,
}

/// A compiled gate: positions of axes.
pub(crate) struct Closed {
    pub(crate) axis: usize,
    pub(crate) at_least: f64,
    pub(crate) guards: Vec<usize>,
}

impl Axis {
    /// A grade as a share of the way from worst to best.
    pub(crate) fn share(&self, grade: f64) -> f64 {
        let AxisConfig { low, high, .. } = self.config;
        (grade.clamp(low, high) - low) / (high - low)
    }
}

impl AxisConfig {
    pub(crate) fn compile(&self, i: usize, compiler: &mut Compiler) -> Result<Axis, RewardError> {
        if self.name.trim().is_empty() {
            let text = format!("`axes[{i}]` has an empty `name`; say what it grades");
            return Err(compiler.error(Problem::Setting(text)));
        }
        if compiler.finite("weight", self.weight)? < 0.0 {
            let text = format!("`weight` of axis `{}` is {}; it must be at least 0", self.name, self.weight);
            return Err(compiler.error(Problem::Setting(text)));
        }
        let (low, high) = (compiler.finite("low", self.low)?, compiler.finite("high", self.high)?);
        if !(high - low).is_finite() || low >= high {
            let text =
                format!("axis `{}` grades from {low} to {high}; `low` must be below `high`", self.name);
            return Err(compiler.error(Problem::Setting(text)));
        }
        let of = match &self.of {
            Condition::Term(name) => Deciding::Term(compiler.find(name)?),
            Condition::Expression(config) => {
                Deciding::Expression(compiler.part(format!("axes[{i}].of"), config)?)
            }
        };
        Ok(Axis { of, veto: self.veto(compiler)?, config: self.clone() })
    }

    fn veto(&self, compiler: &Compiler) -> Result<Option<AxisVeto>, RewardError> {
        match (self.veto_below, self.veto_value) {
            (None, None) => Ok(None),
            (Some(below), Some(value)) => {
                let below = compiler.finite("veto_below", below)?;
                Ok(Some(AxisVeto { below, value: compiler.finite("veto_value", value)? }))
            }
            _ => {
                let text =
                    format!("axis `{}` needs both `veto_below` and `veto_value`, or neither", self.name);
                Err(compiler.error(Problem::Setting(text)))
            }
        }
    }
}

impl RubricGateConfig {
    pub(crate) fn compile(&self, axes: &[AxisConfig]) -> Result<Closed, Problem> {
        if !self.at_least.is_finite() {
            return Err(Problem::NotFinite { field: "gate.at_least", value: self.at_least });
        }
        let axis = find(&self.axis, axes)?;
        let guards = match &self.guards {
            None => (0..axes.len()).filter(|&other| other != axis).collect(),
            Some(names) => names.iter().map(|name| find(name, axes)).collect::<Result<Vec<usize>, _>>()?,
        };
        if guards.is_empty() || guards.contains(&axis) {
            let text = format!("the gate of `{}` must guard at least one axis, and not itself", self.axis);
            return Err(Problem::Setting(text));
        }
        Ok(Closed { axis, at_least: self.at_least, guards })
    }
}

fn find(name: &str, axes: &[AxisConfig]) -> Result<usize, Problem> {
    axes.iter()
        .position(|axis| axis.name == name)
        .ok_or_else(|| Problem::no_such("axis", name, axes.iter().map(|axis| axis.name.as_str())))
}
