//! The stages of imitation: supervised updates on demonstrations or on a dataset, or a kept warm start that is the same to the bit.

use crate::dataset::Source;
use crate::driver::Drive;
use crate::parts::Parts;
use crate::progress::Event;
use crate::stage::Stage;
use crate::stages::Supervision;
use crate::starts::{KeptStart, KeptUpdate, Place};
use crate::warm::Course;
use crate::{RunError, lessons, now_ms, warm};
use merit_core::Cost;
use merit_learn::SftSequence;
use std::time::Instant;

/// Goes on with the imitation of demonstrations from the place of `drive`.
pub(crate) fn demonstrations(drive: &mut Drive<'_>, stage: &Stage, newborn: bool) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let folder = drive.options.starts.as_deref().filter(|_| newborn && stage.steps() > 0);
    let shared = Place::of(folder, &drive.main, &stage.recipe, drive.policy.fingerprint())?;
    match shared.as_ref().and_then(Place::find) {
        Some(start) if drive.policy.take_start(&start)? => share(drive, stage, &start)?,
        _ => {
            if !newborn && drive.place.step == 0 {
                drive.policy.begin_here()?;
            }
            let sequences = shown(drive, &parts)?;
            supervise(drive, stage, &Course::warm_start(&parts, &stage.phase), &sequences)?;
            if let Some(place) = &shared {
                keep(drive, stage, place)?;
            }
        }
    }
    charge(drive, stage)?;
    // Whatever comes next begins with a fresh optimiser, whether the updates were made here or elsewhere.
    drive.policy.begin_here()
}

/// Goes on with the imitation of a dataset from the place of `drive`.
pub(crate) fn dataset(
    drive: &mut Drive<'_>,
    stage: &Stage,
    from: &Source,
    how: &Supervision,
) -> Result<(), RunError> {
    if drive.place.step == 0 {
        drive.policy.begin_here()?;
    }
    let sequences = |scored: merit_core::ScoredEpisode| warm::imitated(&scored.episode);
    let sequences: Vec<SftSequence> = match from {
        Source::Own(name) => drive.own_sequences(name),
        Source::Recorded(from) => {
            from.read(drive.folder)?.into_iter().flatten().flat_map(sequences).collect()
        }
    };
    let sequences: Vec<SftSequence> = sequences.into_iter().filter(|s| s.mask.contains(&true)).collect();
    if sequences.is_empty() {
        return drive.nothing_to_learn(stage);
    }
    let course = Course::of(how, drive.main.seed.child(&stage.phase.seed_name(), 0));
    supervise(drive, stage, &course, &sequences)?;
    charge(drive, stage)?;
    drive.policy.begin_here()
}

/// What the teacher shows.
pub(crate) fn shown(drive: &mut Drive<'_>, parts: &Parts) -> Result<Vec<SftSequence>, RunError> {
    let lessons = lessons::gather(parts, drive.folder, &drive.tools, drive.options, drive.watch)?;
    if let Some(lessons) = &lessons {
        drive.folder.record_event(now_ms(), "teacher", &lessons.summary)?;
        (drive.watch)(Event::Note { text: lessons.summary.clone() });
    }
    warm::demonstrations(parts, lessons.as_ref(), drive.policy.chat(), &drive.tools, drive.watch)
}

fn supervise(
    drive: &mut Drive<'_>,
    stage: &Stage,
    course: &Course,
    sequences: &[SftSequence],
) -> Result<(), RunError> {
    let learner = course.learner()?;
    let (began, mut read) = (Instant::now(), 0);
    while drive.place.step < stage.steps() {
        let (local, step) = (drive.place.step, stage.first_step() + drive.place.step);
        let did = course.step(drive.policy.trainer(), &learner, sequences, (local, step))?;
        read += did.read;
        record(drive, stage, step, &KeptUpdate { loss: did.loss, tokens: did.trained })?;
        let tokens_per_s = read as f64 / began.elapsed().as_secs_f64();
        tell(drive, stage, local + 1, did.loss, tokens_per_s, false);
        drive.step_done(stage.recipe.budget.checkpoint_every.saturating_mul(10))?;
    }
    Ok(())
}

fn record(drive: &Drive<'_>, stage: &Stage, step: u64, update: &KeptUpdate) -> Result<(), RunError> {
    let numbers = [("loss", update.loss), ("tokens", update.tokens as f64)];
    Ok(drive.folder.record_metrics(&stage.phase, step, &numbers)?)
}

fn tell(drive: &mut Drive<'_>, stage: &Stage, step: u64, loss: f64, tokens_per_s: f64, shared: bool) {
    let (of, done) = (stage.steps(), drive.share(stage, step));
    (drive.watch)(match &stage.phase {
        merit_core::Phase::Warm => Event::Warm { step, of, loss, tokens_per_s, done, shared },
        phase => {
            let stage = phase.owner().to_owned();
            Event::Update { stage, step, of, loss, tokens_per_s, done, shared }
        }
    });
}

/// Tells of the updates of a kept start as if they had been made here, and that they were not.
fn share(drive: &mut Drive<'_>, stage: &Stage, start: &KeptStart) -> Result<(), RunError> {
    for (step, update) in (0..).zip(&start.updates) {
        record(drive, stage, step, update)?;
    }
    let last = start.updates.len() as u64;
    drive.folder.record_metrics(&stage.phase, last.saturating_sub(1), &[("shared", 1.0)])?;
    let text = format!("shared: {last} updates made by another run, and charged to this one too");
    drive.folder.record_event(now_ms(), "warm-start", &text)?;
    tell(drive, stage, last, start.updates.last().map_or(f64::NAN, |update| update.loss), 0.0, true);
    drive.place.step = last;
    Ok(())
}

/// Leaves the warm start for other runs. One that cannot be left costs them time and nothing else.
fn keep(drive: &mut Drive<'_>, stage: &Stage, place: &Place) -> Result<(), RunError> {
    let (tokenizer, weights) = drive.policy.to_start();
    let start = KeptStart { updates: updates(drive, stage)?, tokenizer, weights };
    if let Err(why) = place.keep(&start) {
        let text = format!("the warm start {} cannot be kept for other runs: {why}", place.key);
        drive.folder.record_event(now_ms(), "warm-start", &text)?;
        (drive.watch)(Event::Note { text });
    }
    Ok(())
}

/// The updates of the stage as they were recorded, also those of before an interruption and of earlier rounds.
fn updates(drive: &Drive<'_>, stage: &Stage) -> Result<Vec<KeptUpdate>, RunError> {
    let metric = |name| drive.folder.metric(&stage.phase, name);
    let update =
        |((_, loss), (_, tokens)): ((u64, f64), (u64, f64))| KeptUpdate { loss, tokens: tokens as u64 };
    Ok(metric("loss")?.into_iter().zip(metric("tokens")?).map(update).collect())
}

/// Charges the updates to the run, wherever they were made.
fn charge(drive: &Drive<'_>, stage: &Stage) -> Result<(), RunError> {
    let updates = updates(drive, stage)?;
    let cost = Cost {
        trained_tokens: updates.iter().map(|update| update.tokens).sum(),
        updates: updates.len() as u64,
        ..Cost::default()
    };
    Ok(drive.folder.record_cost(&stage.phase, 0, &cost)?)
}
