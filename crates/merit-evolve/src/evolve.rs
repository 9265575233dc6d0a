//! The loop: judge the training items, propose edits, gate each phase on the validation items, prune now and then.
//!
//! The gate holds a proposal against the **best** version, as published, and the head follows what is kept; the best version is
//! kept apart, so that what a margin lets through is not lost for good. Everything is a function of its arguments.

use crate::prune::prune;
use crate::{Edit, EvolveSettings, Library};
use merit_core::gate::{Gated, gate};
use merit_core::stats::mean;
use serde::{Deserialize, Serialize};

/// Which items are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What proposals are made from.
    Train,
    /// What decides whether they are kept.
    Validation,
}

/// Whatever consults the library.
pub trait Subject {
    /// How right it is about each item of `part` with this library: 1 right, 0 wrong. Always the same items in the same order. An
    /// item about which nothing could be said is wrong, never left out. The error is why nothing is known at all.
    fn rightness(&mut self, library: &Library, part: Part) -> Result<Vec<f64>, String>;

    /// Calls of the judge so far that had to be paid.
    fn calls(&self) -> u64;
}

/// Proposes edits of a library. The gate decides whether they stay.
pub trait Proposer {
    /// Edits for `library`, each phase apart, from how right it is about the training items. Nothing: it has no more ideas. The
    /// error is why it could not propose.
    fn propose(&mut self, library: &Library, right: &[f64], round: usize) -> Result<Vec<Proposal>, String>;
}

/// Edits that are gated together.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Edits that are judged together: all stay or none.
    pub edits: Vec<Edit>,
    /// The reason, for readers of the history. Nothing is decided by it.
    pub why: String,
}

/// What a change came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The library as it was before anything was tried.
    Baseline,
    /// A proposal of the proposer.
    Proposed,
    /// Entries that were not missed.
    Pruned,
    /// Back to an earlier version.
    Reverted,
}

/// One change that was tried, kept or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// From 0, the baseline; every change that was tried has one.
    pub version: usize,
    /// The version it was made from.
    pub parent: usize,
    pub phase: Phase,
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Share of validation items that were right in what it was held against. Absent: nothing before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// The same with the change. Absent: it was not measured, as where a person made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// What the gate said. Absent for the baseline, and for what a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gated: Option<Gated>,
    /// Whether the head has it.
    pub kept: bool,
    /// Paid calls of the judge by then.
    pub calls: u64,
    /// The proposer's reason.
    pub why: String,
}

/// The libraries that evolving led to, and its history.
#[derive(Debug, Clone, PartialEq)]
pub struct Evolution {
    /// The library after the last kept change.
    pub head: Library,
    /// The library that was most right on the validation items, the smaller one of two that are alike.
    pub best: Library,
    /// The version that made `best`.
    pub best_version: usize,
    /// Everything that was tried, the baseline first.
    pub changes: Vec<Change>,
}

/// Why evolving broke. The watcher was told what was done by then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvolveError {
    /// The judge could say nothing.
    #[error("the judge broke: {0}")]
    Judge(String),
    /// The proposer could not propose.
    #[error("the proposer broke: {0}")]
    Proposer(String),
    /// Two tries of the same items differ in number, or there are none.
    #[error("the items cannot be compared: {0}")]
    Items(#[from] merit_core::gate::GateError),
}

/// Where evolving stands.
pub(crate) struct State<'a> {
    pub(crate) subject: &'a mut dyn Subject,
    pub(crate) settings: &'a EvolveSettings,
    pub(crate) watch: &'a mut dyn FnMut(&Change, &Library),
    pub(crate) head: Library,
    head_version: usize,
    pub(crate) best: Library,
    best_version: usize,
    /// How right `best` is about each validation item.
    pub(crate) best_right: Vec<f64>,
    changes: Vec<Change>,
}

/// Evolves `library`. `watch` sees every change as it is tried, with the library it leads to.
///
/// ```
/// use merit_evolve::{Edit, Entry, EvolveSettings, Kind, Library, Part, Proposal, Proposer, Subject, evolve};
/// struct Judge;
/// impl Subject for Judge {
///     fn rightness(&mut self, library: &Library, _: Part) -> Result<Vec<f64>, String> {
///         Ok(vec![1.0, if library.get("units").is_some() { 1.0 } else { 0.0 }])
///     }
///     fn calls(&self) -> u64 { 0 }
/// }
/// struct OneIdea;
/// impl Proposer for OneIdea {
///     fn propose(&mut self, _: &Library, _: &[f64], round: usize) -> Result<Vec<Proposal>, String> {
///         let (title, body, made_by) = ("units".into(), "Look at the unit.".into(), "a person".into());
///         let entry = Entry { kind: Kind::Skill, title, when: vec![], body, weight: 1.0, made_by };
///         let edits = vec![Edit::Add { id: "units".into(), entry }];
///         Ok(if round == 0 { vec![Proposal { edits, why: "the second item is wrong".into() }] } else { vec![] })
///     }
/// }
/// let settings = EvolveSettings::default();
/// let evolution = evolve(Library::default(), &mut Judge, &mut OneIdea, &settings, &mut |_, _| {})?;
/// assert!(evolution.best.get("units").is_some());
/// # Ok::<(), merit_evolve::EvolveError>(())
/// ```
pub fn evolve(
    library: Library,
    subject: &mut dyn Subject,
    proposer: &mut dyn Proposer,
    settings: &EvolveSettings,
    watch: &mut dyn FnMut(&Change, &Library),
) -> Result<Evolution, EvolveError> {
    let mut state = State::begin(library, subject, settings, watch)?;
    let mut since_better = 0;
    for round in 0..settings.rounds {
        let spent = settings.budget > 0 && state.subject.calls() >= settings.budget;
        if spent || (settings.patience > 0 && since_better >= settings.patience) {
            break;
        }
        let was = state.best_version;
        let right = state.right(&state.head.clone(), Part::Train)?;
        let proposals = proposer.propose(&state.head, &right, round).map_err(EvolveError::Proposer)?;
        if proposals.is_empty() {
            break;
        }
        for proposal in proposals {
            state.attempt(proposal)?;
        }
        let last = round + 1 == settings.rounds;
        if settings.prune_every > 0 && ((round + 1) % settings.prune_every == 0 || last) {
            prune(&mut state)?;
        }
        since_better = if state.best_version == was { since_better + 1 } else { 0 };
    }
    let State { head, best, best_version, changes, .. } = state;
    Ok(Evolution { head, best, best_version, changes })
}

