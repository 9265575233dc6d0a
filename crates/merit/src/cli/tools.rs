//! `merit tool`, `merit doctor` and `merit mcp`.

use super::completing;
use super::values::{key_value, local_address};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Tool {
    /// Call a tool, several times in one session when several inputs are given. Exit code 1 when a call is not answered.
    Run(ToolRun),
    /// Print what a tool says of itself, and its settings with every default.
    Show {
        /// Name of the tool (see `merit list tools`).
        #[arg(add = completing::tools())]
        name: String,
        /// Change one setting, e.g. `--set sandbox.limits.seconds=1`; may be repeated.
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
        set: Vec<(String, String)>,
        /// Settings, a TOML file.
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
        /// Print how a model is told of it in this format of calls (see `merit list calls`).
        #[arg(long)]
        format: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolRun {
    /// Name of the tool (see `merit list tools`).
    #[arg(add = completing::tools())]
    pub(crate) name: String,
    /// Inputs, one call each; `-` is standard input, and one that begins with `--` stands after a `--` [default: the tool's own
    /// example].
    pub(crate) input: Vec<String>,
    /// Change one setting, e.g. `--set sandbox.limits.seconds=1`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Settings, a TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Which tool, where the settings describe several.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The payload of the task it is opened for, a JSON file [default: a table of two prices].
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds for one call.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// One JSON object per call.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The interpreter [default: `python3` of the PATH].
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// A tool to serve (see `merit list tools`); may be repeated.
    #[arg(long = "tool", value_name = "NAME", required_unless_present = "tools", add = completing::tools())]
    pub(crate) tool: Vec<String>,
    /// A TOML file with a `[[tools]]` list, as in a recipe.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Serve HTTP at this address of this machine, e.g. `127.0.0.1:8931` [default: standard input and output].
    #[arg(long, value_name = "ADDRESS", value_parser = local_address)]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The payload of the task that sessions are opened for, a JSON file [default: a table of two prices].
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds for one call.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
}
