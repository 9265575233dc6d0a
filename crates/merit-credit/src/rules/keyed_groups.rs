//! Keyed groups: what an episode earned while the environment told a number, against the group's others at the same number.

use super::turn_groups::{Key, Pools, compared};
use crate::credit::short;
use crate::kernels::{GroupStats, mean, mean_std};
use crate::token_rewards::{is_own, turn_rewards};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Needs, Note, Properties};
use merit_core::{About, Component, Refusal, Sample, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With `R_{i,k}` the sum of what the turns of member `i` earned at which the info `key` was `k`, over the members that have such turns:
///   `A_{i,t} = R_{i,k(t)} − mean_k`, and over `std_k + 1e-6` where `scale_by_std`, on each token of the turn.
/// What is earned at one number does not reach the turns of another. What a reward does not pay by turn is paid at the last turn.
/// Where fewer than `min_rows` members share a number there is nothing to compare, and the advantage is 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KeyedGroups {
    /// The info of the environment that turns are pooled by, rounded: a round, a phase. Absent: the place of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Divide by the standard deviation. Off by default, as published.
    pub scale_by_std: bool,
    /// The fewest members that are compared.
    pub min_rows: usize,
}

impl Default for KeyedGroups {
    fn default() -> Self {
        Self { key: None, scale_by_std: false, min_rows: 2 }
    }
}

impl Component for KeyedGroups {
    const ABOUT: About = About {
        name: "keyed-groups",
        summary: "What a round of an episode earned against the same round of the group's other members; an info says which round.",
        paper: "CM2: Reinforcement Learning with Checklist Rewards for Multi-Turn and Multi-Step Agentic Tool Use (2026)",
    };
    const EXAMPLE: &'static str = "scale_by_std = false\nmin_rows = 2\n";

    fn check(&self) -> Result<(), Refusal> {
        if self.key.as_ref().is_some_and(String::is_empty) {
            return Err(Refusal::new("`key` is empty; give the name of an info, or leave it out"));
        }
        let why = "at least 2: one member has nothing to compare";
        Refusal::unless(self.min_rows >= 2, "min_rows", self.min_rows, why)
    }
}

struct Earned {
    /// The key of each turn.
    keys: Vec<Key>,
    sums: BTreeMap<Key, f64>,
}

impl CreditRule for KeyedGroups {
    fn properties(&self) -> Properties {
        Properties::by_turn()
    }

    fn needs(&self) -> Needs {
        Needs { infos: self.key.iter().cloned().collect(), ..Needs::default() }
    }

    fn trains_left(&self) -> bool {
        true
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples_of_turns()?.into_iter().unzip();
        self.check_key(&episodes)?;
        let earned = episodes.iter().zip(&samples).map(|(scored, sample)| self.earned(scored, sample));
        let earned: Vec<Option<Earned>> = earned.collect::<Result<_, _>>()?;
        let rows =
            earned.iter().flatten().flat_map(|earned| earned.sums.iter().map(|(key, sum)| (*key, *sum)));
        let pools = Pools::of(rows);
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        for (scored, earned) in episodes.iter().zip(&earned) {
            let Some(Earned { keys, sums }) = earned else {
                advantages.push(Vec::new());
                notes.push(Note::excluded(scored.outcome()));
                continue;
            };
            let judged = sums.iter().map(|(key, &sum)| {
                let stats = pools.get(*key, self.min_rows);
                (*key, (sum, stats, stats.map_or(0.0, |stats| self.advantage(sum, stats))))
            });
            let judged: BTreeMap<Key, (f64, Option<&GroupStats>, f64)> = judged.collect();
            notes.push(Note::new(judged.iter().map(|(key, judged)| self.line(key.1, judged))));
            advantages.push(keys.iter().map(|key| judged.get(key).map_or(0.0, |judged| judged.2)).collect());
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

impl KeyedGroups {
    /// Refuses a key that no turn has although the environment told infos.
    fn check_key(&self, episodes: &[&ScoredEpisode]) -> Result<(), CreditError> {
        let Some(key) = &self.key else { return Ok(()) };
        let mut told = episodes.iter().flat_map(|scored| &scored.episode.turns).map(|turn| &turn.info);
        let told_others = told.clone().any(|info| !info.is_empty());
        match told_others && !told.any(|info| info.contains_key(key)) {
            true => Err(CreditError::MissingInfo { rule: Self::ABOUT.name, key: key.clone() }),
            false => Ok(()),
        }
    }

    /// What an episode earned at each key; `None` where its outcome is not valid.
    fn earned(&self, scored: &ScoredEpisode, sample: &Sample) -> Result<Option<Earned>, CreditError> {
        if !compared(scored) {
            return Ok(None);
        }
        let told = |key: &str, turn: usize| scored.episode.turns.get(turn)?.info.get(key).copied();
        let of_turn = |turn: usize| match &self.key {
            None => Some(turn as i64),
            Some(key) => told(key, turn).map(|number| number.round() as i64),
        };
        let keys: Vec<Key> = (0..sample.turns.len()).map(|turn| (sample.group, of_turn(turn))).collect();
        let mut sums = BTreeMap::new();
        for (turn, (key, reward)) in keys.iter().zip(turn_rewards(scored, sample)?).enumerate() {
            if is_own(sample, turn) {
                *sums.entry(*key).or_insert(0.0) += reward;
            }
        }
        Ok(Some(Earned { keys, sums }))
    }

    fn advantage(&self, sum: f64, stats: &GroupStats) -> f64 {
        match stats.constant {
            true => 0.0,
            false if self.scale_by_std => mean_std(sum, stats),
            false => mean(sum, stats),
        }
    }

    fn line(&self, key: Option<i64>, (sum, stats, advantage): &(f64, Option<&GroupStats>, f64)) -> String {
        let what = self.key.as_deref().unwrap_or("turn");
        let key = key.map_or_else(|| "not told".to_owned(), |key| key.to_string());
        let (sum, advantage) = (short(*sum), short(*advantage));
        match stats {
            Some(GroupStats { count, mean, std, .. }) => {
                let (mean, std) = (short(*mean), short(*std));
                format!(
                    "{what} {key}: earned {sum}, {count} members: mean {mean}, std {std}; advantage {advantage}"
                )
            }
            None => format!("{what} {key}: earned {sum}, too few members to compare; advantage 0"),
        }
    }
}
