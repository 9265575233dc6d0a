//! Questions of facts and sums, and a target that learned from biased texts: it prefers long answers, confuses two relations, and
//! believes what is said more often than the truth.
//!
//! A fact is a relation of an entity; the answers are the entity's four values, one for each relation. A sum has four answers, the first
//! of which is right. Every answer comes in three lengths. Nothing here judges.

use crate::chooser::{Choice, Chooser};
use merit_core::Stream;

const ENTITIES: usize = 15;
/// Values that an answer may name, and lengths it may have.
pub const VALUES: usize = 4;
pub const LENGTHS: usize = 3;
pub const ANSWERS: usize = VALUES * LENGTHS;
const LOOKUPS: usize = ENTITIES * VALUES;
const SUMS: usize = 60;
/// Everything that can be asked.
pub const QUESTIONS: usize = LOOKUPS + SUMS;
/// Features: what is known of every question; the value of the other of the first two relations, where one of these is asked; lengths.
const TWIN: usize = VALUES * QUESTIONS;
const LENGTH: usize = TWIN + 2;
const FEATURES: usize = LENGTH + 2 * LENGTHS;
/// Tokens of an answer of each length.
const TOKENS: [f64; LENGTHS] = [2.0, 5.0, 9.0];
/// How often the texts have each length.
const LONG: [f64; LENGTHS] = [0.15, 0.3, 0.55];
/// How often the texts name what most of them name. That is the value of the other of the first two relations where one of these is asked;
/// otherwise it is a wrong one in three of ten questions, and in the rest the right one.
const COMMON: f64 = 0.6;
const MYTHS: f64 = 0.3;

/// A question by its number: facts first, then sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question(pub usize);

/// A value and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub value: usize,
    pub length: usize,
}

impl Answer {
    pub fn of(number: usize) -> Self {
        Self { value: number / LENGTHS, length: number % LENGTHS }
    }
}

impl Question {
    /// A fact or a sum, as often.
    pub fn draw(stream: &mut Stream) -> Self {
        let (fact, sum) = (stream.below(LOOKUPS as u64), stream.below(SUMS as u64));
        Self(if stream.chance(0.5) { fact as usize } else { LOOKUPS + sum as usize })
    }

    pub fn is_sum(&self) -> bool {
        self.0 >= LOOKUPS
    }

    /// The value that is right.
    pub fn right(&self) -> usize {
        if self.is_sum() { 0 } else { self.0 % VALUES }
    }

    /// Every answer by its features. Only the confusion of two relations and the length are shared between questions.
    pub fn answers(&self) -> Vec<Vec<usize>> {
        let lengths = LENGTH + LENGTHS * usize::from(self.is_sum());
        let of = |number: usize| {
            let Answer { value, length } = Answer::of(number);
            let twin = (!self.is_sum() && self.right() + value == 1).then_some(TWIN + value);
            [VALUES * self.0 + value, lengths + length].into_iter().chain(twin).collect()
        };
        (0..ANSWERS).map(of).collect()
    }
}

/// What most texts say of every question.
#[derive(Debug, Clone, PartialEq)]
pub struct Texts {
    common: Vec<usize>,
}

impl Texts {
    pub fn draw(stream: &mut Stream) -> Self {
        let common = |number: usize| {
            let question = Question(number);
            let (right, myth) = (question.right(), stream.chance(MYTHS));
            let other = other_than(right, stream);
            match (question.is_sum(), right) {
                (false, 0 | 1) => 1 - right,
                _ => {
                    if myth {
                        other
                    } else {
                        right
                    }
                }
            }
        };
        Self { common: (0..QUESTIONS).map(common).collect() }
    }

    /// A wrong value: what most texts say where that is wrong, otherwise any.
    pub fn wrong(&self, question: Question, stream: &mut Stream) -> usize {
        let (right, common) = (question.right(), self.common[question.0]);
        let other = other_than(right, stream);
        if common == right { other } else { common }
    }

    /// One text: the common value mostly, otherwise any other.
    fn say(&self, question: Question, stream: &mut Stream) -> usize {
        let common = self.common[question.0];
        let other = other_than(common, stream);
        let value = if stream.chance(COMMON) { common } else { other };
        value * LENGTHS + crate::tabular::draw(&LONG, stream)
    }
}

fn other_than(value: usize, stream: &mut Stream) -> usize {
    (value + 1 + stream.below(VALUES as u64 - 1) as usize) % VALUES
}

/// A target that imitates so many texts.
pub fn target(texts: &Texts, many: usize, stream: &mut Stream) -> Chooser {
    let mut target = Chooser::new(FEATURES);
    let steps = many / 16;
    for step in 0..steps {
        let shown: Vec<Vec<Choice>> = (0..16)
            .map(|_| {
                let question = Question::draw(stream);
                vec![Choice { candidates: question.answers(), chosen: texts.say(question, stream) }]
            })
            .collect();
        let paths: Vec<(&[Choice], f64)> = shown.iter().map(|path| (path.as_slice(), 1.0)).collect();
        // The step falls to 0, so that what is shared does not end where the last texts pushed it.
        target.climb(&paths, None, 1.0 - step as f64 / steps as f64);
    }
    target
}

/// The share of questions whose likeliest value is right, and the expected length in tokens; facts and sums count alike.
pub fn measured(target: &Chooser) -> [f64; 2] {
    let mut found = [0.0; 2];
    for number in 0..QUESTIONS {
        let question = Question(number);
        let weight = 0.5 / if question.is_sum() { SUMS } else { LOOKUPS } as f64;
        let mut values = [0.0; VALUES];
        for (answer, chance) in target.chances(&question.answers()).into_iter().enumerate() {
            let Answer { value, length } = Answer::of(answer);
            values[value] += chance;
            found[1] += weight * chance * TOKENS[length];
        }
        let likeliest =
            (0..VALUES).all(|value| value == question.right() || values[value] < values[question.right()]);
        found[0] += weight * f64::from(u8::from(likeliest));
    }
    found
}
