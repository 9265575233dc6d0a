//! What a reward pays made-up episodes: whether doing nothing is paid, and whether trying is worth it.

use super::probe_episodes::{Manner, Probe, made_up_tasks, probes};
use super::tree::Tree;
use super::{Severity, Warning, WarningKind};
use crate::{Range, RewardState, ScoreContext};
use merit_core::{Episode, Refresh, Score, ScoredEpisode, Task};
use serde_json::Value;
use std::sync::Arc;

/// How many tasks of the samples are probed.
const MOST_TASKS: usize = 16;

/// Below this chance of success doing nothing is better; less than it is a hint.
const SLIGHT: f64 = 0.1;

/// Show that is paid less than this share of a right answer is a hint.
const SMALL: f64 = 0.25;

/// A probe with what it was paid.
struct Paid {
    what: &'static str,
    manner: Manner,
    value: f64,
    solved: bool,
}

/// The probes of one task at one stage of training.
struct Play {
    paid: Vec<Paid>,
    /// What a right answer gets. Absent: it is unknown.
    right: Option<f64>,
    step: u64,
    /// Nothing of the reward moves any more.
    last: bool,
}

/// What the probes find, on a made-up task and on those of the samples.
pub(crate) fn check(tree: &Tree<'_>, samples: &[Episode]) -> Vec<Warning> {
    let mut plays = Vec::new();
    for task in tasks(tree, samples) {
        let (probes, moments) = (probes(&task), moments(tree));
        for (i, (context, state)) in moments.iter().enumerate() {
            let paid = play(tree, &probes, context, state);
            let right = right(tree, &paid, samples, context, state);
            plays.push(Play { paid, right, step: context.step, last: i + 1 == moments.len() });
        }
    }
    let unpaid = unpaid(tree.scorer.range());
    let nothing =
        plays.iter().filter_map(|play| pays_nothing(play, unpaid)).min_by_key(|found| found.severity);
    let stop = plays.iter().filter(|play| play.last).find_map(|play| pays_to_stop(play, unpaid));
    let show = plays.iter().filter(|play| play.last).filter_map(|play| pays_for_show(play, unpaid));
    let show = show.min_by_key(|found| found.severity);
    nothing.into_iter().chain(show).chain(stop).collect()
}

fn tasks(tree: &Tree<'_>, samples: &[Episode]) -> Vec<Arc<Task>> {
    let mut tasks: Vec<Arc<Task>> = Vec::new();
    for episode in samples {
        if tasks.len() < MOST_TASKS && !tasks.iter().any(|known| known.id == episode.task.id) {
            tasks.push(Arc::clone(&episode.task));
        }
    }
    if tasks.is_empty() { made_up_tasks(tree) } else { tasks }
}

/// The first step, every step that the reward names, and the last of them with every stage mastered.
fn moments(tree: &Tree<'_>) -> Vec<(ScoreContext, RewardState)> {
    fn named(value: &Value, into: &mut Vec<u64>) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| named(value, into)),
            Value::Object(map) => map.iter().for_each(|(key, value)| match value.as_u64() {
                Some(step) if key.ends_with("_step") => into.push(step),
                _ => named(value, into),
            }),
            _ => {}
        }
    }
    let mut steps = vec![0];
    if let Ok(config) = serde_json::to_value(tree.config) {
        named(&config, &mut steps);
    }
    steps.sort_unstable();
    steps.dedup();
    let moment = |step: &u64| (ScoreContext::at_step(*step), RewardState::default());
    let mut moments: Vec<(ScoreContext, RewardState)> = steps.iter().map(moment).collect();
    let last = ScoreContext::at_step(steps[steps.len() - 1]);
    let mastered = mastered(tree, &last);
    if !mastered.is_empty() {
        moments.push((last, mastered));
    }
    moments
}

/// What the reward would keep if the policy had learned all that it can.
fn mastered(tree: &Tree<'_>, context: &ScoreContext) -> RewardState {
    let mut state = RewardState::default();
    for (key, numbers) in tree.parts.iter().flat_map(|part| tree.told(part).kept) {
        state.keep(key, numbers, context.version, Refresh::After { versions: 1 });
    }
    state
}

/// All probes of a task are one group, so that parts that compare episodes have something to compare.
fn play(tree: &Tree<'_>, probes: &[Probe], context: &ScoreContext, state: &RewardState) -> Vec<Paid> {
    let batch: Vec<Arc<Episode>> = probes.iter().map(|probe| Arc::new(probe.episode.clone())).collect();
    let scored = tree.scorer.score_batch(&batch, context, state);
    let scores = scored.episodes.into_iter().map(|scored| scored.score);
    let paid = |(probe, score): (&Probe, Option<Score>)| {
        let score = score?;
        let solved = score.solved == Some(true);
        Some(Paid { what: probe.what, manner: probe.manner, value: score.reward.value()?, solved })
    };
    probes.iter().zip(scores).filter_map(paid).collect()
}

