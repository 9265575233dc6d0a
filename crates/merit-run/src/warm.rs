//! The warm start: a tokenizer and a policy with mediocre manners, from demonstrations alone.
//!
//! In: a world with a demonstrator. Out: token sequences of played demonstrations, laid out exactly as rollouts are, and the
//! supervised updates over them. The demonstrator's skill decides how good the manners are.

use crate::RunError;
use crate::model::FreshModel;
use crate::parts::{Parts, Plan};
use crate::progress::{Event, stalls};
use merit_core::{Episode, PolicyVersion, Split};
use merit_learn::{LearnConfig, Learner, Optimiser, Schedule, SftSequence};
use merit_model::{Tokenizer, Trainer};
use merit_rollout::{ChatFormat, OracleSampler, OracleSettings, RolloutSettings, ToolRuntime, roll_out};
use std::sync::Arc;

/// Trains a tokenizer on what is said in the first demonstrations, read byte by byte.
pub(crate) fn tokenizer(
    parts: &Parts,
    model: &FreshModel,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Tokenizer, RunError> {
    const ENOUGH: usize = 400;
    let bytes = ChatFormat::new(Arc::new(Tokenizer::train(std::iter::empty(), 0)))?;
    let count = parts.recipe.warm_start.demonstrations.min(ENOUGH);
    let episodes = play(parts, &bytes, count, tools, watch)?;
    let texts = episodes.iter().flat_map(|e| e.transcript.segments()).map(|s| s.text.as_str());
    Ok(Tokenizer::train(texts, model.vocabulary))
}

/// Plays the demonstrations of the recipe: all tokens, to be imitated where the demonstrator spoke.
pub(crate) fn demonstrations(
    parts: &Parts,
    chat: &ChatFormat,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<SftSequence>, RunError> {
    let episodes = play(parts, chat, parts.recipe.warm_start.demonstrations, tools, watch)?;
    let seen = |episode: &Arc<Episode>| SftSequence {
        tokens: episode.transcript.tokens(),
        mask: episode.transcript.mask(),
        weight: 1.0,
    };
    let sequences: Vec<SftSequence> = episodes.iter().map(seen).collect();
    let read = |s: &SftSequence| s.mask.iter().rposition(|&m| m).map_or(0, |last| last + 1);
    let longest = sequences.iter().map(read).max().unwrap_or(0);
    let context = parts.recipe.model.context();
    if longest > context {
        return Err(RunError::LongDemonstration { tokens: longest, context });
    }
    Ok(sequences)
}

fn play(
    parts: &Parts,
    chat: &ChatFormat,
    count: usize,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<Arc<Episode>>, RunError> {
    let plan = Plan {
        phase: "demonstration",
        step: 0,
        split: Split::Train,
        first: 0,
        groups: count as u32,
        group_size: 1,
        version: PolicyVersion(0),
    };
    let env = parts.recipe.demonstration_world()?.build_with(&parts.toolbox)?;
    let plans = parts.plans_in(env.as_ref(), &plan)?;
    let skill = OracleSettings { skill: parts.recipe.warm_start.skill };
    let mut oracle = OracleSampler::new(env.as_ref(), chat, &skill, &plans)?;
    // Demonstrations are not cut: the limits of the recipe are for the policy.
    let settings = RolloutSettings {
        max_turns: 64,
        max_turn_tokens: 256,
        max_episode_tokens: 4096,
        ..parts.recipe.rollout.clone()
    };
    let episodes = roll_out(plans, env.as_ref(), &mut oracle, chat, &settings, tools, &mut stalls(watch));
    parts.toolbox.check()?;
    match episodes.iter().find(|e| !e.end.terminal()) {
        Some(broken) => {
            Err(RunError::Demonstration { episode: broken.id.to_string(), end: broken.end.label() })
        }
        None => Ok(episodes),
    }
}

/// The supervised learner of a recipe's warm start.
pub(crate) fn learner(parts: &Parts) -> Result<Learner, RunError> {
    let warm = &parts.recipe.warm_start;
    let mut config = LearnConfig::supervised();
    let Optimiser::AdamW(adamw) = &mut config.optimiser;
    adamw.lr = f64::from(warm.learning_rate);
    config.schedule = Schedule::Cosine { warmup: warm.steps / 20, floor: 0.1 };
    Ok(Learner::new(config, warm.steps)?)
}

/// One supervised update on a batch drawn by the step's own seed; the mean loss per token and the tokens read.
pub(crate) fn step(
    parts: &Parts,
    trainer: &mut Trainer,
    learner: &Learner,
    demonstrations: &[SftSequence],
    step: u64,
) -> Result<(f64, usize), RunError> {
    let mut stream = parts.seed.child("warm", 0).child("step", step).stream();
    let count = parts.recipe.warm_start.batch;
    let drawn: Vec<SftSequence> = (0..count).filter_map(|_| stream.pick(demonstrations).cloned()).collect();
    let tokens = drawn.iter().map(|d| d.tokens.len()).sum();
    let report = learner.sft_step(trainer, &drawn, step)?;
    Ok((report.loss.total(), tokens))
}
