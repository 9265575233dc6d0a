//! Vaults with six keys, one of which fits, and a frozen actor that tries one key a trial and obeys hints.
//!
//! A failed trial shows which key was tried and a mark of the lock, which tells the key that fits to who knows how marks and keys belong
//! together. The actor never learns. Nothing here writes hints or pays for them.

use merit_core::Stream;

pub const KEYS: usize = 6;
/// How many hints the actor keeps, the newest.
pub const KEPT: usize = 3;
/// The chance that the mark is the lock's own and not any.
const TELLING: f64 = 0.8;
/// The chance that the actor obeys, and the chance that it guesses right by itself beyond luck.
const OBEYS: f64 = 0.9;
const HUNCH: f64 = 0.04;

/// What the writer can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    Use(usize),
    Avoid(usize),
    Nothing,
}

/// How marks and keys belong together, the same in all tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Vaults {
    /// The mark of the lock that each key fits.
    pub marks: Vec<usize>,
}

/// A vault to be opened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    pub fits: usize,
    /// How far one gets without the key, 0 to 1: vaults differ.
    pub way: f64,
}

/// What one trial shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    pub tried: usize,
    pub mark: usize,
    pub opened: bool,
    /// 1 of an open vault; otherwise up to 0.8 by how far one got.
    pub gain: f64,
}

impl Vaults {
    pub fn draw(stream: &mut Stream) -> Self {
        let mut marks: Vec<usize> = (0..KEYS).collect();
        stream.shuffle(&mut marks);
        Self { marks }
    }

    /// One trial of the frozen actor with the hints it remembers, oldest first.
    pub fn attempt(&self, task: &Task, hints: &[Hint], stream: &mut Stream) -> Trial {
        let tried = choose(task, &hints[hints.len().saturating_sub(KEPT)..], stream);
        let any = stream.below(KEYS as u64) as usize;
        let mark = if stream.chance(TELLING) { self.marks[task.fits] } else { any };
        let luck = stream.unit();
        let opened = tried == task.fits;
        Trial { tried, mark, opened, gain: if opened { 1.0 } else { 0.6 * task.way + 0.2 * luck } }
    }
}

impl Task {
    pub fn draw(stream: &mut Stream) -> Self {
        Self { fits: stream.below(KEYS as u64) as usize, way: stream.unit() }
    }
}

/// The newest key that it is told to use, if it obeys; otherwise any that it is not told to avoid.
fn choose(task: &Task, hints: &[Hint], stream: &mut Stream) -> usize {
    let (obeys, hunch) = (stream.chance(OBEYS), stream.chance(HUNCH));
    let told = hints.iter().rev().find_map(|hint| match hint {
        Hint::Use(key) => Some(*key),
        Hint::Avoid(_) | Hint::Nothing => None,
    });
    if let Some(key) = told.filter(|_| obeys) {
        return key;
    }
    let free: Vec<usize> = (0..KEYS).filter(|key| !obeys || !hints.contains(&Hint::Avoid(*key))).collect();
    if hunch { task.fits } else { stream.pick(&free).copied().unwrap_or(task.fits) }
}
