//! Running a few episodes to look at them: a trained policy or another player, with forks if asked.

use crate::RunError;
use crate::act::generator;
use crate::effects::lost;
use crate::parts::{Parts, Plan};
use crate::policy::Policy;
use crate::progress::{Event, stalls};
use crate::recipe::Recipe;
use crate::roles::{Backend, bytes};
use merit_api::{Expert, World};
use merit_core::{Components, EpisodeId, Phase, PolicyVersion, ScoredEpisode, Seed, Split};
use merit_model::Sampler;
use merit_reward::RewardState;
use merit_rollout::{
    ChatFormat, EpisodePlan, OracleSampler, OracleSettings, RolloutSettings, ToolRuntime, roll_out, tree,
};
use merit_store::RunFolder;
use merit_tools::Toolbox;
use std::ops::Range;
use std::sync::Arc;

/// Which episodes to run.
#[derive(Debug, Clone)]
pub struct Play {
    pub split: Split,
    pub tasks: u32,
    /// Episodes per task.
    pub group_size: u32,
    /// Sampling temperature; 0 is greedy.
    pub temperature: f32,
    /// Seed of tasks and sampling.
    pub seed: u64,
    /// Fork every episode that is long enough at this turn.
    pub fork_at: Option<u32>,
    /// How tool calls are answered.
    pub toolbox: Toolbox,
}

/// Where in training the reward is: at which step, with what it has kept.
#[derive(Default)]
struct Scoring {
    step: u64,
    state: RewardState,
}

