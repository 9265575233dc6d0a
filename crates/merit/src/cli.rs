//! What can be said to merit on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Agentic reinforcement learning in one binary.
///
/// `merit train` with nothing else makes a small agent on the spot, warm-starts it on sloppy demonstrations and lets it
/// learn by reward to use two tools over many turns, offline and on the CPU. It ends with a table and a report.
#[derive(Debug, Parser)]
#[command(name = "merit", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  merit train                                  train the default recipe, then open its report
  merit train --seed 2 --set budget.steps=20   the same with another seed and a smaller budget
  merit train --resume runs/ledger-tools-1     go on after a kill, a full disk or Ctrl-C
  merit show runs/ledger-tools-1               what happened in a run
  merit rollout --run runs/ledger-tools-1      watch the trained agent at work
  merit list credit                            the credit rules and where they come from";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a policy by a recipe; without arguments, the default recipe.
    Train(Train),
    /// Run episodes and show them turn by turn.
    Rollout(Rollout),
    /// Show what happened in a run.
    Show(Show),
    /// List the components by name, from the registries.
    List(List),
    /// Check and print recipes.
    #[command(subcommand)]
    Recipe(Recipe),
    /// Read episodes other people recorded into a folder that can be shown and scored.
    Import(Import),
    /// Score recorded episodes by any reward; `--explain` says why each got its number.
    Score(Score),
    /// Check and print rewards.
    #[command(subcommand)]
    Reward(Reward),
    /// Print a completion script for a shell.
    Completions {
        /// The shell, e.g. `bash`: `merit completions bash > /etc/bash_completion.d/merit`.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Name of a shipped recipe (see `merit list recipes`) or path of a TOML file.
    pub(crate) recipe: Option<String>,
    /// Change one setting, e.g. `--set budget.steps=20`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The run's seed: the same recipe and seed give the same episodes and weights, to the bit.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where the run is kept [default: runs/RECIPE-SEED, or the next free name].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Go on with a run that was stopped; recipe and seed come from its folder.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["recipe", "set", "seed", "run"])]
    pub(crate) resume: Option<PathBuf>,
    /// Threads for the model [default: all cores]; results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// One JSON object a line instead of a display; the last line is the result.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rollout {
    /// Take world and policy from a run: the trained agent at work.
    #[arg(long, value_name = "RUN", conflicts_with = "recipe")]
    pub(crate) run: Option<PathBuf>,
    /// Take the world from a recipe and let its exact oracle act.
    pub(crate) recipe: Option<String>,
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
    #[arg(long, default_value_t = 0.0, value_parser = temperature)]
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
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SplitName {
    /// Tasks the learner sees.
    Train,
    /// Tasks it never sees.
    HeldOut,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A run's folder.
    pub(crate) run: PathBuf,
    /// Show one episode turn by turn, e.g. `train/12/0/3` or `eval-before/0/5/0`.
    #[arg(long)]
    pub(crate) episode: Option<String>,
    /// One JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: OpenAI-style messages, a tau-bench result file, or JSON lines.
    pub(crate) file: PathBuf,
    /// Its format (see `merit list formats`).
    #[arg(long, default_value = merit_import::AUTO)]
    pub(crate) format: String,
    /// Where the episodes go [default: imports/FILE].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the tasks' world, after `imported/` [default: the format's].
    #[arg(long)]
    pub(crate) world: Option<String>,
    /// A tool's answer that begins so is an error; may be repeated [default: the format's convention].
    #[arg(long, value_name = "TEXT")]
    pub(crate) error_prefix: Vec<String>,
    /// The reported reward from which on a task counts as solved [default: the format's].
    #[arg(long, value_name = "REWARD")]
    pub(crate) solved_at: Option<f64>,
    /// Leave out entries that cannot be read instead of failing; each is named.
    #[arg(long)]
    pub(crate) allow_skipped: bool,
    /// One JSON object instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// A reward file, a shipped reward or recipe by name (see `merit list rewards`), or a recipe file.
    pub(crate) reward: String,
    /// A run's folder, an import's folder, or a file that can be imported.
    pub(crate) episodes: PathBuf,
    /// Print the tree of every episode with all values and why, or of one: `--explain import/0/3/1`.
    #[arg(long, value_name = "EPISODE", num_args = 0..=1)]
    pub(crate) explain: Option<Option<String>>,
    /// Seed of the error rates [default: the run's].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The learner's discount, for potential-based shaping.
    #[arg(long, default_value_t = 1.0, value_parser = discount)]
    pub(crate) discount: f64,
    /// One JSON object per episode, with its whole score.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Reward {
    /// Find dead gates, terms that can never matter, mismatched scales, and pay for doing nothing. Exit code 1 when the
    /// reward teaches the wrong thing, 2 when it cannot be used.
    Check {
        /// A reward file, or the name of a shipped reward or recipe.
        reward: String,
        /// Also hold it against these episodes: a run's or import's folder, or a file.
        #[arg(long)]
        episodes: Option<PathBuf>,
        /// One JSON object per finding.
        #[arg(long)]
        json: bool,
    },
    /// Print a reward with every default written out.
    Show {
        /// A reward file, or the name of a shipped reward or recipe.
        reward: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list; everything when left out.
    #[arg(value_enum)]
    pub(crate) kind: Option<Kind>,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Worlds.
    Envs,
    /// Tools.
    Tools,
    /// Terms and combinators of rewards.
    Rewards,
    /// Credit rules.
    Credit,
    /// Objectives, normalisers, selectors and masks.
    Objectives,
    /// Model backends.
    Models,
    /// Shipped recipes.
    Recipes,
    /// Formats that can be imported.
    Formats,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// Check a recipe: names, keys, combinations. Exit code 2 when it cannot be used.
    Check {
        /// A TOML file, or the name of a shipped recipe.
        file: String,
    },
    /// Print a recipe with every default written out.
    Show {
        /// A TOML file, or the name of a shipped recipe.
        file: String,
    },
}

/// More episodes than anybody looks at, and few enough to be kept in memory.
const MOST: i64 = 10_000;

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if f32::is_finite(number) && number >= 0.0 => Ok(number),
        _ => Err("expected 0 (greedy) or a number above it".to_owned()),
    }
}

fn discount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, e.g. budget.steps=20".to_owned()),
    }
}
