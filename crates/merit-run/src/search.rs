//! Search at test time in the stages `evaluate` and `collect`: who says what an episode is worth, and what the search cost.

use crate::RunError;
use crate::act::Actor;
use crate::driver::Drive;
use crate::metrics::Metrics;
use crate::models::{LOG_PROB, MEAN_LOG_PROB, SCORE};
use crate::parts::Parts;
use crate::policy::SharedModel;
use crate::progress::{Event, stalls};
use crate::stages::SearchSettings;
use crate::suite::log_prob;
use merit_core::{Annotations, Cost, End, Episode};
use merit_reward::{RewardState, ScoredBatch};
use merit_rollout::EpisodePlan;
use std::sync::Arc;

/// A search with the judge or reward that values what it finds.
pub(crate) struct Searching {
    how: SearchSettings,
    valuer: Valuer,
}

/// Who says what an episode is worth, finished or not.
enum Valuer {
    /// The log-probability that the policy gave it.
    LogProb,
    /// The same for each token of the policy.
    MeanLogProb,
    /// The reward of the recipe.
    Score,
    /// A model of the recipe.
    Model(SharedModel),
}

pub(crate) struct Found {
    /// The chosen episodes, scored.
    pub(crate) batch: ScoredBatch,
    pub(crate) annotations: Annotations,
    /// What everything that was tried has cost.
    cost: Cost,
}

impl Drive<'_> {
    /// The search that a stage asks for.
    pub(crate) fn searching(&mut self, how: &SearchSettings) -> Result<Searching, RunError> {
        let valuer = match how.value() {
            LOG_PROB => Valuer::LogProb,
            MEAN_LOG_PROB => Valuer::MeanLogProb,
            SCORE => Valuer::Score,
            name => Valuer::Model(self.model(name)?),
        };
        Ok(Searching { how: how.clone(), valuer })
    }
}

impl Searching {
    /// Searches for an episode of each plan's task, and scores what is chosen at `step` with what the reward keeps.
    pub(crate) fn run(
        &self,
        actor: &mut Actor,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        (step, kept): (u64, &RewardState),
        watch: &mut dyn FnMut(Event),
    ) -> Result<Found, RunError> {
        let settings = &parts.recipe.rollout;
        let mut asked = Cost::default();
        let found = self.how.search(
            plans,
            settings,
            |round| actor.roll_out(parts, round, settings, &mut stalls(&mut *watch)),
            |episodes| {
                let (values, cost) = self.valuer.values(parts, episodes, (step, kept))?;
                asked += cost;
                Ok(values)
            },
        )?;
        parts.toolbox.check()?;
        let annotations = parts.annotators.ask(&found.episodes);
        let batch = parts.scorer.score_annotated(&found.episodes, &annotations, &parts.context(step), kept);
        if matches!(self.valuer, Valuer::Model(_)) {
            asked.judge_calls += found.valued;
        }
        Ok(Found { batch, annotations, cost: [found.cost, asked].into_iter().sum() })
    }
}

impl Valuer {
    /// What each episode is worth, and what it cost to ask.
    fn values(
        &self,
        parts: &Parts,
        episodes: &[Arc<Episode>],
        (step, kept): (u64, &RewardState),
    ) -> Result<(Vec<Option<f64>>, Cost), RunError> {
        let values = match self {
            Self::LogProb => episodes.iter().map(|episode| Some(log_prob(episode))).collect(),
            Self::MeanLogProb => episodes.iter().map(|episode| mean_log_prob(episode)).collect(),
            Self::Score => {
                let said = parts.annotators.ask(episodes);
                let scored = parts.scorer.score_annotated(episodes, &said, &parts.context(step), kept);
                let values = scored.episodes.iter().map(merit_core::ScoredEpisode::reward).collect();
                return Ok((values, crate::annotators::cost(&said)));
            }
            Self::Model(model) => {
                let whole = |episode: &&Arc<Episode>| !matches!(episode.end, End::Failed { .. });
                let tokens: Vec<_> =
                    episodes.iter().filter(whole).map(|episode| episode.transcript.tokens()).collect();
                let tokens: Vec<_> = tokens.iter().map(Vec::as_slice).collect();
                let mut scores = model.lock().score(&tokens)?.into_iter();
                episodes.iter().map(|episode| whole(&episode).then(|| scores.next()).flatten()).collect()
            }
        };
        Ok((values, Cost::default()))
    }
}

/// The mean log-probability of what the policy said. Absent: it has said nothing.
fn mean_log_prob(episode: &Episode) -> Option<f64> {
    let tokens = episode.transcript.segments().iter().map(|segment| segment.logprobs.len()).sum::<usize>();
    (tokens > 0).then(|| log_prob(episode) / tokens as f64)
}

impl Found {
    /// What was spent beside the chosen episodes, which tell their own cost.
    pub(crate) fn thrown(&self) -> Cost {
        let own: Cost = self.batch.episodes.iter().map(|scored| scored.episode.cost).sum();
        Cost {
            policy_tokens: self.cost.policy_tokens.saturating_sub(own.policy_tokens),
            read_tokens: self.cost.read_tokens.saturating_sub(own.read_tokens),
            env_steps: self.cost.env_steps.saturating_sub(own.env_steps),
            probe_steps: self.cost.probe_steps.saturating_sub(own.probe_steps),
            tool_calls: self.cost.tool_calls.saturating_sub(own.tool_calls),
            tool_seconds: (self.cost.tool_seconds - own.tool_seconds).max(0.0),
            ..self.cost
        }
    }

    /// What a task cost on average: steps of the world, steps that only repeated what was said, tokens of the policy, and episodes that
    /// a model or a judge valued.
    pub(crate) fn numbers(&self) -> Metrics {
        let tasks = self.batch.episodes.len().max(1) as f64;
        let told = [
            ("env_steps", self.cost.env_steps),
            ("probe_steps", self.cost.probe_steps),
            ("policy_tokens", self.cost.policy_tokens),
            ("judge_calls", self.cost.judge_calls),
        ];
        told.into_iter().map(|(name, spent)| (format!("search/{name}"), spent as f64 / tasks)).collect()
    }
}
