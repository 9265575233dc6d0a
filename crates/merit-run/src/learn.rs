//! Learning by reward: sample groups, score, assign credit, update; one page that reads like the flow.

use crate::driver::Drive;
use crate::evaluate::{Evaluation, Evaluator};
use crate::interleave::Imitation;
use crate::metrics::{self, Metrics, rows};
use crate::parts::Parts;
use crate::progress::Event;
use crate::sample::{Batch, sample};
use crate::stage::Stage;
use crate::{RunError, act::Actor, guests, now_ms, start};
use merit_api::trainer::Reference;
use merit_core::{Cost, End, Phase, PolicyVersion, Sample, ScoredEpisode};
use merit_credit::{Credit, CreditBatch, Note};
use merit_learn::{Learner, UpdateContext, UpdateReport};
use merit_reward::ScoredTogether;
use merit_rollout::NOT_FINITE;
use merit_store::RunFolder;
use std::time::Instant;

/// Goes on with a stage of learning from the place of `drive`.
pub(crate) fn run(drive: &mut Drive<'_>, stage: &Stage) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let (phase, steps) = (&stage.phase, stage.steps());
    let learner = Learner::new(parts.recipe.learn.clone(), steps)?;
    let imitation = Imitation::of(drive, &parts)?;
    let mut actor = drive.actor()?;
    while drive.place.step < steps && spent(drive, &parts, phase) < 1.0 {
        let local = drive.place.step;
        let at = At { phase, local, step: stage.first_step() + local, version: drive.place.version + local };
        let turn = imitation.as_ref().map(|one| one.turn(drive, &parts, phase, at.step)).transpose()?;
        let mut numbers = match (&imitation, turn) {
            (Some(imitation), Some(turn)) if turn.imitates => {
                imitation.update(drive, &parts, phase, at.step)?
            }
            _ => by_reward(drive, &parts, &mut actor, &learner, &at)?,
        };
        if let Some(turn) = turn {
            numbers.insert("imitation_chance".into(), turn.chance);
            numbers.insert("imitates".into(), f64::from(u8::from(turn.imitates)));
        }
        drive.folder.record_metrics(phase, at.step, &rows(&numbers))?;
        drive.learned(phase).steps = local + 1;
        let spent = spent(drive, &parts, phase);
        let done = drive.share(stage, (local + 1).max((spent * steps as f64) as u64));
        (drive.watch)(step_event(phase, local + 1, steps, &numbers, done));
        actor.follow(&mut drive.policy)?;
        drive.lend(&parts, phase, at.version + 1)?;
        if spent < 1.0 {
            evaluate_between(drive, &parts, &mut actor, &at)?;
        }
        drive.step_done(parts.recipe.budget.checkpoint_every)?;
    }
    Ok(())
}

/// The share that is spent of a budget in another unit than steps; 0 where there is none.
fn spent(drive: &mut Drive<'_>, parts: &Parts, phase: &Phase) -> f64 {
    parts.recipe.budget.until.map_or(0.0, |until| until.share(&drive.learned(phase).spent))
}

/// What the metrics of a step begin with that say how long a part of it took.
const SECONDS: &str = "seconds/";

