//! A curriculum: ordered stages of which one is at work at a time, the same for all episodes of a step.
//!
//! By step, a stage is at work until its `until_step`. By mastery, it is at work until the batch mean of what tells its
//! mastery was at least `mastered_at` for `patience` steps in a row; the next stage begins with the step after. Nothing falls
//! back, unless `relapse` says below which mean of the stage before, again for `patience` steps in a row, that stage comes
//! back. With `carry` the stages already passed go on paying. What is kept of a curriculum by mastery is too old after
//! `max_age` versions without news, and begins anew. Stages that depend on the episode and not on the step are
//! `lexicographic`.

mod mastery;

use crate::prelude::*;

use mastery::{Mastery, measure};

/// A curriculum of stages, by training step or by mastery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Staged {
    /// What moves the curriculum on.
    pub by: StagedBy,
    /// The stages in order; at least two.
    pub stages: Vec<StageConfig>,
    /// Whether the stages already passed go on paying.
    pub carry: bool,
    /// By mastery: steps in a row that a mean must stay. Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u32>,
    /// By mastery: the stage before comes back where its mean is below this. Absent: nothing falls back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relapse: Option<f64>,
    /// By mastery: policy versions without news after which the curriculum begins anew. Absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<u64>,
}

/// What moves a curriculum on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StagedBy {
    /// The number of the training step.
    Step,
    /// How well the policy does in the stage, as a mean over batches.
    Mastery,
}

/// A stage of `staged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageConfig {
    /// The reward that is paid while the stage lasts.
    pub of: RewardConfig,
    /// By step: the first step at which it is over. Every stage has one but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_step: Option<u64>,
    /// By mastery: the batch mean from which it is mastered. Every stage has one but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mastered_at: Option<f64>,
    /// By mastery: what that is the mean of, the name of a term (its raw value) or an expression. Absent: `of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mastered_by: Option<Condition>,
}

impl Component for Staged {
    const ABOUT: About = About {
        name: "staged",
        summary: "A curriculum of stages, by training step or by mastery.",
        paper: "TableGPT-R1: Advancing Tabular Reasoning Through Reinforcement Learning (2025), arXiv:2512.20312",
    };
    const EXAMPLE: &'static str = r#"
by = "mastery"
carry = true
patience = 3
stages = [
  { of = { type = "format" }, mastered_at = 0.9 },
  { of = { type = "tool-success" }, mastered_at = 0.8, mastered_by = "exact-answer" },
  { of = { type = "exact-answer" } },
]
"#;
}

impl Combinator for Staged {
    fn children(&self) -> Vec<&RewardConfig> {
        self.stages.iter().flat_map(StageConfig::parts).flatten().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        self.check().map_err(|text| compiler.error(Problem::Setting(text)))?;
        match self.by {
            StagedBy::Step => self.compile_by_step(compiler),
            StagedBy::Mastery => self.compile_by_mastery(compiler),
        }
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        if self.by == StagedBy::Step && self.stages.first().is_some_and(|stage| stage.until_step == Some(0)) {
            advice.never("stages[0].of", "it is over at step 0, the first", "let it end later, or remove it");
        }
        if self.by == StagedBy::Mastery {
            advice.keeps("#stage", vec![self.stages.len() as f64 - 1.0, 0.0, 0.0]);
        }
        for (i, stage) in self.stages.iter().enumerate() {
            let place = format!("stages[{i}].of");
            let range = match &stage.mastered_by {
                Some(by) => advice.deciding(&format!("stages[{i}].mastered_by"), by),
                None => advice.range(&place),
            };
            let (Some(range), Some(mastered_at)) = (range, stage.mastered_at) else { continue };
            let lost_if_never = (i + 1..self.stages.len()).map(|i| format!("stages[{i}].of")).collect();
            let threshold = Threshold::new(place, format!("stage {i}"), range, Bound::AtLeast(mastered_at));
            advice.threshold(Threshold { lost_if_never, ..threshold });
        }
    }
}

impl Staged {
    fn compile_by_step(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let mut parts = Vec::with_capacity(self.stages.len());
        for (i, stage) in self.stages.iter().enumerate() {
            parts.push(compiler.part(format!("stages[{i}].of"), &stage.of)?);
        }
        let untils = self.stages.iter().filter_map(|stage| stage.until_step).collect();
        Ok(Arc::new(StagedNode { parts, carry: self.carry, moves: Moves::Steps(untils) }))
    }

    fn compile_by_mastery(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("staged")?;
        let (mut parts, mut marks) = (Vec::with_capacity(self.stages.len()), Vec::new());
        for (i, stage) in self.stages.iter().enumerate() {
            let part = compiler.part(format!("stages[{i}].of"), &stage.of)?;
            if let Some(mastered_at) = stage.mastered_at {
                let place = format!("stages[{i}].mastered_by");
                let measured = measure(compiler, place, stage.mastered_by.as_ref(), &part)?;
                marks.push((compiler.slot(&measured), mastered_at));
            }
            parts.push(part);
        }
        let mastery = Arc::new(Mastery {
            marks,
            patience: self.patience.unwrap_or(1),
            relapse: self.relapse,
            max_age: self.max_age.unwrap_or(100),
            key: format!("{}#stage", compiler.place()),
        });
        compiler.after_batch(Arc::clone(&mastery) as Arc<dyn StateUpdate>);
        Ok(Arc::new(StagedNode { parts, carry: self.carry, moves: Moves::Mastery(mastery) }))
    }

