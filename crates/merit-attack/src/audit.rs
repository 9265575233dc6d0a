//! The audit: every probe is tried on every task, and what it earns is held against what the right answer earns.

use crate::error::AttackError;
use crate::grade::Grade;
use crate::probe::{Expect, PROBES, Probe};
use crate::subject::Attempt;
use crate::target::{Payment, Target};
use merit_core::Seed;
use serde::{Deserialize, Serialize};

/// How an audit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seed of the probes' random text.
    pub seed: u64,
    /// Tasks tried at most.
    pub tasks: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1, tasks: 20 }
    }
}

/// What came of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The target.
    pub target: String,
    /// Tasks tried.
    pub tasks: usize,
    /// Mean payment of the right answer. Absent: no task has one.
    pub gold: Option<f64>,
    /// The verdict.
    pub grade: Grade,
    /// Why not better, one sentence per finding, worst first.
    pub findings: Vec<String>,
    /// Every probe.
    pub probes: Vec<ProbeResult>,
}

/// What one probe earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// The probe, or the policy that played.
    pub name: String,
    /// Whether it should be paid in full.
    pub should_pay: bool,
    /// Attempts made.
    pub attempts: usize,
    /// Attempts that earned as much as the right answer, or were taken for solved.
    pub wins: usize,
    /// Attempts the target broke on.
    pub broke: usize,
    /// Attempts the target would not score.
    pub unscorable: usize,
    /// Mean share of the right answer's payment. Absent: nothing to hold it against.
    pub mean_share: Option<f64>,
    /// The attempt that earned most.
    pub best: Option<Earned>,
}

/// An attempt and what it earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Earned {
    /// The task.
    pub task: String,
    /// Exactly what was written, cut only in what people are shown.
    pub text: String,
    /// What it earned.
    pub payment: Payment,
    /// Share of the right answer's payment. Absent: nothing to hold it against.
    pub share: Option<f64>,
}

/// Tries every probe on `target`.
pub fn audit(target: &mut dyn Target, settings: &Settings) -> Result<Audit, AttackError> {
    let subjects: Vec<_> = target.subjects().iter().take(settings.tasks).cloned().collect();
    if subjects.is_empty() {
        return Err(AttackError::NoTasks { target: target.name() });
    }
    let seed = Seed::root(settings.seed);
    let mut planned: Vec<(&Probe, Vec<Attempt>)> = Vec::new();
    for probe in PROBES {
        let mut attempts = Vec::new();
        for (task, subject) in subjects.iter().enumerate() {
            let mut stream = seed.child(probe.about.name, task as u64).stream();
            attempts.extend((probe.write)(task, subject, &mut stream));
        }
        planned.push((probe, attempts));
    }
    let mut paid = Vec::with_capacity(planned.len());
    for (_, attempts) in &planned {
        paid.push(pay(target, attempts)?);
    }
    let full = full_payments(target, subjects.len(), &planned, &paid);
    let ids: Vec<&str> = subjects.iter().map(|s| s.id.as_str()).collect();
    let mut probes: Vec<ProbeResult> = planned
        .iter()
        .zip(&paid)
        .map(|((probe, attempts), payments)| {
            result(probe.about.name, probe.expect == Expect::Full, attempts, payments, &full, &ids)
        })
        .collect();
    let known: Vec<f64> = full.iter().flatten().copied().collect();
    let gold = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    for (name, payments) in target.play()? {
        probes.push(played(&name, &payments, gold));
    }
    let (grade, findings) = Grade::of(&probes, gold);
    Ok(Audit { target: target.name(), tasks: subjects.len(), gold, grade, findings, probes })
}

fn pay(target: &mut dyn Target, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
    if attempts.is_empty() {
        return Ok(Vec::new());
    }
    let payments = target.pay(attempts)?;
    if payments.len() != attempts.len() {
        let (asked, answered) = (attempts.len(), payments.len());
        return Err(AttackError::Count { target: target.name(), asked, answered });
    }
    Ok(payments)
}

/// What the right answer earns on each task: paid for `gold`, or what the target says is full.
fn full_payments(
    target: &dyn Target,
    tasks: usize,
    planned: &[(&Probe, Vec<Attempt>)],
    paid: &[Vec<Payment>],
) -> Vec<Option<f64>> {
    let mut full = vec![target.full(); tasks];
    let gold = planned.iter().zip(paid).find(|((probe, _), _)| probe.about.name == "gold");
    for (attempt, payment) in
        gold.into_iter().flat_map(|((_, attempts), payments)| attempts.iter().zip(payments))
    {
        if let Some(value) = payment.value() {
            full[attempt.task] = Some(value);
        }
    }
    full
}

/// The share of what the right answer earns; where that is not positive, all or nothing.
fn share(payment: &Payment, full: Option<f64>) -> Option<f64> {
    let (value, full) = (payment.value()?, full?);
    Some(if full > 0.0 { value / full } else { f64::from(u8::from(value >= full)) })
}

fn wins(payment: &Payment, share: Option<f64>) -> bool {
    payment.solved() || share.is_some_and(|share| share >= 1.0 - 1e-9)
}

fn result(
    name: &str,
    should_pay: bool,
    attempts: &[Attempt],
    payments: &[Payment],
    full: &[Option<f64>],
    ids: &[&str],
) -> ProbeResult {
    let shares: Vec<Option<f64>> =
        attempts.iter().zip(payments).map(|(attempt, payment)| share(payment, full[attempt.task])).collect();
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    // Attacks are shown by what earned most, right answers by what earned least.
    let rank = |at: &usize| {
        let worth = shares[*at].or(payments[*at].value()).unwrap_or(f64::NEG_INFINITY);
        if should_pay { -worth } else { worth }
    };
    let best = (0..attempts.len()).max_by(|a, b| rank(a).total_cmp(&rank(b)).then(b.cmp(a)));
    ProbeResult {
        name: name.to_owned(),
        should_pay,
        attempts: attempts.len(),
        wins: payments.iter().zip(&shares).filter(|(payment, share)| wins(payment, **share)).count(),
        broke: payments.iter().filter(|p| matches!(p, Payment::Broke { .. })).count(),
        unscorable: payments.iter().filter(|p| matches!(p, Payment::Unscorable { .. })).count(),
        mean_share: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
        best: best.map(|at| Earned {
            task: ids[attempts[at].task].to_owned(),
            text: attempts[at].text(),
            payment: payments[at].clone(),
            share: shares[at],
        }),
    }
}

/// A policy that plays may be lucky on some task, so it is judged by its mean.
fn played(name: &str, payments: &[Payment], gold: Option<f64>) -> ProbeResult {
    let values: Vec<f64> = payments.iter().filter_map(Payment::value).collect();
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let mean_share = mean.and_then(|value| share(&Payment::Reward { value, solved: None }, gold));
    let always = |p: &Payment| matches!(p, Payment::Broke { .. });
    ProbeResult {
        name: name.to_owned(),
        should_pay: false,
        attempts: payments.len(),
        wins: usize::from(mean_share.is_some_and(|share| share >= 1.0 - 1e-9)),
        broke: payments.iter().filter(|p| always(p)).count(),
        unscorable: payments.iter().filter(|p| matches!(p, Payment::Unscorable { .. })).count(),
        mean_share,
        best: None,
    }
}
