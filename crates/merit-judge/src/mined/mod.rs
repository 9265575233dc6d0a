//! The proposer that needs no model: ideas from the data, chosen by what they explain of the pairs that are still wrong.
//!
//! Every idea is computed once for every candidate. A library of checks is then judged by weighted sums alone, which is the same
//! arithmetic as the reward file that comes out of it.

mod ideas;

pub use ideas::{Idea, ideas};

use crate::checks::scorer_of;
use crate::{CheckError, Choice, Label, Pair, rightness};
use merit_core::registry::Components;
use merit_core::{Episode, Reward};
use merit_evolve::{Edit, Entry, Library, Part, Proposal, Proposer, Subject};
use merit_reward::{RewardState, ScoreContext};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Ideas that are proposed in one round.
const PER_ROUND: usize = 4;
/// The ridge of the weights, in pairs.
const RIDGE: f64 = 2.0;
/// The largest weight.
const LARGEST: f64 = 4.0;
/// An idea whose statistic is nearer to 0 is not proposed.
const LEAST_Z: f64 = 1.0;

/// What every idea says of every candidate of some pairs.
#[derive(Clone)]
pub struct Measured {
    ideas: BTreeMap<String, (Entry, Vec<Said>)>,
    train: Vec<Label>,
    validation: Vec<Label>,
}

/// What one idea says of one pair: of `a` and of `b`. Absent: it does not apply.
type Said = [Option<f64>; 2];

impl Measured {
    /// Computes every idea on every candidate. One that breaks on any of them, or says the same of all, is left out and named with
    /// the reason.
    pub fn new(
        ideas: Vec<Idea>,
        train: &[Pair],
        validation: &[Pair],
        components: &Components,
    ) -> (Self, Vec<(String, CheckError)>) {
        let shown = |pair: &Pair| [Arc::clone(&pair.a), Arc::clone(&pair.b)];
        let episodes: Vec<Arc<Episode>> = train.iter().chain(validation).flat_map(shown).collect();
        let (mut kept, mut left_out) = (BTreeMap::new(), Vec::new());
        for (id, entry) in ideas {
            match measure(&id, &entry, &episodes, components) {
                Ok(Some(said)) => drop(kept.insert(id, (entry, said))),
                Ok(None) => {}
                Err(error) => left_out.push((id, error)),
            }
        }
        let labels = |pairs: &[Pair]| pairs.iter().map(|pair| pair.label).collect();
        (Self { ideas: kept, train: labels(train), validation: labels(validation) }, left_out)
    }

    /// How many ideas there are to choose from.
    pub fn len(&self) -> usize {
        self.ideas.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ideas.is_empty()
    }

    fn labels(&self, part: Part) -> (&[Label], usize) {
        match part {
            Part::Train => (&self.train, 0),
            Part::Validation => (&self.validation, self.train.len()),
        }
    }

    /// The sum of a library for both candidates of pair `at`. Absent: no check applies.
    fn sum(&self, library: &Library, at: usize, side: usize) -> Option<f64> {
        let parts = library.entries().filter_map(|(id, entry)| {
            let (_, said) = self.ideas.get(id)?;
            Some(entry.weight * said[at][side]?)
        });
        parts.fold(None, |sum: Option<f64>, part| Some(sum.unwrap_or(0.0) + part))
    }

    fn choice(&self, library: &Library, at: usize) -> Option<Choice> {
        if library.is_empty() {
            return Some(Choice::Tie);
        }
        let difference = self.sum(library, at, 0)? - self.sum(library, at, 1)?;
        Some(match difference {
            equal if equal.abs() <= 1e-12 => Choice::Tie,
            more if more > 0.0 => Choice::First,
            _ => Choice::Second,
        })
    }

    /// What an idea says for the better one less what it says for the worse one, for each training pair; 0 for ties and where it does
    /// not apply.
    fn oriented(&self, said: &[Said]) -> Vec<f64> {
        let sign = |label: &Label| match label {
            Label::A => 1.0,
            Label::B => -1.0,
            Label::Tie => 0.0,
        };
        self.train
            .iter()
            .zip(said)
            .map(|(label, said)| {
                let difference = said[0].zip(said[1]).map_or(0.0, |(a, b)| a - b);
                sign(label) * difference
            })
            .collect()
    }
}

fn measure(
    id: &str,
    entry: &Entry,
    episodes: &[Arc<Episode>],
    components: &Components,
) -> Result<Option<Vec<Said>>, CheckError> {
    let scorer = scorer_of(id, entry, components)?;
    let batch = scorer.score_batch(episodes, &ScoreContext::default(), &RewardState::default());
    let mut values = Vec::with_capacity(episodes.len());
    for scored in &batch.episodes {
        let broke = scored.score.as_ref().and_then(|score| match &score.reward {
            Reward::GraderFailed { why } => Some(why.clone()),
            _ => None,
        });
        if let Some(why) = broke {
            return Err(CheckError::Check { id: id.to_owned(), why });
        }
        values.push(scored.reward());
    }
    let different = values.windows(2).any(|two| two[0] != two[1]);
    Ok(different.then(|| values.as_chunks().0.iter().map(|[a, b]| [*a, *b]).collect()))
}

