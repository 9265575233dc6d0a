//! Collecting episodes into a dataset, and telling what was made of one.

use crate::RunError;
use crate::dataset::Dataset;
use crate::driver::Drive;
use crate::metrics::{self, rows};
use crate::parts::{Parts, Plan};
use crate::progress::{Event, stalls};
use crate::stage::Stage;
use crate::stages::{Alter, Practice, SearchSettings};
use merit_api::EnvError;
use merit_core::stats::mean;
use merit_core::{Annotations, Cost, PolicyVersion, ScoredEpisode, Split, Task};
use merit_reward::RewardState;
use merit_rollout::{OracleSampler, OracleSettings, RolloutSettings, roll_out};
use std::sync::Arc;

/// Runs the present policy on training tasks from the place of `drive`, a few tasks at a step, and records scored episodes.
pub(crate) fn run(
    drive: &mut Drive<'_>,
    stage: &Stage,
    (tasks, samples): (u32, u32),
    (search, practice): (Option<&SearchSettings>, Option<Practice>),
) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let searching = search.map(|how| drive.searching(how)).transpose()?;
    let mut actor = drive.actor()?;
    let at_once = parts.recipe.budget.groups;
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let before = local as u32 * at_once;
        parts.annotators.recall(drive.folder, &stage.phase, step)?;
        let plan = Plan {
            phase: stage.phase.clone(),
            step,
            split: Split::Train,
            first: stage.round * u64::from(tasks) + u64::from(before),
            groups: at_once.min(tasks - before),
            group_size: samples,
            version: PolicyVersion(drive.place.version),
        };
        let plans = match practice {
            None => parts.plans(&plan)?,
            Some(practice) => parts.plans_of(&plan, 0, practised(&parts, practice, &plan)?),
        };
        let watch = &mut *drive.watch;
        // What the reward keeps while learning has no part in it, so that an episode is scored alike in every order of stages.
        let kept = RewardState::default();
        let settings = &parts.recipe.rollout;
        let (batch, annotations, thrown) = match &searching {
            None => {
                let played = actor.run(&parts, plans, settings, step, &kept, &mut stalls(watch))?;
                (played.0, played.1, Cost::default())
            }
            Some(search) => {
                let found = search.run(&mut actor, &parts, plans, (step, &kept), watch)?;
                let thrown = found.thrown();
                (found.batch, found.annotations, thrown)
            }
        };
        if let Some(text) = parts.annotators.take_failure() {
            watch(Event::Note { text });
        }
        record(drive, stage, &batch.episodes, &annotations, thrown)?;
        drive.step_done(parts.recipe.budget.checkpoint_every)?;
    }
    Ok(())
}

/// Plays altered episodes of `from` again and records them beside those that they were made from, a few tasks at a step.
pub(crate) fn altered(
    drive: &mut Drive<'_>,
    stage: &Stage,
    (from, how): (&Dataset, &Alter),
    (tasks, samples): (u32, u32),
) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let chat = drive.policy.chat().clone();
    let at_once = parts.recipe.budget.groups;
    // Lines that were said once are said again, in other tokens perhaps; their number is the limit.
    let settings = RolloutSettings {
        grammar: false,
        max_turn_tokens: 256,
        max_episode_tokens: 4096,
        ..parts.recipe.rollout.clone()
    };
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let before = local as u32 * at_once;
        let which = (before as usize, at_once.min(tasks - before) as usize, samples);
        let mut episodes = Vec::new();
        for (plans, script) in how.plan((from, drive.folder, &parts), (&stage.phase, step), which)? {
            let mut sampler = OracleSampler::following(&script, &chat, &OracleSettings::default(), &plans);
            let (env, watch) = (parts.env.as_ref(), &mut stalls(&mut *drive.watch));
            episodes.extend(roll_out(plans, env, &mut sampler, &chat, &settings, &drive.tools, watch));
        }
        parts.toolbox.check()?;
        episodes.sort_by_key(|episode| (episode.id.group, episode.id.member));
        parts.annotators.recall(drive.folder, &stage.phase, step)?;
        let said = parts.annotators.ask(&episodes);
        let kept = RewardState::default();
        let batch = parts.scorer.score_annotated(&episodes, &said, &parts.context(step), &kept);
        record(drive, stage, &batch.episodes, &said, Cost::default())?;
        drive.step_done(parts.recipe.budget.checkpoint_every)?;
    }
    Ok(())
}

/// Records scored episodes of a step and what they cost beside, and tells the watcher.
fn record(
    drive: &mut Drive<'_>,
    stage: &Stage,
    episodes: &[ScoredEpisode],
    said: &Annotations,
    beside: Cost,
) -> Result<(), RunError> {
    let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
    drive.folder.record_annotated(episodes, said)?;
    let beside = [crate::annotators::cost(said), beside].into_iter().sum();
    drive.folder.record_cost(&stage.phase, step, &beside)?;
    let numbers = metrics::of_episodes(&episodes.iter().collect::<Vec<_>>());
    drive.folder.record_metrics(&stage.phase, step, &rows(&numbers))?;
    let event = Event::Collected {
        stage: stage.phase.owner().to_owned(),
        step: local + 1,
        of: stage.steps(),
        episodes: episodes.len(),
        success: numbers.get("success").copied().unwrap_or(f64::NAN),
        done: drive.share(stage, local + 1),
    };
    (drive.watch)(event);
    Ok(())
}

/// The tasks of a plan, as practice has them.
fn practised(parts: &Parts, practice: Practice, plan: &Plan) -> Result<Vec<Arc<Task>>, RunError> {
    let seed = parts.seed.child("tasks", 0);
    let world = parts.env.as_ref();
    let task = |at: u64| match practice {
        Practice::Fixed(count) => world.task(Split::Train, at % u64::from(count.max(1)), &seed),
        Practice::Proposed(context) => match world.author() {
            Some(author) => author.propose(context, &seed.child("proposed", at)),
            None => {
                let why = "nobody proposes tasks in it; leave `practice` out of `collect`".to_owned();
                Err(EnvError::Setting { world: world.about().name, why })
            }
        },
    };
    let drawn = (plan.first..).take(plan.groups as usize).map(task);
    Ok(drawn.map(|task| task.map(Arc::new)).collect::<Result<_, _>>()?)
}

/// Tells how much a dataset keeps of what it was made from.
pub(crate) fn made(drive: &mut Drive<'_>, stage: &Stage, made: &Dataset, name: &str) -> Result<(), RunError> {
    let (source, kept) = (made.source().read(drive.folder)?, made.read(drive.folder)?);
    let count = |tasks: &[Vec<ScoredEpisode>]| tasks.iter().map(Vec::len).sum::<usize>();
    let rewards: Vec<f64> = kept.iter().flatten().filter_map(ScoredEpisode::reward).collect();
    let mut numbers = vec![
        ("episodes", count(&kept) as f64),
        ("tasks", kept.len() as f64),
        ("of_episodes", count(&source) as f64),
        ("of_tasks", source.len() as f64),
    ];
    numbers.extend(mean(&rewards).map(|reward| ("reward", reward)));
    drive.folder.record_metrics(&stage.phase, stage.round, &numbers)?;
    let text = format!(
        "`{name}` keeps {} of {} episodes, of {} of {} tasks",
        count(&kept),
        count(&source),
        kept.len(),
        source.len()
    );
    (drive.watch)(Event::Note { text });
    Ok(())
}
