//! Agents who solve, criticise and score in one policy each, and how they are schooled before they learn from one another.
//!
//! A solution is a pick and a tone; a critique names an error or none; a score is 1, 2, 3 or unreadable. Every decision is a choice by
//! features, so that an agent is one vector of weights for its three roles. Nothing here pays.

use crate::chooser::{Choice, Chooser};
use crate::worlds::triples::{KINDS, Miss, PICKS, Question, read};
use merit_core::Stream;

const CLOSENESS: usize = 6;
const TONES: usize = KINDS * CLOSENESS;
const CRITIC: usize = TONES + 2;
const SCORER: usize = CRITIC + KINDS * 9;
const SCORES: usize = 4;
/// What a score is told by: the own reading, what became of the critique, the tone.
const CHECKS: usize = 3;
const TONE_OF: usize = CHECKS + 4;
const FEATURES: usize = SCORER + (TONE_OF + 2) * SCORES;

/// How often a schooled text is in a sure tone, where it is right and where it is not: the shortcut that scorers may learn.
const SURE: [f64; 2] = [0.8, 0.3];
/// How often a schooled score cannot be read.
const GARBLED: f64 = 0.05;
/// The share of lessons that show a right pick: checking is learned before solving.
const SOLVED: f64 = 0.15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solution {
    pub pick: usize,
    pub sure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Critique {
    TooLarge,
    TooSmall,
    NoError,
}

const CRITIQUES: [Critique; 3] = [Critique::TooLarge, Critique::TooSmall, Critique::NoError];

impl Critique {
    /// What is to be said of a pick that is so far above its target.
    pub fn due(off: i64) -> Self {
        CRITIQUES[match off.signum() {
            1 => 0,
            -1 => 1,
            _ => 2,
        }]
    }
}

/// One agent: a policy for three roles, and how well it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub policy: Chooser,
    pub quality: f64,
}

impl Agent {
    pub fn solve(&self, question: &Question, stream: &mut Stream) -> (Solution, Vec<Choice>) {
        let pick = self.policy.choose(picks(question), false, stream);
        let tone = self.policy.choose(tones(), false, stream);
        (Solution { pick: pick.chosen, sure: tone.chosen == 1 }, vec![pick, tone])
    }

    /// The chance that a solution is right.
    pub fn accuracy(&self, question: &Question) -> f64 {
        let chances = self.policy.chances(&picks(question));
        chances.iter().enumerate().filter(|(pick, _)| question.off(*pick) == 0).map(|(_, p)| p).sum()
    }

    pub fn criticise(&self, question: &Question, off: i64, stream: &mut Stream) -> (Critique, Vec<Choice>) {
        let seen = read(off, self.quality, stream);
        let choice = self.policy.choose(critiques(question.kind(), seen), false, stream);
        (CRITIQUES[choice.chosen], vec![choice])
    }

    /// The score, absent where it cannot be read. A critique makes the scorer look a second time.
    pub fn score(
        &self,
        off: i64,
        sure: bool,
        critique: Option<Critique>,
        stream: &mut Stream,
    ) -> (Option<u8>, Vec<Choice>) {
        let told = scores(off, sure, critique, self.quality, stream);
        let choice = self.policy.choose(told, false, stream);
        (u8::try_from(choice.chosen).ok().map(|n| n + 1).filter(|t| *t <= 3), vec![choice])
    }

    /// An agent schooled on questions of some kinds: right picks, just critiques of them, true scores.
    pub fn schooled(kinds: &[usize], quality: f64, lessons: usize, stream: &mut Stream) -> Self {
        let mut policy = Chooser::new(FEATURES);
        for _ in 0..lessons {
            let shown: Vec<Vec<Choice>> =
                (0..8).flat_map(|_| lesson(kinds, quality, stream)).map(|c| vec![c]).collect();
            let paths: Vec<(&[Choice], f64)> = shown.iter().map(|path| (path.as_slice(), 1.0)).collect();
            policy.climb(&paths, None, 1.0);
        }
        Self { policy, quality }
    }
}

/// A question, now and then one of its right picks; right picks and misses alike with a critique or without, and a score of each.
fn lesson(kinds: &[usize], quality: f64, stream: &mut Stream) -> Vec<Choice> {
    let question = Question::draw_of(kinds, stream);
    let mut shown = Vec::new();
    let right = question.pick_of(Miss::Right, stream);
    if let Some(chosen) = right.filter(|_| stream.chance(SOLVED)) {
        shown.push(Choice { candidates: picks(&question), chosen });
    }
    let (off, sure, critique) = case(&question, quality, stream);
    let seen = read(off, quality, stream);
    let due = CRITIQUES.iter().position(|c| *c == Critique::due(off)).unwrap_or(2);
    shown.push(Choice { candidates: critiques(question.kind(), seen), chosen: due });
    let critique = Some(critique).filter(|_| stream.chance(0.5));
    let score = usize::from(Miss::of(off).score()) - 1;
    let chosen = if stream.chance(GARBLED) { 3 } else { score };
    shown.push(Choice { candidates: scores(off, sure, critique, quality, stream), chosen });
    shown
}

/// How far a pick is off, its tone, and a critique of it: right, near and far picks alike, critiques by a reading.
pub fn case(question: &Question, quality: f64, stream: &mut Stream) -> (i64, bool, Critique) {
    let miss = *stream.pick(&[Miss::Right, Miss::Near, Miss::Far]).unwrap_or(&Miss::Right);
    let any = stream.below(PICKS as u64) as usize;
    let off = question.off(question.pick_of(miss, stream).unwrap_or(any));
    let sure = stream.chance(SURE[usize::from(off != 0)]);
    (off, sure, Critique::due(read(off, quality, stream)))
}

fn closeness(off: i64) -> usize {
    match off.abs() {
        near @ 0..=2 => near as usize,
        3..=4 => 3,
        5..=8 => 4,
        _ => 5,
    }
}

fn picks(question: &Question) -> Vec<Vec<usize>> {
    let kind = question.kind() * CLOSENESS;
    (0..PICKS).map(|pick| vec![kind + closeness(question.off(pick))]).collect()
}

/// Features of the two tones: plain, then sure.
fn tones() -> Vec<Vec<usize>> {
    vec![vec![TONES], vec![TONES + 1]]
}

fn critiques(kind: usize, seen: i64) -> Vec<Vec<usize>> {
    let sign = (seen.signum() + 1) as usize;
    (0..3).map(|said| vec![CRITIC + kind * 9 + sign * 3 + said]).collect()
}

/// The four scores, by a reading, by whether a second one bears the critique out, and by the tone.
fn scores(
    off: i64,
    sure: bool,
    critique: Option<Critique>,
    quality: f64,
    stream: &mut Stream,
) -> Vec<Vec<usize>> {
    let seen = Miss::of(read(off, quality, stream)) as usize;
    let again = read(off, quality, stream);
    let check = match critique {
        None => 0,
        Some(Critique::NoError) => 1,
        Some(claim) => {
            if claim == Critique::due(again) {
                2
            } else {
                3
            }
        }
    };
    let told = [seen, CHECKS + check, TONE_OF + usize::from(sure)];
    (0..SCORES).map(|score| told.iter().map(|by| SCORER + by * SCORES + score).collect()).collect()
}