impl Subject for Measured {
    fn rightness(&mut self, library: &Library, part: Part) -> Result<Vec<f64>, String> {
        let (labels, from) = self.labels(part);
        let right = |(at, label): (usize, &Label)| rightness(self.choice(library, from + at), *label);
        Ok(labels.iter().enumerate().map(right).collect())
    }

    fn calls(&self) -> u64 {
        0
    }
}

/// Proposes ideas by a logistic model of the training pairs: the statistic of an idea is the correlation of what it says with what
/// the library has not explained yet.
pub struct Mined<'a> {
    measured: &'a Measured,
    tried: BTreeSet<String>,
}

impl<'a> Mined<'a> {
    /// Chooses among what was measured.
    pub fn new(measured: &'a Measured) -> Self {
        Self { measured, tried: BTreeSet::new() }
    }

    /// How far each training pair is on the right side.
    fn margins(&self, library: &Library) -> Vec<f64> {
        let mut margins = vec![0.0; self.measured.train.len()];
        for (id, entry) in library.entries() {
            let Some((_, said)) = self.measured.ideas.get(id) else { continue };
            let oriented = self.measured.oriented(said);
            margins.iter_mut().zip(oriented).for_each(|(margin, said)| *margin += entry.weight * said);
        }
        margins
    }

    /// The statistic of an idea, and the weight that one Newton step gives it.
    fn newton(oriented: &[f64], margins: &[f64]) -> (f64, f64) {
        let (mut gradient, mut curvature, mut squares) = (0.0, 0.0, 0.0);
        for (said, margin) in oriented.iter().zip(margins) {
            let wrong = 1.0 / (1.0 + margin.exp());
            gradient += wrong * said;
            squares += (wrong * said).powi(2);
            curvature += wrong * (1.0 - wrong) * said * said;
        }
        let z = if squares > 0.0 { gradient / squares.sqrt() } else { 0.0 };
        (z, (gradient / (curvature + RIDGE)).clamp(-LARGEST, LARGEST))
    }

    /// The weights of the whole library fitted together, by a few passes of Newton steps one after another.
    fn refitted(&self, library: &Library) -> Option<Proposal> {
        let known: Vec<(String, Entry, Vec<f64>)> = library
            .entries()
            .filter_map(|(id, entry)| {
                let (_, said) = self.measured.ideas.get(id)?;
                Some((id.to_owned(), entry.clone(), self.measured.oriented(said)))
            })
            .collect();
        let mut weights: Vec<f64> = known.iter().map(|(_, entry, _)| entry.weight).collect();
        let mut margins = self.margins(library);
        for _ in 0..20 {
            for ((_, _, said), weight) in known.iter().zip(&mut weights) {
                let (mut gradient, mut curvature) = (-RIDGE / 4.0 * *weight, RIDGE / 4.0);
                for (said, margin) in said.iter().zip(&margins) {
                    let wrong = 1.0 / (1.0 + margin.exp());
                    gradient += wrong * said;
                    curvature += wrong * (1.0 - wrong) * said * said;
                }
                let next = (*weight + gradient / curvature).clamp(-LARGEST, LARGEST);
                let step = next - *weight;
                margins.iter_mut().zip(said).for_each(|(margin, said)| *margin += step * said);
                *weight = next;
            }
        }
        let edits: Vec<Edit> = known
            .into_iter()
            .zip(weights)
            .filter(|((_, entry, _), weight)| (entry.weight - weight).abs() > 1e-3 && *weight != 0.0)
            .map(|((id, entry, _), weight)| Edit::Update {
                id,
                entry: Entry { weight: rounded(weight), ..entry },
            })
            .collect();
        let why = "all weights fitted together".to_owned();
        (!edits.is_empty()).then_some(Proposal { edits, why })
    }
}

/// Four digits are enough, and a person can read them.
fn rounded(weight: f64) -> f64 {
    (weight * 1e4).round() / 1e4
}

impl Proposer for Mined<'_> {
    fn propose(&mut self, library: &Library, _: &[f64], round: usize) -> Result<Vec<Proposal>, String> {
        let margins = self.margins(library);
        let new = self
            .measured
            .ideas
            .iter()
            .filter(|(id, _)| library.get(id.as_str()).is_none() && !self.tried.contains(id.as_str()));
        let mut found: Vec<(f64, f64, &String, &Entry)> = new
            .map(|(id, (entry, said))| {
                let (z, weight) = Self::newton(&self.measured.oriented(said), &margins);
                (z, weight, id, entry)
            })
            .filter(|(z, weight, ..)| z.abs() >= LEAST_Z && rounded(*weight) != 0.0)
            .collect();
        found.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.2.cmp(b.2)));
        found.truncate(PER_ROUND);
        let mut proposals: Vec<Proposal> = Vec::new();
        for (z, weight, id, entry) in found {
            self.tried.insert(id.clone());
            let entry = Entry { weight: rounded(weight), ..entry.clone() };
            let why = format!("{}: z = {z:.2} on the training pairs", entry.title);
            let edits = vec![Edit::Add { id: id.clone(), entry }];
            proposals.push(Proposal { edits, why });
        }
        if round > 0 && !proposals.is_empty() {
            proposals.extend(self.refitted(library));
        }
        Ok(proposals)
    }
}
