//! The main loop: a recipe goes through the stations, stage by stage, into a run folder.
//!
//! In: a recipe, a seed and an open run folder, perhaps with a checkpoint. Out: everything recorded, and a [`Finished`].
//! What is done is a function of recipe, seed and place alone, so a run that was killed and resumed ends bit-identical to
//! one that was not; the store refuses an episode that comes out differently the second time.

use crate::act::Actor;
use crate::elsewhere::Players;
use crate::evolve::{self, Judges};
use crate::judges::{Moment, OwnJudges};
use crate::notes::{note_ablations, note_start, note_tools, skipped};
use crate::own_data::{self, OwnData};
use crate::parts::Parts;
use crate::policy::{KeptRewards, Learned, Models, Policy, SharedModel};
use crate::preface::Earlier;
use crate::progress::{Event, Finished};
use crate::proven::Unproven;
use crate::recipe::Recipe;
use crate::stage::{Place, Stage, Work};
use crate::starts;
use crate::{RunError, collect, elsewhere, extend, fit, imitate, learn, lessons, merge, now_ms, prefer};
use merit_core::Phase;
use merit_reward::RewardState;
use merit_rollout::ToolRuntime;
use merit_store::RunFolder;
use merit_tools::Toolbox;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a run needs besides its recipe.
pub struct Options {
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
    /// Who plays the policy's episodes. Absent: this process. What is learned does not depend on it.
    pub players: Option<Arc<dyn Players>>,
    /// What becomes of a stage that is decided by a fitted model which beats nothing.
    pub unproven: Unproven,
    /// Whether checkpoints are written, from which a stopped run goes on. What is learned does not depend on it.
    pub resumable: bool,
}

/// Trains by `recipe` into `folder`, from its newest checkpoint if it has one. [`Run::train`](crate::Run::train) does it with usual
/// options.
///
/// ```
/// use merit_run::{Options, Run, Unproven, shipped, train};
/// let small = "model.layers=1 model.width=16 model.heads=2 model.kv_heads=1 warm_start.demonstrations=16 warm_start.steps=1 \
///              budget.steps=1 budget.groups=1 evaluation.tasks=2 evaluation.tasks_between=2 controls=[]";
/// let changes = small.split_whitespace().filter_map(|set| set.split_once('='));
/// let changes: Vec<_> = changes.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
/// let home = tempfile::tempdir()?;
/// let mut run = Run::create(&home.path().join("mine"), shipped::load("ledger-tools")?.with(&changes)?, 1)?;
/// let options = Options {
///     seed: 1,
///     threads: 1,
///     interrupt: Default::default(),
///     ask: Default::default(),
///     toolbox: Default::default(),
///     starts: None,
///     players: None,
///     unproven: Unproven::Refuse,
///     resumable: true,
/// };
/// let mut events = 0;
/// train(&run.recipe, &mut run.folder, &options, &mut |_| events += 1)?;
/// assert!(events > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn train(
    recipe: &Recipe,
    folder: &mut RunFolder,
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<Finished, RunError> {
    let mut drive = Drive::start(recipe, folder, options, watch)?;
    while let Some(stage) = drive.stages.get(drive.place.stage).cloned() {
        if drive.enough(&stage)? {
            continue;
        }
        let stage = &*stage;
        drive.announce(stage);
        drive.begin(stage)?;
        match &stage.work {
            Work::Demonstrations { newborn } => imitate::demonstrations(&mut drive, stage, *newborn)?,
            Work::Imitate { from, how } => imitate::dataset(&mut drive, stage, from, how)?,
            Work::Collect { tasks, samples, search, practice } => {
                collect::run(&mut drive, stage, (*tasks, *samples), (search.as_ref(), *practice))?;
            }
            Work::Alter { from, how, tasks, samples } => {
                collect::altered(&mut drive, stage, (from, how), (*tasks, *samples))?;
            }
            Work::Make { made, name } => collect::made(&mut drive, stage, made, name)?,
            Work::Learn { from_warm } => drive.learn(stage, *from_warm)?,
            Work::Prefer { from, how } => prefer::run(&mut drive, stage, from, how)?,
            Work::Fit { from, how } => fit::run(&mut drive, stage, from, how)?,
            Work::Evolve { from, how } => evolve::run(&mut drive, stage, from, how)?,
            Work::Merge { how, places } => merge::run(&mut drive, stage, how, places)?,
            Work::Evaluate { suite } => drive.evaluate(stage, suite)?,
        }
        drive.next_stage(stage)?;
    }
    drive.finish()
}

