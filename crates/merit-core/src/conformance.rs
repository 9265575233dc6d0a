//! The rules of the record as checks that anybody can run on their own episodes, scores and samples.
//!
//! Each check returns every violation it finds, in words. An empty list means that the rule holds.

use crate::{
    CallEnd, End, Episode, Outcome, Provenance, Reward, Role, Sample, Score, ScoredEpisode, Segment,
    TermOutcome,
};

/// Rules 1 to 4 and 9 on one episode.
pub fn check_episode(episode: &Episode) -> Vec<String> {
    let mut found = Vec::new();
    let mut rule = |holds: bool, what: String| {
        if !holds {
            found.push(format!("episode {}: {what}", episode.id));
        }
    };
    let transcript = &episode.transcript;
    let sampled: usize =
        transcript.segments().iter().filter(|s| s.role == Role::Policy).map(|s| s.tokens.len()).sum();
    let by_others = |s: &Segment| s.policy_version != Some(episode.policy_version);
    rule(
        !transcript
            .segments()
            .iter()
            .any(|s| s.role == Role::Policy && s.provenance == Provenance::Sampled && by_others(s)),
        "a segment that counts as sampled here was sampled by another policy; mark it as replayed or spliced"
            .into(),
    );
    rule(
        episode.cost.policy_tokens as usize == sampled,
        format!("cost counts {} policy tokens, the transcript has {sampled}", episode.cost.policy_tokens),
    );
    let policy_segments = transcript.segments().iter().filter(|s| s.role == Role::Policy).count();
    rule(
        policy_segments == episode.turns.len(),
        format!("{policy_segments} policy segments but {} turns", episode.turns.len()),
    );
    rule(
        episode.turns.iter().enumerate().all(|(i, t)| t.index as usize == i),
        "turns are not numbered from 0 in order".into(),
    );
    let broken_tool = episode.turns.iter().flat_map(|t| &t.calls).any(|c| c.end == CallEnd::Broken);
    rule(
        !broken_tool || matches!(episode.end, End::Failed { .. }),
        "a tool broke, but the episode does not end as failed".into(),
    );
    rule(
        episode.bootstrap.is_none() || !episode.end.terminal(),
        "an episode that really ended carries a bootstrap value".into(),
    );
    rule(
        transcript.segments().iter().filter(|s| s.role == Role::Policy).all(|s| s.policy_version.is_some()),
        "a policy segment does not say which policy sampled it".into(),
    );
    found
}

/// Rule 5 on one score.
pub fn check_score(score: &Score, turns: usize) -> Vec<String> {
    let mut found = Vec::new();
    for term in &score.terms {
        if let TermOutcome::Value { value } = term.outcome {
            if !value.is_finite() {
                found.push(format!("term `{}` has the value {value}", term.name));
            }
            if term.evidence.is_empty() {
                found.push(format!("term `{}` gives a value without evidence", term.name));
            }
        }
        if !term.turns.is_empty() && term.turns.len() != turns {
            found.push(format!(
                "term `{}` has {} turn values for {turns} turns",
                term.name,
                term.turns.len()
            ));
        }
    }
    if !score.turn_rewards.is_empty() && score.turn_rewards.len() != turns {
        found.push(format!("{} turn rewards for {turns} turns", score.turn_rewards.len()));
    }
    if matches!(score.reward, Reward::Value { value } if !value.is_finite()) {
        found.push("the reward is not finite; say Unscorable or GraderFailed instead".to_owned());
    }
    let broke = score.terms.iter().any(|t| matches!(t.outcome, TermOutcome::GraderFailed { .. }));
    if broke && !matches!(score.reward, Reward::GraderFailed { .. }) {
        found.push("a term's grader failed, but the reward does not say so".to_owned());
    }
    found
}

/// Outcome typing on one scored episode and its sample: what does not count carries no reward, mask or credit.
pub fn check_sample(scored: &ScoredEpisode, sample: &Sample) -> Vec<String> {
    let mut found = Vec::new();
    let name = &sample.episode;
    let outcome = scored.outcome();
    if outcome.counts() != scored.reward().is_some() {
        found.push(format!("sample {name}: outcome {outcome:?} but reward {:?}", scored.reward()));
    }
    if !outcome.counts() && sample.trainable() > 0 {
        found.push(format!("sample {name}: outcome {outcome:?} but {} trainable tokens", sample.trainable()));
    }
    let lengths = [sample.mask.len(), sample.logprobs.len()];
    if lengths.iter().any(|&len| len != sample.tokens.len()) {
        found.push(format!(
            "sample {name}: streams of {lengths:?} entries for {} tokens",
            sample.tokens.len()
        ));
    }
    if let Some(advantages) = &sample.advantages {
        if advantages.len() != sample.tokens.len() {
            found.push(format!(
                "sample {name}: {} advantages for {} tokens",
                advantages.len(),
                sample.tokens.len()
            ));
        }
        if advantages.iter().zip(&sample.mask).any(|(a, &m)| !m && *a != 0.0) {
            found.push(format!("sample {name}: credit outside the mask"));
        }
        if advantages.iter().any(|a| !a.is_finite()) {
            found.push(format!("sample {name}: credit that is not finite"));
        }
    }
    if outcome == Outcome::InfrastructureFailed
        && scored.score.as_ref().is_some_and(|s| s.reward.value().is_some())
    {
        found.push(format!("sample {name}: a broken episode was given a reward"));
    }
    found
}
