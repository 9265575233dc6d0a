//! Numbers about a batch of scored episodes. Pure.

use crate::guests::is_guest;
use merit_core::stats::{mean, quantile, sd};
use merit_core::{End, Group, Outcome, Reward, ScoredEpisode, TermOutcome};
use std::collections::BTreeMap;

/// Named numbers of one step.
pub type Metrics = BTreeMap<String, f64>;

/// Success over the episodes that count; `None` when none does.
pub fn success(episodes: &[&ScoredEpisode]) -> Option<f64> {
    let counting = episodes.iter().map(|e| e.outcome()).filter(|o| o.is_verdict());
    let solved: Vec<f64> = counting.map(|o| f64::from(u8::from(o == Outcome::Solved))).collect();
    mean(&solved)
}

/// Why episodes have no verdict, and how many for each reason.
pub fn causes(broken: &[&ScoredEpisode]) -> BTreeMap<String, usize> {
    let mut causes = BTreeMap::new();
    broken.iter().for_each(|one| *causes.entry(cause(one)).or_default() += 1);
    causes
}

/// What is said where every episode broke or could not be graded. Absent: one of them tells something of the policy, or there are
/// none.
pub fn all_broke(episodes: &[&ScoredEpisode]) -> Option<String> {
    let broke =
        |one: &&ScoredEpisode| matches!(one.outcome(), Outcome::GraderFailed | Outcome::InfrastructureFailed);
    if episodes.is_empty() || !episodes.iter().all(broke) {
        return None;
    }
    let mut causes: Vec<(String, usize)> = causes(episodes).into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown: Vec<String> = causes.iter().take(3).map(|(why, count)| format!("{count} x {why}")).collect();
    let more =
        if causes.len() > 3 { format!("; and {} other causes", causes.len() - 3) } else { String::new() };
    Some(format!(
        "none of {} counts: {}{more}",
        merit_core::printable::count(episodes.len(), "episode"),
        shown.join("; ")
    ))
}

/// Why an episode has no verdict.
fn cause(one: &ScoredEpisode) -> String {
    match (&one.episode.end, &one.score) {
        (End::Failed { fault }, _) => fault.message.clone(),
        (_, Some(score)) => match &score.reward {
            Reward::Unscorable { why } | Reward::GraderFailed { why } => why.clone(),
            Reward::Value { .. } => one.outcome().name().to_owned(),
        },
        (_, None) => one.outcome().name().to_owned(),
    }
}

/// What is said of a training step's groups, before the update.
pub fn of_groups(groups: &[Group]) -> Metrics {
    // What a demonstrator did says nothing of the policy.
    let own =
        groups.iter().map(|group| group.members().iter().filter(|one| !is_guest(&one.episode)).collect());
    let own: Vec<Vec<&ScoredEpisode>> = own.collect();
    let mut metrics = of_episodes(&own.concat());
    let by_group: Vec<f64> = own.iter().filter_map(|group| success(group)).collect();
    if let (Some(low), Some(high)) = (quantile(&by_group, 0.25), quantile(&by_group, 0.75)) {
        metrics.insert("success_q25".into(), low);
        metrics.insert("success_q75".into(), high);
    }
    metrics.insert("constant_groups".into(), groups.iter().filter(|g| g.constant()).count() as f64);
    metrics
}

/// What is said of any episodes: success, reward, terms and lengths over those that count, outcomes over all.
pub fn of_episodes(episodes: &[&ScoredEpisode]) -> Metrics {
    let mut metrics = Metrics::new();
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            metrics.insert(name.to_owned(), value);
        }
    };
    let counting: Vec<&ScoredEpisode> = episodes.iter().copied().filter(|e| e.outcome().is_valid()).collect();
    let numbers =
        |of: &dyn Fn(&ScoredEpisode) -> f64| -> Vec<f64> { counting.iter().map(|e| of(e)).collect() };
    put("success", success(episodes));
    let rewards: Vec<f64> = episodes.iter().filter_map(|e| e.reward()).collect();
    put("reward", mean(&rewards));
    put("reward_sd", sd(&rewards));
    put("turns_mean", mean(&numbers(&|e| e.episode.turns.len() as f64)));
    put("tokens_mean", mean(&numbers(&|e| e.episode.cost.policy_tokens as f64)));
    put("calls_mean", mean(&numbers(&|e| e.episode.cost.tool_calls as f64)));
    for outcome in Outcome::ALL {
        let count = episodes.iter().filter(|e| e.outcome() == outcome).count();
        // A recipe's reward always tells whether a task was solved, unless its term has nothing to say of an episode; branches are
        // left in grown trees alone.
        let seldom = matches!(outcome, Outcome::Scored | Outcome::Left) && count == 0;
        put(&format!("outcome/{}", outcome.name()), (!seldom).then_some(count as f64));
    }
    for (name, values) in term_values(&counting) {
        put(&format!("term/{name}"), mean(&values));
    }
    put("parse_failures", Some(parse_failures(episodes) as f64));
    metrics
}

/// The numbers as rows for a store.
pub fn rows(metrics: &Metrics) -> Vec<(&str, f64)> {
    metrics.iter().map(|(name, value)| (name.as_str(), *value)).collect()
}

/// Mean of each reward term over the episodes it applies to.
pub fn terms(metrics: &Metrics) -> BTreeMap<String, f64> {
    metrics
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("term/")?.to_owned(), *value)))
        .collect()
}

fn term_values(episodes: &[&ScoredEpisode]) -> BTreeMap<String, Vec<f64>> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for term in episodes.iter().filter_map(|e| e.score.as_ref()).flat_map(|s| &s.terms) {
        if let Some(value) = term.outcome.value() {
            values.entry(term.name.clone()).or_default().push(value);
        }
    }
    values
}

fn parse_failures(episodes: &[&ScoredEpisode]) -> usize {
    let terms = episodes.iter().filter_map(|e| e.score.as_ref()).flat_map(|s| &s.terms);
    terms.filter(|t| matches!(t.outcome, TermOutcome::ParseFailure { .. })).count()
}
