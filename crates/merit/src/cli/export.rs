//! `merit export`.

use super::completing;
use super::values::finite;
use clap::{ArgGroup, Args};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["shape", "metrics", "tensorboard"]).required(true).multiple(true))]
pub(crate) struct Export {
    /// A run's folder, or one of imported episodes.
    #[arg(add = completing::runs())]
    pub(crate) run: PathBuf,
    /// Episodes as rows: `messages`, `prompt-completion`, `preference`, `grpo` or `verl`.
    #[arg(long = "as", value_name = "SHAPE")]
    pub(crate) shape: Option<String>,
    /// Where the rows go, a new file [default: standard output]; Parquet where its name ends in `.parquet`, else JSON lines.
    #[arg(long, value_name = "FILE", requires = "shape")]
    pub(crate) out: Option<PathBuf>,
    /// Rows as Parquet, whatever the name of the file.
    #[arg(long, requires = "out")]
    pub(crate) parquet: bool,
    /// Only episodes of this phase; may be repeated [default: those of training and evaluation].
    #[arg(long, requires = "shape")]
    pub(crate) phase: Vec<String>,
    /// Only episodes that solved their task; with `--pairs`, asked of the better one.
    #[arg(long, requires = "shape")]
    pub(crate) solved: bool,
    /// Only episodes with at least this reward; with `--pairs`, asked of the better one.
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true, requires = "shape")]
    pub(crate) min_reward: Option<f64>,
    /// Only the best of each group, by reward.
    #[arg(long, conflicts_with = "pairs", requires = "shape")]
    pub(crate) best: bool,
    /// Only the best and the worst of each group whose rewards differ; `--as preference` does so anyway.
    #[arg(long, requires = "shape")]
    pub(crate) pairs: bool,
    /// Every metric as CSV (phase, step, name, value), in a new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
    /// Every metric as an event file in this folder, for TensorBoard.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tensorboard: Option<PathBuf>,
}
