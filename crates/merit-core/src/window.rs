//! What of an episode the policy has in sight: the opening, and the last turns.
//!
//! One rule for asking the policy and for learning from what it said, so that a token is always trained on what it was
//! sampled from. Turns count with everything that answered them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A window over the turns of an episode.
///
/// ```
/// use merit_core::Window;
/// // An opening of 10 tokens, then turns that begin at 10, 14 and 20; turn 2 sees the opening and turn 1.
/// assert_eq!(Window { turns: 1 }.sight(&[10, 14, 20], 2, 20), [0..10, 14..20]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Turns before the present one that stay in sight, at least 1. The opening always does.
    pub turns: u32,
}

/// What one turn was sampled from, and the turn itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InSight {
    /// Positions of its tokens in the episode, in order.
    pub positions: Vec<usize>,
    /// Which of these are the turn's own.
    pub own: Range<usize>,
}

impl Window {
    /// The tokens before `end` that turn `turn` sees. `starts` says where turns begin, from the first on.
    pub fn sight(self, starts: &[usize], turn: usize, end: usize) -> [Range<usize>; 2] {
        let opening = starts.first().map_or(end, |first| (*first).min(end));
        let first = turn.saturating_sub(self.turns as usize);
        let from = starts.get(first).map_or(opening, |start| (*start).clamp(opening, end));
        [0..opening, from..end]
    }

    /// The turns of an episode one by one, each with what it was sampled from. `turns` are the tokens of each.
    pub fn cut(self, turns: &[Range<usize>]) -> Vec<InSight> {
        let starts: Vec<usize> = turns.iter().map(|turn| turn.start).collect();
        let one = |(at, turn): (usize, &Range<usize>)| {
            let seen = self.sight(&starts, at, turn.start);
            let positions: Vec<usize> = seen.into_iter().flatten().chain(turn.clone()).collect();
            InSight { own: positions.len() - turn.len()..positions.len(), positions }
        };
        turns.iter().enumerate().map(one).collect()
    }
}

impl InSight {
    /// The entries of a stream at its positions.
    pub fn of<T: Copy>(&self, stream: &[T]) -> Vec<T> {
        self.positions.iter().filter_map(|at| stream.get(*at).copied()).collect()
    }

    /// The mask of the episode at its positions, true on its own turn alone.
    pub fn own_mask(&self, mask: &[bool]) -> Vec<bool> {
        self.of(mask).into_iter().enumerate().map(|(at, trained)| trained && self.own.contains(&at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_turns_see_everything_and_later_ones_the_opening_and_the_last() {
        let starts = [3, 5, 8, 9];
        let sight = |turn: usize| Window { turns: 2 }.sight(&starts, turn, starts[turn]);
        assert_eq!(sight(0), [0..3, 3..3]);
        assert_eq!(sight(1), [0..3, 3..5]);
        assert_eq!(sight(2), [0..3, 3..8]);
        assert_eq!(sight(3), [0..3, 5..9]);
        // Before anything was said, everything is the opening.
        assert_eq!(Window { turns: 1 }.sight(&[], 0, 7), [0..7, 7..7]);
    }

    #[test]
    fn every_turn_is_cut_out_once_with_what_it_was_sampled_from() {
        // Turns of tokens 2..4, 6..7 and 8..10; 4, 5 and 7 answered them.
        let cut = Window { turns: 1 }.cut(&[2..4, 6..7, 8..10]);
        assert_eq!(cut[0], InSight { positions: vec![0, 1, 2, 3], own: 2..4 });
        assert_eq!(cut[1], InSight { positions: vec![0, 1, 2, 3, 4, 5, 6], own: 6..7 });
        assert_eq!(cut[2], InSight { positions: vec![0, 1, 6, 7, 8, 9], own: 4..6 });
        let mask = [false, false, true, true, false, false, true, false, true, true];
        assert_eq!(cut[2].own_mask(&mask), [false, false, false, false, true, true]);
    }
}
