//! `merit list` and `merit recipe`.

use clap::{Args, Subcommand, ValueEnum};

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
    /// Worlds, and where training tasks come from.
    Envs,
    /// Tools.
    Tools,
    /// Terms and combinators of rewards.
    Rewards,
    /// Credit rules.
    Credit,
    /// Objectives, loss aggregation, selectors and masks.
    Objectives,
    /// Model backends.
    Models,
    /// Shipped recipes.
    Recipes,
    /// Formats that can be imported.
    Formats,
    /// Formats in which models write tool calls.
    Calls,
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
