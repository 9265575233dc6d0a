//! `merit judge`.

use super::completing;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Judge {
    /// Ask a judge about recorded episodes, or about answers that are given here.
    Ask(JudgeAsk),
}

#[derive(Debug, Args)]
pub(crate) struct JudgeAsk {
    /// The judge: a TOML file, or a folder with `judge.toml`.
    pub(crate) judge: PathBuf,
    /// Runs' folders, imports' folders, or files that can be imported. A judge that gives numbers scores each episode; one that
    /// compares ranks those of each task.
    #[arg(required_unless_present = "a", conflicts_with_all = ["prompt", "a", "b"], add = completing::runs())]
    pub(crate) episodes: Vec<PathBuf>,
    /// What was asked.
    #[arg(long, requires = "a", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// An answer; alone it gets a number.
    #[arg(long, requires = "prompt", allow_hyphen_values = true)]
    pub(crate) a: Option<String>,
    /// Another answer; the two are compared in both orders.
    #[arg(long, requires = "a", allow_hyphen_values = true)]
    pub(crate) b: Option<String>,
    /// One JSON object for each verdict.
    #[arg(long)]
    pub(crate) json: bool,
}
