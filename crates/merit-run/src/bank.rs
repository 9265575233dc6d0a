//! `[bank]`: turns of good episodes, shown with tasks that are like theirs.
//!
//! In: scored episodes. Out: for a task, a few of their turns as hints before the policy's first turn. They are looked up once for each
//! task, so that all members of its group read the same, and never among turns of the same task. Hints are not trained, and what is kept
//! of a turn has none in it. Evaluations read the bank and do not change it; a checkpoint keeps it.

use crate::RunError;
use crate::guests::is_guest;
use crate::preface::{case_of, prompt, show_each};
use merit_api::World;
use merit_core::stats::mean;
use merit_core::{ScoredEpisode, Seed};
use merit_memory::form::{shown as shown_turn, turns};
use merit_rollout::EpisodePlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Which turns are kept, and which of them are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bank {
    /// What turns are ranked by while learning and in evaluations.
    pub rank: Rank,
    /// Turns that are looked at, best first.
    pub most: usize,
    /// Of these, a turn that is at least so like the task is left out, unless its reward is a standard deviation or more above their
    /// mean. Absent: none is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novel: Option<f64>,
    /// Turns that are shown with a task.
    pub keep: usize,
    /// The reward of an episode from which on its turns are kept.
    pub stored_at: f64,
    /// Turns that are kept, the newest.
    pub room: usize,
    /// Letters of a turn with everything before it; longer ones are not kept.
    pub longest: usize,
    /// Share of the demonstrations that show turns of others, so that the policy can read them; always by likeness and reward.
    pub demonstrations: f64,
}

/// What turns are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// The cosine of task and turn, and half of the episode's reward.
    #[default]
    LikenessAndReward,
    /// The cosine alone.
    Likeness,
    /// By chance: a control.
    Chance,
    /// Nothing is shown but in demonstrations: a control that begins like the others.
    Nothing,
}

impl Default for Bank {
    fn default() -> Self {
        Self {
            rank: Rank::default(),
            most: 30,
            novel: None,
            keep: 2,
            stored_at: 0.7,
            room: 1000,
            longest: 120,
            demonstrations: 0.5,
        }
    }
}

/// The turns that are kept, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Experience(Vec<KeptTurn>);

/// One turn of a good episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptTurn {
    /// What tells its task from others, whatever its number.
    case: String,
    /// Everything that was said before it, without instructions and hints.
    state: String,
    action: String,
    /// Of its episode.
    reward: f64,
}

