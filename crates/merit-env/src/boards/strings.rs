//! Pairs of letters to be written in twelve moves: what a move makes of a string, and which moves are left.
//!
//! A move writes a letter at the end or takes the last one off. The string is right when it has every wanted pair side by side and
//! nowhere the letter that is not wanted. To get from one string to another, nothing is shorter than to cut down to what both begin with
//! and write the rest, so the shortest way is found by trying every beginning of the string.

use merit_api::StepResult;
use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// The most moves that a task may take.
pub(super) const MOST: usize = 12;
pub(super) const LETTERS: RangeInclusive<u32> = 4..=8;
pub(super) const SPELLING: RangeInclusive<u32> = 1..=3;
/// How letters are spelled; the first sign is the letter itself.
const SPELLED: [&str; 8] = ["ant", "bet", "cup", "dog", "egg", "fin", "gum", "hat"];
/// The move that takes the last letter off; the others are letters.
const CUT: u8 = SPELLED.len() as u8;
const MOST_PAIRS: usize = 5;
/// Letters that stand there at first, at most.
const MOST_AT_FIRST: usize = 4;

/// What is wanted of a string, and how it begins. Letters are their places in the alphabet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// In their order, so that a task is written in one way only.
    pub pairs: Vec<(u8, u8)>,
    /// The letter that is not wanted.
    pub not: u8,
    pub start: Vec<u8>,
}

fn letter(at: u8) -> char {
    char::from(b'a' + at)
}

pub(super) fn spelled(at: usize, signs: usize) -> String {
    let signs: Vec<String> = SPELLED[at].chars().take(signs).map(String::from).collect();
    signs.join(" ")
}

/// The move that words name.
pub(super) fn read(words: &[&str], letters: usize, signs: usize) -> Option<u8> {
    match words {
        ["cut"] => Some(CUT),
        ["add", said @ ..] => {
            let said = said.join(" ");
            (0..letters).find(|at| spelled(*at, signs) == said).map(|at| at as u8)
        }
        _ => None,
    }
}

/// The line that says a move; whatever is no letter is a cut.
pub(super) fn line_of(at: u8, letters: usize, signs: usize) -> String {
    match usize::from(at) {
        at if at < letters => format!("add {}", spelled(at, signs)),
        _ => "cut".to_owned(),
    }
}

impl Wish {
    /// Draws so many pairs and a beginning that is not right yet.
    pub(super) fn draw(pairs: usize, letters: usize, rng: &mut Stream) -> Self {
        loop {
            let not = rng.below(letters as u64) as u8;
            let known = || (0..letters as u8).filter(|at| *at != not);
            let mut all: Vec<(u8, u8)> = known().flat_map(|a| known().map(move |b| (a, b))).collect();
            all.retain(|(a, b)| a != b);
            rng.shuffle(&mut all);
            all.truncate(pairs);
            all.sort_unstable();
            let length = rng.below(MOST_AT_FIRST as u64 + 1);
            let start = (0..length).map(|_| rng.below(letters as u64) as u8).collect();
            let wish = Self { pairs: all, not, start };
            if wish.check(pairs, letters).is_ok() {
                return wish;
            }
        }
    }

    /// What is wrong with a wish that comes from a file.
    pub(super) fn check(&self, pairs: usize, letters: usize) -> Result<(), String> {
        let is = |at: u8| usize::from(at) < letters;
        let different = self.pairs.is_sorted_by(|one, next| one < next);
        if self.pairs.len() != pairs || !different || !(1..=MOST_PAIRS).contains(&pairs) {
            return Err(format!("its pairs are not {pairs} different ones in order"));
        }
        let sound = |(a, b): &(u8, u8)| is(*a) && is(*b) && a != b && *a != self.not && *b != self.not;
        if !self.pairs.iter().all(sound) || !is(self.not) {
            return Err("its pairs do not fit its letters".to_owned());
        }
        if self.start.len() > MOST_AT_FIRST || !self.start.iter().all(|at| is(*at)) {
            return Err("its first string does not fit its letters".to_owned());
        }
        match self.way(&self.start).len() {
            0 => Err("its first string is right already".to_owned()),
            moves if moves > MOST => Err(format!("it takes {moves} moves, of {MOST}")),
            _ => Ok(()),
        }
    }

    /// What is wrong with moves that come from a snapshot.
    pub(super) fn check_moves(&self, moves: &[u8], letters: usize) -> Result<(), String> {
        match moves.iter().find(|at| usize::from(**at) >= letters && **at != CUT) {
            Some(at) => Err(format!("a move {at} that there is not")),
            None if moves.len() > MOST => Err(format!("more than {MOST} moves")),
            None => Ok(()),
        }
    }

