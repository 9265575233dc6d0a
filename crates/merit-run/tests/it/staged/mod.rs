//! A real training step in which the deeds of every member are staged: a real policy samples the tokens, and the world
//! takes them for whatever the test wants them to have meant, or breaks.

use merit_api::{Env, EnvError, LiveTools, StepResult, World};
use merit_core::{
    About, Action, CallRecord, Group, Message, PolicyVersion, ScoredEpisode, Seed, Split, Task, ToolCall,
};
use merit_credit::{Credit, CreditBatch};
use merit_learn::{Learner, UpdateContext, UpdateReport};
use merit_model::{Precision, Tokenizer, Trainer, TrainerSettings, Weights};
use merit_rollout::{ChatFormat, EpisodePlan, ToolRuntime};
use merit_run::{Actor, ModelConfig, Parts, Plan, Recipe};
use merit_tools::{FaultPlan, Faulty, Tool};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The small recipe.
pub(crate) const SMALL: &str = include_str!("small.toml");

/// What a member does, whatever its tokens say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Gives the right answer.
    Right,
    /// Gives a wrong answer.
    Wrong,
    /// Says nothing that can be understood until a limit cuts it.
    Babble,
    /// Answers with a word where a number is asked for.
    Word,
    /// Makes a good call, then answers wrongly.
    Call,
    /// Acts in a world that gives up.
    WorldBreaks,
    /// Acts in a world that panics.
    WorldPanics,
    /// Calls a tool that breaks.
    ToolBreaks,
}

/// A world in which the seed of an episode decides what is done there.
struct Staged {
    inner: Box<dyn World>,
    deeds: HashMap<Seed, Deed>,
}

struct StagedEnv {
    inner: Box<dyn Env>,
    deed: Deed,
    right: String,
    turns: u32,
}

impl World for Staged {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        self.inner.task(split, index, seed)
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let inner = self.inner.open(task, seed, state)?;
        let right = task.answer.clone().unwrap();
        Ok(Box::new(StagedEnv { inner, deed: self.deeds[seed], right, turns: 0 }))
    }
}

impl Env for StagedEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        self.inner.reset()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.inner.tools();
        if self.deed != Deed::ToolBreaks {
            return tools;
        }
        let plan = FaultPlan { broken: 1.0, ..FaultPlan::default() };
        tools.into_iter().map(|tool| Arc::new(Faulty::new(tool, plan).unwrap()) as Arc<dyn Tool>).collect()
    }

    /// An untrained policy says any byte; a letter or digit ends its turn, after a few tokens.
    fn stops(&self) -> Vec<String> {
        ('0'..='9').chain('a'..='z').chain('A'..='Z').map(String::from).collect()
    }

    fn parse(&self, _: &str) -> Action {
        let answer = |text: &str| Action::Answer { text: text.to_owned() };
        let call = ToolCall { tool: "calc".into(), input: "1+1".into() };
        match self.deed {
            Deed::Right => answer(&self.right),
            Deed::Word => answer("many"),
            Deed::Call if self.turns == 0 => Action::Calls { calls: vec![call] },
            Deed::Wrong | Deed::Call => answer("-1"),
            Deed::ToolBreaks => Action::Calls { calls: vec![call] },
            Deed::Babble | Deed::WorldBreaks | Deed::WorldPanics => {
                Action::Malformed { why: "staged".into() }
            }
        }
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.turns += 1;
        match self.deed {
            Deed::WorldBreaks => Err(EnvError::Broken { world: "ledger", why: "staged".into() }),
            Deed::WorldPanics => panic!("staged"),
            _ => self.inner.step(action, calls),
        }
    }

    fn snapshot(&self) -> Value {
        self.inner.snapshot()
    }
}

/// A training step in the making.
pub(crate) struct Step {
    parts: Parts,
    tokenizer: Arc<Tokenizer>,
    weights: Arc<Weights>,
}

