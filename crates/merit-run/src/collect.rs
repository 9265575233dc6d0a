//! Collecting episodes into a dataset, and telling what was made of one.

use crate::RunError;
use crate::dataset::Dataset;
use crate::driver::Drive;
use crate::metrics::{self, rows};
use crate::parts::{Parts, Plan};
use crate::progress::{Event, stalls};
use crate::stage::Stage;
use crate::stages::Practice;
use merit_api::EnvError;
use merit_core::stats::mean;
use merit_core::{PolicyVersion, ScoredEpisode, Split, Task};
use merit_reward::RewardState;
use std::sync::Arc;

/// Runs the present policy on training tasks from the place of `drive`, a few tasks at a step, and records scored episodes.
pub(crate) fn run(
    drive: &mut Drive<'_>,
    stage: &Stage,
    tasks: u32,
    samples: u32,
    practice: Option<Practice>,
) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let mut actor = drive.actor()?;
    let at_once = parts.recipe.budget.groups;
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let before = local as u32 * at_once;
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
        let (batch, annotations) =
            actor.run(&parts, plans, &parts.recipe.rollout, step, &kept, &mut stalls(watch))?;
        drive.folder.record_annotated(&batch.episodes, &annotations)?;
        let beside = crate::annotators::cost(&annotations);
        drive.folder.record_cost(&stage.phase, step, &beside)?;
        if let Some(text) = parts.annotators.take_failure() {
            watch(Event::Note { text });
        }
        let episodes: Vec<&ScoredEpisode> = batch.episodes.iter().collect();
        let numbers = metrics::of_episodes(&episodes);
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
        drive.step_done(parts.recipe.budget.checkpoint_every)?;
    }
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
