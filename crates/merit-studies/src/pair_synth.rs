//! Preference pairs from a target and a judge: candidates by a prompt, scores with a note of tools, a gate.
//!
//! In: a target, a judge, prompts of both by number. Out: a pair with what speaks for it, and what the gate says. Nothing here learns but
//! the judge's weights, once, from labels.

use crate::chooser::{Choice, Chooser};
use crate::critic::best_and_worst;
use crate::tabular::draw;
use crate::worlds::biased_answers::{Answer, QUESTIONS, Question, Texts};
use merit_core::Stream;

/// Prompts of each role.
pub const PROMPTS: usize = 6;
/// The prompts that a run begins with, and keeps without feedback: as asked; any tool.
pub const FIRST: [usize; 2] = [0, 3];
/// A tool answers so often; otherwise there is no note.
const ANSWERED: f64 = 0.97;

/// How often a vague, a fair and a good memory of a judge is right.
const RECALL: [f64; 3] = [0.55, 0.8, 0.97];

/// Candidates, and whether they come from a prompt that asks for good answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    pub answers: Vec<usize>,
    pub in_earnest: bool,
}

/// Samples of the target: as asked, carefully, differently, at random, briefly, and with one that is spoilt on purpose.
pub fn sample(
    target: &Chooser,
    question: Question,
    prompt: usize,
    many: usize,
    stream: &mut Stream,
) -> Candidates {
    let temperature = [1.0, 0.5, 1.5, 2.5, 1.0, 1.0][prompt % PROMPTS];
    let briefly = |answer: usize| if prompt == 4 { -(Answer::of(answer).length as f64) } else { 0.0 };
    let likely = target.chances(&question.answers());
    let weights: Vec<f64> =
        likely.iter().enumerate().map(|(at, p)| p.powf(1.0 / temperature) * briefly(at).exp()).collect();
    let mut answers: Vec<usize> = (0..many).map(|_| draw(&weights, stream)).collect();
    if let (5, Some(last), Some((_, worst))) = (prompt, answers.last_mut(), best_and_worst(&likely)) {
        *last = worst;
    }
    Candidates { answers, in_earnest: prompt != 5 }
}

/// A judge with a memory of its own, and weights on what it sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    /// What it remembers of every question, and how well.
    believed: Vec<(usize, usize)>,
    weights: Chooser,
}

/// Features: whether a memory of its strength bears an answer out; whether the note does, or there is none.
const NOTE: usize = 2 * RECALL.len();
const FEATURES: usize = NOTE + 3;

impl Judge {
    /// A judge that remembers every question vaguely, fairly or well; where it errs, it believes what most texts say. It learns from
    /// labelled answers of the target, with notes in half of them if it has tools.
    pub fn fitted(
        tools: bool,
        target: &Chooser,
        texts: &Texts,
        labelled: usize,
        stream: &mut Stream,
    ) -> Self {
        let remember = |number: usize| {
            let (question, wrong) = (Question(number), texts.wrong(Question(number), stream));
            let strength = stream.below(RECALL.len() as u64) as usize;
            (if stream.chance(RECALL[strength]) { question.right() } else { wrong }, strength)
        };
        let believed = (0..QUESTIONS).map(remember).collect();
        let mut judge = Self { believed, weights: Chooser::new(FEATURES) };
        let labels: Vec<Vec<Choice>> = (0..labelled)
            .map(|_| {
                let question = Question::draw(stream);
                let note = if tools && stream.chance(0.5) { consult(question, 4, stream) } else { None };
                let answer = sample(target, question, 3, 1, stream).answers[0];
                let wrong = Answer::of(answer).value != question.right();
                vec![Choice { candidates: judge.told(question, answer, note), chosen: usize::from(wrong) }]
            })
            .collect();
        for _ in 0..10 {
            for batch in labels.chunks(8) {
                let paths: Vec<(&[Choice], f64)> = batch.iter().map(|path| (path.as_slice(), 1.0)).collect();
                judge.weights.climb(&paths, None, 0.5);
            }
        }
        judge
    }

    /// An answer by its features, beside nothing: right or wrong.
    fn told(&self, question: Question, answer: usize, note: Option<usize>) -> Vec<Vec<usize>> {
        let Answer { value, .. } = Answer::of(answer);
        let noted = note.map_or(0, |note| if note == value { 1 } else { 2 });
        let (believed, strength) = self.believed[question.0];
        let believes = 2 * strength + usize::from(believed == value);
        vec![vec![believes, NOTE + noted], Vec::new()]
    }

    /// The chance that an answer is right.
    pub fn score(&self, question: Question, answer: usize, note: Option<usize>) -> f64 {
        self.weights.chances(&self.told(question, answer, note))[0]
    }
}

/// The note of the tools that a judge's prompt calls: none, the calculator, the look-up, either by lot, the one that is needed, and that one
/// by a prompt that also likes what is listed first. Absent where the tool does not fit the question or fails.
pub fn consult(question: Question, prompt: usize, stream: &mut Stream) -> Option<usize> {
    let calculator = match prompt {
        1 => true,
        2 => false,
        3 => stream.chance(0.5),
        4 | 5 => question.is_sum(),
        _ => return None,
    };
    (calculator == question.is_sum() && stream.chance(ANSWERED)).then(|| question.right())
}

