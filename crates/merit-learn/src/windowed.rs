//! Samples whose policy did not see everything: each turn is read with what it was sampled from, and nothing else.
//!
//! In: samples with a window. Out: for each the turns one by one, as samples of their own with streams of their own. Credit, masks,
//! selection and weights stay those of the whole sample; only what the model reads is cut.

use crate::{Average, LearnConfig, LearnError};
use merit_core::{InSight, Sample};

/// One turn of a sample with what it was sampled from.
pub(crate) struct Piece {
    pub(crate) sample: Sample,
    sight: InSight,
}

impl Piece {
    /// The mask of the whole sample, on this turn alone.
    pub(crate) fn mask(&self, whole: &[bool]) -> Vec<bool> {
        self.sight.own_mask(whole)
    }
}

/// The pieces of each sample; none for a sample that was read as a whole. Absent: all were.
pub(crate) fn cut(samples: &[Sample], config: &LearnConfig) -> Result<Option<Vec<Vec<Piece>>>, LearnError> {
    let Some(first) = samples.iter().find(|sample| sample.window.is_some()) else { return Ok(None) };
    let objective = &config.objective;
    let refused = |why: &str| LearnError::Windowed { episode: first.episode.clone(), why: why.to_owned() };
    if objective.average() == Average::Units {
        let name = objective.about().name;
        return Err(refused(&format!("objective `{name}` has one loss for a whole sequence")));
    }
    if config.mask.observations() {
        return Err(refused("observations are trained where they stand in the whole"));
    }
    if samples.iter().any(|sample| sample.window.is_some() && !sample.spliced.is_empty()) {
        return Err(refused("a turn that was put elsewhere is scored in the whole"));
    }
    Ok(Some(samples.iter().map(pieces).collect()))
}

fn pieces(sample: &Sample) -> Vec<Piece> {
    sample.turns_in_sight().into_iter().map(|(sample, sight)| Piece { sample, sight }).collect()
}
