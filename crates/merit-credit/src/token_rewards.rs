//! Where on the tokens the reward of an episode falls.
//!
//! Turn rewards fall on the last trainable token of their turn. What remains of the episode's reward falls on its last
//! trainable token, so that the tokens of an episode always receive the whole reward and never more: turn rewards say when
//! it was earned, not how much was. Of a fork the tokens are its own: what a repeated turn earned is paid where it was first said. A
//! branch that was left has no end, so that its turns are all it is paid for.

use crate::CreditError;
use merit_core::{Sample, ScoredEpisode};

/// Reward that falls on a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenReward {
    /// Position in the sample.
    pub token: usize,
    pub reward: f64,
}

/// The rewards of an episode by token, each token once. Empty when the outcome is not valid or nothing is trainable.
pub(crate) fn token_rewards(
    scored: &ScoredEpisode,
    sample: &Sample,
) -> Result<Vec<TokenReward>, CreditError> {
    let Some(last) = sample.mask.iter().rposition(|&m| m) else { return Ok(Vec::new()) };
    let (mut paid, mut elsewhere): (Vec<TokenReward>, f64) = (Vec::new(), 0.0);
    for (range, &reward) in sample.turns.iter().zip(paid_by_turn(scored, sample)?) {
        match range.clone().rev().find(|&at| sample.mask[at]) {
            Some(token) => paid.push(TokenReward { token, reward }),
            // A turn without tokens has nowhere to be paid; its part stays in the remainder.
            None if range.is_empty() => {}
            None => elsewhere += reward,
        }
    }
    let Some(reward) = scored.reward() else { return Ok(paid) };
    let remainder = reward - elsewhere - paid.iter().map(|p| p.reward).sum::<f64>();
    match paid.last_mut() {
        Some(paid) if paid.token == last => paid.reward += remainder,
        _ => paid.push(TokenReward { token: last, reward: remainder }),
    }
    Ok(paid)
}

/// What the reward pays by turn, one entry per turn; empty where all of it is paid at the end.
pub(crate) fn paid_by_turn<'a>(scored: &'a ScoredEpisode, sample: &Sample) -> Result<&'a [f64], CreditError> {
    let turn_rewards = scored.score.as_ref().map_or(&[][..], |score| &score.turn_rewards);
    let episode = || scored.episode.id.clone();
    if !turn_rewards.is_empty() && turn_rewards.len() != sample.turns.len() {
        let (got, want) = (turn_rewards.len(), sample.turns.len());
        return Err(CreditError::TurnRewards { episode: episode(), got, want });
    }
    match turn_rewards.iter().find(|r| !r.is_finite()) {
        Some(&value) => Err(CreditError::NotFinite { episode: episode(), what: "turn reward", value }),
        None => Ok(turn_rewards),
    }
}

/// The rewards of an episode by turn: what each turn earned, and with the last trained turn what is not paid by turn.
pub(crate) fn turn_rewards(scored: &ScoredEpisode, sample: &Sample) -> Result<Vec<f64>, CreditError> {
    let mut by_turn = vec![0.0; sample.turns.len()];
    for paid in token_rewards(scored, sample)? {
        if let Some(turn) = sample.turns.iter().position(|range| range.contains(&paid.token)) {
            by_turn[turn] += paid.reward;
        }
    }
    Ok(by_turn)
}

/// Whether a turn belongs to this episode: it is not repeated from another one.
pub(crate) fn is_own(sample: &Sample, turn: usize) -> bool {
    sample.turns.get(turn).is_some_and(|range| range.is_empty() || sample.mask[range.clone()].contains(&true))
}

/// What was paid where, in words.
pub(crate) fn paid_line(paid: &[TokenReward]) -> String {
    let paid: Vec<String> = paid.iter().map(|p| format!("{} at token {}", p.reward, p.token)).collect();
    format!("reward paid: {}", if paid.is_empty() { "nowhere".to_owned() } else { paid.join(", ") })
}
