//! The stage of imitation: supervised updates on demonstrations, or a kept warm start that is the same to the bit.

use crate::driver::Drive;
use crate::progress::Event;
use crate::stage::Stage;
use crate::starts::{KeptStart, KeptUpdate, Place};
use crate::{RunError, lessons, now_ms, warm};
use merit_core::{Cost, Phase};
use std::time::Instant;

/// Goes on with the warm start from the place of `drive`.
pub(crate) fn run(drive: &mut Drive<'_>) -> Result<(), RunError> {
    let steps = drive.recipe.warm_start.steps;
    let shared = Place::of(
        drive.options.starts.as_deref().filter(|_| steps > 0),
        &drive.main,
        drive.recipe,
        drive.policy.fingerprint(),
    )?;
    match shared.as_ref().and_then(Place::find) {
        Some(start) if drive.policy.take_start(&start)? => share(drive, &start)?,
        _ => {
            demonstrations(drive)?;
            if let Some(place) = &shared {
                keep(drive, place)?;
            }
        }
    }
    charge(drive)?;
    drive.policy.keep_warm();
    // Whatever comes next begins with a fresh optimiser, whether the updates were made here or elsewhere.
    drive.policy.restart()
}

fn demonstrations(drive: &mut Drive<'_>) -> Result<(), RunError> {
    let steps = drive.recipe.warm_start.steps;
    let lessons = lessons::gather(&drive.main, drive.folder, &drive.tools, drive.options, drive.watch)?;
    if let Some(lessons) = &lessons {
        drive.folder.record_event(now_ms(), "teacher", &lessons.summary)?;
        (drive.watch)(Event::Note { text: lessons.summary.clone() });
    }
    let chat = drive.policy.chat();
    let demonstrations =
        warm::demonstrations(&drive.main, lessons.as_ref(), chat, &drive.tools, drive.watch)?;
    let learner = warm::learner(&drive.main)?;
    let (began, mut read) = (Instant::now(), 0);
    while drive.place.step < steps {
        let step = drive.place.step;
        let did = warm::step(&drive.main, drive.policy.trainer(), &learner, &demonstrations, step)?;
        read += did.read;
        record(drive, step, &KeptUpdate { loss: did.loss, tokens: did.trained })?;
        let tokens_per_s = read as f64 / began.elapsed().as_secs_f64();
        tell(drive, step + 1, did.loss, tokens_per_s, false);
        drive.step_done(drive.recipe.budget.checkpoint_every.saturating_mul(10))?;
    }
    Ok(())
}

fn record(drive: &Drive<'_>, step: u64, update: &KeptUpdate) -> Result<(), RunError> {
    let numbers = [("loss", update.loss), ("tokens", update.tokens as f64)];
    Ok(drive.folder.record_metrics(Phase::Warm, step, &numbers)?)
}

fn tell(drive: &mut Drive<'_>, step: u64, loss: f64, tokens_per_s: f64, shared: bool) {
    let of = drive.recipe.warm_start.steps;
    let done = drive.share(&Stage::Warm, step, of);
    (drive.watch)(Event::Warm { step, of, loss, tokens_per_s, done, shared });
}

/// Tells of the updates of a kept start as if they had been made here, and that they were not.
fn share(drive: &mut Drive<'_>, start: &KeptStart) -> Result<(), RunError> {
    for (step, update) in (0..).zip(&start.updates) {
        record(drive, step, update)?;
    }
    let last = start.updates.len() as u64;
    drive.folder.record_metrics(Phase::Warm, last.saturating_sub(1), &[("shared", 1.0)])?;
    let text = format!("shared: {last} updates made by another run, and charged to this one too");
    drive.folder.record_event(now_ms(), "warm-start", &text)?;
    tell(drive, last, start.updates.last().map_or(f64::NAN, |update| update.loss), 0.0, true);
    drive.place.step = last;
    Ok(())
}

/// Leaves the warm start for other runs. One that cannot be left costs them time and nothing else.
fn keep(drive: &mut Drive<'_>, place: &Place) -> Result<(), RunError> {
    let (tokenizer, weights) = drive.policy.to_start();
    let start = KeptStart { updates: updates(drive)?, tokenizer, weights };
    if let Err(why) = place.keep(&start) {
        let text = format!("the warm start {} cannot be kept for other runs: {why}", place.key);
        drive.folder.record_event(now_ms(), "warm-start", &text)?;
        (drive.watch)(Event::Note { text });
    }
    Ok(())
}

/// The updates of the warm start as they were recorded, also those of before an interruption.
fn updates(drive: &Drive<'_>) -> Result<Vec<KeptUpdate>, RunError> {
    let (losses, tokens) =
        (drive.folder.metric(Phase::Warm, "loss")?, drive.folder.metric(Phase::Warm, "tokens")?);
    let update =
        |((_, loss), (_, tokens)): ((u64, f64), (u64, f64))| KeptUpdate { loss, tokens: tokens as u64 };
    Ok(losses.into_iter().zip(tokens).map(update).collect())
}

/// Charges the warm start to the run, wherever it was made.
fn charge(drive: &Drive<'_>) -> Result<(), RunError> {
    let updates = updates(drive)?;
    let cost = Cost {
        trained_tokens: updates.iter().map(|update| update.tokens).sum(),
        updates: updates.len() as u64,
        ..Cost::default()
    };
    Ok(drive.folder.record_cost(Phase::Warm, 0, &cost)?)
}
