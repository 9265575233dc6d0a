//! `merit eval`.

use super::completing;
use super::models::ServerFlags;
use super::tapes::TapeFlags;
use super::values::{MOST, key_value};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Eval {
    /// Who is measured: a GGUF file, a folder with safetensors, a run's folder, a server as `http://127.0.0.1:8000/v1#MODEL`, or
    /// `oracle`, the world's own demonstrator. The first is what the others are compared with.
    #[arg(id = "model", required = true, value_name = "MODEL", add = completing::runs())]
    pub(crate) models: Vec<String>,
    /// What they are measured on: the name or the path of a recipe, or a file of tasks (JSON lines) [default: the recipe of the
    /// first run that is named].
    #[arg(long, value_name = "RECIPE|TASKS", add = completing::recipes())]
    pub(crate) on: Option<String>,
    /// Change one setting of the recipe; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// At most this many tasks [default: as the recipe's evaluation says; all of a file of tasks].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) tasks: Option<u32>,
    /// Sample each task this many times beside the greedy episode: pass@k and pass^k.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) samples: u32,
    /// Which tasks [default: held-out; all of a file of tasks].
    #[arg(long, value_enum)]
    pub(crate) split: Option<EvalSplit>,
    /// Break success down by an info of the world, or by a place in the task's payload as `/kind`; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Vec<String>,
    /// Seed of the tasks and the sampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where episodes are kept, in a folder for each model. What is there is not played again.
    #[arg(long, value_name = "FOLDER", default_value = "runs/eval")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Offer servers the world's tools by the protocol, and take calls as they come.
    #[arg(long)]
    pub(crate) native_tools: bool,
    /// Threads for models [default: all cores]; results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// One JSON object a line: a result for each model, then how each compares with the first.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) tools: TapeFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalSplit {
    /// Tasks the learner sees.
    Train,
    /// Tasks it never sees.
    HeldOut,
    /// Both.
    All,
}

const HELP: &str = "\
Success is measured on one greedy episode of each task, with Wilson's 95 % interval. Samples are drawn at the recipe's temperature \
(`--set rollout.temperature=0.8`). Episodes without a verdict (a server that did not answer, a grader that broke) are counted apart, \
never as failures, and the next call of the same command tries them again; everything else is read from the folder. A larger --tasks \
or --samples adds to what is there. `merit compare` and `merit show` read the folders.

Exit codes: 0 done, 1 when a model has no episode that counts, 2 wrong input.";
