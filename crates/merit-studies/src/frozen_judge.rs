//! A frozen judge of edits that uses only the predicates its library names, leans to what is shown first, and is unsure; and an
//! analyst that reads its right and wrong verdicts and proposes entries.

use crate::worlds::edits::{PREDICATES, Work, some_faults};
use merit_core::{Seed, Stream};
use merit_evolve::{Edit, Entry, Kind, Library, Part, Proposal, Proposer, Subject};

/// How far one unit of evidence moves the judge.
const SHARPNESS: f64 = 4.0;
/// ln(60 / 40): what it leans to the first by.
const LEAN: f64 = 0.405_465_108_108_164_4;
/// Predicates that are tools: they have to be called, and some of them often answer nonsense.
const TOOLS: [usize; 8] = [3, 6, 7, 9, 11, 15, 17, 24];
/// The share of readable answers of each tool.
const READABLE: [f64; 8] = [0.95, 0.9, 0.5, 0.95, 0.9, 0.6, 0.95, 0.9];
/// A tool must answer so many of its probes.
const PROBES: usize = 20;
/// The share of them that must be readable.
const READABLE_AT_LEAST: f64 = 0.8;

/// A pair as the judge sees it: predicates of both candidates.
#[derive(Debug, Clone)]
pub struct Shown {
    pub a: [f64; PREDICATES],
    pub b: [f64; PREDICATES],
    /// Whether the first is better, by its label.
    pub first: bool,
    /// Names the judge's own dice.
    pub dice: u64,
}

impl Shown {
    /// A pair with a label that is wrong by chance. The two are never worth the same.
    pub fn draw(noise: f64, stream: &mut Stream) -> Self {
        loop {
            let work = Work::draw(stream);
            let (faults_a, faults_b) = (some_faults(stream), some_faults(stream));
            let (a, b) = (work.edited(faults_a, stream), work.edited(faults_b, stream));
            let difference = work.worth(&a) - work.worth(&b);
            if difference.abs() > 0.02 {
                let first = (difference > 0.0) != stream.chance(noise);
                return Self { a: work.predicates(&a), b: work.predicates(&b), first, dice: stream.bits() };
            }
        }
    }

    /// The same in the other order.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self { a: self.b, b: self.a, first: !self.first, dice: self.dice ^ 0x9e37_79b9_7f4a_7c15 }
    }
}

fn predicate(entry: &Entry) -> Option<usize> {
    entry.body.as_u64().map(|place| place as usize).filter(|place| *place < PREDICATES)
}

/// What the entries of a library say for a candidate.
pub fn evidence(library: &Library, values: &[f64; PREDICATES]) -> f64 {
    library.entries().filter_map(|(_, entry)| Some(entry.weight * values[predicate(entry)?])).sum()
}

/// Whether the judge prefers the first. A tool that answers nonsense on this pair says nothing.
pub fn prefers_first(library: &Library, shown: &Shown) -> bool {
    let mut dice = Seed::root(shown.dice).child("judge", 0).stream();
    let said = |place: usize| {
        TOOLS.iter().position(|tool| *tool == place).is_none_or(|tool| {
            Seed::root(shown.dice).child("tool", place as u64).stream().chance(READABLE[tool])
        })
    };
    let sum: f64 = library
        .entries()
        .filter_map(|(_, entry)| {
            let place = predicate(entry)?;
            said(place).then(|| entry.weight * (shown.a[place] - shown.b[place]))
        })
        .sum();
    dice.chance(1.0 / (1.0 + (-(SHARPNESS * sum + LEAN)).exp()))
}

/// The judge with its pairs.
pub struct FrozenJudge {
    pub train: Vec<Shown>,
    pub validation: Vec<Shown>,
    pub calls: u64,
}

