//! Text worlds that are only their rules.
//!
//! A [`TextGame`] says how a puzzle is drawn, what the player is told, what an action does and how an expert plays. Everything
//! else is done by [`GameWorld`](crate::GameWorld).

use crate::{CommandCard, Context, Demonstration, Manner, StepResult, Tool, ToolBuilder, ToolError, Word};
use merit_core::registry::Component;
use merit_core::{Action, CallRecord, Split, Stream, ToolCall, canonical};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

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

    /// A puzzle for practice and its size, by a proposer that knows so much of the world. Absent: none is proposed.
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

    /// Its commands, for models whose server has calls of its own: each such call becomes the line that its card says, which is then read
    /// like any other. Empty: such a model is offered the tools alone. What the tools answer is no command.
    fn commands(&self) -> Vec<CommandCard> {
        Vec::new()
    }

    /// The line that makes a call of one of its tools. Unless told otherwise, the tool's name before the input.
    fn call_line(&self, call: &ToolCall) -> String {
        format!("{} {}", call.tool, call.input)
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