/// One update by reward; what is said of it.
fn by_reward(
    drive: &mut Drive<'_>,
    parts: &Parts,
    actor: &mut Actor,
    learner: &Learner,
    at: &At<'_>,
) -> Result<Metrics, RunError> {
    let began = Instant::now();
    let mut batch = sample(drive, parts, actor, at)?;
    let sampled = began.elapsed();
    heed(drive, &batch, at)?;
    let mut numbers = metrics::of_groups(&batch.groups);
    let weight = parts.recipe.guests.as_ref().map(|guests| guests.weight(drive.folder, at.phase, at.step));
    let weight = weight.transpose()?;
    let learner = learner.at_share(spent(drive, parts, at.phase));
    let Updated { report, tokens, kl_start, measured } = update(drive, parts, &learner, &batch, weight, at)?;
    let own = Cost {
        discarded_samples: report.samples_deselected as u64 + batch.dropped(),
        trained_tokens: (report.tokens * parts.recipe.learn.epochs) as u64,
        updates: report.optimiser_steps as u64,
        ..Cost::default()
    };
    let own = [own, batch.beside].into_iter().sum();
    drive.folder.record_cost(at.phase, at.step, &own)?;
    let played: Cost = batch.episodes().map(|scored| scored.episode.cost).sum();
    let learned = drive.learned(at.phase);
    learned.spent.add(&played, batch.episodes().count() as u64);
    learned.spent.add(&own, batch.probe_episodes);
    learned.tasks = std::mem::take(&mut batch.tasks);
    if let Some(bank) = &parts.recipe.bank {
        bank.store(&mut learned.bank, batch.episodes());
    }
    if let Some(memory) = &parts.recipe.memory {
        memory.store(&mut learned.memory, &batch.groups, at.version)?;
    }
    numbers.append(&mut batch.numbers);
    numbers.extend(of_update(&report));
    numbers.extend(measured.into_iter().map(|(name, value)| (name.to_owned(), value)));
    numbers.extend(kl_start.map(|kl| ("kl_start".to_owned(), kl)));
    if let (Some(weight), Some(guests)) = (weight, &parts.recipe.guests) {
        numbers.insert("guest_weight".into(), weight);
        numbers.insert("guest_weight_steers".into(), f64::from(u8::from(guests.steers(weight))));
    }
    numbers.extend(term_shares(parts, &batch, at.step));
    let whole = began.elapsed();
    numbers.insert("tokens_per_s".into(), tokens as f64 / whole.as_secs_f64());
    numbers.extend(
        [
            // Calls run beside each other and beside sampling: their seconds are a part of the rollout's only in a sense.
            ("tools", played.tool_seconds),
            ("rollout", sampled.saturating_sub(batch.scoring).as_secs_f64()),
            ("reward", batch.scoring.as_secs_f64()),
            ("update", whole.saturating_sub(sampled).as_secs_f64()),
        ]
        .map(|(part, seconds)| (format!("{SECONDS}{part}"), seconds)),
    );
    Ok(numbers)
}

/// Refuses to go on with a policy that diverged, and says so where every episode of the step broke: nothing is learned from it.
fn heed(drive: &mut Drive<'_>, batch: &Batch, at: &At<'_>) -> Result<(), RunError> {
    let episodes: Vec<&ScoredEpisode> = batch.episodes().collect();
    let own: Vec<&ScoredEpisode> =
        episodes.iter().copied().filter(|one| !guests::is_guest(&one.episode)).collect();
    refuse_diverged(&own, at.step, drive.folder)?;
    if let Some(why) = metrics::all_broke(&episodes) {
        let text = format!("{} {}: {why}", at.phase, at.step);
        drive.folder.record_event(now_ms(), "all-broke", &text)?;
        (drive.watch)(Event::Note { text });
    }
    Ok(())
}

/// Refuses to go on with a policy that cannot be sampled from any more, by the episodes that it played.
pub(crate) fn refuse_diverged(
    played: &[&ScoredEpisode],
    step: u64,
    folder: &RunFolder,
) -> Result<(), RunError> {
    let diverged = |one: &&&ScoredEpisode| match &one.episode.end {
        End::Failed { fault } => fault.cause.as_deref() == Some(NOT_FINITE),
        _ => false,
    };
    match played.iter().filter(diverged).count() {
        0 => Ok(()),
        broke => {
            let (episodes, run) = (played.len(), folder.path().display().to_string());
            Err(RunError::Diverged { step, broke, episodes, run })
        }
    }
}

/// Where a step stands.
pub(crate) struct At<'a> {
    pub(crate) phase: &'a Phase,
    /// Its number in this round of the stage.
    pub(crate) local: u64,
    /// Its number in the record.
    pub(crate) step: u64,
    /// The policy that acts in it.
    pub(crate) version: u64,
}