/// What a right answer gets: the best of the probes that solve the task, or the mean of the samples that do.
fn right(
    tree: &Tree<'_>,
    paid: &[Paid],
    samples: &[Episode],
    context: &ScoreContext,
    state: &RewardState,
) -> Option<f64> {
    let right = paid.iter().filter(|paid| paid.manner == Manner::Right && paid.solved);
    let best = right.map(|paid| paid.value).reduce(f64::max);
    best.or_else(|| {
        let batch: Vec<Arc<Episode>> = samples.iter().cloned().map(Arc::new).collect();
        let scored = tree.scorer.score_batch(&batch, context, state);
        let solved =
            scored.episodes.iter().filter(|e| e.score.as_ref().is_some_and(|s| s.solved == Some(true)));
        let values: Vec<f64> = solved.filter_map(ScoredEpisode::reward).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    })
}

/// What is no pay at all: 0 where the reward can be 0, else the least it can be.
fn unpaid(range: Range) -> f64 {
    if range.low <= 0.0 && range.high >= 0.0 { 0.0 } else { range.low }
}

/// A curriculum may pay for form at first; what counts is what it pays in the end.
fn pays_nothing(play: &Play, unpaid: f64) -> Option<Warning> {
    let idle = play.paid.iter().filter(|paid| paid.manner == Manner::Idle);
    let best = idle.max_by(|a, b| a.value.total_cmp(&b.value))?;
    let paid = best.value > unpaid + 1e-12;
    // Where a right answer and doing nothing both get nothing, the probe is not what the reward asks for; nothing is known.
    let as_right = play.right.is_some_and(|right| best.value >= right && (paid || right < unpaid - 1e-12));
    if !as_right && !paid {
        return None;
    }
    let right = play.right.map(|right| format!(", a right answer gets {right}")).unwrap_or_default();
    let at_step = if play.step == 0 { String::new() } else { format!(" at step {}", play.step) };
    Some(Warning {
        at: "reward".to_owned(),
        severity: if as_right && play.last { Severity::Error } else { Severity::Warning },
        kind: WarningKind::PaysNothing,
        what: format!("doing nothing is paid: {} gets {}{at_step}", best.what, best.value),
        why: format!("nothing is {unpaid}{right}"),
        advice: "put what is paid for form behind a `gate` on the result, or lower its weight".to_owned(),
    })
}

/// Pay for what looks like work: a call for its own sake, length, any JSON. What idling is paid as well is told by [`pays_nothing`].
fn pays_for_show(play: &Play, unpaid: f64) -> Option<Warning> {
    let of = |manner: Manner| play.paid.iter().filter(move |paid| paid.manner == manner);
    let idle = of(Manner::Idle).map(|paid| paid.value).fold(unpaid, f64::max);
    let best = of(Manner::Show).max_by(|a, b| a.value.total_cmp(&b.value))?;
    if best.solved || best.value <= idle + 1e-12 {
        return None;
    }
    let share =
        play.right.filter(|right| *right > unpaid).map(|right| (best.value - unpaid) / (right - unpaid));
    let severity = match share {
        Some(share) if share >= 1.0 - 1e-12 => Severity::Error,
        Some(share) if share < SMALL => Severity::Hint,
        _ => Severity::Warning,
    };
    let right = play.right.map(|right| format!(", a right answer gets {right}")).unwrap_or_default();
    Some(Warning {
        at: "reward".to_owned(),
        severity,
        kind: WarningKind::PaysForShow,
        what: format!("{} gets {}", best.what, best.value),
        why: format!("nothing is {unpaid}{right}"),
        advice: "put it behind a `gate` on the result, or pay it only as far as the result is right"
            .to_owned(),
    })
}

/// An idle agent that is not paid, against an honest try that fails.
fn pays_to_stop(play: &Play, unpaid: f64) -> Option<Warning> {
    let of = |manner: Manner| play.paid.iter().filter(move |paid| paid.manner == manner);
    let idle = of(Manner::Idle).filter(|paid| paid.value <= unpaid + 1e-12);
    let idle = idle.max_by(|a, b| a.value.total_cmp(&b.value))?;
    let tried = of(Manner::Fails).min_by(|a, b| a.value.total_cmp(&b.value))?;
    if tried.value >= idle.value - 1e-12 || play.right.is_some_and(|right| idle.value >= right) {
        return None;
    }
    // Paid p · right + (1 − p) · tried for trying.
    let chance = play.right.map(|right| (idle.value - tried.value) / (right - tried.value));
    let why = match chance {
        Some(p) => {
            format!("who is right less than {:.1}% of the time does better by doing nothing", 100.0 * p)
        }
        None => "no right answer is known to make up for it".to_owned(),
    };
    Some(Warning {
        at: "reward".to_owned(),
        severity: if chance.is_some_and(|p| p < SLIGHT) { Severity::Hint } else { Severity::Warning },
        kind: WarningKind::PaysToStop,
        what: format!("{} gets {}, {} gets {}", tried.what, tried.value, idle.what, idle.value),
        why,
        advice: "take costs and penalties away only from what was earned, or charge for giving up as well"
            .to_owned(),
    })
}