/// What an update made of some groups.
pub(crate) struct Updated {
    pub(crate) credit: Credit,
    pub(crate) report: UpdateReport,
    /// The weights after it.
    pub(crate) weights: Vec<u32>,
}

impl Step {
    /// A step by the small recipe with these differences.
    pub(crate) fn new(changes: &[(&str, &str)]) -> Self {
        let changes: Vec<(String, String)> =
            changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let recipe = Recipe::parse("small.toml", SMALL).unwrap().with(&changes).unwrap();
        let tokenizer = Arc::new(Tokenizer::train(std::iter::empty(), 0));
        let ModelConfig::Fresh(model) = &recipe.model else { panic!("the small recipe makes its decoder") };
        let config = model.decoder(tokenizer.vocab_len());
        let weights = Arc::new(Weights::init(&config, Seed::root(3)).unwrap());
        Self { parts: Parts::new(&recipe, 3).unwrap(), tokenizer, weights }
    }

    /// Plans of one group per row of deeds.
    pub(crate) fn plans(&self, deeds: &[&[Deed]]) -> Vec<EpisodePlan> {
        let plan = Plan {
            phase: "train".into(),
            step: 0,
            split: Split::Train,
            first: 0,
            groups: deeds.len() as u32,
            group_size: deeds[0].len() as u32,
            version: PolicyVersion(0),
        };
        self.parts.plans(&plan).unwrap()
    }

    /// Runs and scores the plans, each with the deed of its group and member.
    pub(crate) fn play(&mut self, plans: Vec<EpisodePlan>, deeds: &[&[Deed]]) -> Vec<ScoredEpisode> {
        let deed = |plan: &EpisodePlan| deeds[plan.id.group as usize][plan.id.member as usize];
        let deeds = plans.iter().map(|plan| (plan.world_seed(), deed(plan))).collect();
        self.parts.env =
            Box::new(Staged { inner: self.parts.recipe.world.build(&LiveTools).unwrap(), deeds });
        let tools = Arc::new(ToolRuntime::new().unwrap());
        let chat = ChatFormat::new(Arc::clone(&self.tokenizer)).unwrap();
        let weights = (Arc::clone(&self.weights), Precision::F32);
        let mut actor = Actor::new(weights, &chat, 1, tools).unwrap();
        let settings = self.parts.recipe.rollout.clone();
        let kept = merit_reward::RewardState::default();
        actor.run(&self.parts, plans, &settings, 0, &kept, &mut |_| {}).unwrap().0.episodes
    }

    /// Credit and one update from the weights the step began with.
    pub(crate) fn update(&self, groups: &[Group]) -> Updated {
        let credit = self.parts.rule.assign(&CreditBatch::new(groups)).unwrap();
        let settings = TrainerSettings { threads: 1, ..TrainerSettings::default() };
        let mut trainer = Trainer::new(Arc::clone(&self.weights), settings).unwrap();
        let learner = Learner::new(self.parts.recipe.learn.clone(), 3).unwrap();
        let at = UpdateContext {
            step: 0,
            version: PolicyVersion(0),
            temperature: 1.0,
            seed: Seed::root(3).child("update", 0),
        };
        let report = learner.update(&mut trainer, &credit.samples, None, &at).unwrap();
        Updated { credit, report, weights: bits(trainer.weights()) }
    }

    /// The weights before any update.
    pub(crate) fn before(&self) -> Vec<u32> {
        bits(&self.weights)
    }
}

fn bits(weights: &Weights) -> Vec<u32> {
    weights.values().iter().map(|w| w.to_bits()).collect()
}

/// The episodes in groups, in order.
pub(crate) fn grouped(scored: &[ScoredEpisode]) -> Vec<Group> {
    let of = |group: u32| scored.iter().filter(|s| s.episode.id.group == group).cloned().collect::<Vec<_>>();
    let last = scored.iter().map(|s| s.episode.id.group).max().unwrap();
    (0..=last).map(|group| Group::assemble(of(group)).unwrap()).collect()
}
