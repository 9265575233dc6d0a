//! The audit: every probe is tried on every task, and what it earns is held against what the right answer earns.
//!
//! In: a target and settings. Out: an [`Audit`]. The same target and settings give the same audit. Attempts that are right
//! after all are dropped before they are tried (`right.rs`), so that luck is no finding.

use crate::error::AttackError;
use crate::grade::Grade;
use crate::probe::{self, Expect, Probe};
use crate::subject::{Attempt, Subject};
use crate::tally::{self, ProbeResult, is_as_called, is_zero};
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
    pub target: String,
    /// How many tasks the probes were tried on.
    pub tasks: usize,
    pub seed: u64,
    /// Mean payment of the right answer. Absent: no task has one.
    pub gold: Option<f64>,
    pub grade: Grade,
    /// Why not better, one sentence per finding, worst first.
    pub findings: Vec<String>,
    /// Every probe that was tried.
    pub probes: Vec<ProbeResult>,
    /// Probes that were not, because the audit was broken off. Then the grade is of the others alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Tasks on which nobody knows what the right answer earns: what an attack earns there is held against nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: usize,
}

/// A probe with its attempts on all tasks and what each was paid.
struct Tried {
    probe: Probe,
    attempts: Vec<Attempt>,
    payments: Vec<Payment>,
}

/// Tries every probe that comes with merit on `target`.
///
/// ```
/// use merit_attack::{Settings, audit, targets::RewardTarget};
/// let reward = "type = \"exact-answer\"";
/// let mut target = RewardTarget::from_toml("mine.toml", reward, None, &merit_run::built_in())?;
/// let audit = audit(&mut target, &Settings { tasks: 2, ..Settings::default() })?;
/// assert_eq!((audit.tasks, audit.gold), (2, Some(1.0)));
/// # Ok::<(), merit_attack::AttackError>(())
/// ```
pub fn audit(target: &mut dyn Target, settings: &Settings) -> Result<Audit, AttackError> {
    audit_with(target, settings, &probe::built_in(), &mut |_| {})
}

/// Tries these probes on `target` and shows what is known after each of them, for a caller that may have to break off.
pub fn audit_with(
    target: &mut dyn Target,
    settings: &Settings,
    probes: &[Probe],
    so_far: &mut dyn FnMut(Audit),
) -> Result<Audit, AttackError> {
    let subjects: Vec<Subject> = target.subjects().iter().take(settings.tasks).cloned().collect();
    if subjects.is_empty() {
        return Err(AttackError::NoTasks { target: target.name() });
    }
    let seed = Seed::root(settings.seed);
    let ids: Vec<&str> = subjects.iter().map(|s| s.id.as_str()).collect();
    let mut tried = Vec::with_capacity(probes.len());
    for &probe in probes {
        let attempts = attempts(&probe, &subjects, &seed);
        let payments = pay(target, &attempts)?;
        tried.push(Tried { probe, attempts, payments });
        let so_much = tallied(target, &tried, &ids);
        so_far(graded(target, settings, &ids, so_much, probes.len() - tried.len()));
    }
    let mut all = tallied(target, &tried, &ids);
    let played = target.play(subjects.len(), settings.seed)?;
    let can_tell = !played.is_empty() || tells_right(&subjects, &tried);
    for played in &played {
        all.results.push(tally::policy(played, all.gold, &ids));
    }
    all.results.push(again(target, &tried, &ids)?);
    let audit = graded(target, settings, &ids, all, 0);
    if audit.gold.is_none() && audit.findings.is_empty() && !can_tell {
        return Err(AttackError::NothingKnown { target: audit.target, tasks: audit.tasks });
    }
    Ok(audit)
}

/// Whether some task says what is right, or some payment whether its task was solved.
fn tells_right(subjects: &[Subject], tried: &[Tried]) -> bool {
    let tells = |payment: &Payment| matches!(payment, Payment::Reward { solved: Some(_), .. });
    subjects.iter().any(|subject| subject.right_moves().is_some())
        || tried.iter().any(|t| t.payments.iter().any(tells))
}

/// Each probe that was tried, and what is known of the right answer.
struct Tallied {
    results: Vec<ProbeResult>,
    /// Mean payment of the right answer.
    gold: Option<f64>,
    /// Tasks on which it is not known.
    unknown: usize,
}

fn tallied(target: &dyn Target, tried: &[Tried], ids: &[&str]) -> Tallied {
    let called = target.full();
    let full = full_payments(target, ids.len(), tried);
    // An attack is held against what the right answer earns; the right answer against what the target calls full.
    let owed: Vec<Option<f64>> = full.iter().map(|earned| owed(*earned, called)).collect();
    let one = |t: &Tried| {
        let should_pay = t.probe.expect == Expect::Full;
        let against = if should_pay { &owed } else { &full };
        tally::probe(t.probe.about.name, should_pay, &t.attempts, &t.payments, against, called, ids)
    };
    let known: Vec<f64> = full.iter().flatten().copied().collect();
    let gold = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    let unknown = full.len() - known.len();
    Tallied { results: tried.iter().map(one).collect(), gold, unknown }
}

/// What the right answer has to earn: what the target calls full, where it says so.
fn owed(earned: Option<f64>, called: Option<f64>) -> Option<f64> {
    match (earned, called) {
        (Some(earned), Some(called)) if !is_as_called(earned, called) => Some(called),
        _ => earned,
    }
}

fn graded(
    target: &dyn Target,
    settings: &Settings,
    ids: &[&str],
    tallied: Tallied,
    left_out: usize,
) -> Audit {
    let Tallied { results: probes, gold, unknown } = tallied;
    let (grade, findings) = Grade::of(&probes, gold);
    let (target, tasks) = (target.name(), ids.len());
    Audit { target, tasks, seed: settings.seed, gold, grade, findings, probes, left_out, unknown }
}

/// The attempts of a probe on every task; those that are right after all are left out of what must not pay.
fn attempts(probe: &Probe, subjects: &[Subject], seed: &Seed) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for (task, subject) in subjects.iter().enumerate() {
        let mut stream = seed.child(probe.about.name, task as u64).stream();
        let mut written = (probe.write)(task, subject, &mut stream);
        if probe.expect == Expect::Less {
            written.retain(|attempt| !subject.is_right_attempt(attempt));
        }
        attempts.extend(written);
    }
    attempts
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
fn full_payments(target: &dyn Target, tasks: usize, tried: &[Tried]) -> Vec<Option<f64>> {
    let mut full = vec![target.full(); tasks];
    let gold = tried.iter().find(|t| t.probe.about.name == "gold");
    for (attempt, payment) in gold.into_iter().flat_map(|t| t.attempts.iter().zip(&t.payments)) {
        if let Some(value) = payment.value() {
            full[attempt.task] = Some(value);
        }
    }
    full
}

/// After everything else, some attempts are made once more: a target that was tampered with, keeps count or draws lots pays
/// them differently.
fn again(target: &mut dyn Target, tried: &[Tried], ids: &[&str]) -> Result<ProbeResult, AttackError> {
    let same = ["gold", "do-nothing", "constant"];
    let before: Vec<(&Attempt, &Payment)> = tried
        .iter()
        .filter(|t| same.contains(&t.probe.about.name))
        .flat_map(|t| t.attempts.iter().zip(&t.payments))
        .collect();
    let attempts: Vec<Attempt> = before.iter().map(|(attempt, _)| (*attempt).clone()).collect();
    let after = pay(target, &attempts)?;
    let before: Vec<&Payment> = before.into_iter().map(|(_, payment)| payment).collect();
    Ok(tally::again(&attempts, &before, &after, ids))
}
