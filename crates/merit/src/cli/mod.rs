//! What can be said to merit on the command line; one file per family of commands.

pub(crate) mod completing;
#[cfg(test)]
mod documented;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod free_text;
pub(crate) mod judges;
pub(crate) mod lab;
pub(crate) mod lists;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod rewards;
pub(crate) mod runs;
pub(crate) mod tapes;
pub(crate) mod tools;
mod values;

use clap::{Parser, Subcommand};
use eval::Eval;
use export::Export;
use judges::{Bench, Evolve, Judge, Library};
use lab::{Compare, Reproduce};
use lists::{List, Recipe};
use memory::Memory;
use models::{Chat, Generate, Model};
use rewards::{Attack, Import, Reward, Score, Verify};
use runs::{Play, Rollout, Show, Train};
use tools::{Doctor, Mcp, Tool};

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
  merit init my-tasks                          a recipe and tasks of your own to begin with
  merit show runs/ledger-tools-1               what happened in a run
  merit rollout --run runs/ledger-tools-1      watch the trained agent at work
  merit play inquiry                           play a world by hand
  merit eval model.gguf runs/a-1 --on ledger-tools   models, runs and servers side by side
  merit compare runs/a-1 runs/b-1              is one better, by how much, how sure?
  merit reproduce --list                       published systems and their verdicts here
  merit list credit                            the credit rules and where they come from
  merit import results.json                    read episodes other people recorded
  merit export runs/a-1 --as messages          its episodes as data for other trainers
  merit score REWARD.toml imports/results      score them by any reward; --explain says why
  merit verify maths answers.jsonl             judge answers, one JSON record a line
  merit evolve my-judge --from pairs.jsonl     a reward from preferences, without a model
  merit judge test my-judge pairs.jsonl        how often is it right, beside length alone?
  merit bench judge a b --on pairs.jsonl       several judges side by side
  merit attack maths                           can the reward be had without the work?
  merit memory search notes 'lost keys'        what a memory has for a query
  merit tool run python 'print(6 * 7)'         try a tool by hand; this one in a sandbox
  merit doctor                                 what this machine gives the sandbox
  merit mcp --tool python                      serve tools to other programs
  merit chat model.gguf                        talk to a model
  merit generate model.gguf < prompts.jsonl    complete prompts, one JSON object a line
  merit model info model.gguf                  what is in a model, and what it needs";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Leave a recipe and ten tasks to begin with, which can be trained at once; or a recipe for tasks and a model of your own.
    Init {
        /// Where to; made if it is not there. Files that are there already are left alone.
        #[arg(default_value = ".")]
        folder: std::path::PathBuf,
        /// A file of questions and answers, one JSON object with `prompt` and `answer` a line; copied beside the recipe.
        #[arg(long, value_name = "FILE", requires = "model")]
        tasks: Option<std::path::PathBuf>,
        /// The language model that is to learn: a GGUF file, or a folder with safetensors.
        #[arg(long, value_name = "MODEL", requires = "tasks")]
        model: Option<std::path::PathBuf>,
    },
    /// Train a policy by a recipe; without arguments, the default recipe.
    Train(Train),
    /// Test published claims: run the arms of systems over seeds, judge them, record the verdicts.
    Reproduce(Reproduce),
    /// Measure models, runs and servers on the tasks of a recipe: success with intervals, pass@k, cost, side by side.
    Eval(Eval),
    /// Is one run better than another, by how much, how sure? Paired by seed and task.
    Compare(Compare),
    /// Run episodes and show them turn by turn.
    Rollout(Rollout),
    /// Play a world by hand: you are the policy.
    Play(Play),
    /// Show what happened in a run.
    Show(Show),
    /// List the components by name, from the registries.
    List(List),
    /// Check and print recipes.
    #[command(subcommand)]
    Recipe(Recipe),
    /// Read episodes other people recorded into a folder that can be shown and scored.
    Import(Import),
    /// Write episodes as rows that other trainers read, and metrics as CSV or for TensorBoard.
    Export(Export),
    /// Score recorded episodes by any reward; `--explain` says why each got its number.
    Score(Score),
    /// Check and print rewards.
    #[command(subcommand)]
    Reward(Reward),
    /// Ask and test judges: who says what is better, and how often are they right?
    #[command(subcommand)]
    Judge(Judge),
    /// Measure what others are measured by, side by side.
    #[command(subcommand)]
    Bench(Bench),
    /// Make a judge from labelled pairs, and with it a reward where no verifier exists. No model is needed.
    Evolve(Evolve),
    /// The versions of what a judge consults: log, diff, revert, prune, export as a reward file.
    #[command(subcommand)]
    Library(Library),
    /// Judge answers, one JSON record a line: mathematics, JSON, SQL, text, states, tool calls.
    #[command(subcommand)]
    Verify(Verify),
    /// Try to earn a reward without doing the work: an audit with a grade. Exit code 1 when the grade is too low.
    Attack(Attack),
    /// Look into stores of texts that are shown again, search them, add to them, forget.
    #[command(subcommand)]
    Memory(Memory),
    /// Try a tool by hand, or see how an agent is told of it.
    #[command(subcommand)]
    Tool(Tool),
    /// Say which layers of isolation this machine gives the sandbox. Exit code 1 when it cannot start.
    Doctor(Doctor),
    /// Serve tools to other programs by the Model Context Protocol, over standard input and output or HTTP.
    Mcp(Mcp),
    /// Talk to a model: a file, a folder, or a server.
    Chat(Chat),
    /// Complete prompts and conversations, one JSON object a line, many at a time.
    Generate(Generate),
    /// Look into model files, convert them, merge adapters.
    #[command(subcommand)]
    Model(Model),
    /// Print a completion script for a shell; it also knows recipes, systems, components and runs.
    Completions {
        /// The shell, e.g. `bash`. `source <(merit completions bash)` in `~/.bashrc` keeps up with new versions of merit.
        shell: clap_complete::Shell,
    },
}
