//! Text worlds that are only their rules.
//!
//! A [`TextGame`] says how a puzzle is drawn, what the player is told, what an action does and how an expert plays. Everything
//! else is done here: drawing until the split fits, task ids, checks of payloads and snapshots, sizes dealt in turn, and the
//! refusal of actions after the end.

use crate::call_language::LineCalls;
use crate::{
    Author, CallLanguage, Context, Demonstration, Env, EnvError, Expert, ExpertTurn, Manner, StepResult,
    Tool, ToolBuilder, ToolError, Word, World, WorldSettings, fingerprint, split_of,
};
use merit_core::registry::{Component, UnknownName};
use merit_core::{About, Action, CallRecord, Message, Role, Seed, Split, Stream, Task, canonical};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Half of all draws fall into a split, so this many in vain means a broken generator.
const MAX_DRAWS: usize = 10_000;

/// Tasks whose puzzles a world remembers. The rollouts of a group open the same task one after the other, and an expert asks for
/// its puzzle in every turn.
const MOST_RECENT: usize = 16;

/// The rules of a text world. The settings struct implements it; `entry!(Maze as dyn WorldSettings)` registers it.
///
/// ```
/// use merit_api::{Demonstration, LiveTools, NoState, StepResult, TextGame, WorldSettings, conformance::check_world};
/// use merit_core::registry::{About, Component};
/// use merit_core::{Action, CallRecord, Seed, Stream};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Say a number back.
/// #[derive(Clone, Serialize, Deserialize, JsonSchema)]
/// struct Echo {}
///
/// impl Component for Echo {
///     const ABOUT: About = About { name: "echo", summary: "Say a number back.", paper: "" };
/// }
///
/// impl TextGame for Echo {
///     type Puzzle = u64;
///     type State = NoState;
///
///     fn draw(&self, _size: u32, rng: &mut Stream) -> u64 {
///         rng.below(1000)
///     }
///     fn prompt(&self, number: &u64) -> String {
///         format!("say {number}")
///     }
///     fn step(&self, number: &u64, _: &mut NoState, action: &Action, _: &[CallRecord]) -> StepResult {
///         match action {
///             Action::Say { text } if *text == number.to_string() => StepResult::saying("right").with_reward(1.0).done(),
///             _ => StepResult::saying("no").with_reward(0.0),
///         }
///     }
///     fn expert(&self, number: &u64, play: &Demonstration<'_>) -> Option<String> {
///         Some(if play.is_correct() { number.to_string() } else { "0".to_owned() })
///     }
/// }
///
/// let world = Echo {}.build(&LiveTools).unwrap();
/// assert_eq!(check_world(world.as_ref(), &Seed::root(1), 4), Vec::<String>::new());
/// ```
pub trait TextGame: Component + Clone {
    /// What is drawn for a task: its payload. It must refuse unknown fields.
    type Puzzle: Serialize + DeserializeOwned + Send + Sync;

    /// What an action may change. It must refuse missing and unknown fields; [`NoState`] where nothing changes.
    type State: Default + Clone + Serialize + DeserializeOwned + Send;

    /// Raised when the meaning of the puzzle changes.
    const VERSION: u32 = 1;

    /// The manners in which its expert can play, by name. Empty: only right or wrong.
    const MANNERS: &'static [Manner] = &[];

    /// Draws a puzzle of a size.
    fn draw(&self, size: u32, rng: &mut Stream) -> Self::Puzzle;

    /// What the player is told first.
    fn prompt(&self, puzzle: &Self::Puzzle) -> String;

    /// What an action does. Calls come with their results, in order.
    fn step(
        &self,
        puzzle: &Self::Puzzle,
        state: &mut Self::State,
        action: &Action,
        calls: &[CallRecord],
    ) -> StepResult;

    /// What an expert says next. Absent: the game has none.
    fn expert(&self, puzzle: &Self::Puzzle, play: &Demonstration<'_>) -> Option<String> {
        let _ = (puzzle, play);
        None
    }