impl Experience {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Bank {
    /// Refuses what cannot work, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        crate::checks::at_least_one(&[
            ("bank.most", self.most as u64),
            ("bank.keep", self.keep as u64),
            ("bank.room", self.room as u64),
            ("bank.longest", self.longest as u64),
        ])?;
        if self.keep > self.most {
            let (keep, most) = (self.keep, self.most);
            return Err(format!(
                "`bank.keep` is {keep}, and only {most} turns are looked at (`bank.most`); keep fewer"
            ));
        }
        if !(0.0..=1.0).contains(&self.demonstrations) {
            return Err(format!(
                "`bank.demonstrations` is {}; it is a share between 0 and 1",
                self.demonstrations
            ));
        }
        if self.novel.is_some_and(|novel| !(0.0..=1.0).contains(&novel)) || !self.stored_at.is_finite() {
            return Err(
                "`bank.novel` is a likeness between 0 and 1, and `bank.stored_at` a reward; give numbers"
                    .into(),
            );
        }
        Ok(())
    }

    /// Keeps the turns of good episodes of the policy's own.
    pub(crate) fn store<'a>(&self, kept: &mut Experience, episodes: impl Iterator<Item = &'a ScoredEpisode>) {
        self.store_all(kept, episodes.filter(|scored| !is_guest(&scored.episode)));
    }

    /// The turns of good demonstrations.
    pub(crate) fn of_demonstrations(&self, episodes: &[ScoredEpisode]) -> Experience {
        let mut kept = Experience::default();
        self.store_all(&mut kept, episodes.iter());
        kept
    }

    fn store_all<'a>(&self, kept: &mut Experience, episodes: impl Iterator<Item = &'a ScoredEpisode>) {
        for scored in episodes {
            let Some(reward) = scored.reward().filter(|reward| *reward >= self.stored_at) else { continue };
            let case = case_of(&scored.episode.task);
            for (state, action) in turns(&scored.episode.transcript) {
                if state.len() + action.len() > self.longest {
                    continue;
                }
                let same = |known: &&mut KeptTurn| {
                    known.case == case && known.state == state && known.action == action
                };
                match kept.0.iter_mut().find(same) {
                    Some(known) => known.reward = known.reward.max(reward),
                    None => kept.0.push(KeptTurn { case: case.clone(), state, action, reward }),
                }
            }
        }
        let oldest = kept.0.len().saturating_sub(self.room);
        kept.0.drain(..oldest);
    }

    /// Gives every plan the turns that are shown with its task; how many that are, on average over tasks.
    pub(crate) fn show(
        &self,
        world: &dyn World,
        kept: &Experience,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        self.show_by(self.rank, world, kept, plans)
    }

    /// The same for demonstrations, of which `plans` are those that show something.
    pub(crate) fn show_demonstrations(
        &self,
        world: &dyn World,
        kept: &Experience,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        self.show_by(Rank::LikenessAndReward, world, kept, plans)
    }

    /// Whether the demonstration of this number shows turns of others: evenly spread.
    pub(crate) fn shows_in(&self, demonstration: usize) -> bool {
        let before = |count: usize| (count as f64 * self.demonstrations).floor();
        before(demonstration + 1) > before(demonstration)
    }

    fn show_by(
        &self,
        rank: Rank,
        world: &dyn World,
        kept: &Experience,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        if kept.is_empty() || rank == Rank::Nothing {
            return Ok(0.0);
        }
        let vectors: Vec<Vector> = kept.0.iter().map(|turn| Vector::of(&turn.state)).collect();
        show_each(plans, |plan| {
            let asked = prompt(world, plan)?;
            Ok(self.find(rank, kept, &vectors, &asked, &case_of(&plan.task)))
        })
    }

    /// The turns that are shown where this is asked.
    fn find(
        &self,
        rank: Rank,
        kept: &Experience,
        vectors: &[Vector],
        asked: &str,
        case: &str,
    ) -> Vec<String> {
        let (asked, chance) = (Vector::of(asked), Seed::root(0).child(case, 0));
        let others = kept.0.iter().zip(vectors).zip(0_u64..).filter(|((turn, _), _)| turn.case != case);
        let mut ranked: Vec<(f64, f64, &KeptTurn)> = others
            .map(|((turn, vector), place)| {
                let likeness = asked.cosine(vector);
                let rank = match rank {
                    Rank::LikenessAndReward => likeness + 0.5 * turn.reward,
                    Rank::Likeness => likeness,
                    Rank::Chance | Rank::Nothing => chance.child("turn", place).stream().unit(),
                };
                (rank, likeness, turn)
            })
            .collect();
        // Of equals the newest.
        ranked.reverse();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        ranked.truncate(self.most);
        let rewards: Vec<f64> = ranked.iter().map(|(_, _, turn)| turn.reward).collect();
        let mean = mean(&rewards).unwrap_or(0.0);
        let variance =
            rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / rewards.len().max(1) as f64;
        let excellent = mean + variance.sqrt();
        let copy = |likeness: f64, reward: f64| {
            self.novel.is_some_and(|novel| likeness >= novel && reward < excellent)
        };
        let mut shown: Vec<String> = Vec::new();
        for (_, likeness, turn) in ranked {
            let text = shown_turn(&turn.state, &turn.action);
            if shown.len() < self.keep && !copy(likeness, turn.reward) && !shown.contains(&text) {
                shown.push(text);
            }
        }
        shown
    }
}

/// How often each word and each pair of neighbouring words stands in a text, at length 1; by hash.
struct Vector(BTreeMap<u64, f64>);

impl Vector {
    fn of(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
        for part in words.chunks(1).chain(words.windows(2)) {
            let mut hasher = DefaultHasher::new();
            part.hash(&mut hasher);
            *counts.entry(hasher.finish()).or_default() += 1.0;
        }
        let length = counts.values().map(|count| count * count).sum::<f64>().sqrt();
        counts.values_mut().for_each(|count| *count /= length);
        Self(counts)
    }

