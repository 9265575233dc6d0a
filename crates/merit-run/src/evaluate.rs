//! Held-out evaluation: greedy, on tasks nobody learned from, recorded like everything else.

use crate::RunError;
use crate::act::Actor;
use crate::metrics::{self, Metrics};
use crate::parts::{Parts, Plan};
use crate::progress::{Event, Finished, stalls};
use crate::recipe::Recipe;
use crate::stages::StageSettings;
use merit_core::{Arm, Outcome, Phase, PolicyVersion, ScoredEpisode, Split, StageKind, When};
use merit_measure::stats::mean;
use merit_measure::{HeldOut, RunSummary};
use merit_reward::RewardState;
use merit_rollout::RolloutSettings;
use merit_store::RunFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which evaluation.
pub(crate) struct Evaluation {
    /// Which evaluation, of which arm.
    pub(crate) phase: Phase,
    /// The step after which it is taken.
    pub(crate) step: u64,
    /// Held-out tasks, from the first.
    pub(crate) tasks: u32,
    /// Version of the policy.
    pub(crate) version: u64,
    /// Episodes of each task that are sampled beside the greedy one.
    pub(crate) samples: u32,
}

/// Whatever an evaluation needs.
pub(crate) struct Evaluator<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) actor: &'a mut Actor,
    pub(crate) folder: &'a mut RunFolder,
    pub(crate) watch: &'a mut dyn FnMut(Event),
    /// What the reward keeps; an evaluation reads it and does not change it.
    pub(crate) reward_state: &'a RewardState,
}

impl Evaluator<'_> {
    /// Evaluates, records episodes and metrics, tells whoever watches.
    pub(crate) fn run(mut self, evaluation: &Evaluation) -> Result<(), RunError> {
        let greedy = RolloutSettings { temperature: 0.0, ..self.parts.recipe.rollout.clone() };
        let scored = self.play(evaluation, evaluation.phase.clone(), 1, &greedy)?;
        if scored.len() < evaluation.tasks as usize
            && matches!(evaluation.phase, Phase::Eval(_, When::Before) | Phase::Stage(StageKind::Evaluate, _))
        {
            (self.watch)(Event::Note { text: fewer(evaluation.tasks, scored.len()) });
        }
        let mut numbers = numbers(&scored);
        if evaluation.samples > 0 {
            let phase = Phase::Stage(StageKind::Samples, name(&evaluation.phase).to_owned());
            let sampling = self.parts.recipe.rollout.clone();
            let sampled = self.play(evaluation, phase, evaluation.samples, &sampling)?;
            numbers.extend(passes(&sampled, evaluation.samples));
        }
        self.folder.record_metrics(&evaluation.phase, evaluation.step, &metrics::rows(&numbers))?;
        (self.watch)(Event::Evaluated {
            phase: evaluation.phase.clone(),
            step: evaluation.step,
            success: numbers.get("success").copied().unwrap_or(f64::NAN),
            tasks: numbers.get("count").map_or(0, |count| *count as usize),
        });
        Ok(())
    }

    /// Runs and records the episodes of the held-out tasks.
    fn play(
        &mut self,
        evaluation: &Evaluation,
        phase: Phase,
        each: u32,
        settings: &RolloutSettings,
    ) -> Result<Vec<ScoredEpisode>, RunError> {
        let step = evaluation.step;
        let plans = self.parts.plans(&Plan {
            phase: phase.clone(),
            step,
            split: Split::HeldOut,
            first: 0,
            groups: evaluation.tasks,
            group_size: each,
            version: PolicyVersion(evaluation.version),
        })?;
        self.parts.annotators.recall(self.folder, &phase, step)?;
        let watch = &mut *self.watch;
        let (batch, annotations) =
            self.actor.run(self.parts, plans, settings, step, self.reward_state, &mut stalls(watch))?;
        self.folder.record_annotated(&batch.episodes, &annotations)?;
        if let Some(text) = self.parts.annotators.take_failure() {
            watch(Event::Note { text });
        }
        Ok(batch.episodes)
    }
}

/// What an evaluation is called.
fn name(phase: &Phase) -> &str {
    match phase {
        Phase::Eval(_, When::Before) => "before",
        Phase::Eval(_, When::After) => "after",
        other => other.owner(),
    }
}

