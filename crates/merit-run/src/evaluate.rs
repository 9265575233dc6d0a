//! Held-out evaluation: greedy unless the recipe has a temperature, on tasks that were not learned from, recorded like everything else.

use crate::RunError;
use crate::act::Actor;
use crate::driver::Drive;
use crate::learn::refuse_diverged;
use crate::metrics::{self, Metrics};
use crate::models::LOG_PROB;
use crate::now_ms;
use crate::parts::{Parts, Plan};
use crate::policy::SharedModel;
use crate::preface::Earlier;
use crate::progress::{Event, Finished, stalls};
use crate::recipe::Recipe;
use crate::search::Searching;
use crate::stage::Stage;
use crate::stages::StageSettings;
use crate::suite::{Suite, best_of, broken_down, log_prob, passes};
use merit_core::{Annotations, Arm, Phase, PolicyVersion, ScoredEpisode, Split, StageKind, When};
use merit_measure::{HeldOut, RunSummary};
use merit_reward::{RewardState, ScoredBatch};
use merit_rollout::{EpisodePlan, RolloutSettings};
use merit_store::RunFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) struct Evaluation {
    /// Which evaluation, of which arm.
    pub(crate) phase: Phase,
    /// The step after which it is taken.
    pub(crate) step: u64,
    /// Held-out tasks, from the first.
    pub(crate) tasks: u32,
    pub(crate) version: u64,
    /// What is measured beside greedy success.
    pub(crate) suite: Suite,
}

pub(crate) struct Evaluator<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) actor: &'a mut Actor,
    pub(crate) folder: &'a mut RunFolder,
    pub(crate) watch: &'a mut dyn FnMut(Event),
    /// What the reward keeps; an evaluation reads it and does not change it.
    pub(crate) reward_state: &'a RewardState,
    /// What the bank or the memory keeps; the same holds for it.
    pub(crate) earlier: &'a Earlier,
    /// The model that chooses among samples, where one does.
    pub(crate) chooser: Option<SharedModel>,
    /// How episodes are searched for, where they are.
    pub(crate) searching: Option<Searching>,
}

