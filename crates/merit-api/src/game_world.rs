//! What a [`TextGame`] leaves to others: drawing until the split fits, task ids, checks of payloads and snapshots, sizes dealt in
//! turn, and the refusal of actions after the end.

use crate::call_language::LineCalls;
use crate::{
    Author, CallLanguage, Context, Demonstration, Env, EnvError, Expert, ExpertTurn, Manner, StepResult,
    TextGame, Tool, ToolBuilder, ToolError, Word, World, WorldSettings, fingerprint, split_of,
};
use merit_core::registry::UnknownName;
use merit_core::{About, Action, CallRecord, Message, Role, Seed, Split, Task, ToolCall, canonical};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Half of all draws fall into a split, so this many in vain means a broken generator.
const MAX_DRAWS: usize = 10_000;

/// Tasks whose puzzles a world remembers. The rollouts of a group open the same task one after the other, and an expert asks for
/// its puzzle in every turn.
const MOST_RECENT: usize = 16;

impl<G: TextGame> WorldSettings for G {
    fn build(&self, tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        Ok(Box::new(GameWorld::new(self.clone(), tools)?))
    }

    fn manners(&self) -> Vec<Manner> {
        G::MANNERS.to_vec()
    }
}

/// A [`TextGame`] as a world.
pub struct GameWorld<G: TextGame> {
    game: Arc<G>,
    tools: Vec<Arc<dyn Tool>>,
    has_expert: bool,
    has_author: bool,
    /// The same for all tasks.
    instructions: Option<Arc<str>>,
    /// The same for all tasks.
    calls: Option<Arc<dyn CallLanguage>>,
    recent: Recent<G::Puzzle>,
}

/// The puzzles of the tasks that were opened last, each read and checked. At most [`MOST_RECENT`].
struct Recent<P>(Mutex<VecDeque<(Arc<Task>, Arc<P>)>>);

impl<P> Recent<P> {
    /// The puzzle of a task, if it is remembered. A task that was changed is another one, whatever its id.
    fn find(&self, task: &Task) -> Option<Arc<P>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |kept: &Task| std::ptr::eq(kept, task) || kept == task;
        kept.iter().find(|(kept, _)| same(kept)).map(|(_, puzzle)| Arc::clone(puzzle))
    }

    /// Remembers the puzzle of a task, unless it is remembered already.
    fn keep(&self, task: &Arc<Task>, puzzle: &Arc<P>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|(_, kept)| Arc::ptr_eq(kept, puzzle)) {
            return;
        }
        kept.truncate(MOST_RECENT - 1);
        kept.push_front((Arc::clone(task), Arc::clone(puzzle)));
    }
}

impl<G: TextGame> GameWorld<G> {
    const NAME: &'static str = G::ABOUT.name;

    /// The world of a game with these settings.
    pub fn new(game: G, tools: &dyn ToolBuilder) -> Result<Self, EnvError> {
        game.check().map_err(|refusal| EnvError::refused(Self::NAME, refusal))?;
        let setting = |error: ToolError| EnvError::Setting { world: Self::NAME, why: error.to_string() };
        let tools = game.tools(tools).map_err(setting)?;
        let seed = Seed::root(0);
        let first = game.draw(size_of(&game, Split::Train, 0), &mut seed.stream());
        let play = Demonstration { turns: &[], p_correct: 1.0, manner: None, seed: &seed };
        let has_expert = game.expert(&first, &play).is_some();
        let has_author = game.propose(Context::Known, &mut seed.stream()).is_some();
        let instructions = game.instructions().map(Arc::from);
        let recent = Recent(Mutex::new(VecDeque::new()));
        let game = Arc::new(game);
        let calls = calls_of(&game, &tools);
        Ok(Self { game, tools, has_expert, has_author, instructions, calls, recent })
    }

    /// The task of a puzzle, whose id begins so.
    fn task_of(&self, puzzle: &G::Puzzle, size: u32, split: Split, place: &str) -> Task {
        let payload = json!(puzzle);
        let id = format!("{}/{place}-{}", Self::NAME, fingerprint(&canonical(&payload)));
        let answer = self.game.answer(puzzle);
        let task = Task::new(Self::NAME, id).with_split(split).with_size(size).with_payload(payload);
        Task { version: G::VERSION, answer, ..task }
    }

