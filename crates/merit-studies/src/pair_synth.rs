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