/// pass@j, the chance that one of j samples solves a task, and pass^j, the chance that all do: means over tasks of the unbiased
/// estimates from `each` samples, for powers of two and `each` itself. Samples that do not count are left out; a task with fewer
/// than j that count says nothing of j.
fn passes(sampled: &[ScoredEpisode], each: u32) -> Metrics {
    let mut tasks: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for scored in sampled.iter().filter(|scored| scored.outcome().is_valid()) {
        let (count, solved) = tasks.entry(scored.episode.id.group).or_default();
        (*count, *solved) = (*count + 1, *solved + u32::from(scored.outcome() == Outcome::Solved));
    }
    // C(part, j) / C(whole, j)
    let share = |part: u32, whole: u32, j: u32| -> f64 {
        (0..j).map(|i| f64::from(part.saturating_sub(i)) / f64::from(whole - i)).product()
    };
    let mut sizes: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|j| *j < each).collect();
    sizes.push(each);
    let mut numbers = Metrics::new();
    for j in sizes {
        let enough: Vec<(u32, u32)> = tasks.values().copied().filter(|(count, _)| *count >= j).collect();
        let any: Vec<f64> = enough.iter().map(|(n, solved)| 1.0 - share(n - solved, *n, j)).collect();
        let all: Vec<f64> = enough.iter().map(|(n, solved)| share(*solved, *n, j)).collect();
        numbers.extend(mean(&any).map(|any| (format!("pass@{j}"), any)));
        numbers.extend(mean(&all).map(|all| (format!("pass^{j}"), all)));
    }
    numbers
}

/// The numbers of the evaluations that the stages of `recipe` name; the latest where there are several.
fn by_name(recipe: &Recipe, folder: &RunFolder) -> Result<BTreeMap<String, BTreeMap<String, f64>>, RunError> {
    let stages = recipe.stages.iter().flat_map(StageSettings::each);
    let phases =
        stages.filter(|stage| matches!(stage, StageSettings::Evaluate(_))).filter_map(StageSettings::phase);
    let metrics = folder.metrics()?;
    let shown = |name: &str| {
        ["success", "reward", "count"].contains(&name)
            || name.starts_with("success/")
            || name.starts_with("pass")
    };
    let of = |phase: Phase| {
        let own = || metrics.iter().filter(|metric| metric.phase == phase);
        let last = own().map(|metric| metric.step).max();
        let numbers = own().filter(|metric| Some(metric.step) == last && shown(&metric.name));
        (name(&phase).to_owned(), numbers.map(|metric| (metric.name.clone(), metric.value)).collect())
    };
    Ok(phases.map(of).collect())
}

/// Said where a world has fewer held-out tasks than an evaluation asks for.
pub(crate) fn fewer(asked: u32, found: usize) -> String {
    format!(
        "`evaluation.tasks` asks for {asked} held-out tasks, and the world has {found} distinct ones: each is measured once"
    )
}

fn numbers(scored: &[ScoredEpisode]) -> Metrics {
    let all: Vec<&ScoredEpisode> = scored.iter().collect();
    let mut numbers = metrics::of_episodes(&all);
    let sizes: BTreeSet<u32> = scored.iter().map(|e| e.episode.task.size).collect();
    for size in sizes {
        let of_size: Vec<&ScoredEpisode> = scored.iter().filter(|e| e.episode.task.size == size).collect();
        if let Some(success) = metrics::success(&of_size) {
            numbers.insert(format!("success/{size}"), success);
        }
    }
    let counting = scored.iter().filter(|e| e.outcome().is_valid()).count();
    numbers.insert("count".into(), counting as f64);
    numbers
}

/// The result of a finished run, read back from its folder.
pub(crate) fn finished(
    recipe: &Recipe,
    folder: &RunFolder,
    seed: u64,
    train_seconds: f64,
    report: &Path,
) -> Result<Finished, RunError> {
    let summary = RunSummary::read(folder)?;
    let success = |held: Option<&HeldOut>| held.map_or(f64::NAN, |held| held.all.success);
    let after = summary.evaluation(When::After);
    let of_control = |name: &str| Phase::Eval(Arm::Control(name.to_owned()), When::After);
    let controls = recipe
        .controls
        .iter()
        .map(|control| (control.name.clone(), success(summary.evaluation_of(&of_control(&control.name)))));
    let sizes = after.into_iter().flat_map(|held| &held.by_size);
    Ok(Finished {
        held_out_before: success(summary.evaluation(When::Before)),
        held_out_after: success(after),
        train_seconds,
        evaluations: by_name(recipe, folder)?,
        run: folder.path().display().to_string(),
        controls: controls.collect(),
        held_out_by_size: sizes.map(|(size, rate)| (size.to_string(), rate.success)).collect(),
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        seed,
        report: report.display().to_string(),
    })
}