impl Subject for FrozenJudge {
    fn rightness(&mut self, library: &Library, part: Part) -> Result<Vec<f64>, String> {
        let pairs = match part {
            Part::Train => &self.train,
            Part::Validation => &self.validation,
        };
        self.calls += pairs.len() as u64;
        let right = |shown: &Shown| f64::from(u8::from(prefers_first(library, shown) == shown.first));
        Ok(pairs.iter().map(right).collect())
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

/// Reads verdicts and proposes: what is higher for the better one where the judge is wrong.
pub struct Analyst<'a> {
    pub train: &'a [Shown],
    /// The share of its proposals that come from what it read; the others are drawn.
    pub quality: f64,
    pub seed: Seed,
    /// Proposals of a kind in a round.
    pub each: usize,
}

impl Analyst<'_> {
    /// The mean difference between better and worse over the verdicts that were wrong, counted fully, and those that were right, counted
    /// a quarter, by predicate.
    pub fn contrast(&self, right: &[f64]) -> [f64; PREDICATES] {
        let mut sums = [0.0; PREDICATES];
        let mut all = 0.0;
        for (shown, right) in self.train.iter().zip(right) {
            let weight = if *right > 0.5 { 0.25 } else { 1.0 };
            let sign = if shown.first { weight } else { -weight };
            all += weight;
            sums.iter_mut().enumerate().for_each(|(at, sum)| *sum += sign * (shown.a[at] - shown.b[at]));
        }
        sums.map(|sum| if all > 0.0 { sum / all } else { 0.0 })
    }

    fn edits(
        &self,
        library: &Library,
        contrast: &[f64; PREDICATES],
        tools: bool,
        stream: &mut Stream,
    ) -> Vec<Edit> {
        let name = |place: usize| format!("predicate-{place:02}");
        let of_kind = |place: &usize| TOOLS.contains(place) == tools && library.get(&name(*place)).is_none();
        let mut open: Vec<usize> = (0..PREDICATES).filter(of_kind).collect();
        open.sort_by(|a, b| contrast[*b].abs().total_cmp(&contrast[*a].abs()));
        let mut edits = Vec::new();
        for _ in 0..self.each.min(open.len()) {
            let read = stream.chance(self.quality);
            let at = if read { 0 } else { stream.below(open.len() as u64) as usize };
            let place = open.remove(at);
            let up = if read { contrast[place] >= 0.0 } else { stream.chance(0.5) };
            if tools && !self.probed(place) {
                continue;
            }
            let entry = Entry {
                // What a tool says is computed, if it answers.
                kind: if tools { Kind::Check } else { Kind::Skill },
                title: name(place),
                when: Vec::new(),
                body: place.into(),
                weight: if up { 1.0 } else { -1.0 },
                made_by: "analyst".to_owned(),
            };
            edits.push(Edit::Add { id: name(place), entry });
        }
        // What speaks against the labels is turned round or goes.
        for (id, entry) in library.entries() {
            let Some(place) = predicate(entry).filter(|place| TOOLS.contains(place) == tools) else {
                continue;
            };
            if entry.weight * contrast[place] < -0.05 && stream.chance(self.quality) {
                edits.push(Edit::Delete { id: id.to_owned() });
            }
        }
        edits
    }

    /// Whether a tool answers enough of its probes.
    fn probed(&self, place: usize) -> bool {
        let Some(tool) = TOOLS.iter().position(|tool| *tool == place) else { return true };
        let mut stream = self.seed.child("probes", place as u64).stream();
        let answered = (0..PROBES).filter(|_| stream.chance(READABLE[tool])).count();
        answered as f64 >= READABLE_AT_LEAST * PROBES as f64
    }
}

impl Proposer for Analyst<'_> {
    fn propose(&mut self, library: &Library, right: &[f64], round: usize) -> Result<Vec<Proposal>, String> {
        let contrast = self.contrast(right);
        let mut stream = self.seed.child("round", round as u64).stream();
        let mut proposals = Vec::new();
        for tools in [false, true] {
            let edits = self.edits(library, &contrast, tools, &mut stream);
            if !edits.is_empty() {
                proposals.push(Proposal { edits, why: format!("round {round}") });
            }
        }
        Ok(proposals)
    }
}
