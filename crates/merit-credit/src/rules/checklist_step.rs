//! Checklist by step: each turn is judged by the item of a checklist that is open there.

use crate::credit::short;
use crate::kernels::{GroupStats, mean, mean_std};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Differs, Note, Properties, ZeroSum};
use merit_core::{About, Component, Refusal, Sample, ScoredEpisode, TermScore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Items are terms that say yes (from one half on) or no at every turn. They pass in order, each at the first yes after the turn at
/// which the one before it passed, so that one item `c` is open at a turn:
///   `A_{i,t} = pass_{i,c} − b_c`, `b_c` the share of the group that ever passes `c`, over their `std + 1e-6` where `scale_by_std`.
/// Turns at which an item is open that passes later are credited with it too. Where all items have passed the advantage is 0. Since one
/// item is open at a time, the weights of the published formula cancel; the reward itself is not read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChecklistStep {
    /// The names of the terms, in the order in which they pass. Absent: every term of the reward that is told by turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// Divide by the standard deviation. Off by default, as published.
    pub scale_by_std: bool,
}

impl Component for ChecklistStep {
    const ABOUT: About = About {
        name: "checklist-step",
        summary: "Each turn by the item of a checklist that is open there, against the share of the group that ever passes it.",
        paper: "CM2: Reinforcement Learning with Checklist Rewards for Multi-Turn and Multi-Step Agentic Tool Use (2026)",
    };
    const EXAMPLE: &'static str = "scale_by_std = false\n";

    fn check(&self) -> Result<(), Refusal> {
        let mut names: Vec<&String> = self.items.iter().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => {
                Err(Refusal::new(format!("`items` has `{}` twice; an item passes once", twice[0])))
            }
            None => Ok(()),
        }
    }
}

/// How an episode went through the items.
struct Walk {
    /// The place of the item that is open at each turn; as many as items where all have passed.
    open: Vec<usize>,
    /// How many have passed in the end.
    passed: usize,
}

impl CreditRule for ChecklistStep {
    fn properties(&self) -> Properties {
        let learns_from = &[Differs::TurnTerms];
        Properties { zero_sum: ZeroSum::Nothing, pay_stays: false, learns_from, ..Properties::by_turn() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples()?.into_iter().unzip();
        let items = self.items(&episodes);
        let walks = episodes.iter().zip(&samples).map(|(scored, sample)| self.walk(&items, scored, sample));
        let walks: Vec<Option<Walk>> = walks.collect::<Result<_, _>>()?;
        let mut passes: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for (sample, walk) in samples.iter().zip(&walks) {
            if let Some(walk) = walk {
                for item in 0..items.len() {
                    passes.entry((sample.group, item)).or_default().push(walk.has_passed(item));
                }
            }
        }
        let stats: BTreeMap<_, _> =
            passes.into_iter().map(|(key, passes)| (key, GroupStats::of(&passes))).collect();
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        for ((scored, sample), walk) in episodes.iter().zip(&samples).zip(&walks) {
            let Some(walk) = walk else {
                advantages.push(Vec::new());
                notes.push(Note::excluded(scored.outcome()));
                continue;
            };
            let of_turn = |item: &usize| {
                let stats = stats.get(&(sample.group, *item));
                stats.map_or(0.0, |stats| self.advantage(walk.has_passed(*item), stats))
            };
            let of_turns: Vec<f64> = walk.open.iter().map(of_turn).collect();
            notes.push(Note::new(walk.open.iter().zip(&of_turns).enumerate().map(|(turn, (item, advantage))| {
                let (Some(name), Some(stats)) = (items.get(*item), stats.get(&(sample.group, *item))) else {
                    return format!("turn {turn}: no item is open; advantage 0");
                };
                let end = if *item < walk.passed { "passes" } else { "never passes" };
                let (share, count, advantage) = (short(stats.mean), stats.count, short(*advantage));
                format!("turn {turn}: `{name}` is open and {end}; share {share} of {count} members pass it; advantage {advantage}")
            })));
            advantages.push(of_turns);
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

impl ChecklistStep {
    /// The items: those that were named, or every term of the batch that is told by turn.
    fn items(&self, episodes: &[&ScoredEpisode]) -> Vec<String> {
        if !self.items.is_empty() {
            return self.items.clone();
        }
        let by_turn = |terms: &&Vec<TermScore>| terms.iter().any(|term| !term.turns.is_empty());
        let terms = episodes.iter().filter_map(|scored| scored.score.as_ref().map(|score| &score.terms));
        let told = terms.filter(by_turn).max_by_key(|terms| terms.len()).into_iter().flatten();
        told.filter(|term| !term.turns.is_empty()).map(|term| term.name.clone()).collect()
    }

    /// How an episode went through the items; `None` where its outcome is not valid.
    fn walk(
        &self,
        items: &[String],
        scored: &ScoredEpisode,
        sample: &Sample,
    ) -> Result<Option<Walk>, CreditError> {
        let (Some(_), Some(score)) = (scored.reward(), &scored.score) else { return Ok(None) };
        let term = |name: &String| score.terms.iter().find(|term| term.name == *name);
        let unread =
            |name: &&String| term(name).is_none_or(|t| t.turns.is_empty() && t.outcome.value().is_some());
        if let Some(item) = self.items.iter().find(unread) {
            let (rule, episode) = (Self::ABOUT.name, scored.episode.id.clone());
            return Err(CreditError::MissingItem { rule, episode, item: item.clone() });
        }
        let mut walk = Walk { open: Vec::new(), passed: 0 };
        for turn in 0..sample.turns.len() {
            walk.open.push(walk.passed);
            let verdict = items.get(walk.passed).and_then(term).and_then(|term| *term.turns.get(turn)?);
            walk.passed += usize::from(verdict.is_some_and(|verdict| verdict >= 0.5));
        }
        Ok(Some(walk))
    }

    fn advantage(&self, passed: f64, stats: &GroupStats) -> f64 {
        match stats.constant {
            true => 0.0,
            false if self.scale_by_std => mean_std(passed, stats),
            false => mean(passed, stats),
        }
    }
}

impl Walk {
    /// 1 where the item has passed in the end, 0 where it has not.
    fn has_passed(&self, item: usize) -> f64 {
        f64::from(u8::from(item < self.passed))
    }
}