impl Evaluator<'_> {
    /// Evaluates, records episodes and metrics, tells the watcher.
    pub(crate) fn run(mut self, evaluation: &Evaluation) -> Result<(), RunError> {
        let recipe = &self.parts.recipe;
        let settings =
            RolloutSettings { temperature: recipe.evaluation.temperature, ..recipe.rollout.clone() };
        let (scored, spent) = match self.searching.take() {
            Some(search) => self.search(evaluation, &search)?,
            None => (self.play(evaluation, evaluation.phase.clone(), 1, &settings)?, Metrics::new()),
        };
        if scored.len() < evaluation.tasks as usize
            && matches!(evaluation.phase, Phase::Eval(_, When::Before) | Phase::Stage(StageKind::Evaluate, _))
        {
            (self.watch)(Event::Note { text: fewer(evaluation.tasks, scored.len()) });
        }
        let mut numbers = numbers(&scored);
        numbers.extend(spent);
        for name in &evaluation.suite.by {
            match broken_down(&scored, name) {
                Ok(parts) => numbers.extend(parts),
                Err(text) => (self.watch)(Event::Note { text }),
            }
        }
        if evaluation.suite.samples > 0 {
            numbers.extend(self.samples(evaluation)?);
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

    /// What samples of each task say: pass@k, pass^k, and best-of-n where somebody chooses.
    fn samples(&mut self, evaluation: &Evaluation) -> Result<Metrics, RunError> {
        let Suite { samples: each, select, .. } = &evaluation.suite;
        let phase = Phase::Stage(StageKind::Samples, name(&evaluation.phase).to_owned());
        let sampling = self.parts.recipe.rollout.clone();
        let sampled = self.play(evaluation, phase, *each, &sampling)?;
        let mut numbers = passes(&sampled, *each);
        if select.is_none() {
            return Ok(numbers);
        }
        let likely: Vec<f64> = sampled.iter().map(|one| log_prob(&one.episode)).collect();
        let Some(chooser) = &self.chooser else {
            numbers.extend(best_of(&sampled, &likely, *each, ""));
            return Ok(numbers);
        };
        let tokens: Vec<_> = sampled.iter().map(|one| one.episode.transcript.tokens()).collect();
        let tokens: Vec<_> = tokens.iter().map(Vec::as_slice).collect();
        let scores = chooser.lock().score(&tokens)?;
        numbers.extend(best_of(&sampled, &scores, *each, ""));
        // What the policy itself would choose, of the same samples.
        numbers.extend(best_of(&sampled, &likely, *each, "/log-prob"));
        Ok(numbers)
    }

    /// Searches for an episode of each held-out task and records it; also says what the search cost.
    fn search(
        &mut self,
        evaluation: &Evaluation,
        search: &Searching,
    ) -> Result<(Vec<ScoredEpisode>, Metrics), RunError> {
        let step = evaluation.step;
        let plans = self.plans(evaluation, &evaluation.phase, 1)?;
        let found = search.run(self.actor, self.parts, plans, (step, self.reward_state), self.watch)?;
        self.folder.record_cost(&evaluation.phase, step, &found.thrown())?;
        let spent = found.numbers();
        Ok((self.record(evaluation, found.batch, &found.annotations)?, spent))
    }

    /// Runs and records the episodes of the held-out tasks.
    fn play(
        &mut self,
        evaluation: &Evaluation,
        phase: Phase,
        each: u32,
        settings: &RolloutSettings,
    ) -> Result<Vec<ScoredEpisode>, RunError> {
        let (step, plans) = (evaluation.step, self.plans(evaluation, &phase, each)?);
        let (batch, annotations) = {
            let mut watch = stalls(&mut *self.watch);
            self.actor.run(self.parts, plans, settings, step, self.reward_state, &mut watch)?
        };
        self.record(evaluation, batch, &annotations)
    }

    /// The plans of the held-out tasks. What annotators have said of them before is known again.
    fn plans(
        &mut self,
        evaluation: &Evaluation,
        phase: &Phase,
        each: u32,
    ) -> Result<Vec<EpisodePlan>, RunError> {
        let mut plans = self.parts.plans(&Plan {
            phase: phase.clone(),
            step: evaluation.step,
            split: Split::HeldOut,
            first: 0,
            groups: evaluation.tasks,
            group_size: each,
            version: PolicyVersion(evaluation.version),
        })?;
        self.parts.show(self.earlier, &mut plans)?;
        self.parts.annotators.recall(self.folder, phase, evaluation.step)?;
        Ok(plans)
    }

    /// Records the episodes, and says why where all of them broke: then they tell nothing of the policy.
    fn record(
        &mut self,
        evaluation: &Evaluation,
        batch: ScoredBatch,
        annotations: &Annotations,
    ) -> Result<Vec<ScoredEpisode>, RunError> {
        let played: Vec<&ScoredEpisode> = batch.episodes.iter().collect();
        refuse_diverged(&played, evaluation.step, self.folder)?;
        if let Some(why) = metrics::all_broke(&played) {
            let what = format!("{} after step {}: {why}", evaluation.phase, evaluation.step);
            self.folder.record_event(now_ms(), "all-broke", &what)?;
            (self.watch)(Event::Note { text: what });
        }
        self.folder.record_annotated(&batch.episodes, annotations)?;
        if let Some(text) = self.parts.annotators.take_failure() {
            (self.watch)(Event::Note { text });
        }
        Ok(batch.episodes)
    }
}

impl Drive<'_> {
    pub(crate) fn evaluate(&mut self, stage: &Stage, suite: &Suite) -> Result<(), RunError> {
        let parts = self.parts_of(stage)?;
        let named = suite.select.as_deref().filter(|by| *by != LOG_PROB);
        let chooser = named.map(|name| self.model(name)).transpose()?;
        let searching = suite.search.as_ref().map(|how| self.searching(how)).transpose()?;
        let mut actor = self.actor()?;
        let version = self.place.version;
        let step = if matches!(stage.phase, Phase::Eval(..)) { version } else { stage.round };
        let kept = match (self.recipe.stages.is_empty(), stage.phase.learning()) {
            (true, _) => self.reward_state.present.clone(),
            (false, Some(learned)) => {
                self.reward_state.stages.get(&learned.to_string()).cloned().unwrap_or_default()
            }
            (false, None) => RewardState::default(),
        };
        // A suite beside the usual evaluations reads the bank or memory of the main learning.
        let learning = stage.phase.learning().unwrap_or(Phase::train());
        let earlier = self.earlier(&learning);
        Evaluator {
            parts: &parts,
            actor: &mut actor,
            folder: self.folder,
            watch: self.watch,
            reward_state: &kept,
            earlier: &earlier,
            chooser,
            searching,
        }
        .run(&Evaluation {
            phase: stage.phase.clone(),
            step,
            tasks: stage.recipe.evaluation.tasks,
            version,
            suite: suite.clone(),
        })
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

/// The numbers of the stages of `recipe` of which `of` holds, by their names; the latest where there are several.
fn by_name(
    recipe: &Recipe,
    folder: &RunFolder,
    of: fn(&StageSettings) -> bool,
) -> Result<BTreeMap<String, BTreeMap<String, f64>>, RunError> {
    let stages = recipe.stages.iter().flat_map(StageSettings::each);
    let phases = stages.filter(|stage| of(stage)).filter_map(StageSettings::phase);
    let metrics = folder.metrics()?;
    let shown = |name: &str| {
        ["success", "reward", "count", "accuracy", "held_out_tasks"].contains(&name)
            || ["success/", "pass", "best_of", "pair_accuracy", "mse"]
                .iter()
                .any(|head| name.starts_with(head))
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
    let counting = scored.iter().filter(|e| e.outcome().is_verdict()).count();
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
        evaluations: by_name(recipe, folder, |stage| matches!(stage, StageSettings::Evaluate(_)))?,
        fits: by_name(recipe, folder, |stage| {
            matches!(stage, StageSettings::Fit(_) | StageSettings::Evolve(_))
        })?,
        run: folder.path().display().to_string(),
        controls: controls.collect(),
        held_out_by_size: sizes.map(|(size, rate)| (size.to_string(), rate.success)).collect(),
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        seed,
        report: report.display().to_string(),
    })
}
