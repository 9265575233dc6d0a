//! Fitting a model beside the policy: it learns from a part of a dataset how good episodes are, and is measured on the rest.

use crate::dataset::Dataset;
use crate::driver::Drive;
use crate::fit_data::{Labelled, Parted};
use crate::models::{Fit, FitLoss};
use crate::policy::{Judge, Named, SharedModel, last_of};
use crate::progress::Event;
use crate::stage::Stage;
use crate::warm::supervised_config;
use crate::{RunError, now_ms};
use merit_api::trainer::AdamWSettings;
use merit_core::{Cost, Seed, TokenId};
use merit_learn::{Learner, SftSequence};
use merit_model::Preference;
use std::time::Instant;

/// Goes on with the stage from the place of `drive`.
pub(crate) fn run(drive: &mut Drive<'_>, stage: &Stage, from: &Dataset, how: &Fit) -> Result<(), RunError> {
    let tasks = from.read(drive.folder)?;
    let Some(data) = Parted::of(&tasks, how, &drive.main.seed) else { return too_little(drive, stage, how) };
    let model = model(drive, how)?;
    let learner = Learner::new(supervised_config(how.learning_rate, how.steps), how.steps)?;
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let began = Instant::now();
        let seed = drive.main.seed.child(&stage.phase.seed_name(), 0).child("step", step);
        let did = update(&mut model.lock(), &learner, &data, (how, seed, local))?;
        record(drive, stage, step, &did)?;
        let event = Event::Update {
            stage: stage.phase.owner().to_owned(),
            step: local + 1,
            of: stage.steps(),
            loss: did.loss,
            tokens_per_s: did.read as f64 / began.elapsed().as_secs_f64(),
            done: drive.share(stage, local + 1),
            shared: false,
        };
        (drive.watch)(event);
        drive.step_done(stage.recipe.budget.checkpoint_every.saturating_mul(10))?;
    }
    measure(drive, stage, how, &data, &mut model.lock())?;
    // Whatever fits it next begins with a fresh optimiser.
    model.lock().restart()
}

/// The model of the stage, as it stood or newborn.
fn model(drive: &mut Drive<'_>, how: &Fit) -> Result<SharedModel, RunError> {
    if let Some(known) = drive.models.get(&how.model) {
        return Ok(known.clone());
    }
    let seed = drive.main.seed.child("model", 0).child(&how.model, 0);
    let settings = drive.recipe.models.get(&how.model);
    let settings = settings.ok_or_else(|| RunError::NotFitted { model: how.model.clone() })?;
    let newborn = SharedModel::new(Named::newborn(&drive.policy, settings, how.loss, seed)?);
    drive.models.insert(how.model.clone(), newborn.clone());
    Ok(newborn)
}

/// Says that there is nothing to learn from and to measure on.
fn too_little(drive: &mut Drive<'_>, stage: &Stage, how: &Fit) -> Result<(), RunError> {
    let text = format!(
        "stage `{}`: `{}` holds fewer than two tasks that say what is better, one to learn from and one to measure on, so that \
         model `{}` stays as it is",
        stage.phase, how.from, how.model
    );
    drive.folder.record_event(now_ms(), "empty-dataset", &text)?;
    (drive.watch)(Event::Note { text });
    Ok(())
}

struct Did {
    loss: f64,
    /// Share of the batch's pairs that the model told apart before the update; absent without pairs.
    told_apart: Option<f64>,
    /// Tokens read.
    read: usize,
}

fn record(drive: &Drive<'_>, stage: &Stage, step: u64, did: &Did) -> Result<(), RunError> {
    let mut numbers = vec![("loss", did.loss), ("tokens", did.read as f64)];
    numbers.extend(did.told_apart.map(|share| ("batch_pair_accuracy", share)));
    drive.folder.record_metrics(&stage.phase, step, &numbers)?;
    let cost = Cost { trained_tokens: did.read as u64, updates: 1, ..Cost::default() };
    Ok(drive.folder.record_cost(&stage.phase, step, &cost)?)
}

