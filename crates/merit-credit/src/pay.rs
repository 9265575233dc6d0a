//! Where on the tokens the reward of an episode falls.
//!
//! Turn rewards fall on the last trainable token of their turn. What remains of the episode's reward falls on its last
//! trainable token, so that the tokens of an episode always receive the whole reward and never more: turn rewards say when
//! it was earned, not how much was.

use crate::{CreditError, Payment};
use merit_core::{Sample, ScoredEpisode};

/// The payments of an episode, by token, each token once. Empty when the outcome does not count or nothing is trainable.
pub(crate) fn payments(scored: &ScoredEpisode, sample: &Sample) -> Result<Vec<Payment>, CreditError> {
    let (Some(reward), Some(last)) = (scored.reward(), sample.mask.iter().rposition(|&m| m)) else {
        return Ok(Vec::new());
    };
    let turn_rewards = scored.score.as_ref().map_or(&[][..], |s| &s.turn_rewards);
    check_turn_rewards(scored, sample, turn_rewards)?;
    let mut paid: Vec<Payment> = Vec::new();
    for (range, &reward) in sample.turns.iter().zip(turn_rewards) {
        // A turn without tokens has nowhere to be paid; its part stays in the remainder.
        if let Some(token) = range.clone().rev().find(|&at| sample.mask[at]) {
            paid.push(Payment { token, reward });
        }
    }
    let remainder = reward - paid.iter().map(|p| p.reward).sum::<f64>();
    match paid.last_mut() {
        Some(payment) if payment.token == last => payment.reward += remainder,
        _ => paid.push(Payment { token: last, reward: remainder }),
    }
    Ok(paid)
}

fn check_turn_rewards(
    scored: &ScoredEpisode,
    sample: &Sample,
    turn_rewards: &[f64],
) -> Result<(), CreditError> {
    let episode = || scored.episode.id.clone();
    if !turn_rewards.is_empty() && turn_rewards.len() != sample.turns.len() {
        let (got, want) = (turn_rewards.len(), sample.turns.len());
        return Err(CreditError::TurnRewards { episode: episode(), got, want });
    }
    match turn_rewards.iter().find(|r| !r.is_finite()) {
        Some(&value) => Err(CreditError::NotFinite { episode: episode(), what: "turn reward", value }),
        None => Ok(()),
    }
}
