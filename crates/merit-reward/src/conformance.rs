//! The rules of a score as checks that anybody can run on their own reward and episodes.

use crate::{ScoreContext, Scorer, score_episode};
use merit_core::{End, Episode, Outcome, Reward, TermOutcome, conformance::check_score};
use std::sync::Arc;

/// Every violation found, in words; empty when the rules hold. For each episode: the score keeps rule 5 of the record, is
/// the same when asked twice, lists the terms in order, agrees with its explanation, and leaves broken episodes alone.
pub fn check_reward(scorer: &Scorer, episodes: &[Episode]) -> Vec<String> {
    episodes.iter().flat_map(|episode| check_episode(scorer, episode)).collect()
}

fn check_episode(scorer: &Scorer, episode: &Episode) -> Vec<String> {
    let context = ScoreContext::default();
    let scored = score_episode(scorer, Arc::new(episode.clone()), &context);
    let mut found = Vec::new();
    let mut rule = |holds: bool, what: String| {
        if !holds {
            found.push(format!("episode {}: {what}", episode.id));
        }
    };
    let Some(score) = &scored.score else {
        let broke = matches!(episode.end, End::Failed { .. });
        rule(broke, "it was not scored although it did not break".into());
        rule(!scored.outcome().counts(), "it counts although it was not scored".into());
        return found;
    };
    rule(!matches!(episode.end, End::Failed { .. }), "it broke and was scored".into());
    rule(
        *score == scorer.score(episode, &context),
        "scoring it twice gives two scores; a reward is a function".into(),
    );
    let names: Vec<&str> = score.terms.iter().map(|t| t.name.as_str()).collect();
    rule(names == scorer.term_names(), format!("its terms are {names:?}, not those of the reward"));
    rule(
        explained(&scorer.explain(episode, &context)) == score.reward.value(),
        "its explanation and its reward disagree".into(),
    );
    let broken = score.terms.iter().any(|t| matches!(t.outcome, TermOutcome::GraderFailed { .. }));
    let failed = matches!(score.reward, Reward::GraderFailed { .. });
    rule(!broken || failed, "a broken term is hidden".into());
    rule(
        scored.outcome() != Outcome::Solved || score.solved == Some(true),
        "it counts as solved although no term says so".into(),
    );
    found.extend(check_score(score, episode.turns.len()));
    found
}

/// The number on the first line of an explanation.
fn explained(text: &str) -> Option<f64> {
    text.lines().next()?.strip_prefix("reward = ")?.parse().ok()
}
