//! The warm start: a tokenizer and a policy with mediocre manners, from demonstrations alone.
//!
//! In: a world with a demonstrator, or the lessons of another teacher. Out: token sequences of played demonstrations, laid out
//! exactly as rollouts are, and the supervised updates over them. The teacher's skill decides how good the manners are.

use crate::RunError;
use crate::lessons::Lessons;
use crate::model::FreshModel;
use crate::parts::{Parts, Plan};
use crate::progress::{Event, stalls};
use crate::stages::Supervision;
use merit_api::{Expert, World};
use merit_core::{Episode, InSight, Phase, PolicyVersion, Seed, Split};
use merit_learn::{LearnConfig, Learner, Optimiser, Schedule, SftSequence};
use merit_model::{Tokenizer, Trainer};
use merit_reward::RewardState;
use merit_rollout::{
    ChatFormat, EpisodePlan, NoExpert, OracleSampler, OracleSettings, RolloutSettings, ToolRuntime, roll_out,
};
use std::sync::Arc;

/// Turns that a demonstration may have.
pub(crate) const MOST_TURNS: u32 = 64;

/// Trains a tokenizer on what is said in the first demonstrations, read byte by byte. Words of the world that are one token each come
/// on top of the vocabulary.
pub(crate) fn tokenizer(
    parts: &Parts,
    model: &FreshModel,
    lessons: Option<&Lessons>,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Tokenizer, RunError> {
    const ENOUGH: usize = 400;
    let count = parts.recipe.warm().demonstrations.min(ENOUGH);
    let episodes = play(parts, lessons, &crate::roles::bytes()?, count, tools, watch)?;
    let texts = episodes.iter().flat_map(|e| e.transcript.segments()).map(|s| s.text.as_str());
    let whole: Vec<String> = parts.env.words().into_iter().map(|word| word.text).collect();
    Ok(Tokenizer::train_with(texts, model.vocabulary, &whole)?)
}

/// What is imitated of an episode: all of it, or each turn with what was in sight.
pub(crate) fn imitated(episode: &Episode) -> Vec<SftSequence> {
    let (tokens, mask) = (episode.transcript.tokens(), episode.transcript.mask());
    let Some(window) = episode.window else { return vec![SftSequence { tokens, mask, weight: 1.0 }] };
    let turns = window.cut(&episode.transcript.policy_ranges());
    let turn =
        |sight: InSight| SftSequence { tokens: sight.of(&tokens), mask: sight.own_mask(&mask), weight: 1.0 };
    turns.into_iter().map(turn).collect()
}

/// Plays the demonstrations of the recipe: all tokens, to be imitated where the demonstrator spoke.
pub(crate) fn demonstrations(
    parts: &Parts,
    lessons: Option<&Lessons>,
    chat: &ChatFormat,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<SftSequence>, RunError> {
    let episodes = play(parts, lessons, chat, parts.recipe.warm().demonstrations, tools, watch)?;
    let mut sequences: Vec<SftSequence> = episodes.iter().flat_map(|episode| imitated(episode)).collect();
    let read = |s: &SftSequence| s.mask.iter().rposition(|&m| m).map_or(0, |last| last + 1);
    let longest = sequences.iter().map(read).max().unwrap_or(0);
    let context = parts.recipe.model.context();
    if lessons.is_some() {
        // A model that teaches says as much as it likes; the policy learns from what it can read.
        let all = sequences.len();
        sequences.retain(|sequence| read(sequence) <= context);
        let long = all - sequences.len();
        if long > 0 {
            let text = format!(
                "{long} of {all} demonstrations are longer than the context of {context} tokens and left out"
            );
            watch(Event::Note { text });
        }
    }
    if longest > context && (lessons.is_none() || sequences.is_empty()) {
        return Err(RunError::LongDemonstration { tokens: longest, context });
    }
    Ok(sequences)
}

/// The episodes of the first `count` demonstrations.
pub(crate) fn plans(parts: &Parts, env: &dyn World, count: usize) -> Result<Vec<EpisodePlan>, RunError> {
    let plan = Plan {
        phase: Phase::Demonstration,
        step: 0,
        split: Split::Train,
        first: 0,
        groups: count as u32,
        group_size: 1,
        version: PolicyVersion(0),
    };
    parts.plans_in(env, &plan)
}

/// Plays demonstrations. Where the recipe has a bank or a memory, some of them are played again with what it shows.
fn play(
    parts: &Parts,
    lessons: Option<&Lessons>,
    chat: &ChatFormat,
    count: usize,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<Arc<Episode>>, RunError> {
    let env = parts.demonstration_env()?;
    let mut plans = plans(parts, env, count)?;
    if let Some(lessons) = lessons {
        plans.retain(|plan| lessons.teach(&plan.task));
    }
    let (bank, memory) = (&parts.recipe.bank, &parts.recipe.memory);
    if bank.is_none() && memory.is_none() {
        return played(parts, lessons, chat, plans, tools, watch);
    }
    let mut episodes = played(parts, lessons, chat, plans.clone(), tools, watch)?;
    let scored = parts.scorer.score_batch(&episodes, &parts.context(0), &RewardState::default()).episodes;
    let shows = |at: usize| {
        bank.as_ref().is_some_and(|bank| bank.shows_in(at))
            || memory.as_ref().is_some_and(|memory| memory.shows_in(at))
    };
    let again = plans.into_iter().enumerate().filter(|(at, _)| shows(*at));
    let (places, mut again): (Vec<usize>, Vec<EpisodePlan>) = again.unzip();
    if let Some(bank) = bank {
        bank.show_demonstrations(env, &bank.of_demonstrations(&scored), &mut again)?;
    }
    if let Some(memory) = memory {
        memory.show_demonstrations(env, &memory.of_demonstrations(&scored)?, &mut again)?;
    }
    for (at, episode) in places.into_iter().zip(played(parts, lessons, chat, again, tools, watch)?) {
        episodes[at] = episode;
    }
    Ok(episodes)
}

fn played(
    parts: &Parts,
    lessons: Option<&Lessons>,
    chat: &ChatFormat,
    plans: Vec<EpisodePlan>,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<Arc<Episode>>, RunError> {
    let env = parts.demonstration_env()?;
    let expert: &dyn Expert = match lessons {
        Some(lessons) => lessons,
        None => env.expert().ok_or_else(|| NoExpert { world: env.about().name })?,
    };
    // Lessons are repeated word for word, so skill has no say in them.
    let warm = parts.recipe.warm();
    let skill = OracleSettings { p_correct: warm.skill.unwrap_or(1.0), manners: warm.manners.clone() };
    let mut oracle = OracleSampler::following(expert, chat, &skill, &plans);
    // The limits of the recipe are for the policy; demonstrations have limits of their own.
    let most = |usual: usize| if lessons.is_some() { usize::MAX } else { usual };
    let settings = RolloutSettings {
        max_turns: MOST_TURNS,
        turns_per_size: None,
        max_turn_tokens: most(256),
        max_episode_tokens: most(4096),
        // Nothing is sampled here, and the world of demonstrations may have nothing to hold turns to.
        grammar: false,
        ..parts.recipe.rollout.clone()
    };
    let episodes = roll_out(plans, env, &mut oracle, chat, &settings, tools, &mut stalls(watch));
    parts.toolbox.check()?;
    match episodes.iter().find(|e| !e.end.terminal()) {
        Some(broken) => {
            Err(RunError::Demonstration { episode: broken.id.to_string(), end: broken.end.label() })
        }
        None => Ok(episodes),
    }
}

/// A supervised course: how many updates, of what size, drawn by which seed.
pub(crate) struct Course {
    steps: u64,
    batch: usize,
    learning_rate: f32,
    seed: Seed,
}

/// What one supervised update did.
pub(crate) struct Supervised {
    /// Mean per token.
    pub(crate) loss: f64,
    /// Tokens read.
    pub(crate) read: usize,
    /// Tokens that entered the loss.
    pub(crate) trained: u64,
}

impl Course {
    /// That of a recipe's warm start, recorded under `phase`.
    pub(crate) fn warm_start(parts: &Parts, phase: &Phase) -> Self {
        let warm = parts.recipe.warm();
        let seed = parts.seed.child(&phase.seed_name(), 0);
        Self { steps: warm.steps, batch: warm.batch, learning_rate: warm.learning_rate, seed }
    }

    /// That of a stage that learns from a dataset.
    pub(crate) fn of(how: &Supervision, seed: Seed) -> Self {
        Self { steps: how.steps, batch: how.batch, learning_rate: how.learning_rate, seed }
    }

    pub(crate) fn learner(&self) -> Result<Learner, RunError> {
        Ok(Learner::new(supervised_config(self.learning_rate, self.steps), self.steps)?)
    }

    /// One update on a batch drawn by the step's own seed. A step has a number in its course and one in the record.
    pub(crate) fn step(
        &self,
        trainer: &mut Trainer,
        learner: &Learner,
        sequences: &[SftSequence],
        (local, step): (u64, u64),
    ) -> Result<Supervised, RunError> {
        let mut stream = self.seed.child("step", step).stream();
        let drawn: Vec<SftSequence> =
            (0..self.batch).filter_map(|_| stream.pick(sequences).cloned()).collect();
        let read = drawn.iter().map(|d| d.tokens.len()).sum();
        let report = learner.sft_step(trainer, &drawn, local)?;
        Ok(Supervised { loss: report.loss.total(), read, trained: report.tokens as u64 })
    }
}

/// AdamW at this peak rate, with warm-up over a twentieth of the steps, then cosine to a tenth.
pub(crate) fn supervised_config(learning_rate: f32, steps: u64) -> LearnConfig {
    let mut config = LearnConfig::supervised();
    let Optimiser::AdamW(adamw) = &mut config.optimiser;
    adamw.lr = f64::from(learning_rate);
    config.schedule = Schedule::Cosine { warmup: steps / 20, floor: 0.1 };
    config
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::bank::Bank;
    use merit_core::{Role, ScoredEpisode};

    /// What the world's demonstrator makes of these plans, scored.
    pub(crate) fn played(parts: &Parts, plans: &[EpisodePlan]) -> Vec<ScoredEpisode> {
        let (chat, tools) = (crate::roles::bytes().unwrap(), ToolRuntime::new().unwrap());
        let episodes = super::played(parts, None, &chat, plans.to_vec(), &tools, &mut |_| {}).unwrap();
        parts.scorer.score_batch(&episodes, &parts.context(0), &RewardState::default()).episodes
    }

    #[test]
    fn as_many_demonstrations_show_turns_of_others_as_the_bank_says() {
        let mut recipe = crate::shipped::load("clinic-visit").unwrap();
        let (chat, tools) = (crate::roles::bytes().unwrap(), ToolRuntime::new().unwrap());
        let mut play = |bank: Option<Bank>| {
            recipe.bank = bank;
            let parts = Parts::new(&recipe, 1).unwrap();
            super::play(&parts, None, &chat, 40, &tools, &mut |_| {}).unwrap()
        };
        let hinted =
            |episode: &Arc<Episode>| episode.transcript.segments().iter().any(|s| s.role == Role::Hint);
        let said = |episode: &Arc<Episode>| {
            let segments = episode.transcript.segments().iter().filter(|s| s.role == Role::Policy);
            segments.map(|segment| segment.text.clone()).collect::<Vec<String>>()
        };
        let plain = play(None);
        let shown = play(Some(Bank { demonstrations: 0.25, ..Bank::default() }));
        assert!(!plain.iter().any(hinted));
        assert_eq!(shown.iter().filter(|episode| hinted(episode)).count(), 10);
        // The demonstrator does not read what is shown.
        assert!(plain.iter().map(said).eq(shown.iter().map(said)));
        let trained =
            |episode: &Arc<Episode>| episode.transcript.mask().iter().filter(|chosen| **chosen).count();
        assert!(plain.iter().map(trained).eq(shown.iter().map(trained)), "hints are not trained");
    }
}
