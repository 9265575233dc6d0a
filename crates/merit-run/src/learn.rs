//! Learning by reward: sample groups, score, assign credit, update; one page that reads like the flow.

use crate::driver::Drive;
use crate::evaluate::{Evaluation, Evaluator};
use crate::interleave::Imitation;
use crate::metrics::{self, Metrics, rows};
use crate::parts::Parts;
use crate::probes::Probing;
use crate::progress::{Event, stalls};
use crate::stage::Stage;
use crate::{RunError, act::Actor};
use merit_api::trainer::Reference;
use merit_core::{Cost, Group, Phase, PolicyVersion, Sample};
use merit_credit::{Credit, CreditBatch, Note, Probe};
use merit_learn::{Learner, UpdateContext, UpdateReport};
use merit_reward::{RewardState, ScoredTogether};
use std::time::Instant;

/// Goes on with a stage of learning from the place of `drive`.
pub(crate) fn run(drive: &mut Drive<'_>, stage: &Stage) -> Result<(), RunError> {
    let parts = drive.parts_of(stage)?;
    let (phase, steps) = (&stage.phase, stage.steps());
    let learner = Learner::new(parts.recipe.learn.clone(), steps)?;
    let imitation = Imitation::of(drive, &parts)?;
    let mut actor = drive.actor(drive.policy.present())?;
    while drive.place.step < steps {
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
        let done = drive.share(stage, local + 1);
        (drive.watch)(step_event(phase.owner(), local + 1, steps, &numbers, done));
        actor.set_packed(drive.policy.packed())?;
        evaluate_between(drive, &parts, &mut actor, &at)?;
        drive.step_done(parts.recipe.budget.checkpoint_every)?;
    }
    Ok(())
}

/// One update by reward; what is said of it.
fn by_reward(
    drive: &mut Drive<'_>,
    parts: &Parts,
    actor: &mut Actor,
    learner: &Learner,
    at: &At<'_>,
) -> Result<Metrics, RunError> {
    let began = Instant::now();
    let batch = sample(drive, parts, actor, at)?;
    let mut numbers = metrics::of_groups(&batch.groups);
    let (report, tokens) = update(drive, parts, learner, &batch, at)?;
    let own = Cost {
        discarded_samples: report.samples_deselected as u64,
        trained_tokens: (report.tokens * parts.recipe.learn.epochs) as u64,
        updates: report.optimiser_steps as u64,
        ..Cost::default()
    };
    drive.folder.record_cost(at.phase, at.step, &[own, batch.beside].into_iter().sum())?;
    numbers.extend(of_update(&report));
    numbers.extend(term_shares(parts, &batch, at.step));
    numbers.insert("tokens_per_s".into(), tokens as f64 / began.elapsed().as_secs_f64());
    Ok(numbers)
}

/// Where a step stands.
struct At<'a> {
    phase: &'a Phase,
    /// Its number in this round of the stage.
    local: u64,
    /// Its number in the record.
    step: u64,
    /// The policy that acts in it.
    version: u64,
}

/// What one step learns from.
struct Batch {
    groups: Vec<Group>,
    /// Continuations that the credit rule needs.
    probes: Vec<Probe>,
    /// What those and the annotators cost.
    beside: Cost,
    /// What the reward had kept before.
    kept: RewardState,
}

/// Runs, scores and records the groups of one step, and measures what the credit rule needs.
fn sample(drive: &mut Drive<'_>, parts: &Parts, actor: &mut Actor, at: &At<'_>) -> Result<Batch, RunError> {
    let (phase, step) = (at.phase, at.step);
    let plans = parts.train_plans(phase, step, PolicyVersion(at.version))?;
    parts.annotators.recall(drive.folder, phase, step)?;
    let watch = &mut *drive.watch;
    let kept = &drive.reward_state.present;
    let (plans, batch, annotations) = actor.run_groups(parts, plans, step, kept, &mut stalls(watch))?;
    drive.folder.record_annotated(&batch.episodes, &annotations)?;
    if let Some(text) = parts.annotators.take_failure() {
        watch(Event::Note { text });
    }
    let groups = Group::by_id(batch.episodes)?;
    let per_turn = parts.rule.needs().probes_per_turn;
    let (probes, probing) = match per_turn {
        0 => (Vec::new(), Cost::default()),
        _ => Probing { parts, phase, step, per_turn, state: kept }.run(actor, &plans, &groups, watch)?,
    };
    let kept = std::mem::replace(&mut drive.reward_state.present, batch.state);
    let beside = [probing, crate::annotators::cost(&annotations)].into_iter().sum();
    Ok(Batch { groups, probes, beside, kept })
}

/// Assigns credit and updates the policy; also says how many tokens were sampled and trained.
fn update(
    drive: &mut Drive<'_>,
    parts: &Parts,
    learner: &Learner,
    batch: &Batch,
    at: &At<'_>,
) -> Result<(UpdateReport, usize), RunError> {
    let seed = parts.seed_of("credit", at.phase).child("step", at.step);
    let given = CreditBatch::new(&batch.groups).with_probes(&batch.probes).with_seed(seed);
    let credit = parts.rule.assign(&given)?;
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
    let report = learner.update(drive.policy.trainer(), &credit.samples, reference, &moment)?;
    Ok((report, tokens))
}

/// What the store keeps of a credit: the advantages, and how they came about.
fn notes(credit: &Credit) -> Vec<merit_store::Credit> {
    let stored = |(sample, note): (&Sample, &Note)| merit_store::Credit {
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
    Evaluator {
        parts,
        actor,
        folder: drive.folder,
        watch: drive.watch,
        reward_state: &drive.reward_state.present,
        chooser: None,
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
    let scored = batch.groups.iter().flat_map(Group::members).collect();
    let together = ScoredTogether { context: &parts.context(step), state: &batch.kept, scored };
    let shares = parts.scorer.term_variance_shares(&[together]);
    shares.into_iter().map(|(name, share)| (format!("term_var_share/{name}"), share)).collect()
}

fn step_event(arm: &str, step: u64, of: u64, numbers: &Metrics, done: f64) -> Event {
    let number = |name: &str| numbers.get(name).copied().unwrap_or(f64::NAN);
    Event::Step {
        arm: arm.to_owned(),
        step,
        of,
        success: number("success"),
        reward: number("reward"),
        terms: metrics::terms(numbers),
        tokens_per_s: number("tokens_per_s"),
        done,
    }
}
