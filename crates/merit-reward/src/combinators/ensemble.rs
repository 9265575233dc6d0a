//! Several judges of the same thing, taken together, and how far they disagree.
//!
//! `mean`, `median` and `min` measure the disagreement as the standard deviation of the judges (divided by their count);
//! `majority` takes a value of at least one half for a yes, pays 1 where more than half say yes and 0 elsewhere, a tie
//! included, and measures one minus the share of the judges on the larger side. Above `abstain_above` the episode is unscorable: it
//! neither earns nor trains. Otherwise `penalty · disagreement` is taken away. A judge that does not apply is left out. Give
//! the judges one scale: weights of 1 and the same range.

use crate::prelude::*;

/// Several judges of the same thing, with their disagreement: abstains or takes it away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// The judges; at least two.
    pub of: Vec<RewardConfig>,
    /// How they are taken together.
    pub rule: EnsembleRule,
    /// Above this disagreement the episode is unscorable. Absent: it never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstain_above: Option<f64>,
    /// What is taken away per unit of disagreement; above 0. Absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<f64>,
}

/// How judges are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleRule {
    /// The mean of their values.
    Mean,
    /// The middle one; between two, their mean.
    Median,
    /// The lowest of their values.
    Min,
    /// What more than half of them say.
    Majority,
}

impl Component for Ensemble {
    const ABOUT: About = About {
        name: "ensemble",
        summary: "Several judges of the same thing, with their disagreement: abstains or takes it away.",
        paper: "Coste et al., Reward Model Ensembles Help Mitigate Overoptimization (2023), arXiv:2310.02743",
    };
    const EXAMPLE: &'static str = r#"
rule = "majority"
abstain_above = 0.4
of = [
  { type = "exact-answer", name = "judge-a", errors = { false_positive = 0.1 } },
  { type = "exact-answer", name = "judge-b", errors = { false_negative = 0.1 } },
  { type = "exact-answer", name = "judge-c" },
]
"#;
}

impl Combinator for Ensemble {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if self.of.len() < 2 {
            let text = "`ensemble` needs at least two judges in `of`; one cannot disagree";
            return Err(compiler.error(Problem::Setting(text.into())));
        }
        if let Some(most) = self.abstain_above.filter(|most| !(most.is_finite() && *most >= 0.0)) {
            let text = format!("`abstain_above` is {most}; a disagreement is finite and at least 0");
            return Err(compiler.error(Problem::Setting(text)));
        }
        if let Some(value) = self.penalty.filter(|penalty| !(penalty.is_finite() && *penalty > 0.0)) {
            return Err(compiler.error(Problem::NotPositive { field: "penalty", value }));
        }
        let judges = compiler.list("ensemble", &self.of)?;
        let (rule, abstain_above) = (self.rule, self.abstain_above);
        Ok(Arc::new(EnsembleNode { judges, rule, abstain_above, penalty: self.penalty.unwrap_or(0.0) }))
    }
}

struct EnsembleNode {
    judges: Vec<Node>,
    rule: EnsembleRule,
    abstain_above: Option<f64>,
    penalty: f64,
}

/// What the judges say together, and how far they disagree. `said` holds at least one number.
fn together(rule: EnsembleRule, said: &[f64]) -> (f64, f64) {
    let n = said.len() as f64;
    let mean = said.iter().sum::<f64>() / n;
    let std = || (said.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    match rule {
        EnsembleRule::Mean => (mean, std()),
        EnsembleRule::Median => (median(said), std()),
        EnsembleRule::Min => (said.iter().copied().fold(f64::INFINITY, f64::min), std()),
        EnsembleRule::Majority => {
            let yes = said.iter().filter(|x| **x >= 0.5).count() as f64;
            (f64::from(u8::from(2.0 * yes > n)), 1.0 - yes.max(n - yes) / n)
        }
    }
}

fn median(said: &[f64]) -> f64 {
    let mut sorted = said.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    low + (high - low) / 2.0
}

impl Expression for EnsembleNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let said = match numbers(&evaluate_all(&self.judges, context, tracer)) {
            Ok(said) => said,
            Err(other) => return other,
        };
        let (value, disagreement) = together(self.rule, &said);
        tracer
            .note(|| format!("{} of {} judges; disagreement {disagreement}", said.len(), self.judges.len()));
        if let Some(most) = self.abstain_above.filter(|most| disagreement > *most) {
            return Value::Unscorable(format!("the judges disagree by {disagreement}, above {most}"));
        }
        if self.penalty > 0.0 {
            tracer.note(|| format!("{value} less {} for disagreeing", self.penalty * disagreement));
        }
        Value::Number(value - self.penalty * disagreement)
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("ensemble ({:?})", self.rule).to_lowercase()
    }

    /// Only a mean is the sum of what each judge says; a penalty is paid at the end.
    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        if self.rule != EnsembleRule::Mean {
            return None;
        }
        let said = evaluate_all(&self.judges, context, &mut Tracer::off());
        let count = said.iter().filter(|value| value.number().is_some()).count() as f64;
        let paid = add_by_turn(self.judges.iter().map(|judge| judge.paid_by_turn(context)))?;
        Some(paid.into_iter().map(|here| here / count).collect())
    }

    fn range(&self, terms: &[Range]) -> Range {
        let hull =
            self.judges.iter().map(|judge| judge.range(terms)).reduce(Range::hull).unwrap_or(Range::ALL);
        // A standard deviation is at most half of the width, the smaller side at most half of the judges.
        let (said, most) = match self.rule {
            EnsembleRule::Majority => (Range::UNIT, 0.5),
            EnsembleRule::Mean | EnsembleRule::Median | EnsembleRule::Min => (hull, hull.width() / 2.0),
        };
        let most = self.abstain_above.map_or(most, |abstain| most.min(abstain));
        said.plus(Range::between(0.0, most).scaled(-self.penalty))
    }
}
