//! ReAgent-V's meta rule: three revisions of an answer, each with a confidence, become one.

use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sure the conservative, the neutral and the aggressive reviser must be for their answers to be merged.
const SURE: [f64; 3] = [0.6, 0.7, 0.8];
/// The chance that each is right where the first answer is right, took something for something else, or was reasoned wrongly.
const RIGHT: [[f64; 3]; 3] = [[0.95, 0.3, 0.1], [0.8, 0.8, 0.2], [0.6, 0.6, 0.7]];
/// How often the first answer is of each kind.
const KINDS: [f64; 3] = [0.5, 0.25, 0.25];
const OPTIONS: u64 = 4;

/// What a reviser says, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Revision {
    pub answer: u64,
    pub confidence: f64,
}

/// One answer of three revisions, conservative first. Where all three are as sure as they must be, what two of them share; otherwise the
/// most confident one, the more conservative of equal ones. A revision that cannot be read is absent, and no confidence of 0. Absent where
/// none can be read: the first answer stands.
pub fn merged(revisions: [Option<Revision>; 3]) -> Option<u64> {
    if let [Some(a), Some(b), Some(c)] = revisions
        && [a, b, c].iter().zip(SURE).all(|(revision, sure)| revision.confidence >= sure)
    {
        let shared = [(a, b), (a, c), (b, c)].into_iter().find(|(x, y)| x.answer == y.answer);
        if let Some((revision, _)) = shared {
            return Some(revision.answer);
        }
    }
    let surest = revisions
        .into_iter()
        .flatten()
        .reduce(|best, next| if next.confidence > best.confidence { next } else { best });
    surest.map(|revision| revision.answer)
}

/// Where confidences come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The chance that the answer is right.
    Calibrated,
    /// That of another question.
    Another,
}

/// A panel of three revisers who differ in how much they change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReagentPanel {
    /// Where confidences come from.
    pub confidence: Confidence,
    /// Number of questions.
    pub questions: usize,
    /// How far the chance of being right varies among questions of a kind.
    pub spread: f64,
    /// The share of revisions that cannot be read.
    pub unreadable: f64,
}

impl Default for ReagentPanel {
    fn default() -> Self {
        Self { confidence: Confidence::Calibrated, questions: 4000, spread: 0.2, unreadable: 0.02 }
    }
}

impl Component for ReagentPanel {
    const ABOUT: About = About {
        name: "reagent-panel",
        summary: "Three revisions of an answer with confidences, merged by thresholds or by the surest.",
        paper: "ReAgent-V: A Reward-Driven Multi-Agent Framework for Video Understanding (2025), arXiv:2506.01300",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.questions > 0, "questions", self.questions, "at least 1")?;
        let spread = self.spread;
        Refusal::unless(spread.is_finite() && spread >= 0.0, "spread", spread, "at least 0")?;
        let share = self.unreadable;
        Refusal::unless((0.0..=1.0).contains(&share), "unreadable", share, "0 to 1")
    }
}

impl Study for ReagentPanel {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut stream = seed.child("questions", 0).stream();
        let panels: Vec<Panel> = (0..self.questions).map(|_| self.draw(&mut stream)).collect();
        let many = panels.len();
        let (mut right, mut alone) = (0, [0; 3]);
        for (at, panel) in panels.iter().enumerate() {
            let mut revisions = panel.revisions;
            if self.confidence == Confidence::Another {
                let other = &panels[(at + 1) % many].chances;
                for (revision, chance) in revisions.iter_mut().zip(other) {
                    revision.iter_mut().for_each(|revision| revision.confidence = *chance);
                }
            }
            // The right answer is 0. An unreadable revision alone leaves the first answer.
            right += usize::from(merged(revisions).unwrap_or(panel.first) == 0);
            for (who, revision) in panel.revisions.iter().enumerate() {
                alone[who] += usize::from(revision.map_or(panel.first, |revision| revision.answer) == 0);
            }
        }
        desk.spend("questions", many as f64);
        let share = |count: usize| count as f64 / many as f64;
        let best = alone.into_iter().map(share).fold(0.0, f64::max);
        ["conservative", "neutral", "aggressive"]
            .iter()
            .zip(alone)
            .for_each(|(name, count)| desk.measure(&format!("accuracy/{name}"), share(count)));
        desk.measure("accuracy", share(right));
        desk.measure("gain", share(right) - best);
        desk.point("accuracy", share(right));
        Ok(())
    }
}

/// One question: the first answer, what three revisers say, and the chance that each is right.
struct Panel {
    first: u64,
    revisions: [Option<Revision>; 3],
    chances: [f64; 3],
}

impl ReagentPanel {
    fn draw(&self, stream: &mut Stream) -> Panel {
        let kind = crate::tabular::draw(&KINDS, stream);
        let wrong = |stream: &mut Stream| 1 + stream.below(OPTIONS - 1);
        let first = if kind == 0 { 0 } else { wrong(stream) };
        let chances = RIGHT.map(|right| (right[kind] + self.spread * stream.normal()).clamp(0.02, 0.98));
        let revisions = chances.map(|confidence| {
            let answer = if stream.chance(confidence) { 0 } else { wrong(stream) };
            (!stream.chance(self.unreadable)).then_some(Revision { answer, confidence })
        });
        Panel { first, revisions, chances }
    }
}
