//! Learning from pairs: in each, the better episode is made likelier than the worse, relative to the policy at the stage's start.

use crate::RunError;
use crate::dataset::Source;
use crate::driver::Drive;
use crate::progress::Event;
use crate::stage::Stage;
use crate::warm::supervised_config;
use merit_api::trainer::Reference;
use merit_core::{Chosen, Cost, PolicyVersion, Sample, ScoredEpisode};
use merit_learn::{LearnConfig, Learner, Objective, UpdateContext, UpdateReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Learning from pairs, relative to the policy at the stage's start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prefer {
    /// Where its numbers are kept. Absent: the dataset's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A stage after which the policy stood where this one begins. Absent: where the stage before left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// A dataset of pairs, or a file of `[datasets]`.
    pub from: String,
    /// `dpo`, `kto`, or another that reads rewards and a reference policy.
    pub objective: Chosen<dyn Objective>,
    /// Number of optimiser updates.
    pub steps: u64,
    /// Pairs, or answers with labels, per update.
    pub batch: usize,
    /// Peak learning rate; warm-up over a twentieth of the steps, then cosine to a tenth.
    #[serde(alias = "lr")]
    #[schemars(extend("aliases" = ["lr"]))]
    pub learning_rate: f32,
}

/// Goes on with the stage from the place of `drive`.
pub(crate) fn run(drive: &mut Drive<'_>, stage: &Stage, from: &Source, how: &Prefer) -> Result<(), RunError> {
    if drive.place.step == 0 {
        // The policy at this point is the reference.
        drive.policy.begin_here()?;
    }
    let pairs = match from {
        Source::Own(name) => drive.own_samples(name, stage),
        Source::Recorded(from) => samples(&from.read(drive.folder)?)?,
    };
    if pairs.is_empty() {
        return drive.nothing_to_learn(stage);
    }
    let config =
        LearnConfig { objective: how.objective.clone(), ..supervised_config(how.learning_rate, how.steps) };
    let learner = Learner::new(config, how.steps)?;
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let began = Instant::now();
        let (report, read) = update(drive, stage, &learner, (&pairs, how.batch), (local, step))?;
        drive.folder.record_metrics(&stage.phase, step, &report.metrics())?;
        let cost = Cost {
            trained_tokens: report.tokens as u64,
            updates: report.optimiser_steps as u64,
            ..Cost::default()
        };
        drive.folder.record_cost(&stage.phase, step, &cost)?;
        let event = Event::Update {
            stage: stage.phase.owner().to_owned(),
            step: local + 1,
            of: stage.steps(),
            loss: report.loss.total(),
            tokens_per_s: read as f64 / began.elapsed().as_secs_f64(),
            done: drive.share(stage, local + 1),
            shared: false,
        };
        (drive.watch)(event);
        drive.step_done(stage.recipe.budget.checkpoint_every)?;
    }
    drive.policy.begin_here()
}

fn samples(pairs: &[Vec<ScoredEpisode>]) -> Result<Vec<Vec<Sample>>, RunError> {
    let sample =
        |scored| Sample::of(scored, 0).map_err(|error| merit_credit::CreditError::from(error).into());
    pairs.iter().map(|pair| pair.iter().map(sample).collect()).collect()
}

/// One update on pairs drawn by the step's own seed; also says how many tokens were read.
fn update(
    drive: &mut Drive<'_>,
    stage: &Stage,
    learner: &Learner,
    (pairs, batch): (&[Vec<Sample>], usize),
    (local, step): (u64, u64),
) -> Result<(UpdateReport, usize), RunError> {
    let seed = drive.main.seed.child(&stage.phase.seed_name(), 0).child("step", step);
    let mut stream = seed.stream();
    let drawn = (0..batch).filter_map(|_| stream.pick(pairs));
    let member = |group, sample: &Sample| Sample { group, ..sample.clone() };
    let samples: Vec<Sample> = drawn
        .enumerate()
        .flat_map(|(group, pair)| pair.iter().map(move |sample| member(group, sample)))
        .collect();
    let reference = drive.policy.reference()?;
    let at = UpdateContext {
        step: local,
        version: PolicyVersion(drive.place.version + local),
        temperature: stage.recipe.rollout.temperature,
        seed: seed.child("update", 0),
    };
    let reference: Option<&dyn Reference> = Some(&*reference);
    let report = learner.update(drive.policy.trainer(), &samples, reference, &at)?;
    Ok((report, samples.iter().map(|sample| sample.tokens.len()).sum()))
}