    /// What the expert of the game says next.
    fn demonstrated(&self, task: &Task, play: &Demonstration<'_>) -> Result<String, EnvError> {
        self.game.expert(&*self.puzzle(task)?, play).ok_or_else(|| {
            let why = format!("its expert has nothing to say in turn {}", play.turns.len());
            EnvError::Setting { world: Self::NAME, why }
        })
    }

    /// The puzzle of a task, checked: tasks travel through files and other people's hands.
    fn puzzle(&self, task: &Task) -> Result<Arc<G::Puzzle>, EnvError> {
        let wrong = |why| EnvError::Task { world: Self::NAME, task: task.id.clone(), why };
        match self.recent.find(task) {
            Some(puzzle) => Ok(puzzle),
            None => puzzle_of(&*self.game, task).map(Arc::new).map_err(wrong),
        }
    }
}

/// How the tools and commands of a game are called. Absent: its lines are no calls of its tools.
fn calls_of<G: TextGame>(game: &Arc<G>, tools: &[Arc<dyn Tool>]) -> Option<Arc<dyn CallLanguage>> {
    let specs = tools.iter().map(|tool| tool.spec().clone()).collect();
    let (reader, writer) = (Arc::clone(game), Arc::clone(game));
    let parse = move |text: &str| match reader.parse(text) {
        Action::Calls { calls } => Some(calls),
        Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => None,
    };
    let written = move |call: &ToolCall| writer.call_line(call);
    LineCalls::of(specs, game.commands(), parse, written)
        .map(|calls| Arc::new(calls) as Arc<dyn CallLanguage>)
}

/// The puzzle of a task, or what is wrong with it.
pub fn puzzle_of<G: TextGame>(game: &G, task: &Task) -> Result<G::Puzzle, String> {
    if task.world != G::ABOUT.name || task.version != G::VERSION {
        let (world, version) = (&task.world, task.version);
        return Err(format!("it is of world `{world}` version {version}, wanted version {}", G::VERSION));
    }
    let puzzle = G::Puzzle::deserialize(&task.payload).map_err(|error| format!("payload: {error}"))?;
    game.check_puzzle(&puzzle, task.size)?;
    match (&task.answer, game.answer(&puzzle)) {
        (Some(answer), Some(right)) if *answer != right => {
            Err(format!("its answer is {answer}, but {right} is right"))
        }
        _ => Ok(puzzle),
    }
}

fn size_of<G: TextGame>(game: &G, split: Split, index: u64) -> u32 {
    let sizes = game.sizes(split);
    // Dealt in turn, so that every stretch of tasks is balanced over sizes.
    let at = index.checked_rem(sizes.len() as u64).unwrap_or_default();
    sizes.get(at as usize).copied().unwrap_or(1)
}

impl<G: TextGame> World for GameWorld<G> {
    fn about(&self) -> About {
        G::ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let size = size_of(&*self.game, split, index);
        let mut rng = seed.child(split.name(), index).stream();
        let mut draws = (0..MAX_DRAWS).map(|_| self.game.draw(size, &mut rng));
        let fits = |puzzle: &G::Puzzle| split_of(&self.game.identity(puzzle)) == split;
        let puzzle = draws.find(fits).ok_or_else(|| EnvError::Broken {
            world: Self::NAME,
            why: format!("{MAX_DRAWS} draws gave no {} task of size {size}", split.name()),
        })?;
        Ok(self.task_of(&puzzle, size, split, &format!("{}/{index:05}", split.name())))
    }

    fn open(&self, task: &Arc<Task>, _seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let puzzle = self.puzzle(task)?;
        self.recent.keep(task, &puzzle);
        let mut env = GameEnv {
            play: Play { task: task.id.clone(), steps: 0, over: false, state: G::State::default() },
            game: Arc::clone(&self.game),
            puzzle,
            tools: self.tools.clone(),
            instructions: self.instructions.clone(),
            calls: self.calls.clone(),
        };
        if let Some(state) = state {
            env.play = env.restored(state).map_err(|why| EnvError::Snapshot { world: Self::NAME, why })?;
        }
        Ok(Box::new(env))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.has_expert.then_some(self)
    }

