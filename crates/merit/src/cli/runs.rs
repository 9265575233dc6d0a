//! `merit train`, `merit rollout` and `merit show`.

use super::completing;
use super::models::ServerFlags;
use super::tapes::TapeFlags;
use super::values::{MOST, Ray, Seeds, engine, key_value, seeds, temperature};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Name of a shipped recipe (see `merit list recipes`) or path of a TOML file.
    #[arg(add = completing::recipes())]
    pub(crate) recipe: Option<String>,
    /// Change one setting, e.g. `--set budget.steps=20`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The run's seed: the same recipe and seed give the same episodes and weights, to the bit.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Several seeds one after the other, e.g. `1-5`, then one table over all of them.
    #[arg(long, value_parser = seeds, conflicts_with_all = ["seed", "run", "resume"])]
    pub(crate) seeds: Option<Seeds>,
    /// Where the run is kept [default: runs/RECIPE-SEED, or the next free name].
    #[arg(long, value_name = "FOLDER", add = completing::runs())]
    pub(crate) run: Option<PathBuf>,
    /// Go on with a run that was stopped; recipe and seed come from its folder. With `--set budget.steps=N`, also with one that
    /// is done: to N steps.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["recipe", "seed", "run"], add = completing::runs())]
    pub(crate) resume: Option<PathBuf>,
    /// Threads for the model [default: all cores]; results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// Let a Ray cluster play the episodes, through the Python package: `ray` joins the one that runs here or starts one,
    /// `ray://HOST:PORT` and `HOST:PORT` join another. Results do not depend on it.
    #[arg(long, value_name = "CLUSTER", value_parser = engine, conflicts_with_all = ["record", "replay", "tool_cache"])]
    pub(crate) on: Option<Ray>,
    /// Actors that play on the cluster, one processor each [default: all of its processors]; results do not depend on it.
    #[arg(long, requires = "on", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) actors: Option<u16>,
    /// Play again what is lost with an actor of the cluster also where the world or its tools reach outside: programs of yours, MCP
    /// servers. Without it such an episode is an infrastructure failure.
    #[arg(long, requires = "on")]
    pub(crate) replay_lost: bool,
    /// One JSON object a line instead of a display; the last line is the result.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) tools: TapeFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Play {
    /// A world, as `merit list envs` names them, or a recipe, whose world, reward and limits count.
    #[arg(value_name = "WORLD|RECIPE", add = completing::recipes())]
    pub(crate) what: String,
    /// Change one setting of the recipe, such as `world.sizes=[4]`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Which tasks.
    #[arg(long, value_enum, default_value_t = SplitName::HeldOut)]
    pub(crate) split: SplitName,
    /// Seed of the task.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Rollout {
    /// Take world and policy from a run: the trained agent at work.
    #[arg(long, value_name = "RUN", conflicts_with = "recipe", add = completing::runs())]
    pub(crate) run: Option<PathBuf>,
    /// Take the world from a recipe and let its exact oracle act, or the model that is named.
    #[arg(add = completing::recipes())]
    pub(crate) recipe: Option<String>,
    /// Let a model act: a GGUF file, a folder with safetensors, or a server as `http://127.0.0.1:8000/v1#MODEL`.
    #[arg(long, conflicts_with = "run")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Offer the world's tools to the server by the protocol, instead of telling them in the text.
    #[arg(long, requires = "model")]
    pub(crate) native_tools: bool,
    /// Let the player of this role in the recipe act.
    #[arg(long, value_enum, conflicts_with_all = ["run", "model"])]
    pub(crate) role: Option<RoleName>,
    /// Change one setting of the recipe; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value, conflicts_with = "run")]
    pub(crate) set: Vec<(String, String)>,
    /// How many tasks.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) tasks: u32,
    /// Episodes per task.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) group_size: u32,
    /// Which tasks.
    #[arg(long, value_enum, default_value_t = SplitName::HeldOut)]
    pub(crate) split: SplitName,
    /// Sampling temperature; 0 takes the likeliest token.
    #[arg(long, default_value_t = 0.0, value_parser = temperature, allow_negative_numbers = true)]
    pub(crate) temperature: f32,
    /// Seed of the tasks and the sampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// After each episode, fork it at this turn and run the fork beside it.
    #[arg(long, value_name = "TURN")]
    pub(crate) fork_at: Option<u32>,
    /// One JSON object a line: each episode with tokens, log-probabilities and score.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) tools: TapeFlags,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RoleName {
    /// The one that the warm start imitates.
    Teacher,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SplitName {
    /// Tasks the learner sees.
    Train,
    /// Tasks it never sees.
    HeldOut,
}

impl From<SplitName> for merit_core::Split {
    fn from(name: SplitName) -> Self {
        match name {
            SplitName::Train => Self::Train,
            SplitName::HeldOut => Self::HeldOut,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A run's folder.
    #[arg(add = completing::runs())]
    pub(crate) run: PathBuf,
    /// Show one episode turn by turn, e.g. `train/12/0/3` or `eval-before/0/5/0`.
    #[arg(long)]
    pub(crate) episode: Option<String>,
    /// One JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}