    fn check(&self) -> Result<(), String> {
        let count = self.stages.len();
        if count < 2 {
            return Err(format!("`staged` has {count} stages; list at least two"));
        }
        let by_step = self.by == StagedBy::Step;
        if by_step && (self.patience.is_some() || self.relapse.is_some() || self.max_age.is_some()) {
            return Err("`patience`, `relapse` and `max_age` are for `by = \"mastery\"`; remove them".into());
        }
        if self.patience == Some(0) {
            return Err("`patience` is 0; it must be at least 1 step".into());
        }
        for (i, stage) in self.stages.iter().enumerate() {
            stage.check(i, i + 1 == count, by_step)?;
        }
        if let Some(pair) =
            self.stages.windows(2).find(|p| p[1].until_step.is_some() && p[0].until_step >= p[1].until_step)
        {
            let (before, after) = (pair[0].until_step.unwrap_or(0), pair[1].until_step.unwrap_or(0));
            return Err(format!("`until_step` {after} comes after {before}; a later stage must end later"));
        }
        let least = self.stages.iter().filter_map(|stage| stage.mastered_at).fold(f64::INFINITY, f64::min);
        match self.relapse {
            Some(relapse) if !(relapse.is_finite() && relapse < least) => Err(format!(
                "`relapse` is {relapse}; it must be below every `mastered_at`, the least of which is {least}"
            )),
            _ => Ok(()),
        }
    }
}

impl StageConfig {
    fn parts(&self) -> [Option<&RewardConfig>; 2] {
        [Some(&self.of), self.mastered_by.as_ref().and_then(Condition::children)]
    }

    fn check(&self, i: usize, last: bool, by_step: bool) -> Result<(), String> {
        let mastery = self.mastered_at.is_some() || self.mastered_by.is_some();
        match (last, by_step) {
            (true, _) if mastery || self.until_step.is_some() => Err(format!(
                "`stages[{i}]` is the last and never over; remove `until_step`, `mastered_at` and `mastered_by`"
            )),
            (_, true) if mastery => Err(format!(
                "`stages[{i}]` has `mastered_at` or `mastered_by`, which are for `by = \"mastery\"`"
            )),
            (_, false) if self.until_step.is_some() => {
                Err(format!("`stages[{i}]` has `until_step`, which is for `by = \"step\"`"))
            }
            (false, true) if self.until_step.is_none() => Err(format!("`stages[{i}]` needs an `until_step`")),
            (false, false) => match self.mastered_at {
                Some(mark) if mark.is_finite() => Ok(()),
                Some(mark) => Err(format!("`stages[{i}].mastered_at` is {mark}; it must be finite")),
                None => Err(format!("`stages[{i}]` needs a `mastered_at`")),
            },
            _ => Ok(()),
        }
    }
}

enum Moves {
    /// The first step after each stage but the last.
    Steps(Vec<u64>),
    Mastery(Arc<Mastery>),
}

struct StagedNode {
    parts: Vec<Node>,
    carry: bool,
    moves: Moves,
}

impl StagedNode {
    fn stage(&self, context: &NodeContext<'_>) -> usize {
        let stage = match &self.moves {
            Moves::Steps(untils) => untils.iter().filter(|&&until| context.run.step >= until).count(),
            Moves::Mastery(mastery) => mastery.progress(context.kept(&mastery.key)).stage,
        };
        stage.min(self.parts.len() - 1)
    }

    fn at_work(&self, context: &NodeContext<'_>) -> &[Node] {
        let stage = self.stage(context);
        &self.parts[if self.carry { 0 } else { stage }..=stage]
    }

    fn why(&self, stage: usize, context: &NodeContext<'_>) -> String {
        match &self.moves {
            Moves::Steps(untils) => match untils.get(stage) {
                Some(until) => format!("step {} of those until step {until}", context.run.step),
                None => format!("step {}: the last stage", context.run.step),
            },
            Moves::Mastery(mastery) => mastery.why(context.kept(&mastery.key)),
        }
    }
}

impl Expression for StagedNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        tracer.note(|| self.why(self.stage(context), context));
        let values: Vec<Value> =
            self.at_work(context).iter().map(|part| evaluate(part.as_ref(), context, tracer)).collect();
        numbers(&values).map_or_else(|other| other, |n| Value::Number(n.iter().sum()))
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let carried = if self.carry { ", earlier ones go on" } else { "" };
        format!("stage {} of {}{carried}", self.stage(context) + 1, self.parts.len())
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        add_by_turn(self.at_work(context).iter().map(|part| part.paid_by_turn(context)))
    }

    fn range(&self, terms: &[Range]) -> Range {
        let stages = self.parts.iter().map(|part| part.range(terms));
        let mut carried = Range::only(0.0);
        let at_stage = stages.map(|stage| {
            // A stage that does not apply adds 0.
            carried = carried.plus(stage.hull(Range::only(0.0)));
            if self.carry { carried } else { stage }
        });
        at_stage.reduce(Range::hull).unwrap_or(Range::ALL)
    }
}