    /// A puzzle for practice and its size, by somebody who knows so much of the world. Absent: nobody proposes any.
    fn propose(&self, context: Context, rng: &mut Stream) -> Option<(Self::Puzzle, u32)> {
        let _ = (context, rng);
        None
    }

    /// The sizes of the tasks of a split, dealt in turn. Never empty.
    fn sizes(&self, split: Split) -> &[u32] {
        let _ = split;
        &[1]
    }

    /// What makes a puzzle what it is: it decides the split, so that splits share no puzzle. All of it, unless told otherwise.
    fn identity(&self, puzzle: &Self::Puzzle) -> String {
        canonical(&json!(puzzle))
    }

    /// The right final answer, where there is exactly one.
    fn answer(&self, puzzle: &Self::Puzzle) -> Option<String> {
        let _ = puzzle;
        None
    }

    /// The JSON Schema of the replies that the player may give, or `{ "regex": … }`, a regular expression of them. Absent: anything
    /// may be said.
    fn schema(&self, puzzle: &Self::Puzzle) -> Option<Value> {
        let _ = puzzle;
        None
    }

    /// Checks a puzzle that comes from a file: what is wrong with it as a puzzle of this size.
    fn check_puzzle(&self, puzzle: &Self::Puzzle, size: u32) -> Result<(), String> {
        let _ = (puzzle, size);
        Ok(())
    }

    /// Checks a state that comes from a snapshot.
    fn check_state(&self, puzzle: &Self::Puzzle, state: &Self::State) -> Result<(), String> {
        let _ = (puzzle, state);
        Ok(())
    }

    /// Words of the game that are one token each for a decoder made on the spot. Empty: none.
    fn words(&self) -> Vec<Word> {
        Vec::new()
    }

    /// Standing instructions, shown before the prompt. Absent: none.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// What a line of the player means. Unless told otherwise, one line that is said; several lines or none are malformed.
    fn parse(&self, text: &str) -> Action {
        match line(text) {
            "" => Action::Malformed { why: "say one line".to_owned() },
            said if said.contains(['\n', '\r']) => Action::Malformed { why: "say one line".to_owned() },
            said => Action::Say { text: said.to_owned() },
        }
    }

    /// The tools of the game.
    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let _ = builder;
        Ok(Vec::new())
    }
}

/// The state of a game in which actions change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoState {}

/// The sizes of a split: `held_out` for held-out tasks where it is not empty, otherwise `train`.
pub fn sizes_of<'a>(split: Split, train: &'a [u32], held_out: &'a [u32]) -> &'a [u32] {
    if split == Split::HeldOut && !held_out.is_empty() { held_out } else { train }
}

/// The line that was said: without the stop string and the spaces around it.
pub fn line(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text).trim_matches(' ')
}

impl<G: TextGame> WorldSettings for G {
    fn build(&self, tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        Ok(Box::new(GameWorld::new(self.clone(), tools)?))
    }

    fn manners(&self) -> &'static [Manner] {
        G::MANNERS
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
        Ok(Self { game: Arc::new(game), tools, has_expert, has_author, instructions, recent })
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

    fn manners(&self) -> &'static [Manner] {
        G::MANNERS
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

/// One running game.
struct GameEnv<G: TextGame> {
    game: Arc<G>,
    puzzle: Arc<G::Puzzle>,
    tools: Vec<Arc<dyn Tool>>,
    instructions: Option<Arc<str>>,
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
    /// The game's own state.
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
        let cards = self.tools.iter().map(|tool| tool.spec().clone()).collect();
        let game = Arc::clone(&self.game);
        let parse = move |text: &str| match game.parse(text) {
            Action::Calls { calls } => Some(calls),
            Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => None,
        };
        LineCalls::of(cards, parse).map(|calls| Arc::new(calls) as Arc<dyn CallLanguage>)
    }
}
