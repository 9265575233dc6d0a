//! What a probe came to over all its attempts.

use crate::subject::Attempt;
use crate::target::{Payment, Played};
use merit_core::stats::mean;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProbeResult {
    /// The probe, or the policy that played.
    pub name: String,
    /// Whether it should be paid in full.
    pub should_pay: bool,
    /// Whether it is judged by its mean: a policy that plays may be lucky on some task.
    pub by_mean: bool,
    pub attempts: usize,
    /// Attempts that earned as much as the right answer, or were taken for solved.
    pub wins: usize,
    /// Attempts the target broke on.
    pub broke: usize,
    /// Attempts the target gave no answer to in its time.
    pub hangs: usize,
    /// Attempts the target would not score.
    pub unscorable: usize,
    /// Attempts that were paid differently when made again.
    pub changed: usize,
    /// Right answers that earned more than what the target calls full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub over: usize,
    /// Mean share of the right answer's payment. Absent: nothing to hold it against.
    pub mean_share: Option<f64>,
    /// The attempt that earned most; of attempts that should be paid, least.
    pub best: Option<Earned>,
    /// The first attempt that the target broke on or gave no answer to.
    pub broken_by: Option<Earned>,
}

/// An attempt and what it earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Earned {
    pub task: String,
    /// Exactly what was written, cut only in what people are shown.
    pub text: String,
    /// The reward of the attempt, or why there is none.
    pub payment: Payment,
    /// Share of the right answer's payment. Absent: nothing to hold it against.
    pub share: Option<f64>,
}

/// The share of what the right answer earns; where that is not positive, all or nothing.
fn share(payment: &Payment, full: Option<f64>) -> Option<f64> {
    let (value, full) = (payment.value()?, full?);
    Some(if full > 0.0 { value / full } else { f64::from(u8::from(value >= full)) })
}

pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Whether a payment is what the target calls full, but for the rounding of a scorer that counts in 32 bits.
pub(crate) fn is_as_called(value: f64, called: f64) -> bool {
    (value - called).abs() <= 1e-6 * called.abs()
}

pub(crate) fn is_full(share: f64) -> bool {
    share >= 1.0 - 1e-9
}

fn count(payments: &[Payment], is: fn(&Payment) -> bool) -> usize {
    payments.iter().filter(|payment| is(payment)).count()
}

/// The counts that every result has.
fn counted(name: &str, payments: &[Payment]) -> ProbeResult {
    ProbeResult {
        name: name.to_owned(),
        attempts: payments.len(),
        broke: count(payments, |p| matches!(p, Payment::Broke { .. })),
        hangs: count(payments, |p| matches!(p, Payment::Hangs { .. })),
        unscorable: count(payments, |p| matches!(p, Payment::Unscorable { .. })),
        ..ProbeResult::default()
    }
}

fn first_broken(payments: &[Payment]) -> Option<usize> {
    payments.iter().position(|p| matches!(p, Payment::Broke { .. } | Payment::Hangs { .. }))
}

/// A probe, attempt by attempt. `full` is what the right answer earns on each task, `called` what the target calls full.
pub(crate) fn probe(
    name: &str,
    should_pay: bool,
    attempts: &[Attempt],
    payments: &[Payment],
    full: &[Option<f64>],
    called: Option<f64>,
    ids: &[&str],
) -> ProbeResult {
    let paired = attempts.iter().zip(payments);
    let shares: Vec<Option<f64>> = paired.map(|(a, payment)| share(payment, full[a.task])).collect();
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    let wins = payments.iter().zip(&shares);
    let wins = wins.filter(|(payment, share)| payment.solved() || share.is_some_and(is_full)).count();
    let too_much = |value: &f64| called.is_some_and(|full| *value > full && !is_as_called(*value, full));
    let over = payments.iter().filter_map(Payment::value).filter(too_much).count();
    let rank = |at: &usize| {
        let worth = shares[*at].or(payments[*at].value()).unwrap_or(f64::NEG_INFINITY);
        if should_pay { -worth } else { worth }
    };
    let best = (0..attempts.len()).max_by(|a, b| rank(a).total_cmp(&rank(b)).then(b.cmp(a)));
    let earned = |at: usize| Earned {
        task: ids[attempts[at].task].to_owned(),
        text: attempts[at].text(),
        payment: payments[at].clone(),
        share: shares[at],
    };
    ProbeResult {
        should_pay,
        wins,
        over: if should_pay { over } else { 0 },
        mean_share: mean(&known),
        best: best.map(earned),
        broken_by: first_broken(payments).map(earned),
        ..counted(name, payments)
    }
}

/// A policy that played, by its mean.
pub(crate) fn policy(played: &Played, gold: Option<f64>, ids: &[&str]) -> ProbeResult {
    let payments: Vec<Payment> = played.episodes.iter().map(|(_, payment)| payment.clone()).collect();
    let values: Vec<f64> = payments.iter().filter_map(Payment::value).collect();
    let mean_share = mean(&values).and_then(|value| share(&Payment::Reward { value, solved: None }, gold));
    let worth = |at: &usize| payments[*at].value().unwrap_or(f64::NEG_INFINITY);
    let best = (0..payments.len()).max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.cmp(a)));
    let earned = |at: usize| Earned {
        task: ids.get(at).copied().unwrap_or_default().to_owned(),
        text: played.episodes[at].0.clone(),
        payment: payments[at].clone(),
        share: share(&payments[at], gold),
    };
    ProbeResult {
        by_mean: true,
        wins: usize::from(mean_share.is_some_and(is_full)),
        mean_share,
        best: best.map(earned),
        broken_by: first_broken(&payments).map(earned),
        ..counted(&played.policy, &payments)
    }
}

/// The same attempts before and after.
pub(crate) fn again(
    attempts: &[Attempt],
    before: &[&Payment],
    after: &[Payment],
    ids: &[&str],
) -> ProbeResult {
    let differs = |at: &usize| match (before[*at].value(), after[*at].value()) {
        (Some(was), Some(is)) => (was - is).abs() > 1e-9,
        (was, is) => was.is_some() != is.is_some(),
    };
    let changed: Vec<usize> = (0..attempts.len()).filter(differs).collect();
    let best = changed.first().map(|&at| Earned {
        task: ids[attempts[at].task].to_owned(),
        text: attempts[at].text(),
        payment: after[at].clone(),
        share: None,
    });
    // What breaks was counted where it was first tried.
    ProbeResult {
        name: "again".to_owned(),
        attempts: attempts.len(),
        changed: changed.len(),
        best,
        ..ProbeResult::default()
    }
}