/// What came of an update.
struct Updated {
    report: UpdateReport,
    /// Tokens that were sampled and trained.
    tokens: usize,
    /// How far the policy was from where its learning began. Absent: it was not measured.
    kl_start: Option<f64>,
    /// What the credit rule has measured.
    measured: Vec<(&'static str, f64)>,
}

/// Assigns credit and updates the policy.
fn update(
    drive: &mut Drive<'_>,
    parts: &Parts,
    learner: &Learner,
    batch: &Batch,
    guest_weight: Option<f64>,
    at: &At<'_>,
) -> Result<Updated, RunError> {
    let seed = parts.seed_of("credit", at.phase).child("step", at.step);
    let groups = batch.trained();
    let given = CreditBatch::new(&groups)
        .with_probes(&batch.probes)
        .with_annotations(&batch.annotations)
        .with_seed(seed);
    let mut credit = parts.rule.assign(&given)?;
    if let Some(weight) = guest_weight {
        guests::weigh(&mut credit.samples, weight);
    }
    drive.folder.record_credits(&notes(&credit))?;
    let tokens = credit.samples.iter().map(|s| s.tokens.len()).sum();
    let temperature = parts.recipe.rollout.temperature;
    let reference = learner.needs_reference().then(|| drive.policy.reference()).transpose()?;
    let reference = reference.as_deref().map(|reference| reference as &dyn Reference);
    let moment = UpdateContext {
        step: at.local,
        version: PolicyVersion(at.version),
        temperature,
        seed: parts.seed_of("update", at.phase).child("step", at.step),
    };
    let kl_start = match reference {
        // The objective measures it at every step.
        Some(_) => None,
        None => start::kl(drive, parts, &credit.samples, at.local)?,
    };
    let report = learner.update(drive.policy.trainer(), &credit.samples, reference, &moment)?;
    Ok(Updated { report, tokens, kl_start, measured: credit.numbers })
}

/// What the store keeps of a credit: the advantages, and how they came about.
fn notes(credit: &Credit) -> Vec<merit_store::CreditRow> {
    let stored = |(sample, note): (&Sample, &Note)| merit_store::CreditRow {
        episode: sample.episode.clone(),
        advantages: sample.advantages.clone().unwrap_or_default(),
        note: note.lines.join("\n"),
    };
    credit.samples.iter().zip(&credit.notes).map(stored).collect()
}

fn evaluate_between(
    drive: &mut Drive<'_>,
    parts: &Parts,
    actor: &mut Actor,
    at: &At<'_>,
) -> Result<(), RunError> {
    let evaluation = &parts.recipe.evaluation;
    let done = at.local + 1;
    if evaluation.every == 0 || !done.is_multiple_of(evaluation.every) || done == parts.recipe.budget.steps {
        return Ok(());
    }
    let earlier = drive.earlier(at.phase);
    Evaluator {
        parts,
        actor,
        folder: drive.folder,
        watch: drive.watch,
        reward_state: &drive.reward_state.present,
        earlier: &earlier,
        chooser: None,
        searching: None,
    }
    .run(&Evaluation {
        phase: at.phase.between(),
        step: at.step + 1,
        tasks: evaluation.tasks_between,
        version: at.version + 1,
        suite: Default::default(),
    })
}

fn of_update(report: &UpdateReport) -> Metrics {
    report.metrics().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How much of the reward's variance over the step each term makes: says when cosmetics take over.
fn term_shares(parts: &Parts, batch: &Batch, step: u64) -> Metrics {
    let scored = batch.episodes().collect();
    let together = ScoredTogether { context: &parts.context(step), state: &batch.kept, scored };
    let shares = parts.scorer.term_variance_shares(&[together]);
    shares.into_iter().map(|(name, share)| (format!("term_var_share/{name}"), share)).collect()
}

fn step_event(phase: &Phase, step: u64, of: u64, numbers: &Metrics, done: f64) -> Event {
    let number = |name: &str| numbers.get(name).copied().unwrap_or(f64::NAN);
    Event::Step {
        phase: phase.clone(),
        step,
        of,
        success: number("success"),
        reward: number("reward"),
        terms: metrics::terms(numbers),
        metrics: numbers.clone(),
        tokens_per_s: number("tokens_per_s"),
        done,
    }
}