/// Only prunes: takes out entries of `library` without which the validation items do no worse.
pub fn prune_only(
    library: Library,
    subject: &mut dyn Subject,
    margin: f64,
    watch: &mut dyn FnMut(&Change, &Library),
) -> Result<Evolution, EvolveError> {
    let settings = EvolveSettings { prune_margin: margin, ..EvolveSettings::default() };
    let mut state = State::begin(library, subject, &settings, watch)?;
    prune(&mut state)?;
    let State { head, best, best_version, changes, .. } = state;
    Ok(Evolution { head, best, best_version, changes })
}

impl<'a> State<'a> {
    fn begin(
        library: Library,
        subject: &'a mut dyn Subject,
        settings: &'a EvolveSettings,
        watch: &'a mut dyn FnMut(&Change, &Library),
    ) -> Result<Self, EvolveError> {
        let best_right = subject.rightness(&library, Part::Validation).map_err(EvolveError::Judge)?;
        let after = mean(&best_right).ok_or(merit_core::gate::GateError::Empty)?;
        let baseline = Change {
            version: 0,
            parent: 0,
            phase: Phase::Baseline,
            edits: Vec::new(),
            before: None,
            after: Some(after),
            gated: None,
            kept: true,
            calls: subject.calls(),
            why: "before anything was tried".to_owned(),
        };
        watch(&baseline, &library);
        let (head, best) = (library.clone(), library);
        let changes = vec![baseline];
        Ok(Self {
            subject,
            settings,
            watch,
            head,
            head_version: 0,
            best,
            best_version: 0,
            best_right,
            changes,
        })
    }

    pub(crate) fn right(&mut self, library: &Library, part: Part) -> Result<Vec<f64>, EvolveError> {
        self.subject.rightness(library, part).map_err(EvolveError::Judge)
    }

    /// Tries a proposal against the best version. One that does not fit the head is recorded as not kept.
    fn attempt(&mut self, proposal: Proposal) -> Result<(), EvolveError> {
        let next = match self.head.edited(&proposal.edits) {
            Ok(next) => next,
            Err(error) => {
                let after = mean(&self.best_right).unwrap_or_default();
                let why = format!("{}; refused: {error}", proposal.why);
                self.record(Phase::Proposed, proposal.edits, (after, None, false), why);
                return Ok(());
            }
        };
        let right = self.right(&next, Part::Validation)?;
        let gated = gate(&self.best_right, &right, &self.settings.gate, self.changes.len())?;
        let after = mean(&right).unwrap_or_default();
        if gated.keep {
            self.head = next;
        }
        self.record(Phase::Proposed, proposal.edits, (after, Some(gated), gated.keep), proposal.why);
        if gated.keep {
            self.head_version = self.changes.len() - 1;
            self.offer(&right);
        }
        Ok(())
    }

    /// Makes the head the best version where it is more right, or as right and smaller.
    pub(crate) fn offer(&mut self, right: &[f64]) {
        let (now, best) = (mean(right).unwrap_or_default(), mean(&self.best_right).unwrap_or_default());
        if now > best + 1e-12 || ((now - best).abs() <= 1e-12 && self.head.len() < self.best.len()) {
            self.best = self.head.clone();
            self.best_right = right.to_vec();
            self.best_version = self.changes.len() - 1;
        }
    }

    pub(crate) fn record(
        &mut self,
        phase: Phase,
        edits: Vec<Edit>,
        (after, gated, kept): (f64, Option<Gated>, bool),
        why: String,
    ) {
        let change = Change {
            version: self.changes.len(),
            parent: self.head_version,
            phase,
            edits,
            before: mean(&self.best_right),
            after: Some(after),
            gated,
            kept,
            calls: self.subject.calls(),
            why,
        };
        (self.watch)(&change, &self.head);
        self.changes.push(change);
        if kept {
            self.head_version = self.changes.len() - 1;
        }
    }
}
