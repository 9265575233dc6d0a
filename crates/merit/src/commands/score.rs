//! `merit score`: stored or foreign episodes, scored again by any reward, and explained.

use super::{WrongInput, load_episodes};
use crate::cli::rewards::Score;
use crate::out;
use anyhow::{Result, bail};
use merit_core::printable::{self, piece};
use merit_core::{Components, End, Outcome, Reward, ScoredEpisode};
use merit_reward::{ScoredTogether, Scorer};
use merit_run::{RescoredBatch, Rescoring, rescore, reward_file};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) fn run(arguments: &Score, components: &Components) -> Result<()> {
    let reward = reward_file::load_with(&arguments.reward, components)?;
    let scorer = Scorer::opened(&reward.config)?;
    let loaded = load_episodes(&arguments.episodes)?;
    let seed = arguments.seed.map_or_else(|| loaded.seed(), |given| Ok(Some(given)))?;
    let discount = arguments.discount.map_or_else(|| loaded.discount(components), |given| Ok(Some(given)))?;
    let how = Rescoring { seed: seed.unwrap_or(0), discount: discount.unwrap_or(1.0) };
    let batches = rescore(&scorer, &loaded.episodes, loaded.annotations()?, &how);
    match &arguments.explain {
        Some(Some(name)) => return explain_one(&scorer, &batches, name, arguments.json),
        Some(None) => return explain_all(&scorer, &batches, arguments.json),
        None if arguments.json => {
            for scored in batches.iter().flat_map(|batch| &batch.scored) {
                out::line(line(scored))?;
            }
        }
        None => out::text(table(&reward.name, &scorer, &batches))?,
    }
    scored_at_all(&batches)
}

/// Refuses a result in which no episode has a reward and a grader failed. An episode that was broken when it was recorded is as it is.
fn scored_at_all(batches: &[RescoredBatch]) -> Result<()> {
    let scored: Vec<&ScoredEpisode> = batches.iter().flat_map(|batch| &batch.scored).collect();
    if scored.iter().any(|scored| scored.reward().is_some()) {
        return Ok(());
    }
    match usual_reason(&scored, Outcome::GraderFailed) {
        Some((why, _)) => bail!("no episode has a reward: {}", piece(why)),
        None => Ok(()),
    }
}

/// Why episodes came to this outcome, most often, and how many did for that.
fn usual_reason<'a>(scored: &[&'a ScoredEpisode], outcome: Outcome) -> Option<(&'a str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let of_this = scored.iter().copied().filter(|scored| scored.outcome() == outcome);
    for why in of_this.filter_map(reason) {
        *counts.entry(why).or_default() += 1;
    }
    // Of equals the first in the alphabet, so that the same episodes say the same.
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}

/// Why an episode has no reward.
fn reason(scored: &ScoredEpisode) -> Option<&str> {
    if let End::Failed { fault } = &scored.episode.end {
        return Some(&fault.message);
    }
    match &scored.score.as_ref()?.reward {
        Reward::GraderFailed { why } | Reward::Unscorable { why } => Some(why),
        Reward::Value { .. } => None,
    }
}

fn line(scored: &ScoredEpisode) -> serde_json::Value {
    let episode = &scored.episode;
    json!({
        "episode": episode.id.to_string(),
        "task": episode.task.id,
        "outcome": scored.outcome(),
        "reward": scored.reward(),
        "score": scored.score,
        "reported": episode.reported,
    })
}

fn explain_one(scorer: &Scorer, batches: &[RescoredBatch], name: &str, as_json: bool) -> Result<()> {
    for batch in batches {
        let at = batch.scored.iter().position(|scored| scored.episode.id.to_string() == name);
        if let Some(at) = at {
            return explain(scorer, batch, at, as_json);
        }
    }
    let first = batches.first().and_then(|b| b.scored.first()).map(|s| s.episode.id.to_string());
    let example = first.map_or_else(String::new, |id| format!("; they are called like `{id}`"));
    Err(WrongInput(format!("there is no episode `{name}` among these{example}")).into())
}

fn explain_all(scorer: &Scorer, batches: &[RescoredBatch], as_json: bool) -> Result<()> {
    for batch in batches {
        (0..batch.scored.len()).try_for_each(|at| explain(scorer, batch, at, as_json))?;
    }
    Ok(())
}

fn explain(scorer: &Scorer, batch: &RescoredBatch, at: usize, as_json: bool) -> Result<()> {
    let Some(scored) = batch.scored.get(at) else { return Ok(()) };
    let explanation = batch.explain(scorer, at);
    if as_json {
        let mut line = line(scored);
        line["explanation"] = json!(explanation);
        return Ok(out::line(line)?);
    }
    let (id, task) = (scored.episode.id.to_string(), &scored.episode.task.id);
    Ok(out::line(format_args!("{}  task {}\n{}", piece(&id), piece(task), printable::lines(&explanation)))?)
}

fn table(reward: &str, scorer: &Scorer, batches: &[RescoredBatch]) -> String {
    let scored: Vec<&ScoredEpisode> = batches.iter().flat_map(|batch| &batch.scored).collect();
    let rewards: Vec<f64> = scored.iter().filter_map(|scored| scored.reward()).collect();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{reward}: {} episodes, {} with a reward", scored.len(), rewards.len());
    if !rewards.is_empty() {
        let n = rewards.len() as f64;
        let mean = rewards.iter().sum::<f64>() / n;
        let std = (rewards.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / n).sqrt();
        let least = rewards.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let _ = writeln!(text, "reward: mean {mean:.4}, sd {std:.4}, from {least:.4} to {most:.4}");
    }
    for outcome in Outcome::ALL {
        let count = scored.iter().filter(|s| s.outcome() == outcome).count();
        if count > 0 {
            let _ = writeln!(text, "  {:<22} {count:>8}", outcome.name());
            if let Some((why, times)) = usual_reason(&scored, outcome) {
                let _ = writeln!(text, "    most often ({times}): {}", piece(why));
            }
        }
    }
    let _ = writeln!(
        text,
        "\n{:<24} {:>8} {:>10} {:>8} {:>8} {:>8} {:>10}",
        "term", "values", "mean", "n/a", "unread", "broke", "variance"
    );
    let together: Vec<ScoredTogether<'_>> = batches.iter().map(RescoredBatch::together).collect();
    for term in scorer.summarise(&together) {
        let mean = if term.values == 0 { "–".to_owned() } else { format!("{:.4}", term.mean) };
        let _ = writeln!(
            text,
            "{:<24} {:>8} {mean:>10} {:>8} {:>8} {:>8} {:>9.1}%",
            term.name,
            term.values,
            term.not_applicable,
            term.parse_failures,
            term.grader_failures,
            term.variance_share * 100.0
        );
    }
    text
}