/// One update on what the step's seed draws.
fn update(
    model: &mut Named,
    learner: &Learner,
    data: &Parted,
    (how, seed, local): (&Fit, Seed, u64),
) -> Result<Did, RunError> {
    let mut stream = seed.stream();
    let drawn: Vec<&Labelled> = match how.loss {
        FitLoss::BradleyTerry => (0..how.batch).filter_map(|_| stream.pick(&data.train)).flatten().collect(),
        FitLoss::Regression | FitLoss::Token => {
            let all: Vec<&Labelled> = data.train.iter().flatten().collect();
            (0..how.batch).filter_map(|_| stream.pick(&all).copied()).collect()
        }
    };
    let most = model.reads();
    let sequences: Vec<&[TokenId]> = drawn.iter().map(|one| one.read(most)).collect();
    let read = sequences.iter().map(|tokens| tokens.len()).sum();
    let rate = learner.learning_rate(local);
    let adamw = AdamWSettings { lr: rate as f32, ..AdamWSettings::default() };
    let (loss, told_apart) = match (&mut model.judge, how.loss) {
        (Judge::Bag(words), FitLoss::BradleyTerry) => {
            let (loss, told) = words.prefer(sequences.as_chunks().0, rate);
            (loss, Some(told))
        }
        (Judge::Bag(words), _) => {
            let targets: Vec<f64> = drawn.iter().map(|one| one.label).collect();
            (words.regress(&sequences, &targets, rate), None)
        }
        (Judge::Scalar(reward), FitLoss::BradleyTerry) => {
            let pairs: Vec<Preference<'_>> = sequences
                .as_chunks()
                .0
                .iter()
                .map(|[chosen, rejected]| Preference { chosen, rejected })
                .collect();
            let fit = reward.accumulate(&pairs)?;
            reward.apply(&adamw)?;
            (fit.loss, Some(fit.accuracy))
        }
        (Judge::Scalar(reward), _) => {
            let targets: Vec<f32> = drawn.iter().map(|one| one.label as f32).collect();
            let loss = reward.accumulate_targets(&sequences, &targets)?;
            reward.apply(&adamw)?;
            (loss, None)
        }
        (Judge::Verdict { trainer, yes, no }, _) => {
            let said = |one: &Labelled| if one.label > 0.5 { *yes } else { *no };
            let both = sequences.iter().zip(&drawn);
            let lessons: Vec<SftSequence> = both.map(|(tokens, one)| verdict(tokens, said(one))).collect();
            (learner.sft_step(&mut **trainer, &lessons, local)?.loss.total(), None)
        }
    };
    model.updated();
    Ok(Did { loss, told_apart, read })
}

/// The episode with its verdict behind it, which alone is learned.
fn verdict(tokens: &[TokenId], said: TokenId) -> SftSequence {
    let tokens = [tokens, &[said]].concat();
    SftSequence { mask: last_of(tokens.len()), tokens, weight: 1.0 }
}

/// Measures the model on the tasks that it did not learn from, records it and tells the watcher.
fn measure(
    drive: &mut Drive<'_>,
    stage: &Stage,
    how: &Fit,
    data: &Parted,
    model: &mut Named,
) -> Result<(), RunError> {
    let most = model.reads();
    let sequences: Vec<&[TokenId]> = data.held_out.iter().flatten().map(|one| one.read(most)).collect();
    let numbers = data.measures(how.loss, &model.score(&sequences)?);
    let last = stage.first_step() + stage.steps().saturating_sub(1);
    drive.folder.record_metrics(&stage.phase, last, &crate::metrics::rows(&numbers))?;
    let number = |name: &str| numbers.get(name).map(|value| format!("{name} {value:.3}"));
    let names = [
        "pair_accuracy",
        "pair_accuracy_length",
        "pair_accuracy_actions",
        "pair_accuracy_last",
        "mse",
        "mse_of_mean",
        "accuracy",
    ];
    let said: Vec<String> = names.into_iter().filter_map(number).collect();
    let text = format!("`{}` on {} held-out tasks: {}", how.model, data.held_out.len(), said.join(", "));
    (drive.watch)(Event::Note { text });
    Ok(())
}
