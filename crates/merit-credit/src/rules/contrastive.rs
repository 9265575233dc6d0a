//! Contrastive: of a group only the best and the worst are learned from, short ones first among the best.

use crate::credit::short;
use crate::kernels::{GroupStats, STD_EPSILON, mean_std};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Note, Properties};
use merit_core::{About, Component, Refusal, Sample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of the valid members of a group `keep` are chosen: half of them, rounded up, from the best, the others from the worst. Rewards
/// on the same step of `tie` count as equal; then the shorter comes first among the best and the longer among the worst; those that are equal
/// in both to the last one chosen are chosen too, since nothing tells them apart. The chosen get `(r − mean) / (std + 1e-6)` over the
/// chosen alone, the others weigh nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Contrastive {
    /// Members of a group that are learned from.
    pub keep: usize,
    /// The width of a step on which rewards count as equal; 0 compares them exactly.
    pub tie: f64,
}

impl Default for Contrastive {
    fn default() -> Self {
        Self { keep: 8, tie: 0.05 }
    }
}

impl Component for Contrastive {
    const ABOUT: About = About {
        name: "contrastive",
        summary: "GRPO over the best and the worst of a group, the short ones first among the best.",
        paper: "ChatShopBuddy: Towards Reliable Conversational Shopping Agents via Reinforcement Learning (2026)",
    };
    const EXAMPLE: &'static str = "keep = 8\ntie = 0.05\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.keep >= 2, "keep", self.keep, "at least 2: one has nothing to compare")?;
        Refusal::unless(self.tie >= 0.0 && self.tie.is_finite(), "tie", self.tie, "0 or above")
    }
}

impl CreditRule for Contrastive {
    fn properties(&self) -> Properties {
        Properties::by_episode()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, mut samples): (Vec<_>, Vec<Sample>) = batch.samples()?.into_iter().unzip();
        let rewards: Vec<Option<f64>> = episodes.iter().map(|scored| scored.reward()).collect();
        let mut notes: Vec<Note> = episodes.iter().map(|scored| Note::excluded(scored.outcome())).collect();
        let mut at = 0;
        while at < samples.len() {
            let group = samples[at].group;
            let end = at + samples[at..].iter().take_while(|sample| sample.group == group).count();
            let valid = (at..end).filter_map(|at| Some((at, rewards[at]?, samples[at].trainable())));
            let valid: Vec<(usize, f64, usize)> = valid.collect();
            let chosen = self.choose(&valid);
            let of_chosen = valid.iter().filter(|(at, ..)| chosen.contains(at));
            let stats = GroupStats::of(&of_chosen.map(|(_, reward, _)| *reward).collect::<Vec<_>>());
            for (at, reward, _) in &valid {
                let advantage = match chosen.contains(at) {
                    true if stats.constant => 0.0,
                    true => mean_std(*reward, &stats),
                    false => {
                        samples[*at].weight = 0.0;
                        0.0
                    }
                };
                notes[*at] = note(*reward, &stats, advantage, chosen.contains(at), valid.len());
                let trained = |trained: &bool| if *trained { advantage as f32 } else { 0.0 };
                samples[*at].advantages = Some(samples[*at].mask.iter().map(trained).collect());
            }
            at = end;
        }
        for sample in samples.iter_mut().filter(|sample| sample.advantages.is_none()) {
            sample.advantages = Some(vec![0.0; sample.tokens.len()]);
        }
        Ok(Credit::new(batch.groups, samples, notes))
    }
}

impl Contrastive {
    /// The places of those that are learned from, of members with place, reward and length.
    fn choose(&self, members: &[(usize, f64, usize)]) -> Vec<usize> {
        let step = |reward: f64| if self.tie > 0.0 { (reward / self.tie).floor() } else { reward };
        // The best first, and the shortest first where rewards count as equal.
        let by_worth = |a: &(usize, f64, usize), b: &(usize, f64, usize)| {
            step(b.1).total_cmp(&step(a.1)).then(a.2.cmp(&b.2))
        };
        let mut order = members.to_vec();
        order.sort_by(by_worth);
        let keep = self.keep.min(order.len());
        let best = keep.div_ceil(2);
        let (last_of_best, first_of_worst) =
            (order.get(best.wrapping_sub(1)), order.get(order.len() - (keep - best)));
        let among = |member: &&(usize, f64, usize)| {
            last_of_best.is_some_and(|last| by_worth(member, last).is_le())
                || first_of_worst.is_some_and(|first| by_worth(member, first).is_ge())
        };
        order.iter().filter(among).map(|member| member.0).collect()
    }
}

fn note(reward: f64, stats: &GroupStats, advantage: f64, chosen: bool, valid: usize) -> Note {
    let [reward, mean, std, advantage] = [reward, stats.mean, stats.std, advantage].map(short);
    let count = stats.count;
    Note::new([match chosen {
        true => format!(
            "reward {reward}, one of {count} chosen of {valid}: mean {mean}, std {std}; advantage ({reward} − {mean}) / ({std} + {STD_EPSILON}) = {advantage}"
        ),
        false => format!("reward {reward}, not among the {count} chosen of {valid}: learned from by nobody"),
    }])
}