    fn author(&self) -> Option<&dyn Author> {
        self.has_author.then_some(self)
    }

    fn manners(&self) -> Vec<Manner> {
        G::MANNERS.to_vec()
    }

    fn words(&self) -> Vec<Word> {
        self.game.words()
    }
}

impl<G: TextGame> Author for GameWorld<G> {
    fn propose(&self, context: Context, seed: &Seed) -> Result<Task, EnvError> {
        let mut rng = seed.stream();
        let mut drawn = (0..MAX_DRAWS).filter_map(|_| self.game.propose(context, &mut rng));
        let fits = |puzzle: &G::Puzzle| split_of(&self.game.identity(puzzle)) == Split::Train;
        let (puzzle, size) = drawn.find(|(puzzle, _)| fits(puzzle)).ok_or_else(|| EnvError::Broken {
            world: Self::NAME,
            why: format!("{MAX_DRAWS} draws gave no task for practice"),
        })?;
        Ok(self.task_of(&puzzle, size, Split::Train, "proposed"))
    }
}

impl<G: TextGame> Expert for GameWorld<G> {
    fn say(
        &self,
        task: &Task,
        turns: &[ExpertTurn],
        p_correct: f64,
        seed: &Seed,
    ) -> Result<String, EnvError> {
        EnvError::unless_probability(Self::NAME, p_correct)?;
        self.demonstrated(task, &Demonstration { turns, p_correct, manner: None, seed })
    }

    fn say_in(
        &self,
        manner: &str,
        task: &Task,
        turns: &[ExpertTurn],
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let setting = |error: UnknownName| EnvError::Setting { world: Self::NAME, why: error.to_string() };
        Manner::find(G::MANNERS, manner).map_err(setting)?;
        self.demonstrated(task, &Demonstration { turns, p_correct: 1.0, manner: Some(manner), seed })
    }
}

struct GameEnv<G: TextGame> {
    game: Arc<G>,
    puzzle: Arc<G::Puzzle>,
    tools: Vec<Arc<dyn Tool>>,
    instructions: Option<Arc<str>>,
    calls: Option<Arc<dyn CallLanguage>>,
    play: Play<G::State>,
}

/// The snapshot of a game.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Play<S> {
    /// The task the snapshot belongs to.
    task: String,
    /// Actions taken so far.
    steps: u64,
    /// Whether no action may follow.
    over: bool,
    state: S,
}

impl<G: TextGame> GameEnv<G> {
    fn restored(&self, state: &Value) -> Result<Play<G::State>, String> {
        let play = Play::<G::State>::deserialize(state).map_err(|error| error.to_string())?;
        if play.task != self.play.task {
            return Err(format!("it is of task {}, not {}", play.task, self.play.task));
        }
        self.game.check_state(&self.puzzle, &play.state)?;
        Ok(play)
    }
}

impl<G: TextGame> Env for GameEnv<G> {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        let task = std::mem::take(&mut self.play.task);
        self.play = Play { task, steps: 0, over: false, state: G::State::default() };
        let system = self.instructions.as_deref().map(|text| Message::new(Role::System, text));
        Ok(system.into_iter().chain([Message::new(Role::User, self.game.prompt(&self.puzzle))]).collect())
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        let broken = |why: String| Err(EnvError::Broken { world: G::ABOUT.name, why });
        if self.play.over {
            return broken("it was given an action after its end".to_owned());
        }
        if let Action::Calls { calls: asked } = action
            && asked.len() != calls.len()
        {
            return broken(format!("{} calls came with {} results", asked.len(), calls.len()));
        }
        let result = self.game.step(&self.puzzle, &mut self.play.state, action, calls);
        self.play.steps = self.play.steps.saturating_add(1);
        self.play.over = result.is_last();
        Ok(result)
    }

    fn snapshot(&self) -> Value {
        json!(self.play)
    }

    fn parse(&self, text: &str) -> Action {
        self.game.parse(text)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn schema(&self) -> Option<Value> {
        self.game.schema(&self.puzzle)
    }

    fn call_language(&self) -> Option<Arc<dyn CallLanguage>> {
        self.calls.clone()
    }
}
