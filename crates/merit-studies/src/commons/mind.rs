//! How an agent chooses its effort from what it sees. It never sees a payoff formula or a constant of the resource.

use merit_core::Stream;

const STEP: f64 = 0.05;
/// Efforts that a Q table tells apart.
pub const EFFORTS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
const LEVELS: usize = 5;

/// The consequences of a round, for one agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Own wealth after the round less before.
    pub gain: f64,
    /// Sanctions received.
    pub sanctions: u32,
    /// The resource now, in units of the most that was ever seen.
    pub resource: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Mind {
    /// Keeps the effort it was born with.
    Constant,
    /// Moves its effort on while its gain rises and back when it falls; a sanction sends it down.
    Climber { upward: bool, last_gain: f64 },
    /// Tabular Q-learning over the level of the resource.
    Learner(Box<Table>),
}

/// Q values by level and effort, and the last choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub values: [[f64; EFFORTS.len()]; LEVELS],
    level: usize,
    choice: usize,
    pub rate: f64,
    pub discount: f64,
    pub explore: f64,
}

impl Table {
    /// Likes the efforts near `favourite` a little.
    pub fn new(favourite: f64, rate: f64, discount: f64, explore: f64) -> Self {
        let values = [EFFORTS.map(|effort| 0.1 * (1.0 - (effort - favourite).abs())); LEVELS];
        Self { values, level: LEVELS - 1, choice: nearest(favourite), rate, discount, explore }
    }

    /// `Q(s, a) += rate (gain + discount max Q(s', ·) − Q(s, a))`.
    pub fn learn(&mut self, gain: f64, next_level: usize) {
        let next = self.values[next_level].iter().copied().fold(f64::MIN, f64::max);
        let value = &mut self.values[self.level][self.choice];
        *value += self.rate * (gain + self.discount * next - *value);
    }

    fn choose(&mut self, level: usize, stream: &mut Stream) -> f64 {
        let row = &self.values[level];
        let best = (1..row.len()).fold(0, |best, a| if row[a] > row[best] { a } else { best });
        let explores = stream.chance(self.explore);
        self.choice = if explores { stream.below(EFFORTS.len() as u64) as usize } else { best };
        self.level = level;
        EFFORTS[self.choice]
    }
}

impl Mind {
    /// The effort of the next round.
    pub fn revise(&mut self, effort: f64, seen: Seen, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant => effort,
            Self::Climber { upward, last_gain } => {
                if seen.gain < *last_gain {
                    *upward = !*upward;
                }
                if seen.sanctions > 0 {
                    *upward = false;
                }
                *last_gain = seen.gain;
                (effort + if *upward { STEP } else { -STEP }).clamp(0.0, 1.0)
            }
            Self::Learner(table) => {
                let level = ((seen.resource * LEVELS as f64) as usize).min(LEVELS - 1);
                table.learn(seen.gain, level);
                table.choose(level, stream)
            }
        }
    }
}

fn nearest(effort: f64) -> usize {
    let closer = |a: usize, b: usize| (EFFORTS[a] - effort).abs() < (EFFORTS[b] - effort).abs();
    (1..EFFORTS.len()).fold(0, |best, a| if closer(a, best) { a } else { best })
}
