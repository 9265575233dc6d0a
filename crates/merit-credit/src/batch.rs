//! What a credit rule is given, and the ways of writing advantages that rules share.

use crate::credit::samples_of;
use crate::kernels::{GroupStats, Rows, group_advantages};
use crate::{Credit, CreditError, Note, Tree};
use merit_core::{Annotation, Annotations, EpisodeId, Group, Sample, ScoredEpisode, Seed};

/// What a credit rule is given: scored groups, and what it declared to need.
#[derive(Debug, Clone, Copy)]
pub struct CreditBatch<'a> {
    /// Scored episodes by task. Forks of a member stand in its group; [`Sample::of`] trains their common beginning once.
    pub groups: &'a [Group],
    /// Continuations from turns of these episodes; empty unless the rule needs them.
    pub probes: &'a [Probe],
    /// What was said of the episodes before they were scored. Absent: nobody was asked.
    pub annotations: Option<&'a Annotations>,
    /// For rules that draw. The same batch and seed give the same credit.
    pub seed: Seed,
}

/// Continuations from one turn of an episode, run only to measure what the state there is worth.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The episode that was continued.
    pub episode: EpisodeId,
    /// The first turn that was sampled anew, from 0.
    pub turn: u32,
    /// The continuations, scored as whole episodes.
    pub continuations: Vec<ScoredEpisode>,
}

impl Probe {
    /// Mean reward of the valid continuations: what the state before the turn is worth. `None` when none is valid.
    pub fn value(&self) -> Option<f64> {
        let rewards: Vec<f64> = self.continuations.iter().filter_map(ScoredEpisode::reward).collect();
        (!rewards.is_empty()).then(|| rewards.iter().sum::<f64>() / rewards.len() as f64)
    }
}

impl<'a> CreditBatch<'a> {
    /// A batch of groups alone.
    pub fn new(groups: &'a [Group]) -> Self {
        Self { groups, probes: &[], annotations: None, seed: Seed::root(0) }
    }

    /// The same with continuations of turns, for rules that ask for them.
    #[must_use]
    pub fn with_probes(self, probes: &'a [Probe]) -> Self {
        Self { probes, ..self }
    }

    /// The same with what was said of the episodes.
    #[must_use]
    pub fn with_annotations(self, annotations: &'a Annotations) -> Self {
        Self { annotations: Some(annotations), ..self }
    }

    /// The same with a seed.
    #[must_use]
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// One sample per episode, before credit, beside the episode it comes from.
    pub fn samples(&self) -> Result<Vec<(&'a ScoredEpisode, Sample)>, CreditError> {
        samples_of(self.groups, Sample::of)
    }

    /// The same for rules that learn from branches that were left.
    pub fn samples_of_turns(&self) -> Result<Vec<(&'a ScoredEpisode, Sample)>, CreditError> {
        samples_of(self.groups, Sample::of_turns)
    }

    /// The tree that a group has grown in, by its place in the batch.
    pub fn tree(&self, group: usize) -> Result<Tree, CreditError> {
        let members = samples_of(self.groups.get(group).map_or(&[], std::slice::from_ref), Sample::of)?;
        Ok(Tree::of(members.iter().map(|(_, sample)| sample)))
    }