    fn cosine(&self, other: &Self) -> f64 {
        self.0.iter().filter_map(|(part, count)| Some(count * other.0.get(part)?)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{Parts, Plan};
    use crate::shipped;
    use merit_core::{Phase, PolicyVersion, Role, Split};

    fn turn(case: &str, state: &str, action: &str, reward: f64) -> KeptTurn {
        KeptTurn { case: case.into(), state: state.into(), action: action.into(), reward }
    }

    fn found(bank: &Bank, kept: Vec<KeptTurn>, asked: &str, case: &str) -> Vec<String> {
        let kept = Experience(kept);
        let vectors: Vec<Vector> = kept.0.iter().map(|turn| Vector::of(&turn.state)).collect();
        bank.find(bank.rank, &kept, &vectors, asked, case)
    }

    #[test]
    fn likeness_is_the_cosine_of_words_and_pairs() {
        // `a b` has the parts a, b, ab; `a c` has a, c, ac: one of three in common.
        let cosine = |one: &str, other: &str| Vector::of(one).cosine(&Vector::of(other));
        assert!((cosine("a b", "a c") - 1.0 / 3.0).abs() < 1e-12);
        assert!((cosine("a b", "a b") - 1.0).abs() < 1e-12);
        assert_eq!((cosine("a", "b"), cosine("", "a")), (0.0, 0.0));
    }

    #[test]
    fn turns_are_ranked_by_likeness_and_half_the_reward() {
        // Likeness to `a b`: 1/3 and 0; with half the reward 0.333 and 0.45.
        let kept = || vec![turn("1", "a c", "x", 0.0), turn("2", "d e", "y", 0.9)];
        let one = |rank: Rank| found(&Bank { rank, keep: 1, ..Bank::default() }, kept(), "a b", "0");
        assert_eq!(one(Rank::LikenessAndReward), ["like d e say y"]);
        assert_eq!(one(Rank::Likeness), ["like a c say x"]);
        assert_eq!(one(Rank::Chance), one(Rank::Chance));
    }

    #[test]
    fn nothing_is_shown_of_the_same_case_and_nothing_twice() {
        let kept = vec![turn("0", "a b", "own", 1.0), turn("1", "a b", "x", 1.0), turn("2", "a b", "x", 1.0)];
        assert_eq!(found(&Bank::default(), kept, "a b", "0"), ["like a b say x"]);
    }

    #[test]
    fn near_copies_are_left_out_unless_they_are_excellent() {
        // Rewards 0.8, 0.8, 0.8, 1: mean 0.85, deviation 0.087. Only the copy with 1 is above 0.937.
        let kept = |copy: f64, other: f64| {
            let far = |case: &str, reward: f64| turn(case, "a c", case, reward);
            vec![turn("1", "a b", "copy", copy), far("2", other), far("3", 0.8), far("4", 0.8)]
        };
        let bank = Bank { novel: Some(0.9), keep: 1, ..Bank::default() };
        assert_eq!(found(&bank, kept(1.0, 0.8), "a b", "0"), ["like a b say copy"]);
        assert_eq!(found(&bank, kept(0.8, 1.0), "a b", "0"), ["like a c say 2"]);
        let all = Bank { novel: None, ..bank };
        assert_eq!(found(&all, kept(0.8, 1.0), "a b", "0"), ["like a b say copy"]);
    }

    #[test]
    fn a_group_reads_the_same_and_hints_are_never_kept() {
        let recipe = shipped::load("clinic-visit").unwrap();
        let parts = Parts::new(&recipe, 1).unwrap();
        let world = parts.env.as_ref();
        let plan = Plan {
            phase: Phase::train(),
            step: 0,
            split: Split::Train,
            first: 0,
            groups: 3,
            group_size: 4,
            version: PolicyVersion(0),
        };
        let bank = Bank { stored_at: -10.0, ..Bank::default() };
        let mut plans = parts.plans(&plan).unwrap();
        let played = |plans: &[EpisodePlan]| crate::warm::tests::played(&parts, plans);
        let mut kept = bank.of_demonstrations(&played(&plans));
        let before = kept.clone();
        assert!(bank.show(world, &kept, &mut plans).unwrap() > 1.0);
        assert_eq!(kept, before, "whoever reads changes nothing");
        for group in plans.chunks(4) {
            assert!(group.iter().all(|plan| plan.preface == group[0].preface && !plan.preface.is_empty()));
            let own = prompt(world, &group[0]).unwrap();
            let leaks = before.0.iter().filter(|turn| turn.case == case_of(&group[0].task));
            let mut texts = leaks.map(|turn| format!("like {} say {}", turn.state, turn.action));
            assert!(texts.all(|text| !group[0].preface.contains(&text)), "{own}");
        }
        // What was played with hints is kept without them: the very same turns.
        let hinted = played(&plans);
        assert!(hinted.iter().all(|s| s.episode.transcript.segments().iter().any(|s| s.role == Role::Hint)));
        bank.store_all(&mut kept, hinted.iter());
        assert_eq!(kept, before);
        let few = Bank { room: 2, ..bank };
        assert_eq!(few.of_demonstrations(&hinted).0[..], before.0[before.len() - 2..]);
    }
}
