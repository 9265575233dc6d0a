//! Guests: episodes of the world's demonstrator that join the groups of a learning step.
//!
//! In: the plans of a step. Out: the guests' episodes, in the policy's tokens, to be scored and compared with the policy's own. How
//! much their credit counts follows from the settings and from what the run has recorded, so that a run that comes back decides
//! alike.

use crate::RunError;
use crate::parts::Parts;
use crate::recipe::Recipe;
use merit_api::{EnvError, Expert, ExpertTurn};
use merit_core::{Episode, Phase, Role, Sample, Seed, Task};
use merit_rollout::{
    ChatFormat, EpisodePlan, NoExpert, OracleSampler, OracleSettings, Progress, RolloutSettings, ToolRuntime,
    roll_out,
};
use merit_store::RunFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which demonstrations join a group, and how much they count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guests {
    /// How many members of each group are guests.
    #[serde(default = "one")]
    pub each: u32,
    /// The shares of the demonstrator's named manners. Empty: it plays right.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub manners: BTreeMap<String, f64>,
    /// Whether a guest says what belongs to the task of another group of the step: a control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shuffled: bool,
    /// What the credit of guests is multiplied with.
    #[serde(default)]
    pub weight: GuestWeight,
}

/// What the credit of guests is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GuestWeight {
    /// The same factor at every step.
    Constant {
        /// The factor.
        value: f64,
    },
    /// `|1 - G'/G| / |1 - H'/H|`, not below 1 and not above `most`, where `G` and `G'` are the policy's mean entropies on the guests of
    /// the last two updates, `H` and `H'` those on its own tokens; 1 until there are two, and where own entropy stands still (RED).
    EntropyRatio {
        /// The largest factor.
        most: f64,
    },
}

impl Default for GuestWeight {
    fn default() -> Self {
        Self::Constant { value: 1.0 }
    }
}

fn one() -> u32 {
    1
}

/// Below this a change of entropy is none.
const STILL: f64 = 1e-4;

impl Guests {
    /// Refuses what cannot work in `recipe`, in words.
    pub(crate) fn check(&self, recipe: &Recipe) -> Result<(), String> {
        let (each, size) = (self.each, recipe.budget.group_size);
        if each == 0 || each >= size {
            return Err(format!(
                "`guests.each` is {each}, and a group has {size} members (`budget.group_size`); invite at least 1 and leave room \
                 for one of the policy's own"
            ));
        }
        if self.shuffled && recipe.budget.groups < 2 {
            return Err(
                "`guests.shuffled` takes what is said from another group of the step; raise `budget.groups`"
                    .into(),
            );
        }
        let (key, number) = match self.weight {
            GuestWeight::Constant { value } => ("value", value),
            GuestWeight::EntropyRatio { most } => ("most", most),
        };
        let least = if key == "most" { 1.0 } else { 0.0 };
        if !(number.is_finite() && number >= least) {
            return Err(format!("`guests.weight.{key}` is {number}; it must be at least {least}"));
        }
        crate::checks::manner_shares("guests.manners", &self.manners, &recipe.world)?;
        let rule = recipe.credit.needs();
        if rule.values
            || rule.probes_per_turn > 0
            || recipe.rollout.tree.is_some()
            || recipe.rollout.grow.is_some()
        {
            let name = recipe.credit.about().name;
            return Err(format!(
                "`[guests]` have no values, probes or forks, which credit rule `{name}`, `rollout.tree` or `rollout.grow` needs; use \
                 {}, without a tree",
                crate::alternatives::credit_rules(recipe, |rule| !rule.needs().values
                    && rule.needs().probes_per_turn == 0)
            ));
        }
        if !recipe.learn.objective.needs().guests {
            let name = recipe.learn.objective.about().name;
            return Err(format!(
                "`[guests]` were not sampled by the policy, and `learn.objective = {name}` trains only what was; use {}",
                crate::alternatives::objectives(recipe, |objective| objective.needs().guests)
            ));
        }
        Ok(())
    }

    /// The plans of guests and those of the policy: guests are the first members of each group.
    pub(crate) fn invite(&self, plans: Vec<EpisodePlan>) -> (Vec<EpisodePlan>, Vec<EpisodePlan>) {
        plans.into_iter().partition(|plan| plan.id.member < self.each)
    }