    /// What was said of an episode under this name. Absent: whoever was asked could not say. An episode of which nobody was asked is refused.
    pub fn annotation(
        &self,
        rule: &'static str,
        episode: &EpisodeId,
        name: &str,
    ) -> Result<Option<&'a Annotation>, CreditError> {
        match self.annotations.and_then(|all| all.get(episode)) {
            Some(said) => Ok(said.iter().find(|annotation| annotation.name == name)),
            None => {
                let annotation = name.to_owned();
                Err(CreditError::MissingAnnotation { rule, episode: episode.clone(), annotation })
            }
        }
    }

    /// What was said of each turn of an episode under this name; `None` where nothing was, which is not 0.
    pub fn turn_annotations(
        &self,
        rule: &'static str,
        scored: &ScoredEpisode,
        name: &str,
    ) -> Result<Vec<Option<f64>>, CreditError> {
        let (id, want) = (&scored.episode.id, scored.episode.turns.len());
        let turns = self.annotation(rule, id, name)?.map_or(&[][..], |said| &said.turns);
        if !turns.is_empty() && turns.len() != want {
            let (annotation, got) = (name.to_owned(), turns.len());
            return Err(CreditError::AnnotatedTurns { episode: id.clone(), annotation, got, want });
        }
        match turns.iter().flatten().find(|value| !value.is_finite()) {
            Some(&value) => {
                Err(CreditError::NotFinite { episode: id.clone(), what: "annotation of a turn", value })
            }
            None if turns.is_empty() => Ok(vec![None; want]),
            None => Ok(turns.to_vec()),
        }
    }

    /// What the states before the turns of an episode are worth, by its probes; `None` where nobody knows.
    pub fn values_of(&self, episode: &EpisodeId, turns: usize) -> Vec<Option<f64>> {
        let mut values = vec![None; turns];
        for probe in self.probes.iter().filter(|probe| probe.episode == *episode) {
            if let Some(value) = values.get_mut(probe.turn as usize) {
                *value = probe.value();
            }
        }
        values
    }

    /// Credit by comparison with the group: `advantage` of an episode's reward and the statistics of its group, written on
    /// each of its trainable tokens. `words` is the same formula with its numbers. A group with nothing to compare gets 0.
    pub fn per_episode(
        &self,
        advantage: impl Fn(f64, &GroupStats) -> f64,
        words: impl Fn(&str, &GroupStats) -> String,
    ) -> Result<Credit, CreditError> {
        let (episodes, mut samples): (Vec<_>, Vec<_>) = self.samples()?.into_iter().unzip();
        let rewards: Vec<Option<f64>> = episodes.iter().map(|scored| scored.reward()).collect();
        let groups: Vec<u32> = samples.iter().map(|sample| sample.group as u32).collect();
        let (bounds, mask) = layout(&samples);
        let mut flat = vec![0.0; mask.len()];
        let compared =
            group_advantages(&Rows::new(&bounds, &mask)?, &rewards, &groups, advantage, &mut flat)?;
        let mut notes = Vec::with_capacity(samples.len());
        for (at, sample) in samples.iter_mut().enumerate() {
            sample.advantages = Some(flat[bounds[at]..bounds[at + 1]].to_vec());
            notes.push(match rewards[at] {
                None => Note::excluded(episodes[at].outcome()),
                Some(reward) => {
                    let stats = &compared.stats[&groups[at]];
                    group_note(reward, stats, compared.per_row[at], sample.trainable(), &words)
                }
            });
        }
        Ok(Credit::new(self.groups, samples, notes))
    }

    /// Credit by turn: `advantages[i][t]` on each trainable token of turn `t` of the `i`-th episode. `None` in place of an
    /// episode's advantages: it has no valid outcome and gets none.
    pub fn per_turn(
        &self,
        samples: Vec<Sample>,
        advantages: &[Vec<f64>],
        notes: Vec<Note>,
    ) -> Result<Credit, CreditError> {
        let mut samples = samples;
        for (sample, turns) in samples.iter_mut().zip(advantages) {
            let mut stream = vec![0.0; sample.tokens.len()];
            for (range, &advantage) in sample.turns.iter().zip(turns) {
                for at in range.clone().filter(|&at| sample.mask[at]) {
                    stream[at] = advantage as f32;
                }
            }
            sample.advantages = Some(stream);
        }
        Ok(Credit::new(self.groups, samples, notes))
    }
}

/// The samples one after another: where each begins and ends, and which of their tokens are trainable.
fn layout(samples: &[Sample]) -> (Vec<usize>, Vec<bool>) {
    let mask: Vec<bool> = samples.iter().flat_map(|sample| sample.mask.iter().copied()).collect();
    let mut bounds = vec![0];
    for sample in samples {
        bounds.push(bounds[bounds.len() - 1] + sample.tokens.len());
    }
    (bounds, mask)
}

fn group_note(
    reward: f64,
    stats: &GroupStats,
    advantage: f64,
    trainable: usize,
    words: &impl Fn(&str, &GroupStats) -> String,
) -> Note {
    let [reward, mean, std, advantage] = [reward, stats.mean, stats.std, advantage].map(crate::credit::short);
    let count = stats.count;
    let how = match () {
        () if count < 2 => "alone in its group, so there is nothing to compare".to_owned(),
        () if stats.constant => "all valid members have the same reward up to float noise".to_owned(),
        () => words(&reward, stats),
    };
    Note::new([
        format!("reward {reward}, {count} valid members, group mean {mean}, group std {std}"),
        format!("advantage of each of {trainable} trainable tokens = {advantage}: {how}"),
    ])
}
