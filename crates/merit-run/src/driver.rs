//! The main loop: a recipe goes through the stations, stage by stage, into a run folder.
//!
//! In: a recipe, a seed and an open run folder, perhaps with a checkpoint. Out: everything recorded, and a [`Finished`].
//! What is done is a function of recipe, seed and place alone, so a run that was killed and resumed ends bit-identical to
//! one that was not; the store refuses an episode that comes out differently the second time.

use crate::act::Actor;
use crate::evaluate::{Evaluation, Evaluator};
use crate::parts::Parts;
use crate::policy::{KeptRewards, Policy};
use crate::progress::{Event, Finished};
use crate::recipe::Recipe;
use crate::stage::{Place, Stage};
use crate::starts;
use crate::{RunError, imitate, learn, lessons, now_ms};
use merit_core::{Arm, Phase, When};
use merit_reward::RewardState;
use merit_rollout::ToolRuntime;
use merit_store::RunFolder;
use merit_tools::Toolbox;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a run needs besides its recipe.
pub struct Options {
    /// The run's seed.
    pub seed: u64,
    /// Threads of the model; shows in the time only.
    pub threads: usize,
    /// Set from outside to stop at the next step, with a checkpoint.
    pub interrupt: Arc<AtomicBool>,
    /// Set from outside to be told what the episodes in flight are waiting for.
    pub ask: Arc<AtomicBool>,
    /// How tool calls are answered. What is learned does not depend on it, as long as the answers are the same.
    pub toolbox: Toolbox,
    /// A folder in which warm starts are kept for every run that begins alike. Absent: each run imitates for itself.
    pub starts: Option<PathBuf>,
}

/// Trains by `recipe` into `folder`, from its newest checkpoint if it has one.
pub fn train(
    recipe: &Recipe,
    folder: &mut RunFolder,
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<Finished, RunError> {
    let mut drive = Drive::start(recipe, folder, options, watch)?;
    let stages = Stage::all(recipe);
    while drive.place.stage < stages.len() {
        let stage = stages[drive.place.stage].clone();
        drive.announce(&stage);
        match &stage {
            Stage::Warm => imitate::run(&mut drive)?,
            Stage::Before => drive.before()?,
            Stage::Learn(arm) => drive.learn(arm)?,
            Stage::After(arm) => drive.after(arm)?,
        }
        drive.next_stage(&stage)?;
    }
    drive.finish()
}

fn skipped(lost: &merit_store::DamagedCheckpoint) -> String {
    let (path, why) = (lost.path.display(), &lost.why);
    format!("{path} cannot be loaded ({why}); going on from an older checkpoint")
}

/// A run under way.
pub(crate) struct Drive<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) folder: &'a mut RunFolder,
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn FnMut(Event),
    pub(crate) tools: Arc<ToolRuntime>,
    pub(crate) main: Arc<Parts>,
    parts: Vec<(Arm, Arc<Parts>)>,
    pub(crate) policy: Policy,
    /// What the reward of the arm under way keeps between steps.
    pub(crate) reward_state: KeptRewards,
    pub(crate) place: Place,
    done: f64,
    total: f64,
    began: Instant,
}

impl<'a> Drive<'a> {
    fn start(
        recipe: &'a Recipe,
        folder: &'a mut RunFolder,
        options: &'a Options,
        watch: &'a mut dyn FnMut(Event),
    ) -> Result<Self, RunError> {
        let tools = Arc::new(ToolRuntime::new()?.with_ask(Arc::clone(&options.ask)));
        let main = Arc::new(Parts::with_toolbox(recipe, options.seed, &options.toolbox)?);
        let stages = Stage::all(recipe);
        let total = stages.iter().map(|s| s.weight(recipe)).sum();
        let resumed = Policy::restore(folder, recipe, options.threads)?;
        let came_back = resumed.is_some();
        let (policy, reward_state, place) = match resumed {
            Some(restored) => {
                for lost in &restored.damaged {
                    let text = skipped(lost);
                    folder.record_event(now_ms(), "damaged-checkpoint", &text)?;
                    watch(Event::Note { text });
                }
                (restored.policy, restored.reward_state, restored.place)
            }
            None => {
                let lessons = lessons::gather(&main, folder, &tools, options, watch)?;
                let shared = starts::Place::of(options.starts.as_deref(), &main, recipe, None)?;
                let tokenizer = shared.and_then(|place| place.find()?.tokenizer);
                let (lessons, tokenizer) = (lessons.as_ref(), tokenizer.as_deref());
                let policy = Policy::create(&main, lessons, tokenizer, &tools, options.threads, watch)?;
                (policy, KeptRewards::default(), Place::default())
            }
        };
        folder.record_vocabulary(policy.vocabulary().iter().map(|(token, text)| (*token, text.as_str())))?;
        let done = stages.iter().take(place.stage).map(|s| s.weight(recipe)).sum();
        let began_with = folder.info()?.version;
        if began_with != env!("CARGO_PKG_VERSION") {
            let text = format!(
                "this run was begun by merit {began_with}; what is left of it may come out differently"
            );
            watch(Event::Note { text });
        }
        let (kind, version) = (if came_back { "resumed" } else { "started" }, env!("CARGO_PKG_VERSION"));
        let threads = options.threads;
        let text = format!("merit {version}, {threads} threads, stage {}, step {}", place.stage, place.step);
        folder.record_event(now_ms(), kind, &text)?;
        note_tools(folder, options, watch)?;
        watch(Event::Started {
            run: folder.path().display().to_string(),
            recipe: recipe.name.clone(),
            recipe_hash: recipe.hash(),
            seed: options.seed,
            parameters: policy.parameters(),
            resumed: came_back,
        });
        Ok(Self {
            recipe,
            folder,
            options,
            watch,
            tools,
            parts: vec![(Arm::Main, Arc::clone(&main))],
            main,
            policy,
            reward_state,
            place,
            done,
            total,
            began: Instant::now(),
        })
    }