    /// What a move makes of a string; absent where nothing is left to cut.
    fn moved(&self, text: &[u8], at: u8) -> Option<Vec<u8>> {
        match at {
            CUT => text.split_last().map(|(_, rest)| rest.to_vec()),
            _ => Some([text, &[at]].concat()),
        }
    }

    /// The string after these moves.
    pub(super) fn text(&self, moves: &[u8]) -> Vec<u8> {
        moves.iter().fold(self.start.clone(), |text, at| self.moved(&text, *at).unwrap_or(text))
    }

    /// The wanted pairs of a string, one bit each.
    fn held(&self, text: &[u8]) -> usize {
        let has = |pair: &(u8, u8)| text.windows(2).any(|two| two == [pair.0, pair.1]);
        self.pairs.iter().enumerate().fold(0, |bits, (at, pair)| bits | usize::from(has(pair)) << at)
    }

    /// The moves of the shortest way to a string that is right. Of several, the one with the fewest cuts.
    pub(super) fn way(&self, text: &[u8]) -> Vec<u8> {
        let sound = text.iter().position(|at| *at == self.not).unwrap_or(text.len());
        let mut best: Option<Vec<u8>> = None;
        for kept in (0..=sound).rev() {
            let cuts = text.len() - kept;
            if best.as_ref().is_some_and(|best| best.len() <= cuts) {
                break;
            }
            let rest = self.rest(&text[..kept]);
            if best.as_ref().is_none_or(|best| cuts + rest.len() < best.len()) {
                best = Some([vec![CUT; cuts], rest].concat());
            }
        }
        best.unwrap_or_default()
    }

    /// The fewest letters to be written after a beginning: a search over the last letter and the pairs that are there.
    fn rest(&self, text: &[u8]) -> Vec<u8> {
        let all = (1 << self.pairs.len()) - 1;
        // No letter before: one that is in no pair.
        let first = (text.last().copied().unwrap_or(CUT), self.held(text));
        let place = |(last, held): (u8, usize)| usize::from(last) << MOST_PAIRS | held;
        let mut came = vec![None; place((CUT + 1, 0))];
        came[place(first)] = Some(first);
        let mut due = VecDeque::from([first]);
        while let Some(at) = due.pop_front() {
            if at.1 == all {
                let (mut letters, mut at) = (Vec::new(), at);
                while at != first {
                    letters.push(at.0);
                    at = came[place(at)].unwrap_or(first);
                }
                letters.reverse();
                return letters;
            }
            for next in self.pairs.iter().flat_map(|(a, b)| [*a, *b]) {
                let pair = self.pairs.iter().position(|pair| *pair == (at.0, next));
                let to = (next, at.1 | pair.map_or(0, |pair| 1 << pair));
                if came[place(to)].is_none() {
                    came[place(to)] = Some(at);
                    due.push_back(to);
                }
            }
        }
        Vec::new()
    }

    fn shown(text: &[u8]) -> String {
        match text {
            [] => "empty".to_owned(),
            _ => text.iter().map(|at| String::from(letter(*at))).collect::<Vec<_>>().join(" "),
        }
    }

    pub(super) fn prompt(&self) -> String {
        let pairs: Vec<String> =
            self.pairs.iter().map(|(a, b)| format!("{} {}", letter(*a), letter(*b))).collect();
        format!("want {}. not {}. {}", pairs.join(", "), letter(self.not), Self::shown(&self.start))
    }

    /// Makes a move that is kept where it can be made.
    pub(super) fn wrote(&self, moves: &mut Vec<u8>, at: u8) -> StepResult {
        let before = self.text(moves);
        let made = self.moved(&before, at).filter(|_| moves.len() < MOST);
        moves.extend(made.as_ref().map(|_| at));
        let moved = made.is_some();
        let now = made.unwrap_or_else(|| before.clone());
        let (had, has, room) = (self.way(&before).len(), self.way(&now).len(), MOST - moves.len());
        let result = StepResult::saying(Self::shown(&now));
        let result = if has == 0 || room == 0 { result.done() } else { result };
        let flag = |holds: bool| f64::from(u8::from(holds));
        let share = |text: &[u8]| f64::from(self.held(text).count_ones()) / self.pairs.len() as f64;
        result.with_info([
            ("read", 1.0),
            ("good", flag(has < had)),
            ("moved", flag(moved)),
            ("stuck", flag(has > room)),
            ("left", has as f64),
            ("pairs", share(&now)),
            ("gain", share(&now) - share(&before)),
            ("spoiled", flag(now.contains(&self.not))),
            ("won", flag(has == 0)),
        ])
    }
}
