//! A writer of hints: a softmax over what can be said, by what the last failed trial showed.

use crate::chooser::{Choice, Chooser};
use crate::worlds::keys::{Hint, KEYS, Trial};
use merit_core::Stream;

/// Everything that can be said.
const HINTS: usize = 2 * KEYS + 1;
/// Features of a verb: the key; the mark with the key; whether it is the key that was tried.
const OF_VERB: usize = KEYS + KEYS * KEYS + 2;
const NOTHING: usize = 2 * OF_VERB;

fn hint(at: usize) -> Hint {
    match at {
        key if key < KEYS => Hint::Use(key),
        key if key < 2 * KEYS => Hint::Avoid(key - KEYS),
        _ => Hint::Nothing,
    }
}

/// Every hint, by the features that it has after this trial.
fn candidates(trial: &Trial) -> Vec<Vec<usize>> {
    let of = |verb: usize, key: usize| {
        let (mark, tried) =
            (KEYS + trial.mark * KEYS + key, KEYS + KEYS * KEYS + usize::from(key == trial.tried));
        [key, mark, tried].iter().map(|feature| verb * OF_VERB + feature).collect::<Vec<_>>()
    };
    let features = |at: usize| match hint(at) {
        Hint::Use(key) => of(0, key),
        Hint::Avoid(key) => of(1, key),
        Hint::Nothing => vec![NOTHING],
    };
    (0..HINTS).map(features).collect()
}

/// A writer that says anything at all.
pub fn random_writer() -> Chooser {
    Chooser::new(NOTHING + 1)
}

/// A writer that was taught hints of good form: three of ten say to avoid the key that was tried, the others say anything.
pub fn taught_writer(stream: &mut Stream) -> Chooser {
    let mut writer = random_writer();
    for _ in 0..60 {
        let shown: Vec<Vec<Choice>> = (0..16)
            .map(|_| {
                let [tried, mark, any] = [KEYS, KEYS, HINTS].map(|n| stream.below(n as u64) as usize);
                let trial = Trial { tried, mark, opened: false, gain: 0.0 };
                let chosen = if stream.chance(0.3) { KEYS + tried } else { any };
                vec![Choice { candidates: candidates(&trial), chosen }]
            })
            .collect();
        let paths: Vec<(&[Choice], f64)> = shown.iter().map(|path| (path.as_slice(), 1.0)).collect();
        writer.climb(&paths, None, 0.3);
    }
    writer
}

/// What the writer says after a trial, and the decision.
pub fn reflect(writer: &Chooser, trial: &Trial, greedy: bool, stream: &mut Stream) -> (Hint, Choice) {
    let choice = writer.choose(candidates(trial), greedy, stream);
    (hint(choice.chosen), choice)
}
