//! `merit list` and `merit recipe`.

use super::completing;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list; everything when left out.
    #[arg(value_enum)]
    pub(crate) kind: Option<Kind>,
    /// One of them: its keys with type, default and meaning, and an example.
    #[arg(add = completing::components())]
    pub(crate) name: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Worlds, and where training tasks come from.
    #[value(aliases = ["env", "world", "worlds"])]
    Envs,
    /// Tools.
    #[value(alias = "tool")]
    Tools,
    /// Terms and combinators of rewards.
    #[value(alias = "reward")]
    Rewards,
    /// Credit rules.
    Credit,
    /// Objectives, loss aggregation, selectors and masks.
    #[value(alias = "objective")]
    Objectives,
    /// Model backends.
    #[value(alias = "model")]
    Models,
    /// Shipped recipes.
    #[value(alias = "recipe")]
    Recipes,
    /// Formats that can be imported.
    #[value(alias = "format")]
    Formats,
    /// Formats in which models write tool calls.
    #[value(alias = "call")]
    Calls,
    /// Simulations that system files name.
    #[value(alias = "study")]
    Studies,
    /// What an audit tries.
    #[value(alias = "probe")]
    Probes,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// Check a recipe: names, keys, combinations. Exit code 2 when it cannot be used.
    Check {
        /// A TOML file, or the name of a shipped recipe.
        #[arg(add = completing::recipes())]
        file: String,
    },
    /// Print every key of recipes and system files: type, default, meaning and example.
    Reference,
    /// Print the JSON Schema of recipes, by which editors complete and check them.
    Schema {
        /// What the schema describes.
        #[arg(long, value_enum, default_value_t = Document::Recipe)]
        of: Document,
    },
    /// Print a recipe with every default written out.
    Show {
        /// A TOML file, or the name of a shipped recipe.
        #[arg(add = completing::recipes())]
        file: String,
    },
}

/// A document that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    /// A recipe.
    Recipe,
    /// A reward alone.
    Reward,
    /// A published system for the laboratory.
    System,
}
