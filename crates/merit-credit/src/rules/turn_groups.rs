//! Turn groups: each turn is judged against the same turn of the other members of its group.

use crate::credit::short;
use crate::kernels::GroupStats;
use crate::token_rewards::{is_own, turn_rewards};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Note, Properties};
use merit_core::{About, Component, Outcome, Refusal, Sample, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With turn rewards `r_{i,t}`, over the members of the group that have a turn `t`:
///   `A_{i,t} = (r_{i,t} − mean_t) / (std_t + 1e-8)`, on each token of the turn.
/// A turn is paid its own reward only; nothing later flows back to it. What a reward does not pay by turn is paid at the last
/// turn. Where fewer than `min_rows` members share a turn, the statistics of all turns of the batch take their place.
/// Turns of branches that were left are compared and trained like others: where one of several ways on is gone on with
/// (`rollout.grow` with a width of 1), a turn is held against the other ways on from the same state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TurnGroups {
    /// Divide by the standard deviation. On by default, as published.
    pub scale_by_std: bool,
    /// The fewest members that a turn is compared among.
    pub min_rows: usize,
}

impl Default for TurnGroups {
    fn default() -> Self {
        Self { scale_by_std: true, min_rows: 4 }
    }
}

const EPSILON: f64 = 1e-8;

impl Component for TurnGroups {
    const ABOUT: About = About {
        name: "turn-groups",
        summary: "The reward of each turn against the same turn of the group's other members; nothing flows back.",
        paper: "VPR: Verifiable Process Rewards for Agentic Reasoning (2026), variant A",
    };
    const EXAMPLE: &'static str = "scale_by_std = true\nmin_rows = 4\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(
            self.min_rows >= 2,
            "min_rows",
            self.min_rows,
            "at least 2: one member has nothing to compare",
        )
    }
}

impl CreditRule for TurnGroups {
    fn properties(&self) -> Properties {
        Properties::by_turn()
    }