/// A pair with what speaks for it, so that it can be looked into later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub question: Question,
    pub better: usize,
    pub worse: usize,
    pub note: Option<usize>,
}

impl Pair {
    /// Whether the better one is right and the worse one is not.
    pub fn is_just(&self) -> bool {
        let right = |answer: usize| Answer::of(answer).value == self.question.right();
        right(self.better) && !right(self.worse)
    }

    /// The two as decisions of the target, as it is asked in earnest.
    pub fn paths(&self) -> [Vec<Choice>; 2] {
        [self.better, self.worse].map(|chosen| vec![Choice { candidates: self.question.answers(), chosen }])
    }
}

/// The best and the worst by these scores; what is listed first is favoured by a judge's prompt 5.
pub fn ranked(
    question: Question,
    answers: &[usize],
    scores: &[f64],
    prompt: usize,
    note: Option<usize>,
) -> Option<Pair> {
    let favour = |at: usize| if prompt == 5 && at == 0 { 0.5 } else { 0.0 };
    let scores: Vec<f64> = scores.iter().enumerate().map(|(at, score)| score + favour(at)).collect();
    let (best, worst) = best_and_worst(&scores)?;
    Some(Pair { question, better: answers[best], worse: answers[worst], note })
}

/// What the gate makes of a pair, 0 to 1: the distance of the judge's two scores; 0 where a second judge does not agree, and where the
/// candidates were not asked for in earnest. It knows neither who wrote them nor which came first.
pub fn gate(judge: [f64; 2], second: [f64; 2], in_earnest: bool) -> f64 {
    let agrees = second[0] > second[1];
    if agrees && in_earnest { (judge[0] - judge[1]).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worlds::biased_answers::{LENGTHS, VALUES, target};
    use merit_core::Seed;

    #[test]
    fn the_gate_by_hand() {
        assert!((gate([0.9, 0.2], [0.6, 0.5], true) - 0.7).abs() < 1e-12);
        // A second judge that does not agree, or cannot tell, and a rejected answer made bad on purpose.
        assert_eq!(gate([0.9, 0.2], [0.5, 0.6], true), 0.0);
        assert_eq!(gate([0.9, 0.2], [0.5, 0.5], true), 0.0);
        assert_eq!(gate([0.9, 0.2], [0.6, 0.5], false), 0.0);
    }

    #[test]
    fn a_pair_does_not_depend_on_the_order_unless_the_prompt_likes_what_is_first() {
        let question = Question(2);
        let scores = [0.5, 0.8, 0.1];
        let pair = |answers: [usize; 3], scores: [f64; 3], prompt| {
            ranked(question, &answers, &scores, prompt, None).unwrap()
        };
        let (there, back) = (pair([6, 7, 0], scores, 4), pair([0, 7, 6], [0.1, 0.8, 0.5], 4));
        assert_eq!((there.better, there.worse), (7, 0));
        assert_eq!(there, back);
        assert_eq!(pair([6, 7, 0], scores, 5).better, 6);
    }

    #[test]
    fn a_spoilt_candidate_is_the_unlikeliest_and_is_marked() {
        let mut stream = Seed::root(101).stream();
        let texts = Texts::draw(&mut stream);
        let target = target(&texts, 4000, &mut stream);
        let question = Question(0);
        let likely = target.chances(&question.answers());
        let spoilt = sample(&target, question, 5, 4, &mut stream);
        let (_, worst) = best_and_worst(&likely).unwrap();
        assert_eq!((spoilt.answers[3], spoilt.in_earnest), (worst, false));
        assert!(sample(&target, question, 0, 4, &mut stream).in_earnest);
    }

    #[test]
    fn a_note_settles_what_a_memory_cannot() {
        let mut stream = Seed::root(101).stream();
        let texts = Texts::draw(&mut stream);
        let target = target(&texts, 4000, &mut stream);
        let judge = Judge::fitted(true, &target, &texts, 400, &mut stream);
        let mut right = [0, 0];
        for number in 0..QUESTIONS {
            let question = Question(number);
            for (at, note) in [None, Some(question.right())].into_iter().enumerate() {
                let said = |value: usize| judge.score(question, value * LENGTHS, note);
                let best =
                    (1..VALUES).fold(0, |best, value| if said(value) > said(best) { value } else { best });
                right[at] += usize::from(best == question.right());
            }
        }
        let share = right.map(|right| right as f64 / QUESTIONS as f64);
        assert!((share[0] - 0.773).abs() < 0.1 && share[1] > 0.98, "{share:?}");
        // A tool that does not fit the question says nothing.
        assert_eq!(consult(Question(0), 1, &mut stream), None);
        assert_eq!(consult(Question(QUESTIONS - 1), 2, &mut stream), None);
    }
}
