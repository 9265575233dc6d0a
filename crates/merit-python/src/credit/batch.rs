//! Rows of arrays as the episodes that a credit rule reads. A run of `True` in a row of the mask is a turn.

use merit_core::{
    Action, End, Episode, EpisodeId, Group, Limit, Phase, PolicyVersion, Provenance, Reward, Role, Score,
    ScoredEpisode, Seed, Segment, Task, TokenId, Transcript, Turn,
};
use merit_credit::{CreditBatch, CreditRule};
use std::ops::Range;
use std::sync::Arc;

/// A batch of arrays.
pub(super) struct Given<'a> {
    pub(super) mask: &'a [bool],
    pub(super) values: Option<&'a [f32]>,
    /// Where each row begins, and where the last one ends.
    pub(super) bounds: &'a [usize],
    pub(super) rewards: Vec<Option<f64>>,
    pub(super) turn_rewards: Option<Vec<Vec<f64>>>,
    pub(super) truncated: Option<Vec<bool>>,
    pub(super) last_values: Option<Vec<f32>>,
    pub(super) groups: Vec<u32>,
}

impl Given<'_> {
    pub(super) fn assign(
        &self,
        rule: &dyn CreditRule,
        seed: u64,
    ) -> Result<(Vec<f32>, Option<Vec<f32>>), String> {
        let mut order: Vec<(u32, Vec<usize>)> = Vec::new();
        for (row, group) in self.groups.iter().enumerate() {
            match order.iter_mut().find(|(known, _)| known == group) {
                Some((_, rows)) => rows.push(row),
                None => order.push((*group, vec![row])),
            }
        }
        let groups = order.iter().map(|(group, rows)| {
            let members: Result<Vec<ScoredEpisode>, String> = rows
                .iter()
                .enumerate()
                .map(|(member, &row)| self.episode(row, *group, member as u32))
                .collect();
            Group::assemble(members?).map_err(|why| why.to_string())
        });
        let groups = groups.collect::<Result<Vec<Group>, String>>()?;
        let batch = CreditBatch::new(&groups).with_seed(Seed::root(seed));
        let credit = rule.assign(&batch).map_err(|why| why.to_string())?;
        let mut advantages = vec![0.0; self.mask.len()];
        let mut returns = None;
        let rows = order.iter().flat_map(|(_, rows)| rows);
        for (&row, sample) in rows.zip(&credit.samples) {
            let Some(range) = self.span(row) else { continue };
            if let Some(given) = &sample.advantages {
                advantages[range.clone()].copy_from_slice(given);
            }
            if let Some(given) = &sample.returns {
                returns.get_or_insert_with(|| vec![0.0; self.mask.len()])[range].copy_from_slice(given);
            }
        }
        Ok((advantages, returns))
    }

    /// From the first token that the policy chose to the last: what lies outside is nobody's to credit.
    fn span(&self, row: usize) -> Option<Range<usize>> {
        let start = self.bounds[row];
        let mask = &self.mask[start..self.bounds[row + 1]];
        let first = mask.iter().position(|&chosen| chosen)?;
        let last = mask.iter().rposition(|&chosen| chosen)?;
        Some(start + first..start + last + 1)
    }

    fn episode(&self, row: usize, group: u32, member: u32) -> Result<ScoredEpisode, String> {
        let mut transcript = Transcript::default();
        let mut turns: Vec<Turn> = Vec::new();
        let span = self.span(row).unwrap_or(0..0);
        let mut at = span.start;
        while at < span.end {
            let chosen = self.mask[at];
            let length = self.mask[at..span.end].iter().take_while(|&&other| other == chosen).count();
            let turn = turns.len() as u32;
            if chosen {
                turns.push(Turn::new(turn, Action::Say { text: String::new() }));
            }
            let values = self.values.filter(|_| chosen).map(|values| values[at..at + length].to_vec());
            let segment = Segment {
                role: if chosen { Role::Policy } else { Role::Environment },
                provenance: Provenance::Sampled,
                turn,
                tokens: vec![TokenId(0); length],
                logprobs: if chosen { vec![0.0; length] } else { Vec::new() },
                values: values.unwrap_or_default(),
                policy_version: chosen.then_some(PolicyVersion(0)),
                text: String::new(),
                known: merit_core::Known::Full,
            };
            transcript.append(segment).map_err(|why| why.to_string())?;
            at += length;
        }
        let cut = self.truncated.as_ref().is_some_and(|cut| cut[row]);
        let end = if cut { End::Truncated { limit: Limit::Turns } } else { End::EnvironmentDone };
        let bootstrap = self.last_values.as_ref().filter(|_| cut).map(|last| last[row]);
        let id = EpisodeId { phase: Phase::train(), step: 0, group, member, branch: 0 };
        let task = Task::new("arrays", format!("arrays/{group}"));
        let count = turns.len();
        let episode = Episode::new(id, task, end)
            .with_transcript(transcript)
            .with_turns(turns)
            .with_bootstrap(bootstrap);
        let reward = match self.rewards[row].filter(|reward| !reward.is_nan()) {
            Some(value) => Reward::Value { value },
            None => Reward::Unscorable { why: "there is no reward".to_owned() },
        };
        let mut score = Score::new(reward);
        if let Some(paid) = self.turn_rewards.as_ref().map(|paid| &paid[row]).filter(|paid| !paid.is_empty())
        {
            if paid.len() != count {
                return Err(format!(
                    "row {row} has {count} turns in the mask and {} turn rewards",
                    paid.len()
                ));
            }
            score = score.with_turn_rewards(paid.clone());
        }
        Ok(ScoredEpisode { episode: Arc::new(episode), score: Some(score) })
    }
}
