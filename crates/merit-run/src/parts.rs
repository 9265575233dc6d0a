//! The live parts of one arm, built from its recipe.

use crate::RunError;
use crate::annotators::{Annotators, Speaker, Speakers};
use crate::evolve::Judges;
use crate::judges::{self, OwnJudges};
use crate::person::{Spoken, Voice};
use crate::policy::Models;
use crate::recipe::Recipe;
use crate::roles::Backend;
use merit_api::{EnvError, World};
use merit_core::{EpisodeId, Phase, PolicyVersion, Seed, Split, Task};
use merit_credit::CreditRule;
use merit_reward::{ScoreContext, Scorer};
use merit_rollout::EpisodePlan;
use merit_tools::Toolbox;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// World, reward and credit of one arm, with its seeds.
pub struct Parts {
    /// What the parts were built from.
    pub recipe: Recipe,
    pub env: Box<dyn World>,
    pub scorer: Scorer,
    /// Who is asked before scoring.
    pub(crate) annotators: Annotators,
    pub rule: Arc<dyn CreditRule>,
    /// Root of the run's seeds.
    pub seed: Seed,
    /// How the calls of its world are answered.
    pub toolbox: Toolbox,
    /// The world in which demonstrations are given, where it differs; built when it is first asked for.
    demonstrations: OnceLock<Box<dyn World>>,
}

/// Which episodes to plan.
pub struct Plan {
    pub phase: Phase,
    /// The training step they belong to.
    pub step: u64,
    pub split: Split,
    /// Index of the first task.
    pub first: u64,
    /// How many tasks; each is a group.
    pub groups: u32,
    /// Episodes per task.
    pub group_size: u32,
    /// The policy that will act.
    pub version: PolicyVersion,
}

/// Refuses a world whose tasks have no schema, before anything is sampled under one.
fn has_schema(world: &dyn World) -> Result<(), EnvError> {
    let seed = Seed::root(0);
    let task = Arc::new(world.task(Split::HeldOut, 0, &seed)?);
    let why = "its tasks have no JSON Schema to hold turns to, and no regular expression; leave `rollout.grammar` out".to_owned();
    let missing = EnvError::Setting { world: world.about().name, why };
    world.open(&task, &seed, None)?.schema().map(|_| ()).ok_or(missing)
}

impl Parts {
    /// Builds the parts of `recipe`.
    pub fn new(recipe: &Recipe, seed: u64) -> Result<Self, RunError> {
        Self::with_toolbox(recipe, seed, &Toolbox::Live)
    }

    /// The same, with calls answered as `toolbox` says.
    pub fn with_toolbox(recipe: &Recipe, seed: u64, toolbox: &Toolbox) -> Result<Self, RunError> {
        let toolbox = toolbox.clone().within(recipe.rollout.tool_seconds);
        let env = recipe.world.build(&toolbox)?;
        let env = match &recipe.roles.user {
            Backend::Oracle {} => env,
            user => {
                Box::new(Spoken { world: env, voice: Voice::new(user, Seed::root(seed).child("person", 0)) })
            }
        };
        if recipe.rollout.grammar {
            has_schema(env.as_ref())?;
        }
        let scorer = Scorer::opened(&recipe.reward)?;
        let paying: Vec<String> = scorer.needs().into_iter().map(|need| need.name).collect();
        let steering: Vec<String> =
            asked(recipe, &scorer).into_iter().filter(|name| !paying.contains(name)).collect();
        let open = |names: &[String]| {
            judges::elsewhere(recipe, names, (env.as_ref(), &Seed::root(seed))).map_err(RunError::Annotator)
        };
        let judges = (open(&paying)?, open(&steering)?);
        let steered_by = steering.into_iter().collect();
        Ok(Self {
            env,
            scorer,
            annotators: Annotators::build(&recipe.annotators, judges, steered_by)
                .map_err(RunError::Annotator)?,
            rule: recipe.credit.component(),
            recipe: recipe.clone(),
            seed: Seed::root(seed),
            toolbox,
            demonstrations: OnceLock::new(),
        })
    }

    /// Lets the models and judges speak that the reward or the credit rule asks.
    pub(crate) fn employ(&self, models: &Models, judges: &Judges, own: &OwnJudges) -> Result<(), RunError> {
        let mut speakers = Speakers::new();
        for name in asked(&self.recipe, &self.scorer) {
            let speaker: Arc<dyn Speaker> = if self.recipe.models.contains_key(&name) {
                let model = models.get(&name).cloned();
                Arc::new(model.ok_or_else(|| RunError::NotFitted { model: name.clone() })?)
            } else if let Some(judge) = judges.get(&name) {
                let judge = judge.as_ref().ok_or_else(|| RunError::NotEvolved { judge: name.clone() })?;
                Arc::clone(judge) as Arc<dyn Speaker>
            } else if let Some(judge) = own.get(&name) {
                own.ready(&name, models)?;
                judge
            } else {
                continue;
            };
            speakers.insert(name, speaker);
        }
        self.annotators.employ(speakers);
        Ok(())
    }