    fn trains_left(&self) -> bool {
        true
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples_of_turns()?.into_iter().unzip();
        let rewards: Vec<Option<Vec<f64>>> = episodes
            .iter()
            .zip(&samples)
            .map(|(scored, sample)| compared(scored).then(|| turn_rewards(scored, sample)).transpose())
            .collect::<Result<_, _>>()?;
        let rows = samples.iter().zip(&rewards).flat_map(|(sample, rewards)| {
            let turns = rewards.iter().flatten().enumerate().filter(|(turn, _)| is_own(sample, *turn));
            turns.map(|(turn, &reward)| ((sample.group, Some(turn as i64)), reward))
        });
        let pools = Pools::of(rows);
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        for (at, sample) in samples.iter().enumerate() {
            let Some(rewards) = &rewards[at] else {
                advantages.push(Vec::new());
                notes.push(Note::excluded(episodes[at].outcome()));
                continue;
            };
            let judged = rewards.iter().enumerate().map(|(turn, &reward)| {
                let (pool, stats) = match pools.get((sample.group, Some(turn as i64)), self.min_rows) {
                    Some(stats) => ("turn group", stats),
                    None => ("batch", &pools.batch),
                };
                (self.advantage(reward, stats), reward, pool, stats)
            });
            let judged: Vec<_> = judged.collect();
            notes.push(Note::new(judged.iter().enumerate().map(|(turn, (advantage, reward, pool, stats))| {
                let [advantage, reward, mean, std] = [*advantage, *reward, stats.mean, stats.std].map(short);
                let count = stats.count;
                format!("turn {turn}: reward {reward}, {pool} of {count}: mean {mean}, std {std}; advantage {advantage}")
            })));
            advantages.push(judged.into_iter().map(|(advantage, ..)| advantage).collect());
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

impl TurnGroups {
    fn advantage(&self, reward: f64, stats: &GroupStats) -> f64 {
        match stats.constant {
            true => 0.0,
            false if self.scale_by_std => (reward - stats.mean) / (stats.std + EPSILON),
            false => reward - stats.mean,
        }
    }
}

/// Whether the turns of an episode are compared: its outcome counts, or it is a branch that was left.
pub(super) fn compared(scored: &ScoredEpisode) -> bool {
    scored.reward().is_some() || scored.outcome() == Outcome::Left
}

/// What rewards are pooled by: the group, and the place of a turn or a number that the environment told. Absent: it told none.
pub(super) type Key = (usize, Option<i64>);

/// Statistics of rewards: by key, and over the batch.
pub(super) struct Pools {
    keyed: BTreeMap<Key, GroupStats>,
    batch: GroupStats,
}

impl Pools {
    pub(super) fn of(rows: impl Iterator<Item = (Key, f64)>) -> Self {
        let mut keyed: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        for (key, reward) in rows {
            keyed.entry(key).or_default().push(reward);
        }
        let all: Vec<f64> = keyed.values().flatten().copied().collect();
        let keyed = keyed.into_iter().map(|(key, rewards)| (key, GroupStats::of(&rewards))).collect();
        Self { keyed, batch: GroupStats::of(&all) }
    }

    /// What a reward is compared with. Absent: too few share its key.
    pub(super) fn get(&self, key: Key, min_rows: usize) -> Option<&GroupStats> {
        // Members that all earn the same teach nothing, however few they are.
        let enough = |stats: &&GroupStats| stats.count >= min_rows || (stats.count > 1 && stats.constant);
        self.keyed.get(&key).filter(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Sketch;
    use merit_core::Group;

    fn member(turn_rewards: &[f64]) -> Sketch {
        let turns = vec![(1, 1); turn_rewards.len()];
        let reward = turn_rewards.iter().sum();
        Sketch { turn_rewards: turn_rewards.to_vec(), ..Sketch::new(&turns, Outcome::PolicyWrong, reward) }
    }

    fn by_turn(rule: &TurnGroups, members: &[Sketch]) -> Vec<Vec<f64>> {
        let groups: [Group; 1] = [Sketch::group(members, 0).expect("sketches of one task make a group")];
        let credit = rule.assign(&CreditBatch::new(&groups)).expect("sketches are complete");
        let turns = |sample: &Sample| {
            let advantages = sample.advantages.clone().unwrap_or_default();
            sample.turns.iter().map(|range| f64::from(advantages[range.start])).collect()
        };
        credit.samples.iter().map(turns).collect()
    }

    #[test]
    fn a_turn_is_held_against_the_same_turn_of_the_others_and_nothing_flows_back() {
        // Turn 0: 1, 0, 0, 1: mean 1/2, unbiased std sqrt(1/3) = 0.577350; ±0.5 / 0.577350 = ±0.866025.
        // Turn 1: 4, 4, 0, 0: mean 2, std sqrt(16/3) = 2.309401; ±2 / 2.309401 = ±0.866025. The 4 of member 1 does not
        // reach its turn 0.
        let a = 0.866_025_4;
        let members = [member(&[1.0, 4.0]), member(&[0.0, 4.0]), member(&[0.0, 0.0]), member(&[1.0, 0.0])];
        let got = by_turn(&TurnGroups::default(), &members);
        let want = [[a, a], [-a, a], [-a, -a], [a, -a]];
        for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
            assert!((got - want).abs() < 1e-6, "{got}, not {want}");
        }
    }

    #[test]
    fn a_turn_that_few_members_reach_is_held_against_the_batch() {
        // Turn 1 is reached by one member. The batch: 0, 0, 0, 4, 6: mean 2. Turn 0: 0, 0, 0, 4: mean 1.
        let members = [member(&[0.0]), member(&[0.0]), member(&[0.0]), member(&[4.0, 6.0])];
        let rule = TurnGroups { scale_by_std: false, ..TurnGroups::default() };
        assert_eq!(by_turn(&rule, &members), [vec![-1.0], vec![-1.0], vec![-1.0], vec![3.0, 4.0]]);
    }

    #[test]
    fn a_branch_that_was_left_is_compared_by_its_turn_and_paid_nothing_else() {
        // Four ways on from one state, one of which was gone on with and answered right: 1 for the first turn, 1 at the end. The three
        // others were paid 0, 1 and 0 before they were left. Turn 0: mean 1/2; turn 1 is the answerer's alone, held against the batch:
        // 1, 0, 1, 0, 1: mean 3/5.
        let left = |paid: f64| Sketch { outcome: Outcome::Left, ..member(&[paid]) };
        let members = [member(&[1.0, 1.0]), left(0.0), left(1.0), left(0.0)];
        let rule = TurnGroups { scale_by_std: false, ..TurnGroups::default() };
        let got = by_turn(&rule, &members);
        assert_eq!(got[1..], [vec![-0.5], vec![0.5], vec![-0.5]]);
        assert_eq!(got[0][0], 0.5);
        assert!((got[0][1] - 0.4).abs() < 1e-6, "{got:?}");
    }
}
