//! Writing cues: a policy names words of a text, one after the other, until it ends or may name no more.

use crate::chooser::{Choice, Chooser};
use crate::worlds::records::{KINDS, Text};
use merit_core::Stream;

/// Word kind by asked kind; then whether a word is free or taken, and an end after so many cues: the features of one side.
const PAIRS: usize = (KINDS + 1) * KINDS;
const SIDE: usize = PAIRS + 2 + KINDS + 1;
/// Features of both sides.
pub const FEATURES: usize = 2 * SIDE;

/// Cues in the order they were named, and the decisions that named them.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub cues: Vec<usize>,
    pub path: Vec<Choice>,
    /// It ended by itself.
    pub ended: bool,
}

impl Trace {
    /// What the policy writes for a text, at most `most` cues.
    pub fn write(policy: &Chooser, text: &Text, most: usize, greedy: bool, stream: &mut Stream) -> Self {
        let mut trace = Self { cues: Vec::new(), path: Vec::new(), ended: false };
        while trace.cues.len() < most && !trace.ended {
            let choice = policy.choose(candidates(text, &trace.cues), greedy, stream);
            trace.ended = choice.chosen == text.rows.len();
            if !trace.ended {
                trace.cues.push(choice.chosen);
            }
            trace.path.push(choice);
        }
        trace
    }

    /// The trace that names these cues and ends.
    pub fn of(text: &Text, cues: Vec<usize>) -> Self {
        let named = cues.iter().copied().chain([text.rows.len()]).enumerate();
        let choice = |(at, chosen)| Choice { candidates: candidates(text, &cues[..at]), chosen };
        Self { path: named.map(choice).collect(), cues, ended: true }
    }

    /// One cue or more, none twice, and an end.
    pub fn formed(&self) -> bool {
        let twice = |(at, cue): (usize, &usize)| self.cues[..at].contains(cue);
        self.ended && !self.cues.is_empty() && !self.cues.iter().enumerate().any(twice)
    }
}

/// The candidates after `cues`: every word of the text, then the end.
fn candidates(text: &Text, cues: &[usize]) -> Vec<Vec<usize>> {
    let side = usize::from(text.query) * SIDE;
    let word = |at: usize| {
        let pair = |asked: usize| side + text.kind(at) * KINDS + asked;
        let taken = usize::from(cues.contains(&at));
        vec![pair(text.asked[0]), pair(text.asked[1]), side + PAIRS + taken]
    };
    let end = vec![side + PAIRS + 2 + cues.len().min(KINDS)];
    (0..text.rows.len()).map(word).chain([end]).collect()
}

/// How many asked attributes two traces name alike: what an exact judge goes by.
pub fn agreements(a: (&Text, &Trace), b: (&Text, &Trace)) -> usize {
    let both = |kind: usize| a.1.cues.contains(&kind) && b.1.cues.contains(&kind);
    a.0.asked.iter().filter(|kind| both(**kind) && a.0.values[**kind] == b.0.values[**kind]).count()
}