    /// Whether the reward or the credit rule asks one of these judges.
    pub(crate) fn asks(&self, own: &OwnJudges) -> bool {
        asked(&self.recipe, &self.scorer).iter().any(|name| own.get(name).is_some())
    }

    /// Fails where a judge that pays is no better than one that knows only length or words.
    pub(crate) fn paid_by(&self, judges: &Judges) -> Result<(), RunError> {
        let asked = asked(&self.recipe, &self.scorer);
        let paying = judges.iter().filter(|(name, _)| asked.contains(name));
        paying
            .filter_map(|(name, judge)| Some((name, judge.as_ref()?)))
            .try_for_each(|(name, judge)| judge.may_pay(name))
    }

    /// The seeds of one use of `phase`. Arms share them, so that they are compared alike; stages have their own.
    pub(crate) fn seed_of(&self, purpose: &str, phase: &Phase) -> Seed {
        let seed = self.seed.child(purpose, 0);
        match phase {
            Phase::Stage(_, name) => seed.child(name, 0),
            _ => seed,
        }
    }

    /// What the reward may depend on at `step`.
    pub fn context(&self, step: u64) -> ScoreContext {
        crate::rescore::context(&self.seed, step, self.rule.discount())
    }

    /// The world in which demonstrations are given.
    pub fn demonstration_env(&self) -> Result<&dyn World, RunError> {
        // Demonstrations are given to the world's own person.
        if self.recipe.warm().world.is_empty() && self.recipe.roles.user.is_oracle() {
            return Ok(self.env.as_ref());
        }
        if let Some(built) = self.demonstrations.get() {
            return Ok(built.as_ref());
        }
        let built = self.recipe.demonstration_world()?.build(&self.toolbox)?;
        Ok(self.demonstrations.get_or_init(|| built).as_ref())
    }

    /// Plans of fresh episodes, group by group. Seeds are named by phase, step, group and member.
    pub fn plans(&self, plan: &Plan) -> Result<Vec<EpisodePlan>, RunError> {
        self.plans_in(self.env.as_ref(), plan)
    }

    /// Plans of the groups of one training step.
    pub(crate) fn train_plans(
        &self,
        phase: &Phase,
        step: u64,
        version: PolicyVersion,
    ) -> Result<Vec<EpisodePlan>, RunError> {
        let budget = &self.recipe.budget;
        self.plans(&Plan {
            phase: phase.clone(),
            step,
            split: Split::Train,
            first: step * u64::from(budget.groups),
            groups: budget.groups,
            group_size: budget.group_size,
            version,
        })
    }

    /// As [`Self::plans`] in another world.
    pub fn plans_in(&self, env: &dyn World, plan: &Plan) -> Result<Vec<EpisodePlan>, RunError> {
        let tasks = self.seed.child("tasks", 0);
        let drawn: Result<Vec<Task>, EnvError> = match plan.split {
            Split::Train => (plan.first..)
                .take(plan.groups as usize)
                .map(|at| env.task(Split::Train, at, &tasks))
                .collect(),
            Split::HeldOut => distinct(env, Split::HeldOut, plan.first, plan.groups as usize, &tasks),
        };
        Ok(self.plans_of(plan, 0, drawn?.into_iter().map(Arc::new)))
    }

    /// Plans of groups of these tasks, the first of which has the number `first`; `plan` says everything but the tasks.
    pub(crate) fn plans_of(
        &self,
        plan: &Plan,
        first: u32,
        tasks: impl IntoIterator<Item = Arc<Task>>,
    ) -> Vec<EpisodePlan> {
        let step_seed = self.seed.child(&plan.phase.seed_name(), 0).child("step", plan.step);
        let mut plans = Vec::with_capacity(plan.groups as usize * plan.group_size as usize);
        for (group, task) in (first..).zip(tasks) {
            let group_seed = step_seed.child("group", u64::from(group));
            plans.extend((0..plan.group_size).map(|member| {
                EpisodePlan::new(
                    EpisodeId { phase: plan.phase.clone(), step: plan.step, group, member, branch: 0 },
                    Arc::clone(&task),
                    group_seed.child("member", u64::from(member)),
                )
                .with_policy_version(plan.version)
            }));
        }
        plans
    }
}

/// The names under which somebody is asked about episodes: for the reward, and for the credit rule.
pub(crate) fn asked(recipe: &Recipe, scorer: &Scorer) -> Vec<String> {
    let paid = scorer.needs().into_iter().map(|need| need.name);
    paid.chain(recipe.credit.needs().annotations.into_iter().map(|need| need.name)).collect()
}

/// Up to `count` tasks, no two the same: a task that is measured twice makes an interval too narrow. Fewer where the
/// world has no more of them.
pub(crate) fn distinct(
    env: &dyn World,
    split: Split,
    first: u64,
    count: usize,
    seed: &Seed,
) -> Result<Vec<Task>, EnvError> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for at in (first..).take(count * TRIES + LEAST_TRIES) {
        if found.len() == count {
            break;
        }
        let task = env.task(split, at, seed)?;
        if seen.insert(task.id.clone()) {
            found.push(task);
        }
    }
    Ok(found)
}

/// Draws per wanted task, and at least, before a world counts as used up.
const TRIES: usize = 4;
const LEAST_TRIES: usize = 64;
