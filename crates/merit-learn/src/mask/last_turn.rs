//! Only the last turn: the answer is trained, the way to it is not.

use merit_core::{About, Sample};

pub(super) const ABOUT: About =
    About { name: "last-turn", summary: "only the tokens of the last turn", paper: "" };

pub(super) fn keep(sample: &Sample, at: usize) -> bool {
    sample.turns.last().is_some_and(|turn| turn.contains(&at))
}
