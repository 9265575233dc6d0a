//! Pick three of eight numbers that sum to a target, and how well a reader checks it.
//!
//! Checking is easier than solving: a reading of how far a pick is from its target is mostly right, and an error moves it by at most four.

use merit_core::Stream;

const NUMBERS: usize = 8;
/// Kinds of questions, by the remainder of the target.
pub const KINDS: usize = 5;
/// All ways to pick three of eight.
pub const PICKS: usize = 56;
/// How far is near: small flaws.
const NEAR: i64 = 2;

/// Eight numbers and a target that three of them sum to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub numbers: [i64; NUMBERS],
    pub target: i64,
}

/// How a pick misses its target, as it is or as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    Right,
    Near,
    Far,
}

impl Miss {
    pub fn of(off: i64) -> Self {
        match off.abs() {
            0 => Self::Right,
            near if near <= NEAR => Self::Near,
            _ => Self::Far,
        }
    }

    /// The true score: 3 of a right pick, 2 of small flaws, 1 of a fatal error.
    pub fn score(self) -> u8 {
        3 - self as u8
    }
}

impl Question {
    pub fn draw(stream: &mut Stream) -> Self {
        let numbers = [(); NUMBERS].map(|()| stream.between(1, 20));
        let mut question = Self { numbers, target: 0 };
        question.target = question.off(stream.below(PICKS as u64) as usize);
        question
    }

    /// The same of one of these kinds.
    pub fn draw_of(kinds: &[usize], stream: &mut Stream) -> Self {
        loop {
            let question = Self::draw(stream);
            if kinds.contains(&question.kind()) || kinds.is_empty() {
                return question;
            }
        }
    }

    pub fn kind(&self) -> usize {
        self.target.rem_euclid(KINDS as i64) as usize
    }

    /// How far above its target a pick is.
    pub fn off(&self, pick: usize) -> i64 {
        let [a, b, c] = PLACES[pick % PICKS];
        self.numbers[a] + self.numbers[b] + self.numbers[c] - self.target
    }

    /// A pick that misses like this, where there is one.
    pub fn pick_of(&self, miss: Miss, stream: &mut Stream) -> Option<usize> {
        let found: Vec<usize> = (0..PICKS).filter(|pick| Miss::of(self.off(*pick)) == miss).collect();
        stream.pick(&found).copied()
    }
}

/// The places of the three numbers of every pick.
pub const PLACES: [[usize; 3]; PICKS] = {
    let mut places = [[0; 3]; PICKS];
    let (mut pick, mut a, mut b, mut c) = (0, 0, 1, 2);
    while pick < PICKS {
        places[pick] = [a, b, c];
        pick += 1;
        c += 1;
        if c == NUMBERS {
            b += 1;
            if b + 1 == NUMBERS {
                a += 1;
                b = a + 1;
            }
            c = b + 1;
        }
    }
    places
};

/// What is read of an `off`: the truth with the chance `quality`, otherwise up to four beside it.
pub fn read(off: i64, quality: f64, stream: &mut Stream) -> i64 {
    let wrong = *stream.pick(&[-4, -3, -2, -1, 1, 2, 3, 4]).unwrap_or(&1);
    if stream.chance(quality) { off } else { off + wrong }
}
