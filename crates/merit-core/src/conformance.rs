//! The rules of the record as checks that anybody can run on their own episodes, scores and samples.
//!
//! Each check returns every violation it finds, in words. An empty list means that the rule holds.

use crate::{
    Boundary, CallEnd, End, Episode, Known, Outcome, Provenance, Reward, Role, Sample, Score, ScoredEpisode,
    Segment, TermOutcome, Turn, TurnStop,
};

/// Rules 1 to 4 and 9 on one episode.
///
/// ```
/// use merit_core::{Action, End, Episode, EpisodeId, Task, Turn, conformance::check_episode};
/// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
/// let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered);
/// assert!(check_episode(&episode).is_empty());
/// let episode = episode.with_turns(vec![Turn::new(0, Action::Answer { text: "42".into() })]);
/// assert_eq!(check_episode(&episode), ["episode train/0/0/0: 0 policy segments but 1 turns"]);
/// ```
pub fn check_episode(episode: &Episode) -> Vec<String> {
    let mut found = segments_say_who(episode);
    found.extend(costs_are_counted(episode));
    found.extend(turns_match(episode));
    found.extend(ends_are_typed(episode));
    found.into_iter().map(|what| format!("episode {}: {what}", episode.id)).collect()
}

fn violated(rules: impl IntoIterator<Item = (bool, String)>) -> Vec<String> {
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
}

fn policy_segments(episode: &Episode) -> impl Iterator<Item = &Segment> {
    episode.transcript.segments().iter().filter(|s| s.role == Role::Policy)
}

fn segments_say_who(episode: &Episode) -> Vec<String> {
    let by_others = |s: &Segment| s.policy_version != Some(episode.policy_version);
    let sampled_by_others =
        policy_segments(episode).any(|s| s.provenance == Provenance::Sampled && by_others(s));
    let nameless = policy_segments(episode).any(|s| s.policy_version.is_none() && s.known.is_full());
    violated([
        (
            !sampled_by_others,
            "a segment that counts as sampled here was sampled by another policy; mark it as replayed or spliced"
                .into(),
        ),
        (!nameless, "a policy segment does not say which policy sampled it".into()),
    ])
}

fn costs_are_counted(episode: &Episode) -> Vec<String> {
    let (transcript, cost) = (&episode.transcript, &episode.cost);
    let sampled: usize = policy_segments(episode).map(|s| s.tokens.len()).sum();
    // A branch of a tree may count only what was not sampled for another one.
    let own = policy_segments(episode).filter(|s| s.provenance != Provenance::Replayed);
    let own: usize = own.map(|s| s.tokens.len()).sum();
    let textual = transcript.known() == Known::Text;
    let untimed = episode.turns.iter().flat_map(|t| &t.calls).any(|c| c.seconds.is_none());
    violated([
        (
            // A server that gives text alone counts its own tokens.
            !transcript.complete() || [sampled, own].contains(&(cost.policy_tokens as usize)),
            format!("cost counts {} policy tokens, the transcript has {sampled}", cost.policy_tokens),
        ),
        (
            !textual || cost.tokens_unknown,
            "a segment has text without tokens, but the cost does not say that its tokens are unknown".into(),
        ),
        (
            !cost.tokens_unknown || !transcript.complete() || transcript.segments().is_empty(),
            "the cost says that tokens are unknown, but the transcript has them all".into(),
        ),
        (
            !untimed || cost.seconds_unknown,
            "a call has no time, but the cost does not say that its seconds are unknown".into(),
        ),
    ])
}

fn turns_match(episode: &Episode) -> Vec<String> {
    let segments = policy_segments(episode).count();
    let imported = episode.transcript.imported();
    let unknown =
        |t: &Turn| t.stop == TurnStop::Unknown || t.calls.iter().any(|call| call.end == CallEnd::Unknown);
    violated([
        (
            segments == episode.turns.len(),
            format!("{segments} policy segments but {} turns", episode.turns.len()),
        ),
        (
            episode.turns.iter().enumerate().all(|(i, t)| t.index as usize == i),
            "turns are not numbered from 0 in order".into(),
        ),
        (
            imported || !episode.turns.iter().any(unknown),
            "a turn or call of ours ends as unknown; only imported ones may".into(),
        ),
        (
            episode.turns.iter().flat_map(|t| t.info.values().chain(&t.reward)).all(|n| n.is_finite()),
            "a turn's reward or info is not finite".into(),
        ),
    ])
}

fn ends_are_typed(episode: &Episode) -> Vec<String> {
    let broken_tool = episode.turns.iter().flat_map(|t| &t.calls).any(|c| c.end == CallEnd::Broken);
    let unknown = match &episode.end {
        End::Unknown => true,
        End::Failed { fault } => fault.boundary == Boundary::Unknown,
        _ => false,
    };
    // An import that failed before it began has no segment that could say so.
    let imported = episode.transcript.imported() || episode.transcript.segments().is_empty();
    violated([
        (
            !broken_tool || matches!(episode.end, End::Failed { .. }),
            "a tool broke, but the episode does not end as failed".into(),
        ),
        (
            episode.bootstrap.is_none() || !episode.end.terminal(),
            "an episode that really ended carries a bootstrap value".into(),
        ),
        (imported || !unknown, "an episode of ours does not say how it ended; only imported ones may".into()),
        (
            episode.reported.as_ref().is_none_or(|r| r.reward.is_finite()),
            "the reported reward is not a finite number".into(),
        ),
    ])
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
    if outcome.is_valid() != scored.reward().is_some() {
        found.push(format!("sample {name}: outcome {outcome:?} but reward {:?}", scored.reward()));
    }
    if !outcome.is_valid() && outcome != Outcome::Left && sample.trainable() > 0 {
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