/// A run under way.
pub(crate) struct Drive<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) folder: &'a mut RunFolder,
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn FnMut(Event),
    pub(crate) tools: Arc<ToolRuntime>,
    pub(crate) main: Arc<Parts>,
    pub(crate) stages: Vec<Arc<Stage>>,
    /// The parts of each recipe that a stage follows, once it has come to that.
    parts: Vec<(Arc<Recipe>, Arc<Parts>)>,
    pub(crate) policy: Policy,
    /// Models beside the policy that were fitted.
    pub(crate) models: Models,
    /// Judges that stages evolve.
    pub(crate) judges: Judges,
    /// Judges for whom a model of the recipe answers.
    own: OwnJudges,
    /// The data of the recipe in the tokens of its policy.
    pub(crate) data: OwnData,
    /// What the reward of the arm under way keeps between steps.
    pub(crate) reward_state: KeptRewards,
    /// What each learning keeps between steps, by its phase.
    learned: BTreeMap<String, Learned>,
    pub(crate) place: Place,
    done: f64,
    pub(crate) total: f64,
    began: Instant,
}

impl<'a> Drive<'a> {
    fn start(
        recipe: &'a Recipe,
        folder: &'a mut RunFolder,
        options: &'a Options,
        watch: &'a mut dyn FnMut(Event),
    ) -> Result<Self, RunError> {
        recipe.trainable()?;
        if options.players.is_some() {
            elsewhere::check(recipe, &options.toolbox)?;
        }
        let read = own_data::read(recipe)?;
        let tools = Arc::new(ToolRuntime::new()?.with_ask(Arc::clone(&options.ask)));
        let main = Arc::new(Parts::with_toolbox(recipe, options.seed, &options.toolbox)?);
        let whole = Arc::new(recipe.clone());
        let resumed = Policy::restore(folder, recipe, options.threads)?;
        let came_back = resumed.is_some();
        let rounds = resumed.as_ref().map(|restored| restored.place.rounds.clone()).unwrap_or_default();
        let stages = Stage::all(&whole, &rounds)?;
        let total = stages.iter().map(Stage::weight).sum();
        let (policy, models, reward_state, learned, place) = match resumed {
            Some(restored) => {
                for lost in &restored.damaged {
                    let text = skipped(lost);
                    folder.record_event(now_ms(), "damaged-checkpoint", &text)?;
                    watch(Event::Note { text });
                }
                (restored.policy, restored.models, restored.reward_state, restored.learned, restored.place)
            }
            None => {
                let policy = newborn(recipe, folder, (&main, &stages, &tools), options, watch)?;
                (policy, Models::new(), KeptRewards::default(), BTreeMap::new(), Place::default())
            }
        };
        let steps = learned.get(&Phase::train().to_string()).map_or(0, |learned| learned.steps);
        let place = extend::place(folder, &stages, place, steps)?;
        if let Some(memory) = &recipe.memory {
            memory.pin(folder)?;
        }
        crate::starts::pin_world(recipe, folder)?;
        let judges = evolve::judges(folder.path(), recipe, &stages, &place)?;
        let own = OwnJudges::of(recipe, &main.seed, &place.paid)?;
        let data = own_data::open(&read, recipe, policy.chat(), folder, watch)?;
        folder.record_vocabulary(policy.vocabulary().iter().map(|(token, text)| (*token, text.as_str())))?;
        let done = stages.iter().take(place.stage).map(Stage::weight).sum();
        note_start(folder, came_back, options.threads, &place, watch)?;
        note_tools(folder, options, watch)?;
        if !came_back {
            note_ablations(folder, &stages)?;
        }
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
            stages: stages.into_iter().map(Arc::new).collect(),
            parts: vec![(whole, Arc::clone(&main))],
            main,
            policy,
            models,
            judges,
            own,
            data,
            reward_state,
            learned,
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

    /// Share of the run that is done when so many steps of `stage` are.
    pub(crate) fn share(&self, stage: &Stage, step: u64) -> f64 {
        (self.done + stage.weight() * step as f64 / stage.steps().max(1) as f64) / self.total
    }

    /// Goes back to where the stage begins, where that is not where the one before left the policy.
    fn begin(&mut self, stage: &Stage) -> Result<(), RunError> {
        self.proven(stage)?;
        match &stage.begin {
            Some(place) if self.place.step == 0 => self.policy.go_back(place),
            _ => Ok(()),
        }
    }

    /// The model of that name, once it was fitted.
    pub(crate) fn model(&self, name: &str) -> Result<SharedModel, RunError> {
        self.models.get(name).cloned().ok_or_else(|| RunError::NotFitted { model: name.to_owned() })
    }

    fn learn(&mut self, stage: &Stage, from_warm: bool) -> Result<(), RunError> {
        let phase = stage.phase.to_string();
        if self.place.step == 0 {
            // A later round begins with a whole budget, with what is known of the tasks and with its bank or memory.
            let learned = self.learned(&stage.phase);
            let Learned { tasks, bank, memory, .. } = std::mem::take(learned);
            *learned = Learned { tasks, bank, memory, ..Learned::default() };
        }
        if self.place.step == 0 && from_warm {
            self.policy.restart()?;
            self.place.version = 0;
            self.reward_state.present = RewardState::default();
        } else if self.place.step == 0 {
            self.policy.begin_here()?;
            self.reward_state.present = self.reward_state.stages.get(&phase).cloned().unwrap_or_default();
        }
        learn::run(self, stage)?;
        let kept = self.reward_state.present.clone();
        if from_warm && stage.phase == Phase::train() {
            self.policy.keep_trained();
            self.reward_state.trained = kept;
        } else if !from_warm && !kept.is_empty() {
            self.reward_state.stages.insert(phase, kept);
        }
        Ok(())
    }

    /// What the bank or the memory of a learning keeps.
    pub(crate) fn earlier(&self, learning: &Phase) -> Earlier {
        let learned = self.learned.get(&learning.to_string());
        learned.map_or_else(Earlier::default, |learned| Earlier {
            bank: learned.bank.clone(),
            memory: learned.memory.clone(),
        })
    }

    /// What a learning keeps between steps.
    pub(crate) fn learned(&mut self, phase: &Phase) -> &mut Learned {
        self.learned.entry(phase.to_string()).or_default()
    }

    /// The parts of the recipe that a stage follows, built when they are first asked for and kept.
    pub(crate) fn parts_of(&mut self, stage: &Stage) -> Result<Arc<Parts>, RunError> {
        let known = self.parts.iter().find(|(known, _)| Arc::ptr_eq(known, &stage.recipe));
        let parts = match known {
            Some((_, parts)) => Arc::clone(parts),
            None => {
                let parts = Parts::with_toolbox(&stage.recipe, self.options.seed, &self.options.toolbox)?;
                let parts = Arc::new(parts);
                self.parts.push((Arc::clone(&stage.recipe), Arc::clone(&parts)));
                parts
            }
        };
        if matches!(
            stage.work,
            Work::Collect { .. } | Work::Alter { .. } | Work::Learn { .. } | Work::Evaluate { .. }
        ) {
            parts.employ(&self.models, &self.judges, &self.own)?;
            let learned = if stage.makes_versions() { self.place.step } else { 0 };
            self.lend(&parts, &stage.phase, self.place.version + learned)?;
        }
        if matches!(stage.work, Work::Learn { .. }) {
            parts.paid_by(&self.judges)?;
        }
        Ok(parts)
    }

    /// Lends the present weights to the judges that the reward asks for whom a model of the recipe answers.
    pub(crate) fn lend(&mut self, parts: &Parts, phase: &Phase, version: u64) -> Result<(), RunError> {
        if !parts.asks(&self.own) {
            return Ok(());
        }
        let weights = self.policy.packed();
        let (policy, models, threads) = (&self.policy, &self.models, self.options.threads);
        self.own.lend(&Moment { policy, weights, models, threads, version: format!("{phase} {version}") })
    }

    /// Says that a stage has nothing to learn from: the policy stays as it is.
    pub(crate) fn nothing_to_learn(&mut self, stage: &Stage) -> Result<(), RunError> {
        let text =
            format!("stage `{}`: its dataset is empty, so that nothing is learned from it", stage.phase);
        self.folder.record_event(now_ms(), "empty-dataset", &text)?;
        (self.watch)(Event::Note { text });
        Ok(())
    }

    /// An actor with the present weights.
    pub(crate) fn actor(&self) -> Result<Actor, RunError> {
        let (policy, tools) = (&self.policy, Arc::clone(&self.tools));
        if let Some(players) = &self.options.players {
            return Ok(Actor::elsewhere(Arc::clone(players), policy, policy.setup(self.recipe), tools));
        }
        let weights = (policy.present(), policy.precision());
        Actor::new(weights, policy.chat(), self.options.threads, tools)
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
        if stage.kept {
            self.policy.keep_after(&stage.phase.to_string());
        }
        self.done += stage.weight();
        let version = self.place.version + if stage.makes_versions() { self.place.step } else { 0 };
        self.place = Place { stage: self.place.stage + 1, step: 0, version, ..self.place.clone() };
        self.checkpoint()
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), RunError> {
        if !self.options.resumable {
            return Ok(());
        }
        self.place.checkpoint += 1;
        self.place.paid = self.own.paid();
        self.spend_time()?;
        self.policy.save(self.folder, &self.place, &self.reward_state, &self.learned, &self.models)
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

/// The policy that a run begins with. A teacher is asked first, since the vocabulary is that of the demonstrations.
fn newborn(
    recipe: &Recipe,
    folder: &mut RunFolder,
    (main, stages, tools): (&Parts, &[Stage], &ToolRuntime),
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<Policy, RunError> {
    let lessons = lessons::gather(main, folder, tools, options, watch)?;
    let begun = stages.iter().find(|stage| matches!(stage.work, Work::Demonstrations { newborn: true }));
    let begun = begun.map_or(recipe, |stage| &*stage.recipe);
    let shared = starts::Place::of(options.starts.as_deref(), main, begun, None)?;
    let tokenizer = shared.and_then(|place| place.find()?.tokenizer);
    let (lessons, tokenizer) = (lessons.as_ref(), tokenizer.as_deref());
    let mut policy = Policy::create(main, lessons, tokenizer, tools, options.threads, watch)?;
    if recipe.warm_start.is_none() {
        // Every arm begins from the model as it came.
        policy.keep_warm();
    }
    Ok(policy)
}
