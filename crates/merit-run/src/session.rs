//! The same loop by hand: a recipe's parts at the caller's call, one step at a time, without a folder.
//!
//! In: a recipe and a seed. Out: groups to give credit to, and a policy that learns from it. What the driver does, in the
//! caller's order: warm start, sample, credit, update, evaluate. Seeds are those of a run, so that the same calls give the
//! same numbers as `merit train`.

use crate::RunError;
use crate::act::Actor;
use crate::parts::{Parts, Plan};
use crate::policy::Policy;
use crate::progress::stalls;
use crate::recipe::Recipe;
use crate::warm::Course;
use crate::{alternatives, metrics, warm};
use merit_api::trainer::Reference;
use merit_core::{Annotations, Group, Phase, PolicyVersion, Split, When};
use merit_credit::Credit;
use merit_learn::{Learner, UpdateContext, UpdateReport};
use merit_reward::RewardState;
use merit_rollout::{PlayedGroups, RolloutSettings, ToolRuntime};
use std::sync::Arc;

/// What a recipe asks for that only a run provides, and what to do about it.
fn refused(recipe: &Recipe) -> Option<String> {
    let rule = recipe.credit.about().name;
    let rules = || alternatives::credit_rules(recipe, |rule| rule.needs().probes_per_turn == 0);
    let tables = [
        ("[bank]", recipe.bank.is_some()),
        ("[memory]", recipe.memory.is_some()),
        ("[interleave]", recipe.interleave.is_some()),
        ("[[stages]]", !recipe.stages.is_empty()),
    ];
    match tables.into_iter().find(|(_, asked)| *asked) {
        Some((name, _)) => Some(format!("`{name}`; leave it out of its recipe")),
        None if recipe.credit.needs().probes_per_turn > 0 => {
            Some(format!("the continuations that credit rule `{rule}` needs; take {}", rules()))
        }
        None => None,
    }
}

/// A policy and everything a recipe says of it, to be trained step by step.
///
/// ```
/// use merit_credit::CreditBatch;
/// use merit_run::{Session, shipped};
/// let small = "model.layers=1 model.width=16 model.heads=2 model.kv_heads=1 warm_start.demonstrations=16 warm_start.steps=1 \
///              budget.groups=1";
/// let changes = small.split_whitespace().filter_map(|set| set.split_once('='));
/// let changes: Vec<_> = changes.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
/// let recipe = shipped::load("ledger-tools")?.with(&changes)?;
/// let mut session = Session::new(&recipe, 1, 1)?;
/// session.warm_start()?;
/// let groups = session.sample(0)?;
/// let credit = recipe.credit.assign(&CreditBatch::new(&groups))?;
/// session.update(&credit, 0)?;
/// assert!(session.evaluate(2)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    parts: Parts,
    policy: Policy,
    actor: Actor,
    learner: Learner,
    tools: Arc<ToolRuntime>,
    reward_state: RewardState,
    annotations: Annotations,
}

impl Session {
    /// The policy of `recipe`, newborn.
    pub fn new(recipe: &Recipe, seed: u64, threads: usize) -> Result<Self, RunError> {
        if recipe.tasks.is_some() {
            return Err(RunError::Tasks(
                "a session plays tasks one after another; leave `[tasks]` out of its recipe, or use `train`"
                    .into(),
            ));
        }
        if let Some((name, _)) = recipe.judges.iter().find(|(_, judge)| judge.is_own()) {
            return Err(RunError::Judge(format!(
                "[judges.{name}] a session lends no weights to judges; take it out of its recipe, or use `train`"
            )));
        }
        refused(recipe).map_or(Ok(()), |what| {
            let why = format!("recipe `{}`: a session does not provide {what}, or use `train`", recipe.name);
            Err(RunError::Session(why))
        })?;
        recipe.trainable()?;
        let parts = Parts::new(recipe, seed)?;
        let tools = Arc::new(ToolRuntime::new()?);
        let mut policy = Policy::create(&parts, None, None, &tools, threads, &mut |_| {})?;
        policy.keep_warm();
        let weights = (policy.present(), policy.precision());
        let actor = Actor::new(weights, policy.chat(), threads, Arc::clone(&tools))?;
        let learner = Learner::new(recipe.learn.clone(), recipe.budget.steps)?;
        Ok(Self {
            parts,
            policy,
            actor,
            learner,
            tools,
            reward_state: RewardState::default(),
            annotations: Annotations::new(),
        })
    }

    /// The recipe's parts: world, reward, credit rule, seeds.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Imitates the demonstrations of the recipe's world; gives the last loss. Learning by reward begins from there.
    pub fn warm_start(&mut self) -> Result<f64, RunError> {
        let (parts, chat) = (&self.parts, self.policy.chat().clone());
        let demonstrations = warm::demonstrations(parts, None, &chat, &self.tools, &mut |_| {})?;
        let course = Course::warm_start(parts, &Phase::Warm);
        let learner = course.learner()?;
        let mut loss = f64::NAN;
        for step in 0..parts.recipe.warm().steps {
            loss = course.step(self.policy.trainer(), &learner, &demonstrations, (step, step))?.loss;
        }
        self.policy.begin_here()?;
        self.actor.follow(&mut self.policy)?;
        Ok(loss)
    }

    /// Runs and scores the groups of one step.
    pub fn sample(&mut self, step: u64) -> Result<Vec<Group>, RunError> {
        let parts = &self.parts;
        let plans = parts.train_plans(&Phase::train(), step, PolicyVersion(step))?;
        let PlayedGroups { episodes, .. } = self.actor.run_groups(parts, plans, &mut stalls(&mut |_| {}))?;
        self.annotations = parts.annotators.ask_to_learn(&episodes);
        let context = parts.context(step);
        let batch = parts.scorer.score_annotated(&episodes, &self.annotations, &context, &self.reward_state);
        self.reward_state = batch.state;
        Ok(Group::by_id(batch.episodes)?)
    }

    /// What was said of the episodes that were sampled last, for credit rules that read it (`CreditBatch::with_annotations`).
    pub fn annotations(&self) -> &Annotations {
        &self.annotations
    }

    /// Updates the policy from samples with credit.
    pub fn update(&mut self, credit: &Credit, step: u64) -> Result<UpdateReport, RunError> {
        let at = UpdateContext {
            step,
            version: PolicyVersion(step),
            temperature: self.parts.recipe.rollout.temperature,
            seed: self.parts.seed.child("update", 0).child("step", step),
        };
        let reference = self.learner.needs_reference().then(|| self.policy.reference()).transpose()?;
        let reference = reference.as_deref().map(|reference| reference as &dyn Reference);
        let report = self.learner.update(self.policy.trainer(), &credit.samples, reference, &at)?;
        self.actor.follow(&mut self.policy)?;
        Ok(report)
    }

    /// Greedy success on the first `tasks` held-out tasks; `None` when no episode is valid.
    pub fn evaluate(&mut self, tasks: u32) -> Result<Option<f64>, RunError> {
        let plans = self.parts.plans(&Plan {
            phase: Phase::eval(When::Step),
            step: 0,
            split: Split::HeldOut,
            first: 0,
            groups: tasks,
            group_size: 1,
            version: PolicyVersion(0),
        })?;
        let greedy = RolloutSettings { temperature: 0.0, ..self.parts.recipe.rollout.clone() };
        let (batch, _) =
            self.actor.run(&self.parts, plans, &greedy, 0, &self.reward_state, &mut stalls(&mut |_| {}))?;
        Ok(metrics::success(&batch.episodes.iter().collect::<Vec<_>>()))
    }
}
