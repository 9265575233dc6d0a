//! Everything a run shows, as plain data: the report draws it, tables print it.

use crate::MeasureError;
use crate::curve::{self, Curve, TermSeries};
use crate::held_out::{self, Change, HeldOut};
use merit_core::stats;
use merit_core::{Arm, Cost, Outcome, Phase, Seed, StageKind, When};
use merit_store::{EpisodeFilter, Event, Metric, RunFolder, RunInfo};
use std::collections::{BTreeMap, BTreeSet};

/// What a run shows. What was not recorded is absent or empty, never 0.
#[derive(Debug, Clone)]
pub struct RunSummary {
    pub info: RunInfo,
    /// Every evaluation on held-out tasks.
    pub held_out: Vec<HeldOut>,
    /// From before to after, paired by task.
    pub change: Option<Change>,
    /// pass@k and pass^k of the evaluations that took several samples of each task, by phase and name; the latest of each.
    pub passes: BTreeMap<Phase, BTreeMap<String, f64>>,
    /// Success over training.
    pub curve: Curve,
    /// Terms of the reward over training.
    pub terms: Vec<TermSeries>,
    /// Other numbers over training.
    pub series: Vec<Series>,
    /// Episodes of each phase by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: BTreeMap<Phase, [u64; Outcome::ALL.len()]>,
    pub costs: BTreeMap<Phase, Cost>,
    /// Median tokens per second of training steps.
    pub tokens_per_s: Option<f64>,
    /// From the start to the last event, pauses included.
    pub elapsed_ms: Option<u64>,
    /// Seconds of learning by reward, by part: `rollout`, `reward`, `update`, and `tools` inside the rollout.
    pub times: BTreeMap<String, f64>,
    /// What happened to the run.
    pub events: Vec<Event>,
}

/// A number over the steps of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub phase: Phase,
    pub name: &'static str,
    pub title: &'static str,
    /// In the order of steps.
    pub points: Vec<(u64, f64)>,
}

/// Numbers of the warm start that are drawn, with their titles.
const SHOWN_OF_WARM: [(&str, &str); 1] = [("loss", "warm-start loss")];

/// Numbers of the learning that are drawn, with their titles.
const SHOWN: [(&str, &str); 14] = [
    ("loss", "training loss"),
    ("reward", "mean reward"),
    ("reward_sd", "spread of reward (sd)"),
    ("entropy", "entropy per token (nats)"),
    ("kl_reference", "KL to the reference (nats)"),
    ("kl_start", "KL to the policy before learning (nats)"),
    ("grad_norm", "gradient norm"),
    ("clip_fraction", "share of clipped tokens"),
    ("learning_rate", "learning rate"),
    ("logprob_gap", "largest gap between sampled and trained log-probability"),
    ("turns_mean", "turns per episode"),
    ("tokens_mean", "tokens per episode"),
    ("calls_mean", "tool calls per episode"),
    ("tokens_per_s", "tokens per second"),
];

impl RunSummary {
    pub fn read(run: &RunFolder) -> Result<Self, MeasureError> {
        let info = run.info()?;
        let metrics = run.metrics()?;
        let events = run.events()?;
        let speeds: Vec<f64> =
            curve::series(&metrics, &learned(&metrics), "tokens_per_s").iter().map(|p| p.1).collect();
        Ok(Self {
            held_out: held_out::held_out(run, &metrics)?,
            change: held_out::change(run, &Seed::root(info.seed).child("measure", 0))?,
            passes: passes(&metrics),
            curve: curve::curve(run, &metrics)?,
            terms: curve::terms(run, &metrics)?,
            series: shown(&metrics),
            outcomes: outcomes(run, &metrics)?,
            costs: run.costs()?,
            tokens_per_s: stats::quantile(&speeds, 0.5),
            times: times(&metrics),
            elapsed_ms: events.last().and_then(|event| event.time_ms.checked_sub(info.started_ms)),
            events,
            info,
        })
    }