    pub(crate) fn play(
        &self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        chat: &ChatFormat,
        tools: &ToolRuntime,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Arc<Episode>>, RunError> {
        let env = parts.env.as_ref();
        let expert = env.expert().ok_or_else(|| NoExpert { world: env.about().name })?;
        let other = if self.shuffled { Misplaced::of(expert, &plans) } else { Misplaced::none(expert) };
        let how = OracleSettings { p_correct: 1.0, manners: self.manners.clone() };
        let mut oracle = OracleSampler::following(&other, chat, &how, &plans);
        let context = parts.recipe.model.context();
        let settings = RolloutSettings {
            max_turns: crate::warm::MOST_TURNS,
            turns_per_size: None,
            max_turn_tokens: 256,
            max_episode_tokens: 4096,
            ..parts.recipe.rollout.clone()
        };
        let mut episodes = roll_out(plans, env, &mut oracle, chat, &settings, tools, watch);
        let read =
            |episode: &Episode| crate::warm::imitated(episode).into_iter().map(|turn| turn.tokens.len());
        let length = |episode: &Episode| read(episode).max().unwrap_or(0);
        if self.shuffled {
            // Shuffled solutions do not fit their tasks, so their episodes may end early or not at all.
            episodes.retain(|episode| length(episode) <= context);
            return Ok(episodes);
        }
        if let Some(broken) = episodes.iter().find(|episode| !episode.end.terminal()) {
            return Err(RunError::Demonstration { episode: broken.id.to_string(), end: broken.end.label() });
        }
        match episodes.iter().map(|episode| length(episode)).max().filter(|longest| *longest > context) {
            Some(tokens) => Err(RunError::LongDemonstration { tokens, context }),
            None => Ok(episodes),
        }
    }

    /// Whether `weight` lies between the limits, so that it says something.
    pub(crate) fn steers(&self, weight: f64) -> bool {
        matches!(self.weight, GuestWeight::EntropyRatio { most } if weight > 1.0 && weight < most)
    }

    /// What the credit of guests counts for in `step`, by what the run has recorded.
    pub(crate) fn weight(&self, folder: &RunFolder, phase: &Phase, step: u64) -> Result<f64, RunError> {
        let GuestWeight::EntropyRatio { most } = self.weight else {
            let GuestWeight::Constant { value } = self.weight else { return Ok(1.0) };
            return Ok(value);
        };
        let last_two = |name: &str| -> Result<Option<(f64, f64)>, RunError> {
            let mut seen = folder.metric(phase, name)?;
            seen.retain(|(at, _)| *at < step);
            Ok(match seen.as_slice() {
                [.., (_, before), (_, now)] => Some((*before, *now)),
                _ => None,
            })
        };
        Ok(match (last_two("entropy_guests")?, last_two("entropy_own")?) {
            (Some(guests), Some(own)) => entropy_ratio(guests, own, most),
            _ => 1.0,
        })
    }
}

fn entropy_ratio(guests: (f64, f64), own: (f64, f64), most: f64) -> f64 {
    let change = |(before, now): (f64, f64)| if before > 0.0 { (1.0 - now / before).abs() } else { 0.0 };
    let own = change(own);
    if own < STILL { 1.0 } else { (change(guests) / own).clamp(1.0, most) }
}

/// Multiplies the credit of guests.
pub(crate) fn weigh(samples: &mut [Sample], weight: f64) {
    let guests = samples.iter_mut().filter(|sample| !sample.on_policy);
    for advantage in guests.filter_map(|sample| sample.advantages.as_mut()).flatten() {
        *advantage *= weight as f32;
    }
}

/// Whether a demonstrator played the episode, not the policy.
pub(crate) fn is_guest(episode: &Episode) -> bool {
    let mut spoken = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy);
    spoken.any(|segment| segment.provenance == merit_core::Provenance::Synthetic)
}

/// A demonstrator that plays one task as if it were another.
struct Misplaced<'a> {
    expert: &'a dyn Expert,
    /// The task that is played instead, by the id of the one that is meant.
    instead: BTreeMap<String, Arc<Task>>,
}

impl<'a> Misplaced<'a> {
    fn none(expert: &'a dyn Expert) -> Self {
        Self { expert, instead: BTreeMap::new() }
    }

    /// Every task gets what belongs to the next one.
    fn of(expert: &'a dyn Expert, plans: &[EpisodePlan]) -> Self {
        let next = plans.iter().cycle().skip(1);
        let pairs = plans.iter().zip(next);
        Self {
            expert,
            instead: pairs.map(|(plan, next)| (plan.task.id.clone(), Arc::clone(&next.task))).collect(),
        }
    }

    fn meant<'t>(&'t self, task: &'t Task) -> &'t Task {
        self.instead.get(&task.id).map_or(task, |other| other)
    }
}

impl Expert for Misplaced<'_> {
    fn say(&self, task: &Task, turns: &[ExpertTurn], skill: f64, seed: &Seed) -> Result<String, EnvError> {
        self.expert.say(self.meant(task), turns, skill, seed)
    }

    fn say_in(
        &self,
        manner: &str,
        task: &Task,
        turns: &[ExpertTurn],
        seed: &Seed,
    ) -> Result<String, EnvError> {
        self.expert.say_in(manner, self.meant(task), turns, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_says_how_much_more_the_entropy_moves_on_guests() {
        let check = |guests, own, want: f64| {
            let got = entropy_ratio(guests, own, 7.0);
            assert!((got - want).abs() < 1e-9, "{got}, not {want}");
        };
        check((1.0, 0.7), (1.0, 0.9), 3.0);
        check((1.0, 1.3), (1.0, 0.9), 3.0);
        check((1.0, 0.99), (1.0, 0.9), 1.0);
        check((1.0, 0.1), (1.0, 0.9), 7.0);
        // Own entropy that stands still says nothing.
        check((1.0, 0.1), (1.0, 1.0), 1.0);
        check((0.0, 0.1), (0.0, 1.0), 1.0);
    }
}
