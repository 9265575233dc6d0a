//! `merit reproduce`.

use super::completing;
use super::values::{Ray, Seeds, engine, key_value, seeds};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Names of shipped systems (see `--list`) or paths of TOML files.
    #[arg(required_unless_present_any = ["all", "list"], add = completing::systems())]
    pub(crate) systems: Vec<String>,
    /// Every shipped system.
    #[arg(long, conflicts_with = "systems")]
    pub(crate) all: bool,
    /// The scoreboard: every system with its recorded verdict.
    #[arg(long, conflicts_with_all = ["systems", "all"])]
    pub(crate) list: bool,
    /// One seed and the small settings of the file: does it run at all? Seconds; no verdict.
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Premises and baselines only; the method is not run. The one way in which a world may be calibrated.
    #[arg(long)]
    pub(crate) premise: bool,
    /// Arms too that are not core.
    #[arg(long)]
    pub(crate) extended: bool,
    /// These seeds instead of the file's, e.g. `101-105` or `1,3,7`; nothing is recorded.
    #[arg(long, value_parser = seeds)]
    pub(crate) seeds: Option<Seeds>,
    /// Only this arm; may be repeated; nothing is recorded.
    #[arg(long = "arm", value_name = "NAME")]
    pub(crate) arms: Vec<String>,
    /// Change one setting of the experiment; may be repeated; nothing is recorded.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// One-threaded cells side by side [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) workers: Option<u16>,
    /// Run the cells on a Ray cluster, through the Python package: `ray` joins the one that runs here or starts one,
    /// `ray://HOST:PORT` and `HOST:PORT` join another; `--workers` is then by default all of its processors. Results do not depend on it.
    #[arg(long, value_name = "CLUSTER", value_parser = engine, conflicts_with_all = ["list", "keep"])]
    pub(crate) on: Option<Ray>,
    /// Run again what was lost with a worker of the cluster also where it reaches outside: programs of yours, judges, MCP servers, endpoints.
    /// Without it such a cell is an infrastructure failure, and stays one until this is said.
    #[arg(long)]
    pub(crate) replay_lost: bool,
    /// Only the cell of this name: what a cluster asks for.
    #[arg(long, value_name = "NAME", requires = "seeds", hide = true)]
    pub(crate) cell: Option<String>,
    /// Where finished cells and pages are kept; cells that are there are not run again.
    #[arg(long, value_name = "FOLDER", default_value = "runs/lab")]
    pub(crate) cells: PathBuf,
    /// Where results are recorded.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Keep the run folders of recipes.
    #[arg(long)]
    pub(crate) keep: bool,
    /// One JSON object a line: cells as they finish, then results.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Folders of runs or imports, or results of `merit reproduce` (JSON files). Runs of one resolved recipe are one condition over its seeds; each condition is compared with
    /// the first, paired by seed and task. Results are compared arm by arm, paired by seed.
    #[arg(required = true, num_args = 2.., add = completing::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}
