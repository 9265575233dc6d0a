//! Symbolic videos: frames of tokens, and a question that three neighbouring frames answer.
//!
//! The frames of the window show both words of the query among other things, and mostly the answer. Another window shows one of the two
//! words and another answer. Distractors repeat the words of the query and show nothing else.

use merit_core::Stream;
use std::collections::BTreeMap;

pub const FRAMES: usize = 96;
pub const WINDOW: usize = 3;
/// Answers to choose from.
pub const ANSWERS: usize = 8;
const WORDS: u64 = 20;
const BACKGROUND: u64 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token {
    Word(u64),
    Background(u64),
    Answer(usize),
}

/// Frames in the order of time, and what is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    pub frames: Vec<Vec<Token>>,
    pub query: [u64; 2],
    pub answer: usize,
    /// The first frame of the window.
    pub window: usize,
}

impl Video {
    /// Up to `distractors` of them, evenly.
    pub fn draw(distractors: u64, stream: &mut Stream) -> Self {
        let mut words: Vec<u64> = (0..WORDS).collect();
        stream.shuffle(&mut words);
        let (query, other) = ([words[0], words[1]], words[2]);
        let answer = stream.below(ANSWERS as u64) as usize;
        let mut frames: Vec<Vec<Token>> = (0..FRAMES).map(|_| ordinary(query, stream)).collect();
        let places = (FRAMES / WINDOW) as u64;
        let window = WINDOW * stream.below(places) as usize;
        let elsewhere = (window + WINDOW * (1 + stream.below(places - 1) as usize)) % FRAMES;
        show(&mut frames[window..window + WINDOW], query, answer, stream);
        let wrong = (answer + 1 + stream.below(ANSWERS as u64 - 1) as usize) % ANSWERS;
        show(&mut frames[elsewhere..elsewhere + WINDOW], [query[0], other], wrong, stream);
        let shows = |at: usize| {
            (window..window + WINDOW).contains(&at) || (elsewhere..elsewhere + WINDOW).contains(&at)
        };
        let mut free: Vec<usize> = (0..FRAMES).filter(|at| !shows(*at)).collect();
        stream.shuffle(&mut free);
        for at in free.into_iter().take(stream.below(distractors + 1) as usize) {
            let more = query[usize::from(stream.chance(0.5))];
            frames[at] = vec![Token::Word(query[0]), Token::Word(query[1]), Token::Word(more)];
        }
        Self { frames, query, answer, window }
    }

    /// The cosine of a frame's counts with the query's.
    pub fn relevance(&self) -> Vec<f64> {
        let of = |frame: &Vec<Token>| {
            let counts = counts(frame);
            let squares: usize = counts.values().map(|n| n * n).sum();
            let hits: usize =
                self.query.iter().map(|word| counts.get(&Token::Word(*word)).copied().unwrap_or(0)).sum();
            hits as f64 / (2.0 * squares.max(1) as f64).sqrt()
        };
        self.frames.iter().map(of).collect()
    }

    /// Shannon's entropy of a frame's tokens, in bits.
    pub fn entropy(&self) -> Vec<f64> {
        let of = |frame: &Vec<Token>| {
            let n = frame.len().max(1) as f64;
            let share = |count: &usize| *count as f64 / n;
            -counts(frame).values().map(|count| share(count) * share(count).log2()).sum::<f64>()
        };
        self.frames.iter().map(of).collect()
    }

    /// In how many of these frames an answer stands with both words of the query, and with one.
    pub fn seen_with(&self, answer: usize, places: &[usize]) -> [usize; 2] {
        let mut seen = [0; 2];
        for frame in places.iter().filter_map(|at| self.frames.get(*at)) {
            if !frame.contains(&Token::Answer(answer)) {
                continue;
            }
            match self.query.iter().filter(|word| frame.contains(&Token::Word(**word))).count() {
                2 => seen[0] += 1,
                1 => seen[1] += 1,
                _ => {}
            }
        }
        seen
    }
}

fn counts(frame: &[Token]) -> BTreeMap<Token, usize> {
    let mut counts = BTreeMap::new();
    frame.iter().for_each(|token| *counts.entry(*token).or_insert(0) += 1);
    counts
}

fn background(stream: &mut Stream) -> Vec<Token> {
    (0..stream.between(5, 8)).map(|_| Token::Background(stream.below(BACKGROUND))).collect()
}

/// Background, now and then a word of the query, now and then an answer.
fn ordinary(query: [u64; 2], stream: &mut Stream) -> Vec<Token> {
    let mut frame = background(stream);
    if stream.chance(0.15) {
        frame.push(Token::Word(query[usize::from(stream.chance(0.5))]));
    }
    if stream.chance(0.25) {
        frame.push(Token::Answer(stream.below(ANSWERS as u64) as usize));
    }
    frame
}

/// Two words in every frame of a window, and the answer in four of five; in the rest another one.
fn show(window: &mut [Vec<Token>], words: [u64; 2], answer: usize, stream: &mut Stream) {
    for frame in window {
        *frame = background(stream);
        frame.extend(words.map(Token::Word));
        let said = if stream.chance(0.8) { answer } else { stream.below(ANSWERS as u64) as usize };
        frame.push(Token::Answer(said));
    }
}
