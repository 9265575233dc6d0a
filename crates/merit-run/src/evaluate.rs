//! Held-out evaluation: greedy, on tasks nobody learned from, recorded like everything else.

use crate::RunError;
use crate::act::Actor;
use crate::metrics::{self, Metrics};
use crate::parts::{Parts, Plan};
use crate::progress::{Event, Finished, stalls};
use crate::recipe::Recipe;
use merit_core::{Arm, Phase, PolicyVersion, ScoredEpisode, Split, When};
use merit_measure::{HeldOut, RunSummary};
use merit_reward::RewardState;
use merit_rollout::RolloutSettings;
use merit_store::RunFolder;
use std::collections::BTreeSet;
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
    pub(crate) fn run(self, evaluation: &Evaluation) -> Result<(), RunError> {
        let plans = self.parts.plans(&Plan {
            phase: evaluation.phase.clone(),
            step: evaluation.step,
            split: Split::HeldOut,
            first: 0,
            groups: evaluation.tasks,
            group_size: 1,
            version: PolicyVersion(evaluation.version),
        })?;
        let greedy = RolloutSettings { temperature: 0.0, ..self.parts.recipe.rollout.clone() };
        let watch = self.watch;
        let step = evaluation.step;
        if plans.len() < evaluation.tasks as usize && matches!(evaluation.phase, Phase::Eval(_, When::Before))
        {
            watch(Event::Note { text: fewer(evaluation.tasks, plans.len()) });
        }
        self.parts.annotators.recall(self.folder, &evaluation.phase, step)?;
        let (batch, annotations) =
            self.actor.run(self.parts, plans, &greedy, step, self.reward_state, &mut stalls(watch))?;
        let scored = batch.episodes;
        self.folder.record_annotated(&scored, &annotations)?;
        if let Some(text) = self.parts.annotators.take_failure() {
            watch(Event::Note { text });
        }
        let numbers = numbers(&scored);
        self.folder.record_metrics(&evaluation.phase, evaluation.step, &metrics::rows(&numbers))?;
        watch(Event::Evaluated {
            phase: evaluation.phase.clone(),
            step: evaluation.step,
            success: numbers.get("success").copied().unwrap_or(f64::NAN),
            tasks: numbers.get("count").map_or(0, |count| *count as usize),
        });
        Ok(())
    }
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
        run: folder.path().display().to_string(),
        controls: controls.collect(),
        held_out_by_size: sizes.map(|(size, rate)| (size.to_string(), rate.success)).collect(),
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        seed,
        report: report.display().to_string(),
    })
}