    fn announce(&mut self, stage: &Stage) {
        let what = stage.describe();
        (self.watch)(Event::Stage { what, done: self.done / self.total });
    }

    /// Share of the run that is done when `step` of `of` steps of `stage` are.
    pub(crate) fn share(&self, stage: &Stage, step: u64, of: u64) -> f64 {
        (self.done + stage.weight(self.recipe) * step as f64 / of.max(1) as f64) / self.total
    }

    fn before(&mut self) -> Result<(), RunError> {
        let weights = self.policy.warm()?;
        let mut actor = self.actor(weights)?;
        let tasks = self.recipe.evaluation.tasks;
        Evaluator {
            parts: &self.main,
            actor: &mut actor,
            folder: self.folder,
            watch: self.watch,
            reward_state: &self.reward_state.present,
        }
        .run(&Evaluation { phase: Phase::eval(When::Before), step: 0, tasks, version: 0 })?;
        Ok(())
    }

    fn learn(&mut self, arm: &Arm) -> Result<(), RunError> {
        if self.place.step == 0 {
            self.policy.restart()?;
            self.reward_state.present = RewardState::default();
        }
        learn::run(self, arm)?;
        if *arm == Arm::Main {
            self.policy.keep_trained();
            self.reward_state.trained = self.reward_state.present.clone();
        }
        Ok(())
    }

    fn after(&mut self, arm: &Arm) -> Result<(), RunError> {
        let parts = self.arm_parts(arm)?;
        let weights = self.policy.present();
        let mut actor = self.actor(weights)?;
        let phase = Phase::Eval(arm.clone(), When::After);
        let (tasks, steps) = (self.recipe.evaluation.tasks, self.recipe.budget.steps);
        Evaluator {
            parts: &parts,
            actor: &mut actor,
            folder: self.folder,
            watch: self.watch,
            reward_state: &self.reward_state.present,
        }
        .run(&Evaluation { phase, step: steps, tasks, version: steps })?;
        Ok(())
    }

    /// The parts of an arm, built when they are first asked for and kept.
    pub(crate) fn arm_parts(&mut self, arm: &Arm) -> Result<Arc<Parts>, RunError> {
        if let Some((_, parts)) = self.parts.iter().find(|(known, _)| known == arm) {
            return Ok(Arc::clone(parts));
        }
        let recipe = self.recipe.of_arm(arm)?;
        let parts = Arc::new(Parts::with_toolbox(&recipe, self.options.seed, &self.options.toolbox)?);
        self.parts.push((arm.clone(), Arc::clone(&parts)));
        Ok(parts)
    }

    /// An actor with `weights`.
    pub(crate) fn actor(&self, weights: Arc<merit_model::Weights>) -> Result<Actor, RunError> {
        let precision = self.policy.precision();
        Actor::new((weights, precision), self.policy.chat(), self.options.threads, Arc::clone(&self.tools))
    }

    /// Counts a step; writes a checkpoint every `every` steps; stops when asked to.
    pub(crate) fn step_done(&mut self, every: u64) -> Result<(), RunError> {
        self.place.step += 1;
        if self.options.interrupt.load(Ordering::Relaxed) {
            self.checkpoint()?;
            self.folder.record_event(now_ms(), "stopped", "interrupted from outside")?;
            return Err(RunError::Interrupted { run: self.folder.path().display().to_string() });
        }
        if self.place.step.is_multiple_of(every) { self.checkpoint() } else { Ok(()) }
    }

    fn next_stage(&mut self, stage: &Stage) -> Result<(), RunError> {
        self.done += stage.weight(self.recipe);
        self.place = Place { stage: self.place.stage + 1, step: 0, ..self.place };
        self.checkpoint()
    }

    fn checkpoint(&mut self) -> Result<(), RunError> {
        self.place.checkpoint += 1;
        self.spend_time()?;
        self.policy.save(self.folder, self.place, &self.reward_state)
    }

    /// Adds the wall time since the last call to the run's total.
    fn spend_time(&mut self) -> Result<f64, RunError> {
        let before: f64 = self.folder.mark("train_seconds")?.unwrap_or(0.0);
        let total = before + self.began.elapsed().as_secs_f64();
        self.began = Instant::now();
        self.folder.set_mark("train_seconds", &total)?;
        Ok(total)
    }

    fn finish(mut self) -> Result<Finished, RunError> {
        self.policy.export(self.folder)?;
        let train_seconds = self.spend_time()?;
        self.folder.set_mark("finished", &true)?;
        self.folder.record_event(now_ms(), "finished", &format!("{train_seconds:.0} s of work"))?;
        let report = merit_measure::write_report(self.folder)?;
        crate::evaluate::finished(self.recipe, self.folder, self.options.seed, train_seconds, &report)
    }
}

/// The mark that says how the calls of a run are answered; a run without it has made none.
pub const TOOLS_MARK: &str = "tools";

/// Says in the run's folder how calls are answered from now on, and to whoever watches if that has changed.
fn note_tools(
    folder: &mut RunFolder,
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<(), RunError> {
    let now = options.toolbox.describe();
    let before: Option<String> = folder.mark(TOOLS_MARK)?;
    if let Some(before) = before.filter(|before| *before != now) {
        watch(Event::Note { text: format!("tool calls were answered {before}; from now on {now}") });
    }
    folder.set_mark(TOOLS_MARK, &now)?;
    Ok(folder.record_event(now_ms(), TOOLS_MARK, &format!("calls are answered {now}"))?)
}
