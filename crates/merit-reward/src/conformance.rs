//! The rules of a score as checks that anybody can run on their own reward and episodes.

use crate::compile::Combinator;
use crate::term::Term;
use crate::{RewardConfig, RewardState, ScoreContext, Scorer};
use merit_core::registry::Components;
use merit_core::{End, Episode, Outcome, Reward, ScoredEpisode, TermOutcome, conformance::check_score};
use std::sync::Arc;

/// Every violation found, in words; empty when the rules hold. The episodes are scored as one batch. For each: the score
/// keeps rule 5 of the record, lists the terms in order, agrees with its explanation, and leaves broken episodes alone. For
/// the batch: scoring it twice, or in another order, gives the same scores.
pub fn check_reward(scorer: &Scorer, episodes: &[Episode]) -> Vec<String> {
    let batch: Vec<Arc<Episode>> = episodes.iter().cloned().map(Arc::new).collect();
    let (context, state) = (ScoreContext::default(), RewardState::default());
    let scored = scorer.score_batch(&batch, &context, &state).episodes;
    let mut found = check_order(scorer, &batch, &scored);
    for (at, scored) in scored.iter().enumerate() {
        let explained = explained(&scorer.explain_in(&batch, at, &context, &state));
        found.extend(check_episode(scorer, scored, explained));
    }
    found
}

fn check_order(scorer: &Scorer, batch: &[Arc<Episode>], scored: &[ScoredEpisode]) -> Vec<String> {
    let reversed: Vec<Arc<Episode>> = batch.iter().rev().cloned().collect();
    let (context, state) = (ScoreContext::default(), RewardState::default());
    let again = scorer.score_batch(batch, &context, &state).episodes;
    let backwards = scorer.score_batch(&reversed, &context, &state).episodes;
    let mut found = Vec::new();
    for ((first, again), backwards) in scored.iter().zip(&again).zip(backwards.iter().rev()) {
        let id = &first.episode.id;
        if first.score != again.score {
            found.push(format!("episode {id}: scoring it twice gives two scores; a reward is a function"));
        }
        if !close(first, backwards) {
            found.push(format!("episode {id}: its score depends on the order of the batch"));
        }
    }
    found
}

/// Sums in another order may differ in their last digits.
fn close(a: &ScoredEpisode, b: &ScoredEpisode) -> bool {
    match (a.score.as_ref().map(|s| &s.reward), b.score.as_ref().map(|s| &s.reward)) {
        (Some(Reward::Value { value: a }), Some(Reward::Value { value: b })) => {
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        // Reasons may name such digits.
        (Some(a), Some(b)) => std::mem::discriminant(a) == std::mem::discriminant(b),
        (a, b) => a == b,
    }
}

fn check_episode(scorer: &Scorer, scored: &ScoredEpisode, explained: Option<f64>) -> Vec<String> {
    let episode = &scored.episode;
    let mut found = Vec::new();
    let mut rule = |holds: bool, what: String| {
        if !holds {
            found.push(format!("episode {}: {what}", episode.id));
        }
    };
    let Some(score) = &scored.score else {
        let broke = matches!(episode.end, End::Failed { .. });
        rule(broke, "it was not scored although it did not break".into());
        rule(!scored.outcome().is_valid(), "it counts although it was not scored".into());
        return found;
    };
    rule(!matches!(episode.end, End::Failed { .. }), "it broke and was scored".into());
    let names: Vec<&str> = score.terms.iter().map(|t| t.name.as_str()).collect();
    rule(names == scorer.term_names(), format!("its terms are {names:?}, not those of the reward"));
    rule(explained == score.reward.value(), "its explanation and its reward disagree".into());
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

/// Every term and combinator of `components` with its example as a whole reward in TOML.
pub fn examples(components: &Components) -> Vec<(&'static str, String)> {
    let terms = components.entries::<dyn Term>().iter().map(|entry| (entry.about.name, entry.example));
    let combinators =
        components.entries::<dyn Combinator>().iter().map(|entry| (entry.about.name, entry.example));
    terms.chain(combinators).map(|(name, example)| (name, format!("type = \"{name}\"\n{example}"))).collect()
}

/// What is wrong with the components of `components`: every example must be read, compile, keep the rules of a score on
/// `episodes`, and be the same reward after it was saved. Empty: nothing is.
pub fn check_examples(components: &Components, episodes: &[Episode]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in examples(components) {
        let checked = components.reading(|| check_example(&text, episodes)).unwrap_or_else(|why| vec![why]);
        found.extend(checked.into_iter().map(|why| format!("`{name}`: {why}")));
    }
    found
}

fn check_example(text: &str, episodes: &[Episode]) -> Result<Vec<String>, String> {
    let config = RewardConfig::from_toml(text).map_err(|error| error.to_string())?;
    let scorer = Scorer::compile(&config).map_err(|error| error.to_string())?;
    let mut found = check_reward(&scorer, episodes);
    let saved = merit_core::settings::to_toml(&config).map_err(|error| error.to_string())?;
    if RewardConfig::from_toml(&saved).map_err(|error| format!("{error}\n{saved}"))? != config {
        found.push("it is another reward after it was saved".to_owned());
    }
    Ok(found)
}