/// The trained policy of a run at work in the run's world. The run's recipe is read against `components`.
pub fn play_policy(
    folder: &RunFolder,
    components: &Components,
    play: &Play,
    threads: usize,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<ScoredEpisode>, RunError> {
    let recipe = Recipe::of_run(folder, components)?;
    let restored = Policy::restore(folder, &recipe, threads)?.ok_or_else(|| RunError::Checkpoint {
        why: "there is none yet; let the run go on for a while".into(),
    })?;
    let version = restored.version(&recipe);
    let scoring = Scoring { step: version.0, state: restored.reward_state.best().clone() };
    let parts = Parts::with_toolbox(&recipe, play.seed, &play.toolbox)?;
    parts.employ(
        &restored.models,
        &restored.judges(folder, &recipe)?,
        &restored.lent(&recipe, &parts, threads)?,
    )?;
    let policy = restored.policy;
    let mut sampler = generator((policy.best(), policy.precision()), policy.chat(), threads)?;
    let plans = plans(&parts, play, version)?;
    run(&parts, play, plans, policy.chat(), &mut sampler, &scoring, watch)
}

/// A player at work in the recipe's world.
pub fn play_role(
    recipe: &Recipe,
    backend: &Backend,
    play: &Play,
    threads: usize,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<ScoredEpisode>, RunError> {
    let mut parts = Parts::with_toolbox(recipe, play.seed, &play.toolbox)?;
    backend.loosen(&mut parts.recipe.rollout);
    let plans = plans(&parts, play, PolicyVersion(0))?;
    let seed = Seed::root(play.seed).child("endpoint", 0);
    // A player that acts by the plan of an episode has to know its fork too.
    let forked = plans
        .iter()
        .filter(|_| play.fork_at.is_some())
        .map(|plan| EpisodePlan { id: EpisodeId { branch: FORK, ..plan.id.clone() }, ..plan.clone() });
    let known: Vec<EpisodePlan> = plans.iter().cloned().chain(forked).collect();
    let (chat, mut sampler) = backend.open(parts.env.as_ref(), &known, threads, seed)?;
    run(&parts, play, plans, &chat, sampler.as_mut(), &Scoring::default(), watch)
}

/// A program or person that says what to do next, at work in the recipe's world: a person at a keyboard, a program of one's own.
pub fn play_with(recipe: &Recipe, expert: &dyn Expert, play: &Play) -> Result<Vec<ScoredEpisode>, RunError> {
    Groups::new(recipe, play)?.play(expert, 0..play.tasks)
}

/// The groups of a rollout, planned together and played a few at a time, on any threads. An episode is the same among few as among
/// all of them.
pub struct Groups {
    parts: Parts,
    play: Play,
    plans: Vec<EpisodePlan>,
}

impl Groups {
    /// Draws the tasks and plans every episode.
    pub fn new(recipe: &Recipe, play: &Play) -> Result<Self, RunError> {
        let mut parts = Parts::with_toolbox(recipe, play.seed, &play.toolbox)?;
        Backend::default().loosen(&mut parts.recipe.rollout);
        let plans = plans(&parts, play, PolicyVersion(0))?;
        Ok(Self { parts, play: play.clone(), plans })
    }

    pub fn world(&self) -> &dyn World {
        self.parts.env.as_ref()
    }

    /// Lets `expert` play these groups.
    pub fn play(&self, expert: &dyn Expert, groups: Range<u32>) -> Result<Vec<ScoredEpisode>, RunError> {
        let wanted = self.plans.iter().filter(|plan| groups.contains(&plan.id.group));
        let plans: Vec<EpisodePlan> = wanted.cloned().collect();
        let chat = bytes()?;
        let mut sampler = OracleSampler::following(expert, &chat, &OracleSettings::default(), &plans);
        run(&self.parts, &self.play, plans, &chat, &mut sampler, &Scoring::default(), &mut |_| {})
    }

    /// What is recorded of these groups where whoever played them is gone, and they may not be played again. Plays nothing.
    pub fn lost(&self, groups: Range<u32>, why: &str) -> Vec<ScoredEpisode> {
        let gone = self.plans.iter().filter(|plan| groups.contains(&plan.id.group));
        gone.map(|plan| ScoredEpisode { episode: Arc::new(lost(plan, why)), score: None }).collect()
    }
}

/// The branch of a fork beside its trunk.
const FORK: u32 = 1;

fn plans(parts: &Parts, play: &Play, version: PolicyVersion) -> Result<Vec<EpisodePlan>, RunError> {
    parts.plans(&Plan {
        phase: Phase::Rollout,
        step: 0,
        split: play.split,
        first: 0,
        groups: play.tasks,
        group_size: play.group_size,
        version,
    })
}

fn run(
    parts: &Parts,
    play: &Play,
    plans: Vec<EpisodePlan>,
    chat: &ChatFormat,
    sampler: &mut dyn Sampler,
    scoring: &Scoring,
    watch: &mut dyn FnMut(Event),
) -> Result<Vec<ScoredEpisode>, RunError> {
    let settings = RolloutSettings { temperature: play.temperature, ..parts.recipe.rollout.clone() };
    let tools = ToolRuntime::new()?;
    let mut act = |plans| {
        roll_out(plans, parts.env.as_ref(), sampler, chat, &settings, &tools, &mut stalls(&mut *watch))
    };
    let mut episodes = act(plans.clone());
    if let Some(turn) = play.fork_at {
        let long_enough = plans.iter().zip(&episodes).filter(|(_, e)| e.turns.len() > turn as usize);
        let forks: Result<Vec<Vec<EpisodePlan>>, _> =
            long_enough.map(|(plan, episode)| tree(plan, episode, &[turn], 1, FORK)).collect();
        let forks = forks?.concat();
        let short = plans.len() - forks.len();
        episodes.extend(act(forks));
        if short > 0 {
            let text = format!(
                "{short} of {} episodes end before turn {turn}, counted from 0, and have no fork",
                plans.len()
            );
            watch(Event::Note { text });
        }
    }
    parts.toolbox.check()?;
    let annotations = parts.annotators.ask(&episodes);
    let context = parts.context(scoring.step);
    Ok(parts.scorer.score_annotated(&episodes, &annotations, &context, &scoring.state).episodes)
}