    /// The outcomes to show, from the first of [`Outcome::ALL`] on: the last two only where there are any.
    pub fn outcomes_shown(&self) -> &'static [Outcome] {
        let any = |outcome: &Outcome| self.outcomes.values().any(|counts| counts[*outcome as usize] > 0);
        let last = [Outcome::Left, Outcome::Scored].into_iter().find(any);
        &Outcome::ALL[..last.map_or(Outcome::Scored as usize, |last| last as usize + 1)]
    }

    /// An evaluation of the main arm; the latest where there are several.
    pub fn evaluation(&self, when: When) -> Option<&HeldOut> {
        self.evaluation_of(&Phase::eval(when))
    }

    /// The evaluation of a phase; the latest where there are several.
    pub fn evaluation_of(&self, phase: &Phase) -> Option<&HeldOut> {
        self.held_out.iter().rfind(|held| held.phase == *phase)
    }

    /// The last evaluation of every stage that the recipe names.
    pub fn named(&self) -> impl Iterator<Item = &HeldOut> {
        let named = |held: &&HeldOut| matches!(held.phase, Phase::Stage(StageKind::Evaluate, _));
        let last =
            |held: &&HeldOut| self.evaluation_of(&held.phase).is_some_and(|last| std::ptr::eq(last, *held));
        self.held_out.iter().filter(named).filter(last)
    }

    /// What the run says of itself where it is an ablation; empty otherwise.
    pub fn ablations(&self) -> impl Iterator<Item = &str> {
        self.said("ablation")
    }

    /// What the run says of models that decided what was learned and proved nothing; empty otherwise.
    pub fn unproven(&self) -> impl Iterator<Item = &str> {
        self.said("unproven-model")
    }

    fn said(&self, kind: &str) -> impl Iterator<Item = &str> {
        let said = self.events.iter().filter(|event| event.kind == kind);
        said.map(|event| event.text.as_str()).collect::<BTreeSet<_>>().into_iter()
    }

    /// The last evaluation of every control.
    pub fn controls(&self) -> impl Iterator<Item = &HeldOut> {
        self.held_out.iter().filter(|held| matches!(held.phase, Phase::Eval(Arm::Control(_), When::After)))
    }
}

/// Seconds by part, over the steps of the learning that is drawn.
fn times(metrics: &[Metric]) -> BTreeMap<String, f64> {
    let (phase, mut times) = (learned(metrics), BTreeMap::new());
    for metric in metrics.iter().filter(|metric| metric.phase == phase) {
        if let Some(part) = metric.name.strip_prefix("seconds/") {
            *times.entry(part.to_owned()).or_default() += metric.value;
        }
    }
    times
}

/// The learning whose curves are drawn: the main arm's, or the first that a recipe of named stages has.
pub(crate) fn learned(metrics: &[Metric]) -> Phase {
    let mut phases = metrics.iter().map(|metric| &metric.phase);
    let named = |phase: &&Phase| matches!(phase, Phase::Stage(StageKind::Learn, _));
    if phases.clone().any(|phase| *phase == Phase::train()) {
        return Phase::train();
    }
    phases.find(named).cloned().unwrap_or_else(Phase::train)
}

fn shown(metrics: &[Metric]) -> Vec<Series> {
    let of = |phase: Phase, shown: &'static [(&str, &str)]| {
        shown.iter().map(move |&(name, title)| {
            let points = curve::series(metrics, &phase, name);
            Series { phase: phase.clone(), name, title, points }
        })
    };
    let all = of(Phase::Warm, &SHOWN_OF_WARM).chain(of(learned(metrics), &SHOWN));
    all.filter(|series| !series.points.is_empty()).collect()
}

fn passes(metrics: &[Metric]) -> BTreeMap<Phase, BTreeMap<String, f64>> {
    let of_samples = |name: &str| name.starts_with("pass@") || name.starts_with("pass^");
    let mut passes: BTreeMap<Phase, BTreeMap<String, f64>> = BTreeMap::new();
    // In the order of steps, so that the latest stays.
    for metric in metrics.iter().filter(|m| of_samples(&m.name) && m.value.is_finite()) {
        passes.entry(metric.phase.clone()).or_default().insert(metric.name.clone(), metric.value);
    }
    passes
}

fn outcomes(
    run: &RunFolder,
    metrics: &[Metric],
) -> Result<BTreeMap<Phase, [u64; Outcome::ALL.len()]>, MeasureError> {
    let mut counted: BTreeMap<Phase, [u64; Outcome::ALL.len()]> = BTreeMap::new();
    for row in run.episode_rows(&EpisodeFilter::default())? {
        counted.entry(row.id.phase).or_default()[row.outcome as usize] += 1;
    }
    let mut reported: BTreeMap<Phase, [u64; Outcome::ALL.len()]> = BTreeMap::new();
    for metric in metrics.iter().filter(|m| m.value.is_finite()) {
        let name = metric.name.strip_prefix("outcome/").map(|name| name.replace(['-', '_'], " "));
        let outcome = name.and_then(|name| Outcome::ALL.into_iter().find(|o| o.name() == name));
        if let Some(outcome) = outcome {
            reported.entry(metric.phase.clone()).or_default()[outcome as usize] += metric.value as u64;
        }
    }
    // Whichever saw more episodes: not every run keeps them all.
    for (phase, counts) in reported {
        let own = counted.entry(phase).or_default();
        if counts.iter().sum::<u64>() > own.iter().sum::<u64>() {
            *own = counts;
        }
    }
    Ok(counted)
}
